//! Rate limits of the venue as rules of the kit's budget, and what each request weighs in them.

use adapter_kit::{LaneShares, RateRule, RequestBudget, RequestCost, VenueAnswer};

use crate::protocol::answers::{CallAnswer, WireRateLimit};
use crate::protocol::requests::BinanceRequest;

/// Before the venue has stated its limits: no more than the smallest that it has documented.
const FIRST_LIMITS: [(&str, &str, i64, u32); 4] = [
    ("REQUEST_WEIGHT", "REQUEST_WEIGHT/1M", 60, 1_200),
    ("RAW_REQUESTS", "RAW_REQUESTS/5M", 300, 6_000),
    ("ORDERS", "ORDERS/10S", 10, 50),
    ("ORDERS", "ORDERS/1D", 86_400, 160_000),
];

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitKind {
    Weight,
    Requests,
    /// Unfilled orders; cancels do not count.
    Orders,
}

impl LimitKind {
    fn of(name: &str) -> Option<Self> {
        match name {
            "REQUEST_WEIGHT" => Some(Self::Weight),
            "RAW_REQUESTS" => Some(Self::Requests),
            "ORDERS" => Some(Self::Orders),
            _ => None,
        }
    }

    fn shares(self) -> LaneShares {
        match self {
            Self::Weight | Self::Requests => LaneShares::STANDARD,
            Self::Orders => LaneShares::WHOLE,
        }
    }
}

/// The venue's limits, in the order of the budget's rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateRules(Vec<(LimitKind, RateRule)>);

impl Default for RateRules {
    fn default() -> Self {
        let rule = |(kind, name, seconds, limit): (&str, &str, i64, u32)| {
            let kind = LimitKind::of(kind)?;
            Some((kind, rule(kind, name.to_owned(), seconds, limit)?))
        };
        Self(FIRST_LIMITS.into_iter().filter_map(rule).collect())
    }
}

impl RateRules {
    /// Of the venue's own list. Limits of kinds or spans that are not known cannot be kept; they are given back by name.
    pub fn of(limits: &[WireRateLimit]) -> (Self, Vec<String>) {
        let (mut rules, mut unknown) = (Vec::new(), Vec::new());
        for limit in limits {
            let read = || {
                let kind = LimitKind::of(&limit.kind)?;
                let most = u32::try_from(limit.limit.0).ok()?;
                Some((kind, rule(kind, limit.name(), limit.span_seconds()?, most)?))
            };
            match read() {
                Some(read) => rules.push(read),
                None => unknown.push(limit.name()),
            }
        }
        (Self(rules), unknown)
    }

    /// `None` where there are too many limits, or two of one name.
    pub fn budget(&self) -> Option<RequestBudget> {
        RequestBudget::new(self.0.iter().map(|(_, rule)| rule.clone()).collect())
    }

    pub fn cost(&self, request: &BinanceRequest) -> RequestCost {
        let weight = |kind: LimitKind| match kind {
            LimitKind::Weight => request.weight,
            LimitKind::Requests => 1,
            LimitKind::Orders => request.call.orders(),
        };
        RequestCost::of(&self.0.iter().map(|(kind, _)| weight(*kind)).collect::<Vec<_>>())
    }
}

fn rule(kind: LimitKind, name: String, span_seconds: i64, limit: u32) -> Option<RateRule> {
    let span_seconds = span_seconds.try_into().ok().filter(|span| *span > 0)?;
    Some(RateRule { name, span_seconds, limit, shares: kind.shares() })
}

/// What an answer says about limits, for the budget.
pub fn usage_of(answer: &CallAnswer) -> VenueAnswer {
    let used = answer.counters.iter().map(|counter| (counter.name.clone(), counter.used)).collect();
    VenueAnswer { used, hold: answer.hold.clone() }
}

/// Limits that the venue has changed meanwhile are stated beside its counters.
pub fn follow_limits(budget: &mut RequestBudget, answer: &CallAnswer) {
    for counter in &answer.counters {
        if let Some(limit) = counter.limit {
            // A limit that the budget does not have is none that it keeps.
            let _ = budget.set_limit(&counter.name, limit);
        }
    }
}
