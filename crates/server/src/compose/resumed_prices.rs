//! Where the prices of a simulated market go on after a restart: at the last ones that were seen. The opening quotes of the
//! reference data are those of its first day.

use std::collections::BTreeMap;

use bus::Bus;
use domain::query::{Answer, Query};
use domain::{BarSize, Decimal, Mark, Price, Security, SecurityId, Timestamp};
use storage::BarFiles;

use crate::config::{Config, MarketActivity};
use crate::reference::{OpeningQuote, ReferenceSet};

/// Moves the opening quotes to the newest price that journal or stored bars have. Where nobody quotes (`demo.activity` is
/// off) the opening quotes stand by definition.
pub(super) fn resume(config: &Config, reference: &mut ReferenceSet, bus: &Bus, bars: &BarFiles, now: Timestamp) {
    if config.demo_activity == MarketActivity::Off {
        return;
    }
    let marks = marks(bus);
    for opening in &mut reference.openings {
        let Some(security) = reference.data.securities.get(&opening.security) else { continue };
        if let Some(price) = last_price(marks.get(&opening.security), bars, opening.security, now) {
            opening.mid = quotable(price, opening, security);
        }
    }
}

fn marks(bus: &Bus) -> BTreeMap<SecurityId, Mark> {
    let answer = bus.inbox.query(Query::Marks).ok().and_then(|ticket| ticket.recv_blocking().ok());
    match answer.map(|reply| reply.outcome) {
        Some(Ok(Answer::Marks(marks))) => marks.into_iter().map(|mark| (mark.security, mark)).collect(),
        // An engine that does not answer fails the start elsewhere.
        _ => BTreeMap::new(),
    }
}

/// Marks are kept of what is held or ordered, and of currencies; bars of everything, but a minute late.
fn last_price(mark: Option<&Mark>, bars: &BarFiles, security: SecurityId, now: Timestamp) -> Option<Price> {
    let bar = bars.newest(security, BarSize::Min1, 1, now).pop();
    let by_bar = bar.map(|bar| (bar.at.plus_seconds(bar.size.seconds()), bar.close));
    let by_mark = mark.and_then(|mark| Some((mark.at, mark.mid().or_else(|| mark.reference())?)));
    by_bar.into_iter().chain(by_mark).max_by_key(|(at, _)| *at).map(|(_, price)| price)
}

/// On a tick, and high enough that the best bid is a price too.
fn quotable(price: Price, opening: &OpeningQuote, security: &Security) -> Price {
    let lowest = Decimal::from(opening.spread_ticks / 2 + 1);
    let ticks = (price.0 / security.price_incr).round().max(lowest);
    Price(ticks * security.price_incr)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::{Bar, Quantity};

    use super::*;

    const NOON: Timestamp = Timestamp(1_735_732_800_000_000_000);

    fn bar(minutes_before_noon: i64, close: i64) -> Arc<Bar> {
        let (at, close) = (NOON.plus_seconds(-60 * minutes_before_noon), Price::from(close));
        let (open, high, low) = (close, close, close);
        let (security, feed, size, vol, vwap) = (SecurityId(1), "A".into(), BarSize::Min1, Quantity::ZERO, None);
        Arc::new(Bar { security, feed, at, size, open, high, low, close, vol, vwap })
    }

    fn mark(seconds_before_noon: i64, bid: i64, ask: i64) -> Mark {
        let at = NOON.plus_seconds(-seconds_before_noon);
        Mark { security: SecurityId(1), bid: Some(bid.into()), ask: Some(ask.into()), last: None, at }
    }

    #[test]
    fn the_newest_of_bar_and_mark_is_where_prices_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let bars = BarFiles::open(folder.path().to_owned(), 100);
        let seen = |mark: Option<Mark>| last_price(mark.as_ref(), &bars, SecurityId(1), NOON);
        assert_eq!((seen(None), seen(Some(mark(5, 10, 12)))), (None, Some(11.into())));
        bars.append(&[bar(3, 20), bar(2, 21)]).unwrap();
        assert_eq!(seen(None), Some(21.into()));
        assert_eq!(seen(Some(mark(5, 10, 12))), Some(11.into()));
        assert_eq!(seen(Some(mark(500, 10, 12))), Some(21.into()));
    }

    #[test]
    fn a_price_between_two_ticks_or_too_low_for_a_bid_is_moved_to_one_that_can_be_quoted() {
        let opening = OpeningQuote {
            security: SecurityId(1),
            mid: 5.into(),
            spread_ticks: 4,
            size: 1.into(),
            volatility: Decimal::ONE,
        };
        let security = Security { price_incr: Decimal::new(5, 1), ..samples::stock(1, "ONE") };
        let quoted = |price: Decimal| quotable(Price(price), &opening, &security).to_string();
        assert_eq!([quoted(Decimal::new(1026, 1)), quoted(Decimal::new(1, 1))], ["102.5", "1.5"]);
    }
}
