//! Holds and counts over a restart.

use std::fs;

use adapter_kit::{BudgetFile, HoldSignal, LaneShares, RequestBudget, RequestCost, RequestLane, VenueAnswer};
use expect_test::expect;

use crate::budget::{at, rule, used};

fn new_budget() -> RequestBudget {
    let rules =
        vec![rule("weight/1m", 60, 6_000, LaneShares::STANDARD), rule("orders/1d", 86_400, 1_000, LaneShares::WHOLE)];
    RequestBudget::new(rules).unwrap()
}

fn request(budget: &mut RequestBudget, seconds: i64) -> String {
    let answer = budget.request(at(seconds), RequestLane::Cancel, RequestCost::of(&[1, 1]));
    answer.map_or_else(
        |refusal| refusal.to_string(),
        |grant| {
            budget.on_answer(at(seconds), grant, &VenueAnswer::default());
            "granted".to_owned()
        },
    )
}

/// A budget that was told to wait for 90 seconds after an order.
fn banned_budget() -> RequestBudget {
    let mut budget = new_budget();
    let grant = budget.request(at(0), RequestLane::Submit, RequestCost::of(&[1, 1])).unwrap();
    let mut answer = used("orders/1d", 900);
    answer.hold = HoldSignal::of_http(418, Some("90"), at(0));
    budget.on_answer(at(0), grant, &answer);
    budget
}

#[test]
fn nothing_leaves_before_a_hold_is_on_the_disk() {
    let mut budget = banned_budget();
    let unsaved = "venue-rate-unsaved: the venue's order to wait is not on the disk yet";
    assert_eq!(request(&mut budget, 1), unsaved);
    assert_eq!(request(&mut budget, 500), unsaved, "even when it is over: the next one would be forgotten too");
    let folder = tempfile::tempdir().unwrap();
    let file = BudgetFile::new(folder.path().join("missing").join("rate.json"));
    assert!(file.save_holds(&mut budget).is_err());
    assert_eq!(request(&mut budget, 1), unsaved);
}

#[test]
fn a_ban_and_the_counts_hold_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = BudgetFile::new(folder.path().join("rate.json"));
    assert_eq!(file.load().unwrap(), None);
    file.save_holds(&mut banned_budget()).unwrap();
    expect![[r#"
        {
          "savedAt": "2026-11-16T05:00:00Z",
          "holds": [
            {
              "kind": "ban",
              "scope": "all",
              "until": "2026-11-16T05:01:30Z"
            }
          ],
          "limits": [
            {
              "name": "weight/1m",
              "limit": 6000,
              "used": [
                [
                  "2026-11-16T05:00:00Z",
                  1
                ]
              ],
              "unanswered": 0
            },
            {
              "name": "orders/1d",
              "limit": 1000,
              "used": [
                [
                  "2026-11-16T04:52:30Z",
                  900
                ]
              ],
              "unanswered": 0
            }
          ]
        }"#]]
    .assert_eq(&fs::read_to_string(file.path()).unwrap());

    let mut budget = new_budget();
    budget.restore(at(30), &file.load().unwrap().unwrap()).unwrap();
    assert_eq!(request(&mut budget, 30), "venue-ban: ban holds all requests until 2026-11-16T05:01:30Z");
    assert_eq!(request(&mut budget, 90), "granted");
    let usage: Vec<_> = budget.usage(at(90)).into_iter().map(|limit| (limit.name, limit.used)).collect();
    assert_eq!(usage, [("weight/1m".to_owned(), 1), ("orders/1d".to_owned(), 901)]);
}

#[test]
fn a_clock_that_was_set_back_neither_lengthens_nor_ends_a_hold() {
    let record = banned_budget().record();
    let mut budget = new_budget();
    budget.restore(at(-3_600), &record).unwrap();
    assert_eq!(request(&mut budget, -3_511), "venue-ban: ban holds all requests until 2026-11-16T04:01:30Z");
    assert_eq!(request(&mut budget, -3_510), "granted");
}

#[test]
fn a_request_without_an_answer_counts_after_a_restart() {
    let mut budget = new_budget();
    let _lost_in_the_crash = budget.request(at(0), RequestLane::Submit, RequestCost::of(&[1, 1])).unwrap();
    let record = budget.record();
    let mut budget = new_budget();
    budget.restore(at(30), &record).unwrap();
    assert_eq!(budget.usage(at(80))[0].used, 1);
}

#[test]
fn a_damaged_file_is_refused_because_a_ban_may_stand_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = BudgetFile::new(folder.path().join("rate.json"));
    for content in ["", "{\"savedAt\":", "{\"savedAt\":\"2026-11-16T05:00:00Z\",\"holds\":[],\"limits\":[],\"more\":1}"]
    {
        fs::write(file.path(), content).unwrap();
        let text = file.load().unwrap_err().to_string();
        assert!(text.starts_with("the rate limit state is damaged ("), "{text}");
        assert!(text.ends_with("a ban may stand in it: remove the file if you know that none runs"), "{text}");
    }
    let nonsense = "{\"savedAt\":\"yesterday\",\"holds\":[],\"limits\":[]}";
    fs::write(file.path(), nonsense).unwrap();
    assert!(new_budget().restore(at(0), &file.load().unwrap().unwrap()).is_err());
}
