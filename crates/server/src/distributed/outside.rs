//! The bus as a strategy in a process of its own sees it: the same promises as inside the server, over a network.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use domain::{Command, Event, SecurityId};
use runtime::strategies::protocol::Request;
use runtime::strategies::{Delivery, Link, Lost};
use tokio::sync::mpsc;

/// How often the server hears that the strategy lives. It is said by the strategy's own thread, so that one that hangs
/// falls silent.
const ALIVE_EVERY: Duration = Duration::from_millis(250);

/// What the strategy has for the conversation.
#[derive(Debug)]
pub(super) enum Said {
    Alive,
    Command(Box<Command>),
    Leaf(Vec<u8>),
    Request(Request),
}

/// The link of one life of a strategy.
pub struct Outside {
    heard: Receiver<Delivery>,
    said: mpsc::Sender<Said>,
    alive_at: Instant,
}

impl Outside {
    pub(super) fn new(heard: Receiver<Delivery>, said: mpsc::Sender<Said>) -> Self {
        Self { heard, said, alive_at: Instant::now() }
    }

    fn say(&self, said: Said) -> Result<(), Lost> {
        self.said.blocking_send(said).map_err(|_| over())
    }
}

fn over() -> Lost {
    Lost("this life of the strategy is over".to_owned())
}

impl Link for Outside {
    fn receive(&mut self, patience: Duration, into: &mut Vec<Delivery>) -> Result<(), Lost> {
        if self.alive_at.elapsed() >= ALIVE_EVERY {
            self.alive_at = Instant::now();
            self.say(Said::Alive)?;
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
        self.say(Said::Command(Box::new(command)))
    }

    fn write(&mut self, leaf: Vec<u8>) -> Result<(), Lost> {
        self.say(Said::Leaf(leaf))
    }
}

/// Of ticks and books only the newest of each security is told.
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
