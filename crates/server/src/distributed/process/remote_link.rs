//! Remote link: the strategy link over the network, with the same guarantees as inside the server.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use domain::{Command, Event, SecurityId};
use runtime::strategies::protocol::StrategyRequestBody;
use runtime::strategies::{LinkLost, StrategyDelivery, StrategyLink};
use tokio::sync::{mpsc, oneshot};

/// Heartbeat interval. The strategy's own thread sends it, so that a hanging strategy becomes silent.
const HEARTBEAT_EVERY: Duration = Duration::from_millis(250);

/// An item of the strategy, or of its runner, for the bus client.
#[derive(Debug)]
pub(crate) struct OutgoingItem {
    /// The run of the item: items of an earlier run are dropped.
    pub(crate) run: Option<u64>,
    pub(crate) payload: OutgoingPayload,
    /// The deadline of a command counts from here, also where there is no connection.
    pub(crate) said_at: Instant,
}

impl OutgoingItem {
    pub(crate) fn new(run: Option<u64>, payload: OutgoingPayload) -> Self {
        Self { run, payload, said_at: Instant::now() }
    }
}

#[derive(Debug)]
pub(crate) enum OutgoingPayload {
    Heartbeat,
    Command(Box<Command>),
    DeliveryRecord(Vec<u8>),
    Request(StrategyRequestBody),
}

/// The link of one run of a strategy.
pub struct RemoteLink {
    run: u64,
    deliveries: Receiver<StrategyDelivery>,
    outgoing: mpsc::Sender<OutgoingItem>,
    next_heartbeat: Instant,
    /// Dropped with the link: the strategy has released this run.
    _released: oneshot::Sender<Infallible>,
}

impl RemoteLink {
    /// The link, and a receiver that ends when the strategy has released it.
    pub(crate) fn new(
        run: u64,
        heard: Receiver<StrategyDelivery>,
        said: mpsc::Sender<OutgoingItem>,
    ) -> (Self, oneshot::Receiver<Infallible>) {
        let (holds, let_go) = oneshot::channel();
        (Self { run, deliveries: heard, outgoing: said, next_heartbeat: Instant::now(), _released: holds }, let_go)
    }

    fn send_item(&self, words: OutgoingPayload) -> Result<(), LinkLost> {
        self.outgoing.blocking_send(OutgoingItem::new(Some(self.run), words)).map_err(|_| link_closed())
    }
}

fn link_closed() -> LinkLost {
    LinkLost("this life of the strategy is over".to_owned())
}

impl StrategyLink for RemoteLink {
    fn receive(&mut self, patience: Duration, into: &mut Vec<StrategyDelivery>) -> Result<(), LinkLost> {
        if self.next_heartbeat.elapsed() >= HEARTBEAT_EVERY {
            self.next_heartbeat = Instant::now();
            self.send_item(OutgoingPayload::Heartbeat)?;
        }
        match self.deliveries.recv_timeout(patience.min(HEARTBEAT_EVERY)) {
            Ok(first) => into.push(first),
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(link_closed()),
        }
        into.extend(self.deliveries.try_iter());
        conflate(into);
        Ok(())
    }

    fn send(&mut self, command: Command) -> Result<(), LinkLost> {
        self.send_item(OutgoingPayload::Command(Box::new(command)))
    }

    fn write_delivery_log(&mut self, record: Vec<u8>) -> Result<(), LinkLost> {
        self.send_item(OutgoingPayload::DeliveryRecord(record))
    }
}

/// Of ticks and books only the newest of each security is delivered.
fn conflate(deliveries: &mut Vec<StrategyDelivery>) {
    let mut newest: BTreeMap<(SecurityId, bool), usize> = BTreeMap::new();
    for (place, delivery) in deliveries.iter().enumerate() {
        newest.extend(quote(delivery).map(|key| (key, place)));
    }
    let mut place = 0;
    deliveries.retain(|delivery| {
        let is_told = quote(delivery).is_none_or(|key| newest.get(&key) == Some(&place));
        place += 1;
        is_told
    });
}

/// Security and whether it is a book.
fn quote(delivery: &StrategyDelivery) -> Option<(SecurityId, bool)> {
    match delivery {
        StrategyDelivery::Event(published) => match &published.event {
            Event::Tick(tick) => Some((tick.security, false)),
            Event::Book(book) => Some((book.security, true)),
            _ => None,
        },
        _ => None,
    }
}
