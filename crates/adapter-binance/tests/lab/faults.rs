//! Faults of the lab: what each answer means, seen through real connections.

use adapter_binance::depth_book::{DepthBook, DepthGap, DepthStep};
use adapter_binance::protocol::error_codes::ErrorMeaning;
use adapter_binance::protocol::market_answers::DepthSnapshot;
use adapter_binance::protocol::market_events::MarketEvent;
use adapter_binance::protocol::order_answers::{BinanceOrder, CancelReplaceOutcome, cancel_replace_outcome};
use adapter_binance::protocol::requests::{BinanceRequest, OrderReference};
use adapter_kit::HoldKind;
use adapter_kit::connection::RequestFailure;
use domain::Side;

use crate::lab::{Lab, run};
use crate::market_data::{change_book, subscribed};
use crate::orders::ticket;

fn place(id: &str) -> BinanceRequest {
    BinanceRequest::place(&ticket("BTCUSDT", Side::Buy, "0.01", Some("20000"), id))
}

#[test]
fn an_answer_that_leaves_an_order_in_doubt_is_unknown_and_others_are_not() {
    run(async {
        let cases = [
            ("taken-unknown", ErrorMeaning::Unknown),
            ("not-taken-unknown", ErrorMeaning::Unknown),
            ("rate-limited", ErrorMeaning::RateLimited),
            ("signature-rule", ErrorMeaning::Key),
            ("key-revoked", ErrorMeaning::Key),
            ("cancel-only", ErrorMeaning::Refused),
            ("endpoint-moved", ErrorMeaning::Refused),
        ];
        for (fault, expected) in cases {
            let lab = Lab::start();
            lab.arm(fault).await;
            let answer = lab.rest("ED25519").call(&place("R1-1-0")).await;
            let error = answer.outcome.unwrap_err();
            assert_eq!(error.meaning, expected, "{fault}: {error:?}");
            let held = answer.hold.map(|hold| hold.kind);
            assert_eq!(held, (fault == "rate-limited").then_some(HoldKind::RetryAfter), "{fault}");
        }
    });
}

#[test]
fn a_cut_answer_is_an_unknown_outcome_over_both_ways() {
    run(async {
        let lab = Lab::start();
        lab.arm("cut-answer").await;
        let cut = lab.rest("HMAC").try_call(&place("R1-1-0")).await.unwrap_err();
        assert!(matches!(cut, RequestFailure::Unknown(_)), "{cut:?}");

        lab.arm("cut-answer").await;
        let mut session = lab.session("ED25519").await;
        let number = session.0.send(&place("R1-2-0"), crate::lab::stamp()).await.unwrap();
        while session.0.receive(crate::lab::now).await.is_ok() {}
        let unanswered: Vec<_> = session.0.unanswered().map(|(number, _)| number).collect();
        assert_eq!(unanswered, [number], "the caller learns which request has no answer");
    });
}

#[test]
fn half_a_replace_is_read_as_half() {
    run(async {
        let lab = Lab::start();
        let rest = lab.rest("HMAC");
        rest.call(&place("R1-1-0")).await.outcome.unwrap();
        lab.arm("replace-half").await;
        let by = ticket("BTCUSDT", Side::Buy, "0.01", Some("21000"), "R1-1-2");
        let old = OrderReference::Client("R1-1-0_D".to_owned());
        let answer = rest.call(&BinanceRequest::cancel_replace(&old, "R1-1-1", &by, true)).await;
        assert_eq!(answer.status, 409);
        let outcome = cancel_replace_outcome(answer.outcome.as_ref());
        assert!(matches!(outcome, CancelReplaceOutcome::CanceledOnly { .. }), "{outcome:?}");
    });
}

#[test]
fn an_order_with_odd_values_can_be_read() {
    run(async {
        let lab = Lab::start();
        let rest = lab.rest("HMAC");
        rest.call(&place("R1-1-0")).await.outcome.unwrap();
        lab.arm("odd-values").await;
        let status = BinanceRequest::order_status("BTCUSDT", &OrderReference::Client("R1-1-0_D".to_owned()));
        let order: BinanceOrder = rest.read(&status).await;
        assert_eq!(adapter_binance::executions::state_of(&order.status), None, "{order:?}");
    });
}

#[test]
fn a_lost_difference_is_told_by_the_next_one() {
    run(async {
        let lab = Lab::start();
        let rest = lab.rest("HMAC");
        let mut session = subscribed(&lab, "BTCUSDT", &["depth@100ms"]).await;
        let mut book = DepthBook::default();
        let snapshot: DepthSnapshot = rest.read(&BinanceRequest::depth("BTCUSDT", 5_000)).await;
        book.on_snapshot(&snapshot, 5_000);
        lab.arm("depth-damage").await;
        let mut number = 0;
        let gap = loop {
            number += 1;
            change_book(&rest, "BTCUSDT", number).await;
            let waited = tokio::time::timeout(std::time::Duration::from_secs(2), session.receive()).await;
            let Ok(Ok(MarketEvent::Depth(difference))) = waited else { continue };
            match book.on_difference(difference) {
                DepthStep::Discarded(gap) => break gap,
                step => assert!(number < 100, "no loss was told, but {step:?}"),
            }
        };
        assert!(matches!(gap, DepthGap::Missed { .. }), "{gap:?}");
        assert!(!book.is_ready());
    });
}
