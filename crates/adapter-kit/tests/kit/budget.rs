//! The budget by hand: who may send when, and what a refusal says.

use adapter_kit::{
    BudgetRefusal, HoldKind, HoldScope, HoldSignal, LaneShares, RateRule, RequestBudget, RequestCost, RequestLane,
    VenueAnswer,
};
use domain::Timestamp;

pub(crate) fn at(seconds: i64) -> Timestamp {
    "2026-11-16T05:00:00Z".parse::<Timestamp>().unwrap().plus_seconds(seconds)
}

pub(crate) fn rule(name: &str, span_seconds: u32, limit: u32, shares: LaneShares) -> RateRule {
    RateRule { name: name.to_owned(), span_seconds, limit, shares }
}

/// A hundred a minute; cancels keep ten.
fn budget() -> RequestBudget {
    RequestBudget::new(vec![rule("weight/1m", 60, 100, LaneShares::STANDARD)]).unwrap()
}

pub(crate) fn used(name: &str, used: u64) -> VenueAnswer {
    VenueAnswer { used: vec![(name.to_owned(), used)], hold: None }
}

fn send(budget: &mut RequestBudget, seconds: i64, lane: RequestLane, weight: u32) -> String {
    match budget.request(at(seconds), lane, RequestCost::of(&[weight])) {
        Ok(grant) => {
            budget.on_answer(at(seconds), grant, &VenueAnswer::default());
            "granted".to_owned()
        }
        Err(refusal) => refusal.to_string(),
    }
}

#[test]
fn cancels_keep_a_reserve_that_no_other_request_can_take() {
    let mut budget = budget();
    assert_eq!(send(&mut budget, 0, RequestLane::Submit, 90), "granted");
    assert_eq!(
        send(&mut budget, 1, RequestLane::Submit, 1),
        "venue-rate: weight/1m has 90 used, submit may go to 90, this needs 1; free at 2026-11-16T05:01:00.9375Z"
    );
    assert_eq!(send(&mut budget, 1, RequestLane::Cancel, 10), "granted");
    assert_eq!(
        send(&mut budget, 2, RequestLane::Cancel, 1),
        "venue-rate: weight/1m has 100 used, cancel may go to 100, this needs 1; free at 2026-11-16T05:01:00.9375Z"
    );
    assert_eq!(send(&mut budget, 61, RequestLane::Submit, 80), "granted");
}

#[test]
fn a_request_heavier_than_its_lane_is_never_granted_and_says_so() {
    let refused = send(&mut budget(), 0, RequestLane::Depth, 50);
    assert_eq!(refused, "venue-rate-weight: this needs 50 of weight/1m, depth may never go above 40");
}

#[test]
fn a_request_without_weight_passes_a_full_limit() {
    let mut budget = budget();
    assert_eq!(send(&mut budget, 0, RequestLane::Cancel, 100), "granted");
    assert_eq!(send(&mut budget, 0, RequestLane::Depth, 0), "granted");
}

#[test]
fn the_venues_counter_corrects_ours_in_both_directions() {
    let mut budget = budget();
    let grant = budget.request(at(0), RequestLane::Submit, RequestCost::of(&[10])).unwrap();
    // Another program behind the same address has used 50.
    budget.on_answer(at(0), grant, &used("weight/1m", 60));
    assert_eq!(budget.usage(at(0))[0].used, 60);
    let under_way = budget.request(at(1), RequestLane::Submit, RequestCost::of(&[5])).unwrap();
    let grant = budget.request(at(1), RequestLane::Submit, RequestCost::of(&[10])).unwrap();
    // The venue's minute has begun anew. What is under way may not have been counted yet.
    budget.on_answer(at(2), grant, &used("weight/1m", 10));
    assert_eq!(budget.usage(at(2))[0].used, 15);
    // An answer that was overtaken knows nothing newer.
    budget.on_answer(at(3), under_way, &used("weight/1m", 5));
    assert_eq!(budget.usage(at(3))[0].used, 15);
}

#[test]
fn what_was_answered_since_a_request_left_may_have_reached_the_venue_after_it() {
    let mut budget = budget();
    let slow = budget.request(at(0), RequestLane::Submit, RequestCost::of(&[10])).unwrap();
    let fast = budget.request(at(0), RequestLane::Submit, RequestCost::of(&[10])).unwrap();
    budget.on_answer(at(1), slow, &VenueAnswer::default());
    budget.on_answer(at(2), fast, &used("weight/1m", 10));
    assert_eq!(budget.usage(at(2))[0].used, 20);
    // What was answered before a request left is in the counter of its answer.
    let later = budget.request(at(3), RequestLane::Submit, RequestCost::of(&[10])).unwrap();
    budget.on_answer(at(4), later, &used("weight/1m", 25));
    assert_eq!(budget.usage(at(4))[0].used, 25);
}

#[test]
fn a_counter_that_makes_no_sense_ends_with_its_span() {
    let mut budget = RequestBudget::new(vec![rule("weight/1m", 60, u32::MAX, LaneShares::WHOLE)]).unwrap();
    for second in 0..5 {
        if let Ok(grant) = budget.request(at(second), RequestLane::Cancel, RequestCost::of(&[7])) {
            budget.on_answer(at(second), grant, &used("weight/1m", u64::MAX - second.unsigned_abs()));
        }
    }
    assert_eq!(budget.usage(at(5))[0].used, u64::from(u32::MAX));
    assert_eq!(budget.usage(at(66))[0].used, 0);
}

#[test]
fn what_was_certainly_not_sent_is_given_back_and_a_lost_answer_is_not() {
    let mut budget = budget();
    let first = budget.request(at(0), RequestLane::Submit, RequestCost::of(&[40])).unwrap();
    let second = budget.request(at(0), RequestLane::Submit, RequestCost::of(&[40])).unwrap();
    budget.on_not_sent(first);
    budget.on_no_answer(at(30), second);
    assert_eq!(budget.usage(at(89))[0].used, 40, "it may have reached the venue at the last moment");
    assert_eq!(budget.usage(at(91))[0].used, 0);
}

#[test]
fn a_grant_that_was_never_given_back_counts_as_answered_after_two_minutes() {
    let mut budget = budget();
    let grant = budget.request(at(0), RequestLane::Submit, RequestCost::of(&[40])).unwrap();
    assert_eq!(budget.usage(at(119))[0].used, 40);
    assert_eq!(budget.usage(at(121))[0].used, 40);
    assert_eq!(budget.usage(at(182))[0].used, 0);
    budget.on_answer(at(183), grant, &used("weight/1m", 99));
    assert_eq!(budget.usage(at(183))[0].used, 0);
}

#[test]
fn a_clock_that_is_set_back_frees_nothing() {
    let mut budget = budget();
    assert_eq!(send(&mut budget, 100, RequestLane::Cancel, 100), "granted");
    assert!(send(&mut budget, -5_000, RequestLane::Cancel, 1).starts_with("venue-rate: "));
    assert_eq!(send(&mut budget, 161, RequestLane::Cancel, 1), "granted");
}

#[test]
fn a_ban_holds_everything_and_a_hold_of_one_limit_only_what_counts_there() {
    let rules =
        vec![rule("weight/1m", 60, 6_000, LaneShares::STANDARD), rule("orders/10s", 10, 100, LaneShares::WHOLE)];
    let mut budget = RequestBudget::new(rules).unwrap();
    let orders = HoldScope::Limit("orders/10s".to_owned());
    budget.on_hold(at(0), &HoldSignal { kind: HoldKind::RetryAfter, scope: orders, seconds: Some(7) });
    let record = budget.unsaved().unwrap();
    budget.on_saved(&record);
    let order = budget.request(at(1), RequestLane::Submit, RequestCost::of(&[1, 1])).unwrap_err();
    assert_eq!(
        order.to_string(),
        "venue-retry-after: Retry-After holds requests of the limit orders/10s until 2026-11-16T05:00:07Z"
    );
    let cancel = budget.request(at(1), RequestLane::Cancel, RequestCost::of(&[1, 0])).unwrap();
    let ban = HoldSignal::of_http(418, Some("300"), at(2));
    budget.on_answer(at(2), cancel, &VenueAnswer { used: Vec::new(), hold: ban });
    let record = budget.unsaved().unwrap();
    budget.on_saved(&record);
    let cancel = budget.request(at(3), RequestLane::Cancel, RequestCost::of(&[0, 0])).unwrap_err();
    assert_eq!(cancel.to_string(), "venue-ban: ban holds all requests until 2026-11-16T05:05:02Z");
    assert_eq!(budget.held_until(), Some(at(302)));
    assert!(budget.request(at(302), RequestLane::Submit, RequestCost::of(&[1, 1])).is_ok());
}

#[test]
fn a_shorter_hold_does_not_end_a_longer_one() {
    let mut budget = budget();
    for header in ["100", "20"] {
        budget.on_hold(at(0), &HoldSignal::of_http(429, Some(header), at(0)).unwrap());
    }
    assert_eq!(budget.held_until(), Some(at(100)));
}

#[test]
fn requests_without_an_answer_are_limited() {
    let mut budget = RequestBudget::new(Vec::new()).unwrap();
    let grants: Vec<_> =
        (0..1_024).map(|_| budget.request(at(0), RequestLane::Fills, RequestCost::default()).unwrap()).collect();
    let refused = budget.request(at(0), RequestLane::Cancel, RequestCost::default());
    assert_eq!(refused, Err(BudgetRefusal::Unanswered { count: grants.len() }));
}

#[test]
fn a_limit_that_the_venue_changes_is_obeyed_at_once() {
    let mut budget = budget();
    assert!(budget.set_limit("weight/1m", 20) && !budget.set_limit("orders/10s", 20));
    assert_eq!(send(&mut budget, 0, RequestLane::Submit, 18), "granted");
    assert!(send(&mut budget, 0, RequestLane::Submit, 1).starts_with("venue-rate: weight/1m has 18 used"));
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    let same = || rule("a", 1, 1, LaneShares::WHOLE);
    assert!(RequestBudget::new(vec![same(), same()]).is_none());
    assert!(RequestBudget::new(vec![rule("a", 0, 1, LaneShares::WHOLE)]).is_none());
    let many = (0..9).map(|n| rule(&n.to_string(), 1, 1, LaneShares::WHOLE)).collect();
    assert!(RequestBudget::new(many).is_none());
}

/// Fills are asked for without a pause, and have used all that they may when a book is wanted.
#[test]
fn a_lane_that_waits_gets_its_fair_share_and_others_what_it_leaves() {
    let mut budget = budget();
    for second in 0..70 {
        assert_eq!(send(&mut budget, second / 2, RequestLane::Fills, 1), "granted");
    }
    assert_eq!(
        send(&mut budget, 61, RequestLane::Depth, 5),
        "venue-rate: weight/1m has 68 used, depth may go to 70, this needs 5; free at 2026-11-16T05:01:02.8125Z"
    );
    // Two have become free; they are not for fills any more, which leave books what they have not had of their share.
    assert_eq!(
        send(&mut budget, 61, RequestLane::Fills, 1),
        "venue-rate: weight/1m has 68 used, fills may go to 40, this needs 1"
    );
    let mut got = [0_u32, 0];
    for second in 62..182 {
        for (place, (lane, weight)) in [(RequestLane::Fills, 1), (RequestLane::Depth, 5)].into_iter().enumerate() {
            while send(&mut budget, second, lane, weight) == "granted" {
                got[place] += weight;
            }
        }
    }
    // In two minutes each gets its share twice at least, and both all that they may use together.
    assert_eq!(got, [80, 60]);
}

/// Nobody waits: a lane may use its ceiling, and one that does not ask again holds nobody up.
#[test]
fn where_no_lane_waits_the_ceilings_alone_count() {
    let mut budget = budget();
    assert_eq!(send(&mut budget, 0, RequestLane::Depth, 40), "granted");
    assert!(send(&mut budget, 0, RequestLane::Depth, 1).starts_with("venue-rate: "));
    let beyond = send(&mut budget, 2, RequestLane::Fills, 31);
    assert_eq!(beyond, "venue-rate: weight/1m has 40 used, fills may go to 70, this needs 31");
    assert_eq!(send(&mut budget, 3, RequestLane::Fills, 30), "granted");
    assert_eq!(send(&mut budget, 122, RequestLane::Fills, 70), "granted");
}

/// Many orders are in doubt: their questions have used all that they may when a statement is wanted.
#[test]
fn inquiries_leave_a_list_that_waits_its_share_and_a_session_waits_for_neither() {
    let mut budget = budget();
    for second in 0..40 {
        assert_eq!(send(&mut budget, second / 2, RequestLane::Inquiry, 2), "granted");
    }
    assert!(send(&mut budget, 30, RequestLane::Statement, 5).starts_with("venue-rate: weight/1m has 80 used"));
    // Twelve have become free.
    assert_eq!(
        send(&mut budget, 63, RequestLane::Inquiry, 2),
        "venue-rate: weight/1m has 68 used, inquiry may go to 65, this needs 2"
    );
    assert_eq!(send(&mut budget, 63, RequestLane::Session, 12), "granted");
    assert_eq!(send(&mut budget, 72, RequestLane::Statement, 5), "granted");
    assert_eq!(send(&mut budget, 72, RequestLane::Inquiry, 20), "granted");
}
