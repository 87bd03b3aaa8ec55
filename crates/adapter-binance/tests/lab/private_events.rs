//! Private events: what an order does comes by the stream, and equals the lists.

use adapter_binance::connection::ApiMessage;
use adapter_binance::executions::{BinanceFill, ExecutionMeaning, meaning_of_execution};
use adapter_binance::protocol::account_answers::BinanceTrade;
use adapter_binance::protocol::requests::{BinanceRequest, OrderReference, TradesFrom};
use adapter_binance::protocol::user_events::UserEvent;
use domain::Side;

use crate::lab::{Lab, LabSession, run};
use crate::orders::ticket;

/// The next meanings of executions, with the client ids of their orders; balances come in between.
async fn executions(session: &mut LabSession, count: usize) -> Vec<(String, ExecutionMeaning)> {
    let mut seen = Vec::new();
    while seen.len() < count {
        match session.receive().await {
            ApiMessage::Event(UserEvent::Execution(event)) => {
                seen.push((event.order_client_id().to_owned(), meaning_of_execution(&event)));
            }
            ApiMessage::Event(UserEvent::Balances(_)) | ApiMessage::Answer { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    seen
}

async fn send(session: &mut LabSession, request: &BinanceRequest) {
    session.0.send(request, crate::lab::stamp()).await.unwrap();
}

#[test]
fn every_kind_of_key_gets_the_events_of_its_orders() {
    run(async {
        let lab = Lab::start();
        for (index, kind) in ["HMAC", "RSA", "ED25519"].into_iter().enumerate() {
            let mut session = lab.session(kind).await;
            let id = format!("R1-{index}-0");
            let order = ticket("BTCUSDT", Side::Buy, "0.01", Some("20000"), &id);
            send(&mut session, &BinanceRequest::place(&order)).await;
            let marked = format!("{id}_D");
            assert_eq!(executions(&mut session, 1).await, [(marked.clone(), ExecutionMeaning::Accepted)]);
            send(&mut session, &BinanceRequest::amend("BTCUSDT", &marked, "0.005".parse().unwrap())).await;
            assert_eq!(executions(&mut session, 1).await, [(marked.clone(), ExecutionMeaning::Amended)]);
            let cancel =
                BinanceRequest::cancel("BTCUSDT", &OrderReference::Client(marked.clone()), &format!("R1-{index}-1"));
            send(&mut session, &cancel).await;
            let canceled = ExecutionMeaning::Canceled { reason: None };
            assert_eq!(executions(&mut session, 1).await, [(marked, canceled)]);
            assert_eq!(session.0.close().await.len(), 0, "every request was answered");
        }
    });
}

#[test]
fn a_fill_of_the_stream_equals_the_one_of_the_list() {
    run(async {
        let lab = Lab::start();
        let mut session = lab.session("ED25519").await;
        send(&mut session, &BinanceRequest::place(&ticket("BTCUSDT", Side::Buy, "0.01", None, "R1-1-0"))).await;
        let seen = executions(&mut session, 2).await;
        assert_eq!(seen[0], ("R1-1-0_I".to_owned(), ExecutionMeaning::Accepted));
        let ExecutionMeaning::Filled(streamed) = &seen[1].1 else { panic!("{seen:?}") };
        let listed: Vec<BinanceTrade> =
            lab.rest("ED25519").read(&BinanceRequest::my_trades("BTCUSDT", TradesFrom::Newest)).await;
        assert_eq!(BinanceFill::of_trade(&listed[0]).as_ref(), Some(streamed));
    });
}
