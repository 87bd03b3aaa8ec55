//! Server side of a STOMP connection: bytes and times in, actions out.

use std::borrow::Cow;
use std::sync::Arc;

use crate::decoder::FrameDecoder;
use crate::frame::{StompCommand, StompFrame};
use crate::monotonic_time::MonotonicTime;
use crate::version::StompVersion;

use connect::ConnectRequest;
use heart_beat::HeartBeats;
use request::{ClientRequest, SubscribeRequest};
use transactions::{TransactionStep, Transactions};

mod action;
mod protocol_error;
mod connect;
mod heart_beat;
mod delivery;
mod request;
mod rules;
mod selector;
mod subscriptions;
mod transactions;

pub use action::{BrokerRequest, CloseCause, ConnectCredentials, Publication, ReplayStart, StompAction, Subscription};
pub use delivery::{DeliveryFlags, DeliveryToken, SubscriptionKey};
pub use heart_beat::{HEART_BEAT_MAX, HEART_BEAT_MIN};
pub use protocol_error::ProtocolError;
pub use request::PREFETCH_MAX;
pub use rules::{
    AnyTopic, CONNECT_WAIT_MAX, DESTINATIONS_MAX, EARLY_BYTES_MAX, Permissions, SUBSCRIPTIONS_MAX, StompRules,
    TopicCatalog,
};
pub use subscriptions::{AckMode, ConnectionSubscriptions, WriteOutcome};
pub use transactions::{TRANSACTION_BYTES_MAX, TRANSACTION_FRAMES_MAX, TRANSACTIONS_MAX};

/// The server's side of one connection.
#[derive(Debug)]
pub struct StompSession {
    id: String,
    rules: Arc<StompRules>,
    decoder: FrameDecoder,
    phase: ConnectionPhase,
    heart_beats: HeartBeats,
    rights: Arc<Permissions>,
    subscriptions: ConnectionSubscriptions,
    transactions: Transactions,
}

#[derive(Debug)]
enum ConnectionPhase {
    /// No CONNECT yet.
    AwaitingConnect {
        until: MonotonicTime,
    },
    /// The application checks the login; input of the client is buffered meanwhile.
    Authenticating {
        opening: ConnectRequest,
        early: Vec<u8>,
    },
    Open,
    Closed,
}

impl StompSession {
    /// `id` is for the `session` header.
    pub fn new(now: MonotonicTime, id: String, rules: Arc<StompRules>) -> Self {
        Self {
            id,
            decoder: FrameDecoder::new(rules.limits.before_login()),
            phase: ConnectionPhase::AwaitingConnect { until: now.after(rules.connect_wait) },
            heart_beats: HeartBeats::disabled(now, rules.heart_beat_grace),
            rights: Arc::default(),
            subscriptions: ConnectionSubscriptions::new(StompVersion::V10),
            transactions: Transactions::default(),
            rules,
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self.phase, ConnectionPhase::Open)
    }

    pub fn is_closed(&self) -> bool {
        matches!(self.phase, ConnectionPhase::Closed)
    }

    /// For the lanes, which write the heads of MESSAGE frames.
    pub fn subscriptions(&mut self) -> &mut ConnectionSubscriptions {
        &mut self.subscriptions
    }

    /// Bytes have arrived.
    pub fn receive(&mut self, now: MonotonicTime, bytes: &[u8], actions: &mut Vec<StompAction>) {
        self.on_pong(now);
        self.decode_input(bytes, actions);
    }

    /// Proof of life outside STOMP: the pong of a WebSocket.
    pub fn on_pong(&mut self, now: MonotonicTime) {
        self.heart_beats.on_received(now);
    }

    /// Any bytes have been written.
    pub fn on_sent(&mut self, now: MonotonicTime) {
        self.heart_beats.on_sent(now);
    }

    /// The login is accepted: sends CONNECTED and handles buffered input. Does nothing where the session has ended
    /// before the answer.
    pub fn on_authenticated(&mut self, now: MonotonicTime, rights: Arc<Permissions>, actions: &mut Vec<StompAction>) {
        let ConnectionPhase::Authenticating { opening, early } = &mut self.phase else {
            return;
        };
        let early = std::mem::take(early);
        let connected = opening.connected(&self.id, &self.rules.server, &self.heart_beats.header());
        self.phase = ConnectionPhase::Open;
        self.decoder.set_limits(self.rules.limits);
        self.rights = rights;
        self.on_pong(now);
        self.on_sent(now);
        actions.push(send(&connected, self.subscriptions.version()));
        self.decode_input(&early, actions);
    }

    /// The application ends the connection: a rejected login, a full queue, a slow consumer. The client receives an
    /// ERROR with this short text, which answers the frame of that receipt.
    pub fn close_with_error(&mut self, text: &str, receipt: Option<&str>, actions: &mut Vec<StompAction>) {
        if !self.is_closed() {
            self.close(&error(text, None, receipt), CloseCause::Refused(text.to_owned()), actions);
        }
    }

    /// Time has passed; to be called at [`StompSession::deadline`] or later.
    pub fn tick(&mut self, now: MonotonicTime, actions: &mut Vec<StompAction>) {
        match self.phase {
            ConnectionPhase::AwaitingConnect { until } if until <= now => {
                self.fail(ProtocolError::ConnectTimeout, None, actions);
            }
            ConnectionPhase::Open => self.check_heart_beats(now, actions),
            ConnectionPhase::AwaitingConnect { .. }
            | ConnectionPhase::Authenticating { .. }
            | ConnectionPhase::Closed => {}
        }
    }

    fn check_heart_beats(&mut self, now: MonotonicTime, actions: &mut Vec<StompAction>) {
        if let Some(silence) = self.heart_beats.check_silence(now) {
            self.fail(silence, None, actions);
        } else if self.heart_beats.is_due(now) {
            self.heart_beats.on_sent(now);
            actions.push(StompAction::Send(Cow::Borrowed(b"\n")));
        }
    }

    /// When [`StompSession::tick`] is due, unless more is received or sent.
    pub fn deadline(&self) -> MonotonicTime {
        match self.phase {
            ConnectionPhase::AwaitingConnect { until } => until,
            ConnectionPhase::Open => self.heart_beats.deadline(),
            ConnectionPhase::Authenticating { .. } | ConnectionPhase::Closed => MonotonicTime::NEVER,
        }
    }

    fn decode_input(&mut self, mut bytes: &[u8], actions: &mut Vec<StompAction>) {
        loop {
            match self.phase {
                ConnectionPhase::Closed => return,
                ConnectionPhase::Authenticating { .. } => return self.buffer_early(bytes, actions),
                ConnectionPhase::AwaitingConnect { .. } | ConnectionPhase::Open => {}
            }
            match self.decoder.decode(&mut bytes) {
                Ok(None) => return,
                Ok(Some(frame)) => self.handle_frame(frame, actions),
                Err(fault) => self.fail(fault.into(), None, actions),
            }
        }
    }

    fn buffer_early(&mut self, bytes: &[u8], actions: &mut Vec<StompAction>) {
        match &mut self.phase {
            ConnectionPhase::Authenticating { early, .. } if early.len() + bytes.len() <= EARLY_BYTES_MAX => {
                early.extend_from_slice(bytes);
            }
            _ => self.fail(ProtocolError::EarlyBytes { limit: EARLY_BYTES_MAX }, None, actions),
        }
    }

    fn handle_frame(&mut self, frame: StompFrame, actions: &mut Vec<StompAction>) {
        let receipt = frame.headers.get("receipt").map(str::to_owned);
        let taken = match self.phase {
            ConnectionPhase::AwaitingConnect { .. } => self.open(&frame, actions),
            _ => ClientRequest::parse(frame, self.subscriptions.version())
                .and_then(|request| self.handle(request, receipt.as_deref(), actions)),
        };
        if let Err(breach) = taken {
            self.fail(breach, receipt.as_deref(), actions);
        }
    }

    fn open(&mut self, frame: &StompFrame, actions: &mut Vec<StompAction>) -> Result<(), ProtocolError> {
        let (opening, credentials) = ConnectRequest::parse(frame)?;
        self.heart_beats.negotiate(frame.headers.get("heart-beat"))?;
        self.decoder.set_version(opening.version);
        self.subscriptions = ConnectionSubscriptions::new(opening.version);
        self.phase = ConnectionPhase::Authenticating { opening, early: Vec::new() };
        actions.push(StompAction::Authenticate(credentials));
        Ok(())
    }

    /// A RECEIPT confirms that its frame and all before it are processed. Only for SUBSCRIBE it is sent first, because
    /// it must reach the client before the subscription's first message.
    fn handle(
        &mut self,
        request: ClientRequest,
        receipt: Option<&str>,
        actions: &mut Vec<StompAction>,
    ) -> Result<(), ProtocolError> {
        match request {
            ClientRequest::Subscribe(wanted) => return self.subscribe(wanted, receipt, actions),
            ClientRequest::Disconnect => {
                self.send_receipt(receipt, actions);
                self.phase = ConnectionPhase::Closed;
                actions.push(StompAction::Close(CloseCause::Disconnected));
                return Ok(());
            }
            ClientRequest::Unsubscribe(name) => {
                let key = self.subscriptions.close(&name).ok_or(ProtocolError::UnknownSubscription)?;
                actions.push(StompAction::Unsubscribe(key));
            }
            ClientRequest::Operation { step, transaction } => {
                self.check(&step, actions)?;
                match transaction {
                    Some(id) => self.transactions.add(&id, step)?,
                    None => self.execute(step, receipt, actions),
                }
            }
            ClientRequest::Begin(id) => self.transactions.begin(id)?,
            ClientRequest::Commit(id) => self.commit(&id, receipt, actions)?,
            ClientRequest::Abort(id) => drop(self.transactions.end(&id)?),
        }
        self.send_receipt(receipt, actions);
        Ok(())
    }

    fn subscribe(
        &mut self,
        wanted: SubscribeRequest,
        receipt: Option<&str>,
        actions: &mut Vec<StompAction>,
    ) -> Result<(), ProtocolError> {
        if self.subscriptions.contains(&wanted.name) {
            return Err(ProtocolError::SubscriptionExists);
        }
        if self.subscriptions.len() >= self.rules.subscriptions_max {
            return Err(ProtocolError::TooManySubscriptions { limit: self.rules.subscriptions_max });
        }
        if let Some(pattern) = wanted.patterns.iter().find(|pattern| !self.rights.may_subscribe(pattern)) {
            actions.push(StompAction::Forbidden {
                command: StompCommand::Subscribe,
                destination: pattern.text().to_owned(),
            });
            return Err(ProtocolError::MayNotSubscribe);
        }
        if self.subscriptions.patterns() + wanted.patterns.len() > DESTINATIONS_MAX {
            return Err(ProtocolError::TooManyDestinations { limit: DESTINATIONS_MAX });
        }
        let check = |pattern| self.rules.topics.check(pattern, wanted.after.is_some());
        wanted.patterns.iter().try_for_each(check).map_err(ProtocolError::Topic)?;
        let SubscribeRequest { name, destination, patterns, mode, prefetch, no_local, snapshot, after } = wanted;
        let key = self.subscriptions.open(name, &destination, &patterns, (mode, prefetch));
        self.send_receipt(receipt, actions);
        actions.push(StompAction::Subscribe(Subscription { key, patterns, mode, prefetch, no_local, snapshot, after }));
        Ok(())
    }

    /// Whether a step is permitted, now or on COMMIT.
    fn check(&self, step: &TransactionStep, actions: &mut Vec<StompAction>) -> Result<(), ProtocolError> {
        match step {
            TransactionStep::Publish(publication) if !self.rights.may_send(&publication.destination) => {
                let destination = publication.destination.text().to_owned();
                actions.push(StompAction::Forbidden { command: StompCommand::Send, destination });
                Err(ProtocolError::MayNotSend)
            }
            TransactionStep::Ack(which) | TransactionStep::Nack(which) if !self.subscriptions.is_unacked(which) => {
                Err(ProtocolError::UnknownMessage)
            }
            _ => Ok(()),
        }
    }

    fn execute(&mut self, step: TransactionStep, receipt: Option<&str>, actions: &mut Vec<StompAction>) {
        let receipt = receipt.map(str::to_owned);
        actions.extend(self.broker_request(step).map(|work| StompAction::Execute { work, receipt }));
    }

    fn commit(&mut self, id: &str, receipt: Option<&str>, actions: &mut Vec<StompAction>) -> Result<(), ProtocolError> {
        let steps = self.transactions.end(id)?;
        let work: Vec<BrokerRequest> = steps.into_iter().filter_map(|step| self.broker_request(step)).collect();
        if !work.is_empty() {
            actions.push(StompAction::Commit { work, receipt: receipt.map(str::to_owned) });
        }
        Ok(())
    }

    /// The request that remains for the application. Messages of topics only free prefetch, which is done here; the
    /// same holds for one that an earlier acknowledgement of the same transaction has covered.
    fn broker_request(&mut self, step: TransactionStep) -> Option<BrokerRequest> {
        let (which, settle) = match step {
            TransactionStep::Publish(publication) => return Some(BrokerRequest::Publish(publication)),
            TransactionStep::Ack(which) => (which, true),
            TransactionStep::Nack(which) => (which, false),
        };
        let (subscription, tokens) = self.subscriptions.acknowledge(&which).ok()?;
        let work = if settle {
            BrokerRequest::Acknowledge { subscription, tokens }
        } else {
            BrokerRequest::Requeue { subscription, tokens }
        };
        let is_empty = matches!(&work, BrokerRequest::Acknowledge { tokens, .. } | BrokerRequest::Requeue { tokens, .. } if tokens.is_empty());
        (!is_empty).then_some(work)
    }

    fn send_receipt(&self, receipt: Option<&str>, actions: &mut Vec<StompAction>) {
        if let Some(receipt) = receipt {
            let frame = StompFrame::new(StompCommand::Receipt).with("receipt-id", receipt);
            actions.push(send(&frame, self.subscriptions.version()));
        }
    }

    fn fail(&mut self, breach: ProtocolError, receipt: Option<&str>, actions: &mut Vec<StompAction>) {
        let frame = error(&breach.to_string(), breach.supported_versions(), receipt);
        self.close(&frame, CloseCause::Breach(breach), actions);
    }

    fn close(&mut self, frame: &StompFrame, closing: CloseCause, actions: &mut Vec<StompAction>) {
        self.phase = ConnectionPhase::Closed;
        actions.push(send(frame, self.subscriptions.version()));
        actions.push(StompAction::Close(closing));
    }
}

fn error(text: &str, versions: Option<&str>, receipt: Option<&str>) -> StompFrame {
    let mut frame = StompFrame::new(StompCommand::Error).with("message", text).with("content-type", "text/plain");
    versions.into_iter().for_each(|versions| frame.headers.push("version", versions));
    receipt.into_iter().for_each(|receipt| frame.headers.push("receipt-id", receipt));
    frame.with_body(format!("{text}\n"))
}

fn send(frame: &StompFrame, version: StompVersion) -> StompAction {
    StompAction::Send(Cow::Owned(frame.to_bytes(version)))
}
