//! Renewal of the connection at a venue that opens late, answers late, refuses, or does not answer at all. The test is the venue: it opens
//! and answers each connection itself.

use std::collections::BTreeSet;
use std::time::Duration;

use adapter_kit::connection::{Dialer, TlsRoots, tls_config};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};

use super::{StreamCommand, StreamLink, StreamTask};
use crate::network::{EventSender, NetworkEvent};
use crate::protocol::market_events::MarketEvent;

/// A wait that takes longer has failed, on any machine.
const WAIT_MAX: Duration = Duration::from_secs(60);
const FIRST: &str = "btcusdt@bookTicker";
const SECOND: &str = "ethusdt@bookTicker";

/// The task of the streams, and the venue's side of it.
struct Story {
    listener: TcpListener,
    commands: Sender<StreamCommand>,
    events: Receiver<NetworkEvent>,
}

/// A connection as the venue has it.
struct VenueSide(WebSocketStream<TcpStream>);

impl VenueSide {
    /// The next command: whether streams are wanted, which, and its number.
    async fn command(&mut self) -> (bool, BTreeSet<String>, Value) {
        loop {
            let message = timeout(WAIT_MAX, self.0.next()).await.unwrap().unwrap().unwrap();
            let Message::Text(text) = message else { continue };
            let command: Value = serde_json::from_str(&text).unwrap();
            let streams = command["params"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
            return (command["method"] == "SUBSCRIBE", streams.collect(), command["id"].clone());
        }
    }

    async fn confirm(&mut self) -> (bool, BTreeSet<String>) {
        let (is_wanted, streams, id) = self.command().await;
        self.send(&json!({ "result": null, "id": id })).await;
        (is_wanted, streams)
    }

    async fn quote(&mut self, stream: &str, update: i64) {
        let symbol = stream.split('@').next().unwrap().to_uppercase();
        let data = json!({ "u": update, "s": symbol, "b": "9", "B": "1", "a": "11", "A": "1" });
        self.send(&json!({ "stream": stream, "data": data })).await;
    }

    async fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }
}

impl Story {
    /// With one connection that is open, and these streams asked for on it.
    async fn begin(streams: &[&str]) -> (Self, VenueSide) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}", listener.local_addr().unwrap()).parse().unwrap();
        let roots = TlsRoots::Pem(rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem().into_bytes());
        let dialer = Dialer::new(tls_config(&roots).unwrap(), None, WAIT_MAX);
        let (commands, received) = mpsc::channel(16);
        let (sent, events) = mpsc::channel(1_024);
        let out = EventSender { events: sent, wake: crossbeam_channel::bounded(1).0 };
        tokio::spawn(StreamTask::new(StreamLink { url, dialer, recorder: None }, received, out).run());
        let mut story = Self { listener, commands, events };
        let first = story.accept().await;
        story.until("PricesUp", |event| matches!(event, NetworkEvent::PricesUp)).await;
        if !streams.is_empty() {
            story.subscribe(streams).await;
        }
        (story, first)
    }

    async fn subscribe(&self, streams: &[&str]) {
        self.command(StreamCommand::Subscribe(streams.iter().map(|&name| name.to_owned()).collect())).await;
    }

    async fn command(&self, command: StreamCommand) {
        self.commands.send(command).await.unwrap();
    }

    /// A client that has connected, and waits for the handshake.
    async fn knocking(&self) -> TcpStream {
        timeout(WAIT_MAX, self.listener.accept()).await.unwrap().unwrap().0
    }

    async fn accept(&self) -> VenueSide {
        open(self.knocking().await).await
    }

    /// All that was told, up to what is awaited.
    async fn until(&mut self, what: &str, is_it: impl Fn(&NetworkEvent) -> bool) -> Vec<NetworkEvent> {
        let mut told = Vec::new();
        loop {
            let next = timeout(WAIT_MAX, self.events.recv()).await;
            let event = next.unwrap_or_else(|_| panic!("no {what}: {told:?}")).unwrap();
            let is_last = is_it(&event);
            told.push(event);
            if is_last {
                return told;
            }
        }
    }

    async fn until_renewed(&mut self) -> Vec<NetworkEvent> {
        self.until("PricesRenewed", |event| matches!(event, NetworkEvent::PricesRenewed)).await
    }

    async fn until_quoted(&mut self, symbol: &str) {
        let is_it = |event: &NetworkEvent| matches!(event, NetworkEvent::Market(MarketEvent::Quote(quote)) if quote.symbol == symbol);
        self.until(symbol, is_it).await;
    }
}

async fn open(stream: TcpStream) -> VenueSide {
    VenueSide(accept_async(stream).await.unwrap())
}

fn names(streams: &[&str]) -> BTreeSet<String> {
    streams.iter().map(|&name| name.to_owned()).collect()
}

#[tokio::test]
async fn what_is_subscribed_while_the_new_connection_opens_is_on_it_too() {
    let (mut story, mut old) = Story::begin(&[FIRST]).await;
    assert_eq!(old.confirm().await, (true, names(&[FIRST])));
    story.command(StreamCommand::Renew).await;
    let opening = story.knocking().await;
    story.subscribe(&[SECOND]).await;
    // The task has it before the new connection is open.
    assert_eq!(old.confirm().await, (true, names(&[SECOND])));
    let mut new = open(opening).await;
    let mut asked = BTreeSet::new();
    while asked.len() < 2 {
        let (is_wanted, streams) = new.confirm().await;
        assert!(is_wanted);
        asked.extend(streams);
    }
    assert_eq!(asked, names(&[FIRST, SECOND]));
    story.until_renewed().await;
    new.quote(SECOND, 1).await;
    story.until_quoted("ETHUSDT").await;
}

#[tokio::test]
async fn what_is_not_wanted_any_more_during_the_overlap_does_not_keep_the_new_connection_from_taking_over() {
    let (mut story, mut old) = Story::begin(&[FIRST, SECOND]).await;
    old.confirm().await;
    story.command(StreamCommand::Renew).await;
    let mut new = story.accept().await;
    assert_eq!(new.confirm().await, (true, names(&[FIRST, SECOND])));
    story.command(StreamCommand::Unsubscribe(vec![SECOND.to_owned()])).await;
    assert_eq!(new.confirm().await, (false, names(&[SECOND])));
    story.until_renewed().await;
    new.quote(FIRST, 1).await;
    story.until_quoted("BTCUSDT").await;
}

/// Nothing is subscribed at all, so nothing is answered either.
#[tokio::test]
async fn a_connection_without_streams_is_renewed_too() {
    let (mut story, _old) = Story::begin(&[]).await;
    story.command(StreamCommand::Renew).await;
    let mut new = story.accept().await;
    story.until_renewed().await;
    story.subscribe(&[FIRST]).await;
    assert_eq!(new.confirm().await, (true, names(&[FIRST])));
}

#[tokio::test]
async fn streams_that_only_the_new_connection_has_confirmed_are_believed() {
    let (mut story, mut old) = Story::begin(&[FIRST]).await;
    // The old one is asked, and never answers.
    old.command().await;
    story.command(StreamCommand::Renew).await;
    let mut new = story.accept().await;
    new.confirm().await;
    let before = story.until_renewed().await;
    assert!(!before.iter().any(|event| matches!(event, NetworkEvent::StreamsConfirmed(_))), "{before:?}");
    let is_it = |event: &NetworkEvent| matches!(event, NetworkEvent::StreamsConfirmed(streams) if *streams == [FIRST]);
    story.until("StreamsConfirmed", is_it).await;
}

/// The first new connection is refused a stream, and the next one is never answered: the old one goes on, and a third takes over.
#[tokio::test]
async fn a_new_connection_that_is_refused_or_not_answered_does_not_replace_a_good_one() {
    let (mut story, mut old) = Story::begin(&[FIRST]).await;
    old.confirm().await;
    story.command(StreamCommand::Renew).await;
    let mut refused = story.accept().await;
    let (_, _, id) = refused.command().await;
    refused.send(&json!({ "code": 2, "msg": "Invalid request", "id": id })).await;
    let mut unanswered = story.accept().await;
    unanswered.command().await;
    old.quote(FIRST, 1).await;
    story.until_quoted("BTCUSDT").await;
    let mut third = story.accept().await;
    third.confirm().await;
    let told = story.until_renewed().await;
    let is_loss =
        |event: &&NetworkEvent| matches!(event, NetworkEvent::PricesDown(_) | NetworkEvent::StreamsRefused(_));
    assert_eq!(told.iter().filter(is_loss).count(), 0, "{told:?}");
}
