//! The order in which granted requests leave.

use adapter_kit::{LaneShares, RequestBudget, RequestCost, RequestLane, RequestQueue};

use crate::budget::{at, rule};

fn budget(limit: u32) -> RequestBudget {
    RequestBudget::new(vec![rule("weight/1m", 60, limit, LaneShares::WHOLE)]).unwrap()
}

fn push(queue: &mut RequestQueue<String>, budget: &mut RequestBudget, lane: RequestLane, order: Option<u64>) -> String {
    let text = order.map_or_else(|| lane.to_string(), |order| format!("{lane} {order}"));
    let pushed = queue.push(at(0), budget, (lane, RequestCost::of(&[1]), order), text);
    pushed.map_or_else(|refusal| refusal.to_string(), |()| "waits".to_owned())
}

fn drain(queue: &mut RequestQueue<String>) -> Vec<String> {
    std::iter::from_fn(|| queue.pop()).map(|queued| queued.request).collect()
}

#[test]
fn requests_leave_by_lane_and_within_a_lane_as_they_came() {
    let (mut queue, mut budget) = (RequestQueue::default(), budget(100));
    for lane in RequestLane::ALL.into_iter().rev() {
        push(&mut queue, &mut budget, lane, None);
    }
    push(&mut queue, &mut budget, RequestLane::Submit, Some(1));
    push(&mut queue, &mut budget, RequestLane::Submit, Some(2));
    let expected = [
        "cancel",
        "submit",
        "submit 1",
        "submit 2",
        "replace",
        "session",
        "inquiry",
        "fills",
        "statement",
        "listing",
        "depth",
    ];
    assert_eq!((queue.len(), drain(&mut queue)), (11, expected.map(str::to_owned).to_vec()));
    assert!(queue.is_empty());
}

#[test]
fn a_cancel_overtakes_other_orders_but_never_the_order_that_it_names() {
    let (mut queue, mut budget) = (RequestQueue::default(), budget(100));
    for (lane, order) in [
        (RequestLane::Submit, 1),
        (RequestLane::Submit, 2),
        (RequestLane::Replace, 2),
        (RequestLane::Cancel, 2),
        (RequestLane::Cancel, 3),
    ] {
        push(&mut queue, &mut budget, lane, Some(order));
    }
    let expected = ["submit 2", "replace 2", "cancel 2", "cancel 3", "submit 1"];
    assert_eq!(drain(&mut queue), expected.map(str::to_owned));
}

#[test]
fn a_request_without_budget_or_place_is_refused_when_it_comes() {
    let (mut queue, mut few) = (RequestQueue::default(), budget(1));
    assert_eq!(push(&mut queue, &mut few, RequestLane::Submit, Some(1)), "waits");
    assert_eq!(
        push(&mut queue, &mut few, RequestLane::Cancel, Some(1)),
        "venue-rate: weight/1m has 1 used, cancel may go to 1, this needs 1"
    );
    let mut plenty = budget(10_000);
    for _ in 0..256 {
        push(&mut queue, &mut plenty, RequestLane::Depth, None);
    }
    let refused = push(&mut queue, &mut plenty, RequestLane::Depth, None);
    assert_eq!(refused, "venue-lane-full: 256 requests of depth wait for the connection");
    assert_eq!(push(&mut queue, &mut plenty, RequestLane::Cancel, None), "waits");
}
