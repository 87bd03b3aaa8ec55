//! Command submission: a command waits while a limit is reached, and nothing more is read from its client meanwhile; a
//! received message is never dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bus::{Client, Closed};
use domain::Envelope;
use tokio::time::sleep;

use crate::house::House;
use crate::ledger::{Handing, Pen};
use crate::limits::BUSY_PAUSE_MILLISECONDS;

pub(crate) struct Submission {
    pub(crate) house: Arc<House>,
    pub(crate) pen: Pen,
    pub(crate) client: Arc<Client>,
    pub(crate) envelope: Envelope,
}

/// Whether a command of a session has no room yet: until it is handed over nothing more is taken from the client, and its
/// orders are not all in the engine.
#[derive(Clone, Default)]
pub(crate) struct Waits(Arc<AtomicBool>);

impl Waits {
    pub(crate) fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn end(&self) {
        self.0.store(false, Ordering::Release);
    }

    pub(crate) fn is_so(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What became of a try.
pub(crate) enum Tried {
    HandedOver,
    /// A limit is reached.
    Waits(Box<Submission>),
    Stopped,
}

impl Submission {
    pub(crate) fn try_now(self) -> Tried {
        let command = &self.envelope.command;
        let Ok(allowance) = self.client.try_admit(command) else { return Tried::Waits(Box::new(self)) };
        let place = match self.house.bus.inbox.try_reserve(command) {
            Ok(place) => place,
            Err(Closed::Busy) => return Tried::Waits(Box::new(self)),
            Err(Closed::Stopped) => return Tried::Stopped,
        };
        let Self { house, pen, client, envelope } = self;
        let mut handing = Some(Handing { place, envelope, allowance });
        match (pen.release(&house.bus.inbox, &mut handing), handing) {
            (Ok(()), _) => Tried::HandedOver,
            (Err(Closed::Busy), Some(Handing { envelope, .. })) => {
                Tried::Waits(Box::new(Self { house, pen, client, envelope }))
            }
            (Err(_), _) => Tried::Stopped,
        }
    }

    /// Waits as long as it takes; only a stopped engine refuses.
    pub(crate) async fn when_free(self) -> Result<(), Closed> {
        let Self { house, pen, client, envelope } = self;
        let inbox = &house.bus.inbox;
        let allowance = client.admit(&envelope.command).await;
        let place = inbox.reserve(&envelope.command).await?;
        let mut handing = Some(Handing { place, envelope, allowance });
        while let Err(Closed::Busy) = pen.release(inbox, &mut handing) {
            sleep(Duration::from_millis(BUSY_PAUSE_MILLISECONDS)).await;
        }
        if handing.is_some() { Err(Closed::Stopped) } else { Ok(()) }
    }
}
