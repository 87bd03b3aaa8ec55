//! The bus inside the server: the feed by way of a mailbox, commands through the same inbox as everybody's.

use std::sync::Arc;
use std::time::Duration;

use bus::{Bus, Closed};
use crossbeam_channel::Sender;
use domain::{Caller, Command, Envelope, Source, StrategyId, Text};
use strategy::Refused;

use super::clerk::{self, Answering, Asked, Reason};
use super::dispatcher::{self, Mailboxes};
use super::link::{Delivery, Link, Lost};
use super::mailbox::Mailbox;
use super::runner::Note;

/// Where strategies are plugged in.
pub struct Switchboard {
    bus: Bus,
    mailboxes: Mailboxes,
    clerk: Sender<Asked>,
}

impl Switchboard {
    /// Starts the dispatcher and the clerk. Both end with the engine.
    pub fn open(bus: Bus, notes: Sender<Note>) -> std::io::Result<Self> {
        let mailboxes = Mailboxes::default();
        dispatcher::start(&bus.feed, mailboxes.clone())?;
        Ok(Self { bus, mailboxes, clerk: clerk::employ(notes)? })
    }

    /// Events from now on; the caller tells what was before.
    pub fn plug_in(&self, strategy: StrategyId, name: Text) -> Inside {
        let mailbox = Arc::new(Mailbox::new(strategy));
        self.mailboxes.add(strategy, mailbox.clone());
        let caller = Caller { source: Source::Strategy, user: Some(name), origin: None };
        Inside { strategy, caller, inbox: self.bus.inbox.clone(), clerk: self.clerk.clone(), mailbox }
    }

    pub fn unplug(&self, strategy: StrategyId) {
        self.mailboxes.remove(strategy);
    }
}

/// The link of one strategy.
#[derive(Clone)]
pub struct Inside {
    strategy: StrategyId,
    caller: Caller,
    inbox: bus::Inbox,
    clerk: Sender<Asked>,
    mailbox: Arc<Mailbox>,
}

impl Inside {
    pub(super) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    /// Hands a command over; the outcome is told to `answer`, once.
    pub fn ask(&self, command: Command, answer: impl FnOnce(Result<(), Reason>) + Send + 'static) -> Result<(), Lost> {
        // A strategy that was cut off may still be at work; what it asks for has no effect.
        if let Some(reason) = self.mailbox.cut_reason() {
            return Err(Lost(reason));
        }
        match &command {
            Command::Subscribe(wish) => self.mailbox.want(wish.security),
            Command::Unsubscribe(wish) => self.mailbox.drop_wish(wish.security),
            _ => {}
        }
        let answer: Answering = Box::new(answer);
        match self.inbox.command(Envelope { caller: self.caller.clone(), command }) {
            Ok(ticket) => {
                let asked = Asked { strategy: self.strategy, ticket, answer };
                self.clerk.send(asked).map_err(|_| Lost("the server stops".to_owned()))
            }
            Err(Closed::Busy) => {
                let text = "too many requests wait; this one had no effect".into();
                answer(Err(Reason { code: "busy".into(), text }));
                Ok(())
            }
            Err(Closed::Stopped) => Err(Lost("the server stops".to_owned())),
        }
    }
}

impl Link for Inside {
    fn receive(&mut self, patience: Duration, into: &mut Vec<Delivery>) -> Result<(), Lost> {
        self.mailbox.take(patience, into)
    }

    fn send(&mut self, command: Command) -> Result<(), Lost> {
        let (mailbox, asked) = (self.mailbox.clone(), command.clone());
        self.ask(command, move |outcome| {
            if let Err(Reason { code, text }) = outcome {
                mailbox.refuse(Refused { command: asked, code, reason: text });
            }
        })
    }
}
