//! Market streams: best quotes, trades, and a book that equals the lab's.

use adapter_binance::connection::{STREAMS_OF_A_CONNECTION_MAX, StreamSendError, StreamSession};
use adapter_binance::depth_book::{DepthBook, DepthStep};
use adapter_binance::protocol::encoding::stream_name;
use adapter_binance::protocol::market_answers::DepthSnapshot;
use adapter_binance::protocol::market_events::MarketEvent;
use adapter_binance::protocol::requests::BinanceRequest;
use domain::Side;

use crate::lab::{Lab, LabRest, run};
use crate::orders::{CHINESE, ticket};

/// Confirmed streams of a symbol.
pub(crate) async fn subscribed(lab: &Lab, symbol: &str, streams: &[&str]) -> StreamSession {
    let mut session = lab.streams().await;
    let names: Vec<_> = streams.iter().map(|stream| stream_name(symbol, stream)).collect();
    let number = session.subscribe(&names).await.unwrap();
    let confirmed = MarketEvent::Answered { id: i64::try_from(number).ok(), refused: None };
    while session.receive().await.unwrap() != confirmed {}
    session
}

/// Places an order that changes the book.
pub(crate) async fn change_book(rest: &LabRest, symbol: &str, number: u32) {
    let id = format!("R1-{number}-0");
    let (quantity, limit) = if symbol == CHINESE { ("100", "0.1") } else { ("0.01", "20000") };
    rest.call(&BinanceRequest::place(&ticket(symbol, Side::Buy, quantity, Some(limit), &id))).await.outcome.unwrap();
}

/// Follows differences until the book is at the update of a snapshot, or past it.
async fn follow(session: &mut StreamSession, book: &mut DepthBook, until: i64) {
    while book.last_update().is_none_or(|last| last < until) {
        if let MarketEvent::Depth(difference) = session.receive().await.unwrap() {
            let step = book.on_difference(difference);
            assert!(!matches!(step, DepthStep::Discarded(_)), "{step:?}");
        }
    }
}

#[test]
fn a_book_from_differences_equals_the_venues() {
    run(async {
        let lab = Lab::start();
        let rest = lab.rest("HMAC");
        for symbol in ["BTCUSDT", CHINESE] {
            let mut session = subscribed(&lab, symbol, &["depth@100ms"]).await;
            let mut book = DepthBook::default();
            let request = BinanceRequest::depth(symbol, 5_000);
            let snapshot: DepthSnapshot = rest.read(&request).await;
            assert_eq!(book.on_snapshot(&snapshot, 5_000), DepthStep::Updated);
            change_book(&rest, symbol, 1).await;
            change_book(&rest, symbol, 2).await;
            let theirs: DepthSnapshot = rest.read(&request).await;
            follow(&mut session, &mut book, theirs.last_update.0).await;
            assert_eq!(book.last_update(), Some(theirs.last_update.0));
            assert_eq!(book.bids().collect::<Vec<_>>(), theirs.bids);
            assert_eq!(book.asks().collect::<Vec<_>>(), theirs.asks);
            assert!(theirs.last_update > snapshot.last_update);
            session.close().await;
        }
    });
}

#[test]
fn a_subscription_beyond_the_venues_limit_is_not_sent() {
    run(async {
        let lab = Lab::start();
        let mut session = lab.streams().await;
        let names: Vec<_> = (0..STREAMS_OF_A_CONNECTION_MAX).map(|index| format!("a{index}@trade")).collect();
        session.subscribe(&names).await.unwrap();
        // Those that are there already do not count again.
        session.subscribe(&names[..5]).await.unwrap();
        let one_more = ["b@trade".to_owned()];
        assert!(matches!(session.subscribe(&one_more).await, Err(StreamSendError::TooMany)));
        session.unsubscribe(&names[..1]).await.unwrap();
        session.subscribe(&one_more).await.unwrap();
    });
}

#[test]
fn a_trade_and_the_quote_after_it_come() {
    run(async {
        let lab = Lab::start();
        let mut session = subscribed(&lab, CHINESE, &["trade", "bookTicker"]).await;
        let rest = lab.rest("HMAC");
        let market = ticket(CHINESE, Side::Buy, "100", None, "R1-1-0");
        rest.call(&BinanceRequest::place(&market)).await.outcome.unwrap();
        let (mut trade, mut quote) = (None, None);
        while trade.is_none() || quote.is_none() {
            match session.receive().await.unwrap() {
                MarketEvent::Trade(event) => trade = Some(event),
                MarketEvent::Quote(event) => quote = Some(event),
                other => panic!("{other:?}"),
            }
        }
        let (trade, quote) = (trade.unwrap(), quote.unwrap());
        assert_eq!((trade.symbol.as_str(), trade.is_buyer_maker), (CHINESE, false));
        assert!(quote.bid.price < quote.ask.price && trade.price <= quote.ask.price, "{trade:?} {quote:?}");
    });
}
