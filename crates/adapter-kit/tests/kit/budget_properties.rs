//! Whatever the venue's way of counting and whatever the delays: a client alone never gets a 429, and a hold is obeyed.

use std::collections::BTreeMap;

use adapter_kit::{HoldSignal, LaneShares, RequestBudget, RequestCost, RequestGrant, RequestLane, VenueAnswer};
use domain::Timestamp;
use proptest::prelude::*;

use crate::budget::{at, rule};
use crate::rate_limited_venue::{CounterStyle, RateLimitedVenue, VenueLimit, VenueReply};

#[derive(Debug, Clone)]
struct PlannedRequest {
    pause_millis: i64,
    lane: RequestLane,
    weight: u32,
    /// The venue may count less than we expected, such as nothing for an order that it takes.
    is_free: bool,
    out_millis: i64,
    back_millis: i64,
}

fn planned_request() -> impl Strategy<Value = PlannedRequest> {
    let lane = (0..RequestLane::ALL.len()).prop_map(|index| RequestLane::ALL[index]);
    (0..1_500_i64, lane, 1..20_u32, any::<bool>(), 0..4_000_i64, 0..4_000_i64).prop_map(
        |(pause_millis, lane, weight, is_free, out_millis, back_millis)| PlannedRequest {
            pause_millis,
            lane,
            weight,
            is_free,
            out_millis,
            back_millis,
        },
    )
}

fn counter_style() -> impl Strategy<Value = CounterStyle> {
    prop_oneof![
        (0..60_000_i64).prop_map(|phase_millis| CounterStyle::Fixed { phase_millis }),
        Just(CounterStyle::Sliding)
    ]
}

enum Step {
    Arrives(RequestGrant, u32, i64),
    Answered(RequestGrant, VenueReply),
}

/// Client and venue with delays between them.
struct DelayedExchange {
    budget: RequestBudget,
    venue: RateLimitedVenue,
    steps: BTreeMap<(i64, usize), Step>,
    count: usize,
}

impl DelayedExchange {
    fn new(style: CounterStyle) -> Self {
        // Without a reserve, which would hide a count that is too low.
        let ours = vec![rule("10s", 10, 100, LaneShares::WHOLE), rule("60s", 60, 300, LaneShares::WHOLE)];
        let limit = |name, span_millis, limit| VenueLimit { name, span_millis, limit, style };
        let theirs = vec![limit("10s", 10_000, 100), limit("60s", 60_000, 300)];
        Self {
            budget: RequestBudget::new(ours).unwrap(),
            venue: RateLimitedVenue::new(theirs),
            steps: BTreeMap::new(),
            count: 0,
        }
    }

    fn schedule(&mut self, millis: i64, step: Step) {
        self.count += 1;
        self.steps.insert((millis, self.count), step);
    }

    fn run_until(&mut self, millis: i64) {
        while let Some(entry) = self.steps.first_entry().filter(|entry| entry.key().0 <= millis) {
            let ((due, _), step) = entry.remove_entry();
            match step {
                Step::Arrives(grant, weight, back_millis) => {
                    let reply = self.venue.handle(millis_at(due), &[weight.into(), weight.into()]);
                    self.schedule(due + back_millis, Step::Answered(grant, reply));
                }
                Step::Answered(grant, reply) => {
                    let now = millis_at(due);
                    let hold = HoldSignal::of_http(reply.status, reply.retry_after.as_deref(), now);
                    self.budget.on_answer(now, grant, &VenueAnswer { used: reply.used, hold });
                    if let Some(record) = self.budget.unsaved() {
                        self.budget.on_saved(&record);
                    }
                }
            }
        }
    }
}

fn millis_at(millis: i64) -> Timestamp {
    at(0).plus_millis(millis)
}

proptest! {
    #[test]
    fn a_client_alone_never_exceeds_a_limit(style in counter_style(), plan in prop::collection::vec(planned_request(), 1..300)) {
        let mut exchange = DelayedExchange::new(style);
        let mut now = 0;
        for planned in plan {
            now += planned.pause_millis;
            exchange.run_until(now);
            let cost = RequestCost::of(&[planned.weight, planned.weight]);
            if let Ok(grant) = exchange.budget.request(millis_at(now), planned.lane, cost) {
                let counted = if planned.is_free { 0 } else { planned.weight };
                exchange.schedule(now + planned.out_millis, Step::Arrives(grant, counted, planned.back_millis));
            }
        }
        exchange.run_until(i64::MAX);
        prop_assert_eq!((exchange.venue.too_many, exchange.venue.bans), (0, 0));
    }

    #[test]
    fn what_the_shares_leave_to_cancels_is_never_taken(plan in prop::collection::vec(planned_request(), 1..200)) {
        let mut budget = RequestBudget::new(vec![rule("60s", 60, 100, LaneShares::STANDARD)]).unwrap();
        let mut now = 0;
        for planned in plan.into_iter().filter(|planned| planned.lane != RequestLane::Cancel) {
            now += planned.pause_millis;
            let granted = budget.request(millis_at(now), planned.lane, RequestCost::of(&[planned.weight]));
            let used = budget.usage(millis_at(now))[0].used;
            prop_assert!(used <= 90, "{} used", used);
            if let Ok(grant) = granted {
                budget.on_answer(millis_at(now), grant, &VenueAnswer::default());
            }
        }
        let cancel = budget.request(millis_at(now), RequestLane::Cancel, RequestCost::of(&[10]));
        prop_assert!(cancel.is_ok());
    }

    /// Without fair shares: with them it also depends on other lanes.
    #[test]
    fn a_refusal_names_a_time_at_which_the_same_request_is_granted(plan in prop::collection::vec(planned_request(), 1..200)) {
        let shares = LaneShares::new([100, 90, 85, 85, 80, 70, 60, 50, 40]).unwrap();
        let mut budget = RequestBudget::new(vec![rule("60s", 60, 100, shares)]).unwrap();
        let mut now = 0;
        for planned in plan {
            now += planned.pause_millis;
            let cost = RequestCost::of(&[planned.weight]);
            match budget.request(millis_at(now), planned.lane, cost) {
                Ok(grant) => budget.on_answer(millis_at(now), grant, &VenueAnswer::default()),
                Err(refusal) => {
                    let text = refusal.to_string();
                    let free_at: Timestamp = text.rsplit_once("free at ").unwrap().1.parse().unwrap();
                    prop_assert!(budget.clone().request(free_at.plus_millis(-1), planned.lane, cost).is_err());
                    prop_assert!(budget.clone().request(free_at, planned.lane, cost).is_ok());
                }
            }
        }
    }

    #[test]
    fn a_restart_at_any_moment_forgets_neither_hold_nor_use(plan in prop::collection::vec(planned_request(), 1..100), seconds in 0..4_000_i64) {
        let rules = || vec![rule("60s", 60, 1_000, LaneShares::STANDARD)];
        let mut budget = RequestBudget::new(rules()).unwrap();
        let mut now = 0;
        for planned in plan {
            now += planned.pause_millis;
            if let Ok(grant) = budget.request(millis_at(now), planned.lane, RequestCost::of(&[planned.weight])) {
                match planned.is_free {
                    true => budget.on_answer(millis_at(now), grant, &VenueAnswer::default()),
                    false => drop(grant),
                }
            }
        }
        budget.on_hold(millis_at(now), &HoldSignal::of_http(429, Some(&seconds.to_string()), millis_at(now)).unwrap());
        let mut restarted = RequestBudget::new(rules()).unwrap();
        restarted.restore(millis_at(now), &budget.record()).unwrap();
        prop_assert_eq!(restarted.held_until(), budget.held_until());
        prop_assert_eq!(restarted.usage(millis_at(now)), budget.usage(millis_at(now)));
    }
}
