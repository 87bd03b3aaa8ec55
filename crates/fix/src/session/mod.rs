//! FIX session layer for acceptor and initiator: an event and a time in, actions out. The driver decodes messages and
//! passes them one by one; between two of them it executes the actions.

mod actions;
mod link;
mod inbound;
mod logon;
mod numbering;
mod resend;
mod outbound;
mod passing_time;

pub use actions::{Action, Actions, DisconnectReason};
pub use link::{PARKED_BYTES_MAX, PARKED_MESSAGES_MAX, Phase};
pub use outbound::SendError;
pub use resend::RESEND_CHUNK;

use crate::codec::{Decoder, Encoder, Outgoing, Time};
use crate::dictionary::{Checker, Dictionary};
use crate::settings::SessionSettings;
use crate::store::{SEQ_NUM_MAX, SeqNum, Store, StoreError, Traffic};
use link::Link;
use std::sync::Arc;

/// One session over all its connections.
#[derive(Debug)]
pub struct Session<S> {
    settings: Arc<SessionSettings>,
    dictionary: Option<Arc<Dictionary>>,
    store: S,
    link: Link,
    /// Until when the schedule does not change, and whether it is open till then.
    schedule_holds_until: Time,
    open: bool,
    checker: Checker,
    encoder: Encoder,
    draft: Outgoing,
    replay: Decoder,
}

/// Status for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub phase: Phase,
    pub next_incoming: SeqNum,
    pub next_outgoing: SeqNum,
    pub last_received: Option<Time>,
    pub last_sent: Option<Time>,
    /// What the peer was requested to resend, first and last number.
    pub awaited: Option<(SeqNum, SeqNum)>,
    pub parked: usize,
    pub next_reset: Option<Time>,
}

impl<S: Store> Session<S> {
    pub fn new(settings: Arc<SessionSettings>, dictionary: Option<Arc<Dictionary>>, store: S) -> Self {
        Self {
            settings,
            dictionary,
            store,
            link: Link::default(),
            schedule_holds_until: Time::from_nanos(i64::MIN),
            open: false,
            checker: Checker::default(),
            encoder: Encoder::default(),
            draft: Outgoing::default(),
            replay: Decoder::new(),
        }
    }

    pub fn settings(&self) -> &Arc<SessionSettings> {
        &self.settings
    }

    pub fn dictionary(&self) -> Option<&Dictionary> {
        self.dictionary.as_deref()
    }

    pub fn store(&self) -> &S {
        &self.store
    }

    pub fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    pub fn phase(&self) -> Phase {
        self.link.phase
    }

    pub fn status(&self, now: Time) -> Status {
        let change = self.settings.schedule.next_change(now);
        let connected = self.link.phase != Phase::Down;
        Status {
            phase: self.link.phase,
            next_incoming: self.store.next_incoming(),
            next_outgoing: self.store.next_outgoing(),
            last_received: connected.then_some(self.link.last_received),
            last_sent: connected.then_some(self.link.last_sent),
            awaited: self.link.gap.map(|gap| (self.store.next_incoming(), gap.end)),
            parked: self.link.parked.len(),
            next_reset: (change != Time::from_nanos(i64::MAX)).then_some(change),
        }
    }

    /// The peer, or the network, has ended the connection.
    pub fn disconnected(&mut self, now: Time, actions: &mut Actions) -> Result<(), StoreError> {
        if self.link.phase == Phase::Down {
            return Ok(());
        }
        if self.link.phase.is_logged_on() {
            actions.push(Action::LoggedOut);
        }
        let was_let_in = self.link.phase.is_logged_on() || self.link.phase == Phase::LogonSent;
        self.link = Link::default();
        if was_let_in && self.settings.reset_on_disconnect { self.store.reset(now) } else { Ok(()) }
    }

    /// We end the connection.
    fn close(&mut self, now: Time, reason: DisconnectReason, actions: &mut Actions) -> Result<(), StoreError> {
        self.disconnected(now, actions)?;
        actions.push(Action::Close(reason));
        Ok(())
    }

    /// Sequence numbers are reset to 1; queued messages and requests belonged to the old ones.
    fn start_again(&mut self, now: Time) -> Result<(), StoreError> {
        self.link.forget_numbers();
        self.store.reset(now)
    }

    /// Reset by an operator: a peer that is logged on is logged out first.
    pub fn reset(&mut self, now: Time, actions: &mut Actions) -> Result<(), StoreError> {
        if self.link.phase != Phase::Down {
            self.say_goodbye(now, "Sequence numbers are reset", actions)?;
            self.close(now, DisconnectReason::Reset, actions)?;
        }
        self.start_again(now)
    }

    /// Sequence numbers set by an operator, while no peer is connected; returns whether they were set.
    pub fn set_numbers(&mut self, incoming: SeqNum, outgoing: SeqNum) -> Result<bool, StoreError> {
        let is_number = |number| (1..=SEQ_NUM_MAX).contains(&number);
        if self.link.phase != Phase::Down || !is_number(incoming) || !is_number(outgoing) {
            return Ok(false);
        }
        self.store.set_next_incoming(incoming, Traffic::Session)?;
        self.store.set_next_outgoing(outgoing)?;
        Ok(true)
    }
}
