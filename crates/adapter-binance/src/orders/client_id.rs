//! Client ids at the venue: the id of the request, and the time in force where the venue does not know it.
//!
//! The venue has no DAY and no GTD; such orders rest there until the engine cancels them. And a market order, which is
//! immediate or cancel, is shown as GTC. What the venue shows later must not look like another time in force, also after
//! a restart, so the id carries it.

use domain::{TimeInForce, Timestamp};

/// The venue takes `[a-zA-Z0-9-_]{1,36}`.
pub const CLIENT_ID_LENGTH_MAX: usize = 36;

const MARK: char = '_';
const DAY: &str = "D";
const IMMEDIATE: &str = "I";
const UNTIL: char = 'T';
const CANCEL: &str = "C";
const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A client id, read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientId<'a> {
    /// The id of the request, as it was before the mark.
    pub request: &'a str,
    /// What the venue was not told, or does not show.
    pub tif: Option<TimeInForce>,
}

/// `None` where the id would be too long, or the end of a GTD order is no whole second.
pub fn client_id(request: &str, tif: TimeInForce) -> Option<String> {
    let id = match tif {
        TimeInForce::Day => format!("{request}{MARK}{DAY}"),
        TimeInForce::Ioc => format!("{request}{MARK}{IMMEDIATE}"),
        TimeInForce::Gtd { until } if until.0 % NANOS_PER_SECOND == 0 => {
            format!("{request}{MARK}{UNTIL}{:X}", until.0 / NANOS_PER_SECOND)
        }
        TimeInForce::Gtd { .. } => return None,
        TimeInForce::Gtc | TimeInForce::Fok | TimeInForce::Ato | TimeInForce::Atc => request.to_owned(),
    };
    (id.len() <= CLIENT_ID_LENGTH_MAX).then_some(id)
}

/// The id of the cancel in a cancel-replace, whose new order has the id of the request. The venue may list the cancelled order
/// under it.
pub fn replace_cancel_id(request: &str) -> String {
    format!("{request}{MARK}{CANCEL}")
}

/// An id without a mark of ours is whole: it may be another program's.
pub fn read_client_id(id: &str) -> ClientId<'_> {
    match id.rsplit_once(MARK) {
        Some((request, CANCEL)) => ClientId { request, tif: None },
        Some((request, mark)) if tif_of(mark).is_some() => ClientId { request, tif: tif_of(mark) },
        _ => ClientId { request: id, tif: None },
    }
}

fn tif_of(mark: &str) -> Option<TimeInForce> {
    match mark {
        DAY => return Some(TimeInForce::Day),
        IMMEDIATE => return Some(TimeInForce::Ioc),
        _ => {}
    }
    let seconds = i64::from_str_radix(mark.strip_prefix(UNTIL)?, 16).ok()?;
    Some(TimeInForce::Gtd { until: Timestamp(seconds.checked_mul(NANOS_PER_SECOND)?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_in_force_that_the_venue_does_not_know_is_read_back() {
        let until: Timestamp = "2026-12-31T22:00:00Z".parse().unwrap();
        let all = [
            (TimeInForce::Day, "R1-1Z-0_D"),
            (TimeInForce::Gtd { until }, "R1-1Z-0_T6B36D060"),
            (TimeInForce::Gtc, "R1-1Z-0"),
            (TimeInForce::Ioc, "R1-1Z-0_I"),
            (TimeInForce::Fok, "R1-1Z-0"),
        ];
        for (tif, expected) in all {
            let id = client_id("R1-1Z-0", tif).unwrap();
            assert_eq!(id, expected);
            let is_marked = !matches!(tif, TimeInForce::Gtc | TimeInForce::Fok);
            assert_eq!(read_client_id(&id), ClientId { request: "R1-1Z-0", tif: is_marked.then_some(tif) });
        }
    }

    #[test]
    fn an_order_that_is_listed_under_the_id_of_its_cancel_is_found_by_it() {
        assert_eq!(read_client_id(&replace_cancel_id("R1-1Z-3")), ClientId { request: "R1-1Z-3", tif: None });
    }

    #[test]
    fn what_does_not_fit_has_no_id() {
        let half_second = TimeInForce::Gtd { until: Timestamp(1_500_000_000) };
        assert_eq!(client_id("R1-1-0", half_second), None);
        assert_eq!(client_id(&"R".repeat(35), TimeInForce::Day), None);
        assert_eq!(client_id(&"R".repeat(36), TimeInForce::Gtc), Some("R".repeat(36)));
    }

    #[test]
    fn ids_of_others_stay_as_they_are() {
        for id in ["web_1f", "", "_", "a_Tx", "a_T", "x_TFFFFFFFFFFFFFFFF", "a_d"] {
            assert_eq!(read_client_id(id), ClientId { request: id, tif: None }, "{id}");
        }
    }
}
