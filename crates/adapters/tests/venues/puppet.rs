//! Scripted venue: the test controls it, the host has the adapter.

use std::sync::{Arc, Mutex, MutexGuard};

use adapters::{Broken, MarketFeed, Sending, Sink, Trading};
use crossbeam_channel::{Receiver, Sender, bounded};
use domain::order::Terms;
use domain::report::{Picture, Profile, Said};
use domain::{ExchangeId, Order, SecurityId, Timestamp};

#[derive(Clone)]
pub(crate) struct Puppet {
    strings: Arc<Mutex<Strings>>,
    ring: Sender<()>,
    bell: Receiver<()>,
}

pub(crate) struct Strings {
    /// Why it cannot be reached, where it cannot.
    pub(crate) unreachable: Option<&'static str>,
    /// Why it gives no snapshot.
    pub(crate) blind: Option<&'static str>,
    /// Why the session is lost at the next delivery.
    pub(crate) lost: Option<&'static str>,
    pub(crate) sending: Sending,
    pub(crate) says: Vec<Said>,
    /// All requests that it got.
    pub(crate) asked: Vec<String>,
}

impl Puppet {
    pub(crate) fn new() -> Self {
        let (ring, bell) = bounded(1);
        let strings = Strings {
            unreachable: None,
            blind: None,
            lost: None,
            sending: Sending::Sent,
            says: Vec::new(),
            asked: Vec::new(),
        };
        Self { strings: Arc::new(Mutex::new(strings)), ring, bell }
    }

    pub(crate) fn strings(&self) -> MutexGuard<'_, Strings> {
        self.strings.lock().unwrap()
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.strings().asked)
    }

    pub(crate) fn ring(&self) {
        let _ = self.ring.try_send(());
    }

    fn ask(&self, what: String) -> Sending {
        self.strings().asked.push(what);
        self.strings().sending.clone()
    }
}

pub(crate) fn picture() -> Picture {
    Picture { orders: Vec::new(), fills: Vec::new(), complete: true }
}

pub(crate) fn profile() -> Profile {
    Profile { exchanges: vec![ExchangeId(1)], expires_orders: true, refuses_duplicates: true, simulated: true }
}

fn unless<T>(why: Option<&'static str>, otherwise: T) -> Result<T, Broken> {
    why.map_or(Ok(otherwise), |why| Err(Broken(why.into())))
}

impl Trading for Puppet {
    fn profile(&self) -> Profile {
        profile()
    }

    fn connect(&mut self, _: Timestamp) -> Result<(), Broken> {
        self.ask("connect".to_owned());
        unless(self.strings().unreachable, ())
    }

    fn picture(&mut self, _: Timestamp) -> Result<Picture, Broken> {
        unless(self.strings().blind, picture())
    }

    fn submit(&mut self, _: Timestamp, order: &Order) -> Sending {
        self.ask(format!("submit {}", order.id))
    }

    fn modify(&mut self, _: Timestamp, order: &Order, terms: Terms) -> Sending {
        self.ask(format!("replace {} with {}", order.id, terms.quantity))
    }

    fn cancel(&mut self, _: Timestamp, order: &Order) -> Sending {
        self.ask(format!("cancel {}", order.id))
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn Sink) -> Result<(), Broken> {
        let mut strings = self.strings();
        strings.says.drain(..).for_each(|said| sink.report(Some(at), said));
        unless(strings.lost.take(), ())
    }

    fn due(&self) -> Option<Timestamp> {
        None
    }

    fn bell(&self) -> Receiver<()> {
        self.bell.clone()
    }

    fn disconnect(&mut self, _: Timestamp) {
        self.ask("disconnect".to_owned());
    }
}

impl MarketFeed for Puppet {
    fn subscribe(&mut self, _: Timestamp, security: SecurityId) -> Sending {
        self.ask(format!("subscribe {security}"))
    }

    fn unsubscribe(&mut self, _: Timestamp, security: SecurityId) -> Sending {
        self.ask(format!("unsubscribe {security}"))
    }
}
