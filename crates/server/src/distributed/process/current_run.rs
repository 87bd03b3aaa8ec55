//! The run of a strategy in its process, as the bus client sees it, and as the strategy's thread gets it.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use crossbeam_channel::{Sender, TrySendError, bounded};
use domain::{Command, Event, PublishedEvent, ReferenceData, SecurityId};
use runtime::strategies::StrategyDelivery;
use runtime::strategies::protocol::StrategyRequestBody;
use strategy::StrategyIdentity;
use tokio::sync::{mpsc, oneshot};

use super::remote_link::{OutgoingItem, RemoteLink};
use crate::distributed::process::duplicates::PhaseTracker;

/// Deliveries that are queued for the strategy: beyond this prices are dropped, and with one more event of its own it
/// is lost.
const DELIVERIES_MAX: usize = 65_536;

/// A run of the strategy: it begins with INIT.
pub struct StrategyRun {
    pub identity: StrategyIdentity,
    pub reference: Arc<ReferenceData>,
    pub link: RemoteLink,
    /// Whether the strategy records its deliveries.
    pub records_deliveries: bool,
}

/// The strategy leaves its events unread.
pub(crate) struct DeliveriesFull;

pub(crate) struct CurrentRun {
    pub(crate) id: u64,
    /// Absent once the run has ended.
    deliveries: Option<Sender<StrategyDelivery>>,
    /// Ends when the strategy has released its run.
    released: Option<oneshot::Receiver<Infallible>>,
    pub(crate) phases: PhaseTracker,
    wanted: BTreeSet<SecurityId>,
    /// Requests from while there was no connection.
    pub(crate) unsent: VecDeque<StrategyRequestBody>,
}

impl CurrentRun {
    pub(crate) fn begin(
        identity: StrategyIdentity,
        reference: Arc<ReferenceData>,
        records_deliveries: bool,
        outgoing: mpsc::Sender<OutgoingItem>,
    ) -> (Self, StrategyRun) {
        let (sender, deliveries) = bounded(DELIVERIES_MAX);
        let (link, released) = RemoteLink::new(identity.run, deliveries, outgoing);
        let run = Self {
            id: identity.run,
            deliveries: Some(sender),
            released: Some(released),
            phases: PhaseTracker::default(),
            wanted: BTreeSet::new(),
            unsent: VecDeque::new(),
        };
        (run, StrategyRun { identity, reference, link, records_deliveries })
    }

    /// Nothing more is delivered; returns what ends when the strategy has released the run.
    pub(crate) fn end(&mut self) -> Option<oneshot::Receiver<Infallible>> {
        self.deliveries = None;
        self.released.take()
    }

    /// Its number; none once it has ended.
    pub(crate) fn current(&self) -> Option<u64> {
        self.deliveries.as_ref().map(|_| self.id)
    }

    pub(crate) fn note_subscription(&mut self, command: &Command) {
        match command {
            Command::Subscribe(wish) => drop(self.wanted.insert(wish.security)),
            Command::Unsubscribe(wish) => drop(self.wanted.remove(&wish.security)),
            _ => {}
        }
    }

    pub(crate) fn wants(&self, event: &Event) -> bool {
        match event {
            Event::Tick(tick) => self.wanted.contains(&tick.security),
            Event::Trade(trade) => self.wanted.contains(&trade.security),
            Event::Book(book) => self.wanted.contains(&book.security),
            Event::Bar(bar) => self.wanted.contains(&bar.security),
            _ => false,
        }
    }

    pub(crate) fn deliver_price(&self, published: PublishedEvent) {
        if let Some(deliveries) = &self.deliveries {
            // A strategy that is behind receives newer prices later.
            let _ = deliveries.try_send(StrategyDelivery::Event(published));
        }
    }

    pub(crate) fn deliver(&self, delivery: StrategyDelivery) -> Result<(), DeliveriesFull> {
        match self.deliveries.as_ref().map(|deliveries| deliveries.try_send(delivery)) {
            None | Some(Ok(()) | Err(TrySendError::Disconnected(_))) => Ok(()),
            Some(Err(TrySendError::Full(_))) => Err(DeliveriesFull),
        }
    }
}
