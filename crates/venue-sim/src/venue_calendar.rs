//! Calendar of the venue: phases, and when orders expire.

use std::sync::Arc;

use domain::calendar::UnknownTimeZone;
use domain::{Calendar, Date, Exchange, MarketPhase, PlantedBug, TimeInForce, Timestamp, TradingSession};

/// How long to wait before the next check when no session is known.
const SESSION_RECHECK_SECONDS: i64 = 86_400;

/// How many days back from its last day a security's last session is looked for.
const DAYS_BACK_MAX: usize = 31;

#[derive(Debug)]
pub(crate) struct VenueCalendar {
    calendar: Calendar,
    /// The current or next session, as of the last roll.
    next: Option<NextSession>,
    rolled_at: Timestamp,
}

#[derive(Debug, Clone, Copy)]
struct NextSession {
    session: TradingSession,
    day_close: Timestamp,
}

impl VenueCalendar {
    pub(crate) fn new(exchange: Arc<Exchange>, at: Timestamp) -> Result<Self, UnknownTimeZone> {
        let mut sessions = Self { calendar: Calendar::new(exchange)?, next: None, rolled_at: at };
        sessions.roll(at);
        Ok(sessions)
    }

    /// Called at each change of phase; in between time does not pass the session's close.
    pub(crate) fn roll(&mut self, at: Timestamp) {
        (self.next, self.rolled_at) = (self.find_next(at), at);
    }

    pub(crate) fn phase(&self, at: Timestamp) -> MarketPhase {
        self.next.map_or(MarketPhase::Closed, |next| next.session.phase(at))
    }

    /// The exchange day of the current or next session or opening call.
    pub(crate) fn day(&self) -> Option<Date> {
        self.next.map(|next| next.session.day)
    }

    pub(crate) fn next_change(&self, at: Timestamp) -> Timestamp {
        let changes = |next: NextSession| {
            let session = next.session;
            [session.opening_call, session.open, session.closing_call, session.close]
        };
        self.next
            .and_then(|next| changes(next).into_iter().find(|change| *change > at))
            .unwrap_or_else(|| at.plus_seconds(SESSION_RECHECK_SECONDS))
    }

    pub(crate) fn has_auction(&self, tif: TimeInForce) -> bool {
        match tif {
            TimeInForce::Ato => self.calendar.has_opening_auction(),
            TimeInForce::Atc => self.calendar.has_closing_auction(),
            _ => true,
        }
    }

    pub(crate) fn has_next_session(&self) -> bool {
        self.next.is_some()
    }

    /// When an order that got its terms at `since` expires.
    pub(crate) fn expiry(&self, tif: TimeInForce, since: Timestamp) -> Option<Timestamp> {
        let coming = || self.next.filter(|next| self.covers(next, since)).or_else(|| self.find_next(since));
        match tif {
            TimeInForce::Day if PlantedBug::KeepDayOrders.is_planted() => {
                coming().map(|next| next.day_close.plus_seconds(86_400))
            }
            TimeInForce::Day => coming().map(|next| next.day_close),
            TimeInForce::Ato => coming().map(|next| next.session.open),
            TimeInForce::Atc => coming().map(|next| next.session.close),
            TimeInForce::Gtd { until } => Some(until),
            TimeInForce::Ioc | TimeInForce::Fok => Some(since),
            TimeInForce::Gtc => None,
        }
    }

    /// The close of the last session up to and with that day.
    pub(crate) fn last_close(&self, day: Date) -> Option<Timestamp> {
        let back = |day: &Date| day.0.yesterday().ok().map(Date);
        std::iter::successors(Some(day), back).take(DAYS_BACK_MAX).find_map(|day| self.calendar.close_of(day))
    }

    fn find_next(&self, at: Timestamp) -> Option<NextSession> {
        let session = self.calendar.session_ending_after(at)?;
        let day_close = self.calendar.close_of(session.day).unwrap_or(session.close);
        Some(NextSession { session, day_close })
    }

    /// Whether the kept session is also the current or next one at that instant.
    fn covers(&self, next: &NextSession, at: Timestamp) -> bool {
        self.rolled_at <= at && at < next.session.close
    }
}
