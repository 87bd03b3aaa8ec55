//! Renewal of a connection before its scheduled end, without a gap.
//!
//! A new connection is opened while the old one still delivers. Both deliver for a while, and each message is passed on
//! once. The old one is closed only when the new one has shown that it delivers, or has been up for the overlap.

use std::collections::{BTreeSet, VecDeque};

use domain::Timestamp;

/// Keys of messages of one renewal that are remembered to drop the second copy; of more the oldest are forgotten.
pub const OVERLAP_KEYS_MAX: usize = 65_536;

/// When a connection is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenewalRule {
    /// The venue ends a connection at this age.
    pub life_seconds: i64,
    /// So long before its end the new one is opened.
    pub lead_seconds: i64,
    /// Both connections run for at least so long.
    pub overlap_seconds: i64,
}

/// A connection, numbered by the state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionNumber(pub u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenewalAction {
    Open(ConnectionNumber),
    Close(ConnectionNumber),
    /// The last connection has ended: what came meanwhile is unknown, and must be asked for.
    Gap,
}

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageCopy {
    First,
    /// The other connection has delivered it already.
    Second,
    /// Of a connection that was closed.
    Late,
}

#[derive(Debug, Clone)]
pub struct ConnectionRenewal {
    rule: RenewalRule,
    current: Option<OpenConnection>,
    next: Option<OpenConnection>,
    next_number: u64,
    retry_at: Option<Timestamp>,
    ends_at: Option<Timestamp>,
    seen: BTreeSet<String>,
    seen_order: VecDeque<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OpenConnection {
    number: ConnectionNumber,
    /// Since when it is subscribed.
    ready_at: Option<Timestamp>,
}

impl ConnectionRenewal {
    pub fn new(rule: RenewalRule) -> Self {
        Self {
            rule,
            current: None,
            next: None,
            next_number: 0,
            retry_at: None,
            ends_at: None,
            seen: BTreeSet::new(),
            seen_order: VecDeque::new(),
        }
    }

    /// What is due now. The caller repeats it until it gives nothing.
    pub fn step(&mut self, now: Timestamp) -> Option<RenewalAction> {
        if let Some(finished) = self.finish_overlap(now) {
            return Some(RenewalAction::Close(finished));
        }
        let is_due = match (&self.current, &self.next) {
            (_, Some(_)) => false,
            (None, None) => true,
            (Some(_), None) => self.renew_at().is_some_and(|at| at <= now),
        };
        (is_due && self.retry_at.is_none_or(|at| at <= now)).then(|| RenewalAction::Open(self.open()))
    }

    /// When `step` has something to do, where that follows from the time alone.
    pub fn next_due(&self) -> Option<Timestamp> {
        match (&self.current, &self.next) {
            (Some(_), Some(next)) => next.ready_at.map(|at| at.plus_seconds(self.rule.overlap_seconds)),
            (Some(_), None) => self.renew_at().max(self.retry_at),
            (None, Some(_)) => None,
            (None, None) => self.retry_at,
        }
    }

    /// The connection is up and subscribed: it delivers everything from now on.
    pub fn on_ready(&mut self, now: Timestamp, number: ConnectionNumber) {
        let ready = OpenConnection { number, ready_at: Some(now) };
        if self.next.is_some_and(|next| next.number == number) {
            self.retry_at = None;
            match self.current {
                Some(_) => self.next = Some(ready),
                None => self.promote(ready, now),
            }
        }
    }

    /// The venue announced that it will end its connections.
    pub fn on_shutdown_notice(&mut self, ends_at: Timestamp) {
        self.ends_at = Some(self.ends_at.map_or(ends_at, |known| known.min(ends_at)));
    }

    /// A connection ended or could not be opened; the next attempt is not made before `retry_at`.
    pub fn on_closed(&mut self, number: ConnectionNumber, retry_at: Timestamp) -> Option<RenewalAction> {
        if self.next.is_some_and(|next| next.number == number) {
            self.next = None;
            self.retry_at = Some(retry_at);
            return None;
        }
        if self.current.is_none_or(|current| current.number != number) {
            return None;
        }
        self.current = None;
        match self.next.filter(|next| next.ready_at.is_some()) {
            Some(next) => {
                let ready_at = next.ready_at.unwrap_or(retry_at);
                self.promote(next, ready_at);
                None
            }
            None => {
                self.retry_at = self.next.is_none().then_some(retry_at);
                Some(RenewalAction::Gap)
            }
        }
    }

    /// Whether a message is passed on. `key` is the same for both copies and never for two messages (update id, trade id).
    pub fn on_message(&mut self, number: ConnectionNumber, key: &str) -> MessageCopy {
        let is_open = |open: &Option<OpenConnection>| open.is_some_and(|open| open.number == number);
        if !is_open(&self.current) && !is_open(&self.next) {
            return MessageCopy::Late;
        }
        if self.seen.contains(key) {
            return MessageCopy::Second;
        }
        if self.next.is_some() {
            self.remember(key);
        }
        MessageCopy::First
    }

    /// Whether at least one connection delivers.
    pub fn is_up(&self) -> bool {
        self.current.is_some()
    }

    /// Only what comes while two connections are open can come twice.
    fn remember(&mut self, key: &str) {
        self.seen.insert(key.to_owned());
        self.seen_order.push_back(key.to_owned());
        if self.seen_order.len() > OVERLAP_KEYS_MAX
            && let Some(oldest) = self.seen_order.pop_front()
        {
            self.seen.remove(&oldest);
        }
    }

    fn finish_overlap(&mut self, now: Timestamp) -> Option<ConnectionNumber> {
        let (current, next) = (self.current?, self.next?);
        let ready_at = next.ready_at?;
        if now < ready_at.plus_seconds(self.rule.overlap_seconds) {
            return None;
        }
        self.promote(next, ready_at);
        Some(current.number)
    }

    fn promote(&mut self, next: OpenConnection, ready_at: Timestamp) {
        self.current = Some(next);
        self.next = None;
        self.ends_at = Some(ready_at.plus_seconds(self.rule.life_seconds));
    }

    fn renew_at(&self) -> Option<Timestamp> {
        self.ends_at.map(|at| at.plus_seconds(-self.rule.lead_seconds))
    }

    fn open(&mut self) -> ConnectionNumber {
        // A copy on the newer connection may come after the older one was closed, but not as late as the next renewal.
        self.seen.clear();
        self.seen_order.clear();
        self.next_number += 1;
        let number = ConnectionNumber(self.next_number);
        self.next = Some(OpenConnection { number, ready_at: None });
        number
    }
}
