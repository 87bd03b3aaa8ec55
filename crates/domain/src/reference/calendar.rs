//! Trading calendar of an exchange: sessions in its own time zone, with auctions and holidays.

use std::cmp::Ordering;
use std::sync::Arc;

use jiff::civil;
use jiff::tz::TimeZone;

use crate::reference::Exchange;
use crate::time::{Date, TimeOfDay, Timestamp};

/// The trading hours of one exchange.
#[derive(Debug, Clone)]
pub struct Calendar {
    exchange: Arc<Exchange>,
    zone: TimeZone,
}

/// The phase of an exchange at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarketPhase {
    /// No orders are collected and nothing trades.
    Closed,
    /// Orders are collected for the opening auction.
    OpeningCall,
    /// Orders trade as soon as they match.
    Continuous,
    /// Orders are collected for the closing auction.
    ClosingCall,
}

/// One session. The opening call runs before `open`, the closing call up to `close`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TradingSession {
    /// The exchange day that the session belongs to: the day of its open.
    pub day: Date,
    /// When the opening call begins; the same as `open` where the exchange has no opening auction.
    pub opening_call: Timestamp,
    /// When continuous trading begins.
    pub open: Timestamp,
    /// When the closing call begins; the same as `close` where the exchange has no closing auction.
    pub closing_call: Timestamp,
    /// The end of the session: at this instant it is closed.
    pub close: Timestamp,
}

impl TradingSession {
    /// The phase at an instant, which is `Closed` outside this session.
    pub fn phase(&self, at: Timestamp) -> MarketPhase {
        if at < self.opening_call || at >= self.close {
            MarketPhase::Closed
        } else if at < self.open {
            MarketPhase::OpeningCall
        } else if at < self.closing_call {
            MarketPhase::Continuous
        } else {
            MarketPhase::ClosingCall
        }
    }
}

/// A zone that the time zone database does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTimeZone(pub String);

/// How many days ahead the next session is searched for: the longest holidays are shorter.
const DAYS_AHEAD_MAX: i64 = 31;

impl Calendar {
    /// The calendar of an exchange; an error where its time zone is unknown.
    pub fn new(exchange: Arc<Exchange>) -> Result<Self, UnknownTimeZone> {
        let zone = zone(&exchange.time_zone)?;
        Ok(Self { exchange, zone })
    }

    /// The phase of the exchange at an instant.
    pub fn phase(&self, at: Timestamp) -> MarketPhase {
        self.session_at(at).map_or(MarketPhase::Closed, |session| session.phase(at))
    }

    /// The session at `at`, its calls included.
    pub fn session_at(&self, at: Timestamp) -> Option<TradingSession> {
        self.session_ending_after(at).filter(|session| session.opening_call <= at)
    }

    /// The session at `at`, else the next one.
    pub fn session_ending_after(&self, at: Timestamp) -> Option<TradingSession> {
        let today = self.local_date(at);
        // A session that began yesterday may still run.
        (-1..=DAYS_AHEAD_MAX)
            .filter_map(|days| today.checked_add(jiff::Span::new().days(days)).ok())
            .flat_map(|day| self.sessions_of(day))
            .find(|session| session.close > at)
    }

    /// The date that the clocks of the exchange show at an instant.
    pub fn local_date(&self, at: Timestamp) -> civil::Date {
        self.zone.to_datetime(at.to_jiff()).date()
    }

    /// The end of the last session of a day, where it has one: the instant at which a GTD date ends.
    pub fn close_of(&self, day: Date) -> Option<Timestamp> {
        self.sessions_of(day.0).last().map(|session| session.close)
    }

    /// Whether a day is over at the exchange: its last session has closed, or the date has changed.
    pub fn has_ended(&self, day: Date, at: Timestamp) -> bool {
        match day.0.cmp(&self.local_date(at)) {
            Ordering::Less => true,
            Ordering::Equal => self.close_of(day).is_some_and(|close| close <= at),
            Ordering::Greater => false,
        }
    }

    /// Calendar days from today at the exchange to a day; negative for a past day.
    pub fn days_until(&self, day: Date, at: Timestamp) -> i64 {
        self.local_date(at).until(day.0).map_or(i64::MAX, |span| i64::from(span.get_days()))
    }

    /// Whether orders with time in force ATO are possible.
    pub fn has_opening_auction(&self) -> bool {
        self.exchange.opening_auction_minutes > 0
    }

    /// Whether orders with time in force ATC are possible.
    pub fn has_closing_auction(&self) -> bool {
        self.exchange.closing_auction_minutes > 0
    }

    fn sessions_of(&self, day: civil::Date) -> Vec<TradingSession> {
        let mut sessions: Vec<_> =
            self.hours_of(day).into_iter().filter_map(|(open, close)| self.session(day, open, close)).collect();
        sessions.sort_by_key(|session| session.open);
        sessions
    }

    fn hours_of(&self, day: civil::Date) -> Vec<(TimeOfDay, TimeOfDay)> {
        if let Some(holiday) = self.exchange.holidays.iter().find(|holiday| holiday.date.0 == day) {
            return holiday.open.zip(holiday.close).into_iter().collect();
        }
        let weekday = day.weekday().to_monday_one_offset().unsigned_abs();
        let on_that_day = |hours: &&crate::reference::TradingHours| hours.days.contains(&weekday);
        self.exchange.trading_hours.iter().filter(on_that_day).map(|hours| (hours.open, hours.close)).collect()
    }

    fn session(&self, day: civil::Date, open: TimeOfDay, close: TimeOfDay) -> Option<TradingSession> {
        let close_day = if close <= open { day.tomorrow().ok()? } else { day };
        let (open, close) = (self.instant(day, open)?, self.instant(close_day, close)?);
        let opening = i64::from(self.exchange.opening_auction_minutes) * 60;
        let closing = i64::from(self.exchange.closing_auction_minutes) * 60;
        Some(TradingSession {
            day: Date(day),
            opening_call: open.plus_seconds(-opening),
            open,
            closing_call: close.plus_seconds(-closing),
            close,
        })
    }

    fn instant(&self, day: civil::Date, time: TimeOfDay) -> Option<Timestamp> {
        let (day, minutes) = if time.0 == 1440 { (day.tomorrow().ok()?, 0) } else { (day, time.0) };
        let hour = i8::try_from(minutes / 60).ok()?;
        let minute = i8::try_from(minutes % 60).ok()?;
        let zoned = day.at(hour, minute, 0, 0).to_zoned(self.zone.clone()).ok()?;
        zoned.timestamp().try_into().ok()
    }
}

/// The day of an instant in a named zone.
pub fn date_in(zone_name: &str, at: Timestamp) -> Result<Date, UnknownTimeZone> {
    Ok(Date(zone(zone_name)?.to_datetime(at.to_jiff()).date()))
}

/// The instant at which the day of `at` began in that zone.
pub fn last_midnight(zone_name: &str, at: Timestamp) -> Result<Timestamp, UnknownTimeZone> {
    let zone = zone(zone_name)?;
    let today = zone.to_datetime(at.to_jiff()).date();
    let midnight = zone.to_zoned(today.at(0, 0, 0, 0)).expect("a zone has every civil day");
    Ok(cut_off(midnight.timestamp()))
}

/// The first instant after `at` at which the date in that zone changes.
pub fn next_midnight(zone_name: &str, at: Timestamp) -> Result<Timestamp, UnknownTimeZone> {
    let zone = zone(zone_name)?;
    let tomorrow = zone.to_datetime(at.to_jiff()).date().tomorrow().expect("the calendar goes on past the year 9000");
    let midnight = zone.to_zoned(tomorrow.at(0, 0, 0, 0)).expect("a zone has every civil day");
    Ok(cut_off(midnight.timestamp()))
}

/// The first and the last day of 64-bit nanoseconds have no midnight; these ends are used instead.
fn cut_off(midnight: jiff::Timestamp) -> Timestamp {
    let end = if midnight < jiff::Timestamp::UNIX_EPOCH { i64::MIN } else { i64::MAX };
    Timestamp(i64::try_from(midnight.as_nanosecond()).unwrap_or(end))
}

fn zone(name: &str) -> Result<TimeZone, UnknownTimeZone> {
    TimeZone::get(name).map_err(|_| UnknownTimeZone(name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ExchangeId;
    use crate::reference::{Holiday, TradingHours};

    fn exchange(zone: &str, hours: &[(&str, &str, &[u8])], auction: u16) -> Exchange {
        Exchange {
            id: ExchangeId(1),
            name: "test".into(),
            code: None,
            mic: None,
            bloomberg_code: None,
            time_zone: zone.into(),
            trading_hours: hours
                .iter()
                .map(|(open, close, days)| TradingHours {
                    open: open.parse().unwrap(),
                    close: close.parse().unwrap(),
                    days: days.to_vec(),
                })
                .collect(),
            holidays: vec![],
            opening_auction_minutes: auction,
            closing_auction_minutes: auction,
        }
    }

    const WEEK: &[u8] = &[1, 2, 3, 4, 5, 6, 7];
    const WORKDAYS: &[u8] = &[1, 2, 3, 4, 5];

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn calendar(exchange: Exchange) -> Calendar {
        Calendar::new(Arc::new(exchange)).unwrap()
    }

    #[test]
    fn round_the_clock_is_always_open() {
        let calendar = calendar(exchange("UTC", &[("00:00", "24:00", WEEK)], 0));
        for instant in ["2026-11-15T00:00:00Z", "2026-11-15T12:00:00Z", "2026-11-15T23:59:59Z"] {
            assert_eq!(calendar.phase(at(instant)), MarketPhase::Continuous, "{instant}");
        }
    }

    #[test]
    fn a_day_beyond_all_instants_has_no_session_and_the_last_of_all_no_midnight_after_it() {
        let calendar = calendar(exchange("UTC", &[("00:00", "24:00", WEEK)], 0));
        for day in ["1600-01-01", "9999-12-30"] {
            assert_eq!(calendar.close_of(day.parse().unwrap()), None, "{day}");
        }
        let (first, last) = (Timestamp(i64::MIN), Timestamp(i64::MAX));
        assert_eq!((last_midnight("UTC", first), next_midnight("UTC", last)), (Ok(first), Ok(last)));
    }

    #[test]
    fn auctions_frame_the_day() {
        let calendar = calendar(exchange("UTC", &[("00:10", "23:50", WEEK)], 5));
        let phases = [
            ("2026-11-15T00:04:59Z", MarketPhase::Closed),
            ("2026-11-15T00:05:00Z", MarketPhase::OpeningCall),
            ("2026-11-15T00:10:00Z", MarketPhase::Continuous),
            ("2026-11-15T23:45:00Z", MarketPhase::ClosingCall),
            ("2026-11-15T23:50:00Z", MarketPhase::Closed),
        ];
        for (instant, phase) in phases {
            assert_eq!(calendar.phase(at(instant)), phase, "{instant}");
        }
    }

    #[test]
    fn hours_follow_the_exchange_through_summer_time() {
        let calendar = calendar(exchange("America/New_York", &[("09:30", "16:00", WORKDAYS)], 0));
        assert_eq!(calendar.phase(at("2026-07-15T13:30:00Z")), MarketPhase::Continuous);
        assert_eq!(calendar.phase(at("2026-12-15T13:30:00Z")), MarketPhase::Closed);
        assert_eq!(calendar.phase(at("2026-12-15T14:30:00Z")), MarketPhase::Continuous);
    }

    #[test]
    fn after_friday_comes_monday_and_a_holiday_is_skipped() {
        let mut exchange = exchange("UTC", &[("09:00", "17:00", WORKDAYS)], 0);
        exchange.holidays.push(Holiday { date: "2026-11-16".parse().unwrap(), open: None, close: None });
        let next = calendar(exchange).session_ending_after(at("2026-11-13T18:00:00Z")).unwrap();
        assert_eq!(next.day.to_string(), "2026-11-17");
    }

    #[test]
    fn a_half_day_closes_early() {
        let mut exchange = exchange("UTC", &[("09:00", "17:00", WORKDAYS)], 0);
        let (open, close) = ("09:00".parse().ok(), "12:00".parse().ok());
        exchange.holidays.push(Holiday { date: "2026-12-24".parse().unwrap(), open, close });
        assert_eq!(calendar(exchange).close_of("2026-12-24".parse().unwrap()), Some(at("2026-12-24T12:00:00Z")));
    }

    #[test]
    fn a_day_is_over_with_its_last_session_or_with_its_date() {
        let new_york = calendar(exchange("America/New_York", &[("09:30", "16:00", WORKDAYS)], 0));
        let overnight = calendar(exchange("UTC", &[("18:00", "17:00", WEEK)], 0));
        let ended = |calendar: &Calendar, instant| calendar.has_ended("2027-03-19".parse().unwrap(), at(instant));
        assert!(!ended(&new_york, "2027-03-19T19:59:59Z"));
        assert!(ended(&new_york, "2027-03-19T20:00:00Z"), "the close, four hours before midnight there");
        assert!(!ended(&overnight, "2027-03-19T17:30:00Z"), "a session of that day has yet to open");
        assert!(ended(&overnight, "2027-03-20T00:00:00Z"));
        assert!(!ended(&new_york, "2027-03-18T23:00:00Z"));
        let left = |instant| new_york.days_until("2027-03-19".parse().unwrap(), at(instant));
        assert_eq!(
            [left("2027-03-17T12:00:00Z"), left("2027-03-20T03:00:00Z"), left("2027-03-20T05:00:00Z")],
            [2, 0, -1]
        );
    }

    #[test]
    fn an_overnight_session_belongs_to_the_day_it_opened() {
        let calendar = calendar(exchange("UTC", &[("18:00", "17:00", WEEK)], 0));
        let session = calendar.session_at(at("2026-11-15T03:00:00Z")).unwrap();
        assert_eq!(session.day.to_string(), "2026-11-14");
        assert_eq!(session.close, at("2026-11-15T17:00:00Z"));
    }

    #[test]
    fn an_unknown_zone_is_named() {
        let exchange = exchange("Mars/Olympus", &[], 0);
        assert_eq!(Calendar::new(Arc::new(exchange)).unwrap_err(), UnknownTimeZone("Mars/Olympus".into()));
    }

    #[test]
    fn the_day_rolls_at_midnight_of_the_zone() {
        let (zone, instant) = ("Europe/Zurich", at("2026-11-15T22:59:00Z"));
        assert_eq!(date_in(zone, instant).unwrap().to_string(), "2026-11-15");
        assert_eq!(last_midnight(zone, instant).unwrap(), at("2026-11-14T23:00:00Z"));
        assert_eq!(next_midnight(zone, instant).unwrap(), at("2026-11-15T23:00:00Z"));
    }
}
