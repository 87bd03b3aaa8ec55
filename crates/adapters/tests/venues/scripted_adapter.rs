//! Scripted venue: the test controls it, the host has the adapter.

use std::sync::{Arc, Mutex, MutexGuard};

use adapters::{MarketFeed, OrderSession, ReportSink, SendLease, SendOutcome, SessionLost, VenueOrderRules};
use crossbeam_channel::{Receiver, Sender, bounded};
use domain::order::OrderTerms;
use domain::report::{AdapterCapabilities, CancelKind, RefusesRepeatedIds, ReportKind, VenueSnapshot};
use domain::{AccountId, ExchangeId, Order, SecurityId, Text, Timestamp};

#[derive(Clone)]
pub(crate) struct ScriptedAdapter {
    strings: Arc<Mutex<ScriptedState>>,
    ring: Sender<()>,
    bell: Receiver<()>,
}

pub(crate) struct ScriptedState {
    /// The next connect takes until this is closed.
    pub(crate) held: Option<Receiver<()>>,
    /// Why it cannot be reached, where it cannot.
    pub(crate) unreachable: Option<&'static str>,
    /// Why it gives no snapshot.
    pub(crate) blind: Option<&'static str>,
    /// Why the session is lost at the next delivery.
    pub(crate) lost: Option<&'static str>,
    /// It takes in requests of another process for so long.
    pub(crate) overlap_millis: i64,
    pub(crate) takes_no_cancels: bool,
    pub(crate) sending: SendOutcome,
    pub(crate) says: Vec<ReportKind>,
    /// All requests that it got.
    pub(crate) asked: Vec<String>,
}

impl ScriptedAdapter {
    pub(crate) fn new() -> Self {
        let (ring, bell) = bounded(1);
        let strings = ScriptedState {
            held: None,
            unreachable: None,
            blind: None,
            lost: None,
            overlap_millis: 0,
            takes_no_cancels: false,
            sending: SendOutcome::Sent,
            says: Vec::new(),
            asked: Vec::new(),
        };
        Self { strings: Arc::new(Mutex::new(strings)), ring, bell }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ScriptedState> {
        self.strings.lock().unwrap()
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state().asked)
    }

    pub(crate) fn wake(&self) {
        let _ = self.ring.try_send(());
    }

    fn ask(&self, what: String) -> SendOutcome {
        self.state().asked.push(what);
        self.state().sending.clone()
    }
}

pub(crate) fn snapshot() -> VenueSnapshot {
    VenueSnapshot { complete: true, as_of: Some(Timestamp(0)), ..VenueSnapshot::default() }
}

pub(crate) fn capabilities() -> AdapterCapabilities {
    AdapterCapabilities {
        exchanges: vec![ExchangeId(1)],
        expires_orders: true,
        refuses_repeated_ids: RefusesRepeatedIds::Forever,
        simulated: true,
        ..AdapterCapabilities::default()
    }
}

fn unless<T>(why: Option<&'static str>, otherwise: T) -> Result<T, SessionLost> {
    why.map_or(Ok(otherwise), |why| Err(SessionLost(why.into())))
}

impl OrderSession for ScriptedAdapter {
    fn capabilities(&self) -> AdapterCapabilities {
        let cancel = if self.state().takes_no_cancels { CancelKind::None } else { CancelKind::WhileOpen };
        AdapterCapabilities { cancel, ..capabilities() }
    }

    fn order_rules(&self, _: SecurityId) -> VenueOrderRules {
        VenueOrderRules::default()
    }

    /// What leaves, leaves inside the calls of the host.
    fn set_lease(&mut self, _: SendLease) {}

    fn overlap_millis(&self) -> i64 {
        self.state().overlap_millis
    }

    fn connect(&mut self, _: Timestamp) -> Result<(), SessionLost> {
        self.ask("connect".to_owned());
        let held = self.state().held.take();
        let _ = held.map(|held| held.recv());
        unless(self.state().unreachable, ())
    }

    fn snapshot(&mut self, _: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        unless(self.state().blind, snapshot())
    }

    fn submit(&mut self, _: Timestamp, order: &Order) -> SendOutcome {
        self.ask(format!("submit {}", order.id))
    }

    fn modify(&mut self, _: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.ask(format!("replace {} with {}", order.id, terms.quantity))
    }

    fn cancel(&mut self, _: Timestamp, order: &Order) -> SendOutcome {
        self.ask(format!("cancel {}", order.id))
    }

    fn cancel_leg(&mut self, _: Timestamp, _: &Order, _: &Text) -> SendOutcome {
        SendOutcome::NotSent("an order has one leg here".into())
    }

    fn inquire(&mut self, _: Timestamp, order: &Order) -> SendOutcome {
        self.ask(format!("ask about {}", order.id))
    }

    fn ask_statement(&mut self, _: Timestamp, account: AccountId) -> SendOutcome {
        self.ask(format!("statement of {account}"))
    }

    fn list_open_orders(&mut self, _: Timestamp) -> SendOutcome {
        self.ask("list open orders".to_owned())
    }

    fn list_fills(&mut self, _: Timestamp, security: Option<SecurityId>, cursor: Option<&Text>) -> SendOutcome {
        let security = security.map_or(String::new(), |security| format!(" of {security}"));
        self.ask(format!("list fills{security} after {}", cursor.map_or("the beginning", |cursor| cursor.as_ref())))
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        let mut strings = self.state();
        strings.says.drain(..).for_each(|said| sink.on_report(Some(at), said));
        unless(strings.lost.take(), ())
    }

    fn next_due(&self) -> Option<Timestamp> {
        None
    }

    fn waker(&self) -> Receiver<()> {
        self.bell.clone()
    }

    fn disconnect(&mut self, _: Timestamp) {
        self.ask("disconnect".to_owned());
    }
}

impl MarketFeed for ScriptedAdapter {
    fn subscribe(&mut self, _: Timestamp, security: SecurityId) -> SendOutcome {
        self.ask(format!("subscribe {security}"))
    }

    fn unsubscribe(&mut self, _: Timestamp, security: SecurityId) -> SendOutcome {
        self.ask(format!("unsubscribe {security}"))
    }
}
