//! Server side of a STOMP connection: bytes and times in, actions out.

use std::borrow::Cow;
use std::sync::Arc;

use crate::decoder::Decoder;
use crate::frame::{Command, Frame};
use crate::time::Time;
use crate::version::Version;

use connect::Opening;
use heart::Heart;
use request::{Request, Wanted};
use transactions::{Step, Transactions};

mod action;
mod breach;
mod connect;
mod heart;
mod ledger;
mod request;
mod rules;
mod selector;
mod subscriptions;
mod transactions;

pub use action::{Action, After, Closing, Credentials, Publication, Subscription, Work};
pub use breach::Breach;
pub use heart::{HEART_BEAT_CAP, HEART_BEAT_FLOOR};
pub use ledger::Token;
pub use request::PREFETCH_MAX;
pub use rules::{
    AnyTopic, CONNECT_WAIT_MAX, DESTINATIONS_MAX, EARLY_BYTES_MAX, Rights, Rules, SUBSCRIPTIONS_MAX, Topics,
};
pub use subscriptions::{AckMode, Marks, SubscriptionKey, Subscriptions, Written};
pub use transactions::{TRANSACTION_BYTES_MAX, TRANSACTION_FRAMES_MAX, TRANSACTIONS_MAX};

/// The server's side of one connection.
#[derive(Debug)]
pub struct Session {
    id: String,
    rules: Arc<Rules>,
    decoder: Decoder,
    phase: Phase,
    heart: Heart,
    rights: Arc<Rights>,
    subscriptions: Subscriptions,
    transactions: Transactions,
}

#[derive(Debug)]
enum Phase {
    /// No CONNECT yet.
    Silent {
        until: Time,
    },
    /// The application checks the login; input of the client is buffered meanwhile.
    Waiting {
        opening: Opening,
        early: Vec<u8>,
    },
    Open,
    Closed,
}

impl Session {
    /// `id` is for the `session` header.
    pub fn new(now: Time, id: String, rules: Arc<Rules>) -> Self {
        Self {
            id,
            decoder: Decoder::new(rules.limits.before_login()),
            phase: Phase::Silent { until: now.after(rules.connect_wait) },
            heart: Heart::still(now, rules.heart_beat_grace),
            rights: Arc::default(),
            subscriptions: Subscriptions::new(Version::V10),
            transactions: Transactions::default(),
            rules,
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    pub fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    /// For the lanes, which write the heads of MESSAGE frames.
    pub fn subscriptions(&mut self) -> &mut Subscriptions {
        &mut self.subscriptions
    }

    /// Bytes have arrived.
    pub fn receive(&mut self, now: Time, bytes: &[u8], actions: &mut Vec<Action>) {
        self.alive(now);
        self.read(bytes, actions);
    }

    /// Proof of life outside STOMP: the pong of a WebSocket.
    pub fn alive(&mut self, now: Time) {
        self.heart.heard(now);
    }

    /// Any bytes have been written.
    pub fn sent(&mut self, now: Time) {
        self.heart.sent(now);
    }

    /// The login is accepted: sends CONNECTED and handles buffered input. Does nothing where the session has ended
    /// before the answer.
    pub fn admit(&mut self, now: Time, rights: Arc<Rights>, actions: &mut Vec<Action>) {
        let Phase::Waiting { opening, early } = &mut self.phase else {
            return;
        };
        let early = std::mem::take(early);
        let connected = opening.connected(&self.id, &self.rules.server, &self.heart.header());
        self.phase = Phase::Open;
        self.decoder.keep_to(self.rules.limits);
        self.rights = rights;
        self.alive(now);
        self.sent(now);
        actions.push(send(&connected, self.subscriptions.version()));
        self.read(&early, actions);
    }

    /// The application ends the connection: a rejected login, a full queue, a slow consumer. The client receives an
    /// ERROR with this short text, which answers the frame of that receipt.
    pub fn refuse(&mut self, text: &str, receipt: Option<&str>, actions: &mut Vec<Action>) {
        if !self.is_closed() {
            self.close(&error(text, None, receipt), Closing::Refused(text.to_owned()), actions);
        }
    }

    /// Time has passed; to be called at [`Session::deadline`] or later.
    pub fn tick(&mut self, now: Time, actions: &mut Vec<Action>) {
        match self.phase {
            Phase::Silent { until } if until <= now => self.end(Breach::ConnectTimeout, None, actions),
            Phase::Open => self.beat(now, actions),
            Phase::Silent { .. } | Phase::Waiting { .. } | Phase::Closed => {}
        }
    }

    fn beat(&mut self, now: Time, actions: &mut Vec<Action>) {
        if let Some(silence) = self.heart.silence(now) {
            self.end(silence, None, actions);
        } else if self.heart.is_due(now) {
            self.heart.sent(now);
            actions.push(Action::Send(Cow::Borrowed(b"\n")));
        }
    }

    /// When [`Session::tick`] is due, unless more is received or sent.
    pub fn deadline(&self) -> Time {
        match self.phase {
            Phase::Silent { until } => until,
            Phase::Open => self.heart.deadline(),
            Phase::Waiting { .. } | Phase::Closed => Time::NEVER,
        }
    }

    fn read(&mut self, mut bytes: &[u8], actions: &mut Vec<Action>) {
        loop {
            match self.phase {
                Phase::Closed => return,
                Phase::Waiting { .. } => return self.keep_early(bytes, actions),
                Phase::Silent { .. } | Phase::Open => {}
            }
            match self.decoder.decode(&mut bytes) {
                Ok(None) => return,
                Ok(Some(frame)) => self.take(frame, actions),
                Err(fault) => self.end(fault.into(), None, actions),
            }
        }
    }

    fn keep_early(&mut self, bytes: &[u8], actions: &mut Vec<Action>) {
        match &mut self.phase {
            Phase::Waiting { early, .. } if early.len() + bytes.len() <= EARLY_BYTES_MAX => {
                early.extend_from_slice(bytes);
            }
            _ => self.end(Breach::EarlyBytes { limit: EARLY_BYTES_MAX }, None, actions),
        }
    }

    fn take(&mut self, frame: Frame, actions: &mut Vec<Action>) {
        let receipt = frame.headers.get("receipt").map(str::to_owned);
        let taken = match self.phase {
            Phase::Silent { .. } => self.open(&frame, actions),
            _ => Request::read(frame, self.subscriptions.version())
                .and_then(|request| self.handle(request, receipt.as_deref(), actions)),
        };
        if let Err(breach) = taken {
            self.end(breach, receipt.as_deref(), actions);
        }
    }

    fn open(&mut self, frame: &Frame, actions: &mut Vec<Action>) -> Result<(), Breach> {
        let (opening, credentials) = Opening::read(frame)?;
        self.heart.agree(frame.headers.get("heart-beat"))?;
        self.decoder.agree_on(opening.version);
        self.subscriptions = Subscriptions::new(opening.version);
        self.phase = Phase::Waiting { opening, early: Vec::new() };
        actions.push(Action::Authenticate(credentials));
        Ok(())
    }

    /// A RECEIPT confirms that its frame and all before it are processed. Only for SUBSCRIBE it is sent first, because
    /// it must reach the client before the subscription's first message.
    fn handle(&mut self, request: Request, receipt: Option<&str>, actions: &mut Vec<Action>) -> Result<(), Breach> {
        match request {
            Request::Subscribe(wanted) => return self.subscribe(wanted, receipt, actions),
            Request::Disconnect => {
                self.confirm(receipt, actions);
                self.phase = Phase::Closed;
                actions.push(Action::Close(Closing::Disconnected));
                return Ok(());
            }
            Request::Unsubscribe(name) => {
                let key = self.subscriptions.close(&name).ok_or(Breach::UnknownSubscription)?;
                actions.push(Action::Unsubscribe(key));
            }
            Request::Do { step, transaction } => {
                self.check(&step, actions)?;
                match transaction {
                    Some(id) => self.transactions.add(&id, step)?,
                    None => self.perform(step, receipt, actions),
                }
            }
            Request::Begin(id) => self.transactions.begin(id)?,
            Request::Commit(id) => self.commit(&id, receipt, actions)?,
            Request::Abort(id) => drop(self.transactions.end(&id)?),
        }
        self.confirm(receipt, actions);
        Ok(())
    }

    fn subscribe(&mut self, wanted: Wanted, receipt: Option<&str>, actions: &mut Vec<Action>) -> Result<(), Breach> {
        if self.subscriptions.contains(&wanted.name) {
            return Err(Breach::SubscriptionExists);
        }
        if self.subscriptions.len() >= self.rules.subscriptions_max {
            return Err(Breach::TooManySubscriptions { limit: self.rules.subscriptions_max });
        }
        if let Some(pattern) = wanted.patterns.iter().find(|pattern| !self.rights.may_subscribe(pattern)) {
            actions.push(Action::Forbidden { command: Command::Subscribe, destination: pattern.text().to_owned() });
            return Err(Breach::MayNotSubscribe);
        }
        if self.subscriptions.patterns() + wanted.patterns.len() > DESTINATIONS_MAX {
            return Err(Breach::TooManyDestinations { limit: DESTINATIONS_MAX });
        }
        let check = |pattern| self.rules.topics.check(pattern, wanted.after.is_some());
        wanted.patterns.iter().try_for_each(check).map_err(Breach::Topic)?;
        let Wanted { name, destination, patterns, mode, prefetch, no_local, snapshot, after } = wanted;
        let key = self.subscriptions.open(name, &destination, &patterns, (mode, prefetch));
        self.confirm(receipt, actions);
        actions.push(Action::Subscribe(Subscription { key, patterns, mode, prefetch, no_local, snapshot, after }));
        Ok(())
    }

    /// Whether a step is permitted, now or on COMMIT.
    fn check(&self, step: &Step, actions: &mut Vec<Action>) -> Result<(), Breach> {
        match step {
            Step::Publish(publication) if !self.rights.may_send(&publication.destination) => {
                let destination = publication.destination.text().to_owned();
                actions.push(Action::Forbidden { command: Command::Send, destination });
                Err(Breach::MayNotSend)
            }
            Step::Settle(which) | Step::Return(which) if !self.subscriptions.is_unsettled(which) => {
                Err(Breach::UnknownMessage)
            }
            _ => Ok(()),
        }
    }

    fn perform(&mut self, step: Step, receipt: Option<&str>, actions: &mut Vec<Action>) {
        let receipt = receipt.map(str::to_owned);
        actions.extend(self.work(step).map(|work| Action::Perform { work, receipt }));
    }

    fn commit(&mut self, id: &str, receipt: Option<&str>, actions: &mut Vec<Action>) -> Result<(), Breach> {
        let steps = self.transactions.end(id)?;
        let work: Vec<Work> = steps.into_iter().filter_map(|step| self.work(step)).collect();
        if !work.is_empty() {
            actions.push(Action::Commit { work, receipt: receipt.map(str::to_owned) });
        }
        Ok(())
    }

    /// The request that remains for the application. Messages of topics only free prefetch, which is done here; the
    /// same holds for one that an earlier acknowledgement of the same transaction has covered.
    fn work(&mut self, step: Step) -> Option<Work> {
        let (which, settle) = match step {
            Step::Publish(publication) => return Some(Work::Publish(publication)),
            Step::Settle(which) => (which, true),
            Step::Return(which) => (which, false),
        };
        let (subscription, tokens) = self.subscriptions.settle(&which).ok()?;
        let work = if settle { Work::Settle { subscription, tokens } } else { Work::Return { subscription, tokens } };
        let is_empty = matches!(&work, Work::Settle { tokens, .. } | Work::Return { tokens, .. } if tokens.is_empty());
        (!is_empty).then_some(work)
    }

    fn confirm(&self, receipt: Option<&str>, actions: &mut Vec<Action>) {
        if let Some(receipt) = receipt {
            let frame = Frame::new(Command::Receipt).with("receipt-id", receipt);
            actions.push(send(&frame, self.subscriptions.version()));
        }
    }

    fn end(&mut self, breach: Breach, receipt: Option<&str>, actions: &mut Vec<Action>) {
        let frame = error(&breach.to_string(), breach.supported_versions(), receipt);
        self.close(&frame, Closing::Breach(breach), actions);
    }

    fn close(&mut self, frame: &Frame, closing: Closing, actions: &mut Vec<Action>) {
        self.phase = Phase::Closed;
        actions.push(send(frame, self.subscriptions.version()));
        actions.push(Action::Close(closing));
    }
}

fn error(text: &str, versions: Option<&str>, receipt: Option<&str>) -> Frame {
    let mut frame = Frame::new(Command::Error).with("message", text).with("content-type", "text/plain");
    versions.into_iter().for_each(|versions| frame.headers.push("version", versions));
    receipt.into_iter().for_each(|receipt| frame.headers.push("receipt-id", receipt));
    frame.with_body(format!("{text}\n"))
}

fn send(frame: &Frame, version: Version) -> Action {
    Action::Send(Cow::Owned(frame.to_bytes(version)))
}
