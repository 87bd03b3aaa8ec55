//! Request budget: decides whether a request may leave now. It never waits and never queues: a request gets a grant or
//! a named refusal at once.
//!
//! The counts follow the venue's own answers. Holds (Retry-After, bans) must be saved before the next grant, so that a
//! restart cannot forget them.

mod fair_share;
mod hold;
mod lane;
mod rate_window;
mod record;
mod refusal;

use std::collections::BTreeMap;

use domain::Timestamp;

pub use fair_share::LANE_WAITS_SECONDS;
use fair_share::WaitingLanes;
use hold::Hold;
pub use hold::{BAN_SECONDS_DEFAULT, HOLD_SECONDS_MAX, HoldKind, HoldScope, HoldSignal, RETRY_SECONDS_DEFAULT};
pub use lane::{LaneShares, RequestLane};
use rate_window::{CountedWindow, SentWeight};
pub use rate_window::{RateRule, WINDOW_PARTS};
pub use record::{BudgetFile, BudgetFileError, BudgetRecord};
pub use refusal::BudgetRefusal;

/// Rate limits of one budget.
pub const RULES_MAX: usize = 8;
/// Requests without an answer; one more is refused.
pub const UNANSWERED_MAX: usize = 1_024;
/// A request without an answer for so long counts as answered.
pub const UNANSWERED_SECONDS_MAX: i64 = 120;

/// The weight of a request in each rate limit, in the order of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestCost(pub [u32; RULES_MAX]);

impl RequestCost {
    /// Weights in the order of the rules; the others are zero.
    pub fn of(weights: &[u32]) -> Self {
        let mut cost = [0; RULES_MAX];
        cost.iter_mut().zip(weights).for_each(|(place, weight)| *place = *weight);
        Self(cost)
    }
}

/// Permission to send one request. It is given back with the outcome of the request.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the outcome of the request must be given back"]
pub struct RequestGrant(u64);

/// What an answer of the venue says about rate limits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VenueAnswer {
    /// The venue's own counters, by the name of the rule. Those that the answer does not have are absent.
    pub used: Vec<(String, u64)>,
    pub hold: Option<HoldSignal>,
}

/// The use of one rate limit, for metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitUsage {
    pub name: String,
    pub used: u64,
    pub limit: u32,
}

#[derive(Debug, Clone)]
pub struct RequestBudget {
    windows: Vec<CountedWindow>,
    holds: Vec<Hold>,
    under_way: BTreeMap<u64, RequestUnderWay>,
    next_request: u64,
    waiting: WaitingLanes,
    now: Timestamp,
    /// Version of the holds, and the newest one that is on the disk.
    version: u64,
    saved: u64,
}

#[derive(Debug, Clone, Copy)]
struct RequestUnderWay {
    at: Timestamp,
    lane: RequestLane,
    weights: [SentWeight; RULES_MAX],
}

impl RequestBudget {
    /// `None` where there are more than [`RULES_MAX`] rules, two of one name, or one without a span.
    pub fn new(rules: Vec<RateRule>) -> Option<Self> {
        let is_repeated = |index: usize| rules[..index].iter().any(|rule| rule.name == rules[index].name);
        let is_wrong = |index: usize| rules[index].span_seconds == 0 || is_repeated(index);
        if rules.len() > RULES_MAX || (0..rules.len()).any(is_wrong) {
            return None;
        }
        Some(Self {
            windows: rules.into_iter().map(CountedWindow::new).collect(),
            holds: Vec::new(),
            under_way: BTreeMap::new(),
            next_request: 0,
            waiting: WaitingLanes::default(),
            now: Timestamp(i64::MIN),
            version: 0,
            saved: 0,
        })
    }

    /// Grants the request or refuses it, at once.
    pub fn request(
        &mut self,
        now: Timestamp,
        lane: RequestLane,
        cost: RequestCost,
    ) -> Result<RequestGrant, BudgetRefusal> {
        self.advance(now);
        if let Err(refusal) = self.check(lane, &cost) {
            if matches!(refusal, BudgetRefusal::Exhausted { .. }) {
                self.waiting.on_refused(lane, self.now);
            }
            return Err(refusal);
        }
        self.waiting.on_granted(lane);
        let mut weights = [SentWeight::default(); RULES_MAX];
        for (window, (place, weight)) in self.windows.iter_mut().zip(weights.iter_mut().zip(cost.0)) {
            *place = window.send(self.now, lane, weight);
        }
        self.next_request += 1;
        self.under_way.insert(self.next_request, RequestUnderWay { at: self.now, lane, weights });
        Ok(RequestGrant(self.next_request))
    }

    /// The venue answered, with success or not.
    pub fn on_answer(&mut self, now: Timestamp, grant: RequestGrant, answer: &VenueAnswer) {
        self.advance(now);
        self.settle(grant.0, &answer.used);
        if let Some(signal) = &answer.hold {
            self.hold(signal);
        }
    }

    /// No answer will come: the connection was cut, or the time for it is over. The venue may have counted it.
    pub fn on_no_answer(&mut self, now: Timestamp, grant: RequestGrant) {
        self.advance(now);
        self.settle(grant.0, &[]);
    }

    /// The request certainly never left, so that nothing was used.
    pub fn on_not_sent(&mut self, grant: RequestGrant) {
        if let Some(request) = self.under_way.remove(&grant.0) {
            self.windows.iter_mut().zip(request.weights).for_each(|(window, sent)| window.withdraw(request.lane, sent));
        }
    }

    /// The venue told us to wait, without a request of ours (a message on a stream, for example).
    pub fn on_hold(&mut self, now: Timestamp, signal: &HoldSignal) {
        self.advance(now);
        self.hold(signal);
    }

    /// The venue states another limit than before; `false` where there is no such rule.
    pub fn set_limit(&mut self, name: &str, limit: u32) -> bool {
        let found = self.windows.iter_mut().find(|window| window.rule.name == name);
        found.map(|window| window.rule.limit = limit).is_some()
    }

    pub fn usage(&mut self, now: Timestamp) -> Vec<LimitUsage> {
        self.advance(now);
        let usage = |window: &CountedWindow| LimitUsage {
            name: window.rule.name.clone(),
            used: window.used(),
            limit: window.rule.limit,
        };
        self.windows.iter().map(usage).collect()
    }

    /// When the last hold ends, for metrics and for the screen.
    pub fn held_until(&self) -> Option<Timestamp> {
        self.holds.iter().map(|hold| hold.until).max()
    }

    fn check(&self, lane: RequestLane, cost: &RequestCost) -> Result<(), BudgetRefusal> {
        if self.saved < self.version {
            return Err(BudgetRefusal::Unsaved);
        }
        if let Some(hold) = self.holds.iter().filter(|hold| self.stops(hold, cost)).max_by_key(|hold| hold.until) {
            return Err(BudgetRefusal::Held { kind: hold.kind, scope: hold.scope.clone(), until: hold.until });
        }
        if self.under_way.len() >= UNANSWERED_MAX {
            return Err(BudgetRefusal::Unanswered { count: self.under_way.len() });
        }
        let mut windows = self.windows.iter().zip(cost.0);
        windows.try_for_each(|(window, weight)| window.check(self.now, lane, weight, &self.waiting))
    }

    fn stops(&self, hold: &Hold, cost: &RequestCost) -> bool {
        let counts =
            |name: &String| self.windows.iter().zip(cost.0).any(|(w, weight)| w.rule.name == *name && weight > 0);
        match &hold.scope {
            HoldScope::All => true,
            HoldScope::Limit(name) => counts(name),
        }
    }

    fn hold(&mut self, signal: &HoldSignal) {
        let until = signal.until(self.now);
        let known =
            self.holds.iter().any(|hold| hold.scope == signal.scope && hold.kind == signal.kind && hold.until >= until);
        if until <= self.now || known {
            return;
        }
        self.holds.retain(|hold| hold.scope != signal.scope || hold.kind != signal.kind);
        self.holds.push(Hold { kind: signal.kind, scope: signal.scope.clone(), until });
        self.version += 1;
    }

    fn settle(&mut self, request: u64, used: &[(String, u64)]) {
        let Some(sent) = self.under_way.remove(&request) else { return };
        for (window, weight) in self.windows.iter_mut().zip(sent.weights) {
            let counter = used.iter().find(|(name, _)| *name == window.rule.name).map(|(_, used)| *used);
            window.answer(self.now, request, weight, counter);
        }
    }

    /// Time never goes back here: a clock that was set back stands still.
    fn advance(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        self.holds.retain(|hold| hold.until > self.now);
        while let Some((request, sent)) = self.under_way.first_key_value() {
            if self.now.seconds_since(sent.at) < UNANSWERED_SECONDS_MAX {
                break;
            }
            self.settle(*request, &[]);
        }
        self.windows.iter_mut().for_each(|window| window.advance(self.now));
    }
}
