//! Remote link: the strategy link over the network, with the same guarantees as inside the server.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use domain::{Command, Event, SecurityId};
use runtime::strategies::protocol::Request;
use runtime::strategies::{Delivery, Link, Lost};
use tokio::sync::{mpsc, oneshot};

/// Heartbeat interval. The strategy's own thread sends it, so that a hanging strategy becomes silent.
const ALIVE_EVERY: Duration = Duration::from_millis(250);

/// An item of the strategy, or of its runner, for the bus client.
#[derive(Debug)]
pub(super) struct Said {
    /// The run of the item: items of an earlier run are dropped.
    pub(super) run: Option<u64>,
    pub(super) words: Words,
}

#[derive(Debug)]
pub(super) enum Words {
    Alive,
    Command(Box<Command>),
    Leaf(Vec<u8>),
    Request(Request),
}

/// The link of one run of a strategy.
pub struct Outside {
    run: u64,
    heard: Receiver<Delivery>,
    said: mpsc::Sender<Said>,
    alive_at: Instant,
    /// Dropped with the link: the strategy has released this run.
    _holds: oneshot::Sender<Infallible>,
}

impl Outside {
    /// The link, and a receiver that ends when the strategy has released it.
    pub(super) fn new(
        run: u64,
        heard: Receiver<Delivery>,
        said: mpsc::Sender<Said>,
    ) -> (Self, oneshot::Receiver<Infallible>) {
        let (holds, let_go) = oneshot::channel();
        (Self { run, heard, said, alive_at: Instant::now(), _holds: holds }, let_go)
    }

    fn say(&self, words: Words) -> Result<(), Lost> {
        self.said.blocking_send(Said { run: Some(self.run), words }).map_err(|_| over())
    }
}

fn over() -> Lost {
    Lost("this life of the strategy is over".to_owned())
}

impl Link for Outside {
    fn receive(&mut self, patience: Duration, into: &mut Vec<Delivery>) -> Result<(), Lost> {
        if self.alive_at.elapsed() >= ALIVE_EVERY {
            self.alive_at = Instant::now();
            self.say(Words::Alive)?;
        }
        match self.heard.recv_timeout(patience.min(ALIVE_EVERY)) {
            Ok(first) => into.push(first),
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(over()),
        }
        into.extend(self.heard.try_iter());
        conflate(into);
        Ok(())
    }

    fn send(&mut self, command: Command) -> Result<(), Lost> {
        self.say(Words::Command(Box::new(command)))
    }

    fn write(&mut self, leaf: Vec<u8>) -> Result<(), Lost> {
        self.say(Words::Leaf(leaf))
    }
}

/// Of ticks and books only the newest of each security is delivered.
fn conflate(deliveries: &mut Vec<Delivery>) {
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
fn quote(delivery: &Delivery) -> Option<(SecurityId, bool)> {
    match delivery {
        Delivery::Event(published) => match &published.event {
            Event::Tick(tick) => Some((tick.security, false)),
            Event::Book(book) => Some((book.security, true)),
            _ => None,
        },
        _ => None,
    }
}
