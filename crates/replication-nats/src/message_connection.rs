//! One connection to NATS for messages that no log keeps. A connection that was lost stays lost, because messages may be missing from there
//! on: its owner opens another and begins anew.

use std::collections::HashMap;
use std::fmt;

use async_nats::{Client, Event, HeaderMap, Message, ServerError, Subscriber};
use futures_util::StreamExt;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::nats_client::{connect_failure, options};
use crate::settings::{LogOpenError, NatsSettings, unavailable};

/// Messages of one subscription that wait for their reader. With one more the connection is lost: nothing is missing in silence.
const WAITING_MAX: usize = 65_536;
/// Messages that wait for the connection; a sender of one more waits.
const OUTGOING_MAX: usize = 8_192;
const SEQUENCE: &str = "sequence";

pub struct MessageConnection {
    sender: MessageSender,
    /// What has come, of all subscriptions.
    received: mpsc::Receiver<Message>,
    receive: mpsc::Sender<Message>,
    /// The task of each subscription, by its subject.
    subscriptions: HashMap<String, AbortHandle>,
    lost: watch::Receiver<Option<ConnectionLost>>,
}

/// Sends messages over a connection, in the order of the calls.
#[derive(Clone)]
pub struct MessageSender {
    client: Client,
    lost: watch::Receiver<Option<ConnectionLost>>,
}

/// A message as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NatsMessage {
    pub subject: String,
    /// The sender's number; 0 where it gave none.
    pub sequence: u64,
    pub body: Vec<u8>,
}

/// Why a connection is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLost {
    pub reason: String,
    /// The servers do not let this user do it: another attempt has the same outcome.
    pub is_refused: bool,
}

impl MessageConnection {
    pub async fn open(settings: &NatsSettings) -> Result<Self, LogOpenError> {
        let (told, lost) = watch::channel(None);
        let told = std::sync::Arc::new(told);
        let options = options(settings)?
            .subscription_capacity(WAITING_MAX)
            .client_capacity(OUTGOING_MAX)
            // Once to each server: the library needs a number, and what it reaches is not used.
            .max_reconnects(settings.servers.len())
            .event_callback(move |event| {
                let told = told.clone();
                async move { note_loss(&told, &event) }
            });
        let connecting = tokio::time::timeout(settings.open_wait, options.connect(&settings.servers));
        let client = connecting.await.map_err(unavailable)?.map_err(connect_failure)?;
        let sender = MessageSender { client, lost: lost.clone() };
        let (receive, received) = mpsc::channel(WAITING_MAX);
        Ok(Self { sender, received, receive, subscriptions: HashMap::new(), lost })
    }

    /// What is published to the subject from now on.
    pub async fn subscribe(&mut self, subject: String) -> Result<(), ConnectionLost> {
        let subscription = self.sender.client.subscribe(subject.clone()).await.map_err(lost)?;
        let task = tokio::spawn(forward(subscription, self.receive.clone()));
        self.subscriptions.insert(subject, task.abort_handle());
        self.sender.flush().await
    }

    /// Nothing more of the subject comes soon; what has come already does.
    pub fn unsubscribe(&mut self, subject: &str) {
        self.subscriptions.remove(subject).iter().for_each(AbortHandle::abort);
    }

    pub fn sender(&self) -> MessageSender {
        self.sender.clone()
    }

    /// The next message. Cancel safe.
    pub async fn next(&mut self) -> Result<NatsMessage, ConnectionLost> {
        tokio::select! {
            biased;
            lost = is_lost(&mut self.lost) => Err(lost),
            Some(message) = self.received.recv() => Ok(NatsMessage::from(message)),
        }
    }
}

impl Drop for MessageConnection {
    fn drop(&mut self) {
        self.subscriptions.values().for_each(AbortHandle::abort);
    }
}

/// Where its reader is slow it waits, and so do the messages of the subscription.
async fn forward(mut subscription: Subscriber, receive: mpsc::Sender<Message>) {
    while let Some(message) = subscription.next().await {
        if receive.send(message).await.is_err() {
            return;
        }
    }
}

impl MessageSender {
    /// Waits while too many wait for the connection.
    pub async fn send(&self, subject: String, sequence: u64, body: Vec<u8>) -> Result<(), ConnectionLost> {
        let mut headers = HeaderMap::new();
        headers.insert(SEQUENCE, sequence.to_string());
        let mut watched = self.lost.clone();
        tokio::select! {
            biased;
            lost = is_lost(&mut watched) => Err(lost),
            sent = self.client.publish_with_headers(subject, headers, body.into()) => sent.map_err(lost),
        }
    }

    /// Waits until all that was sent is written to the connection: what is not is lost with the process.
    pub async fn flush(&self) -> Result<(), ConnectionLost> {
        let mut watched = self.lost.clone();
        tokio::select! {
            biased;
            lost = is_lost(&mut watched) => Err(lost),
            flushed = self.client.flush() => flushed.map_err(lost),
        }
    }
}

impl From<Message> for NatsMessage {
    fn from(message: Message) -> Self {
        let sequence = message.headers.as_ref().and_then(|headers| headers.get(SEQUENCE)?.as_str().parse().ok());
        Self { subject: message.subject.to_string(), sequence: sequence.unwrap_or(0), body: message.payload.to_vec() }
    }
}

/// Waits until the connection is lost.
async fn is_lost(watched: &mut watch::Receiver<Option<ConnectionLost>>) -> ConnectionLost {
    match watched.wait_for(Option::is_some).await {
        Ok(lost) => lost.clone().unwrap_or_else(ended),
        Err(_) => ended(),
    }
}

fn ended() -> ConnectionLost {
    lost("the connection to NATS ended")
}

fn lost(reason: impl fmt::Display) -> ConnectionLost {
    ConnectionLost { reason: reason.to_string(), is_refused: false }
}

fn note_loss(told: &watch::Sender<Option<ConnectionLost>>, event: &Event) {
    let found = match event {
        Event::Disconnected | Event::Closed => lost("the connection to the NATS servers broke"),
        Event::SlowConsumer(_) => lost(format!("a slow consumer: {WAITING_MAX} messages of NATS wait to be read")),
        Event::ServerError(ServerError::SlowConsumer(_)) => lost("a slow consumer: the NATS server closed it"),
        Event::ServerError(ServerError::AuthorizationViolation) => {
            ConnectionLost { reason: "the NATS servers do not let this user in".to_owned(), is_refused: true }
        }
        Event::ServerError(ServerError::Other(reason)) => ConnectionLost {
            reason: reason.clone(),
            is_refused: reason.to_lowercase().contains("permissions violation"),
        },
        _ => return,
    };
    // The first reason is the cause of the others.
    told.send_if_modified(|known| known.is_none() && known.replace(found).is_none());
}

impl fmt::Display for ConnectionLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ConnectionLost {}
