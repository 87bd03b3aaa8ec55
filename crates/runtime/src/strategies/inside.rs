//! In-process link: event queue and engine inbox for one strategy.

use std::sync::Arc;
use std::time::Duration;

use bus::{Bus, Closed};
use crossbeam_channel::Sender;
use domain::{Caller, Command, Envelope, Source, StrategyId};
use strategy::{Refused, Who};

use super::clerk::{self, Answering, Asked, Reason};
use super::diary::Leaf;
use super::dispatcher::{self, Mailboxes};
use super::link::{Delivery, Link, Lost};
use super::mailbox::Mailbox;
use super::runner::Note;

/// Attaches strategies to the event feed and the inbox.
pub struct Switchboard {
    bus: Bus,
    mailboxes: Mailboxes,
    clerk: Sender<Asked>,
}

impl Switchboard {
    /// Starts the dispatcher and the reply collector. Both end with the engine.
    pub fn open(bus: Bus, notes: Sender<Note>) -> std::io::Result<Self> {
        let mailboxes = Mailboxes::default();
        dispatcher::start(&bus.feed, mailboxes.clone())?;
        Ok(Self { bus, mailboxes, clerk: clerk::employ(notes)? })
    }

    /// Events from now on; the caller delivers the initial state.
    pub fn plug_in(&self, who: &Who, has_diary: bool) -> Inside {
        let mailbox = Arc::new(Mailbox::new(who.id));
        self.mailboxes.add(who.id, mailbox.clone());
        let caller = Caller { source: Source::Strategy, user: Some(who.name.clone()), origin: None };
        let (inbox, clerk) = (self.bus.inbox.clone(), self.clerk.clone());
        Inside { who: who.clone(), has_diary, caller, inbox, clerk, mailbox }
    }

    pub fn unplug(&self, strategy: StrategyId) {
        self.mailboxes.remove(strategy);
    }
}

/// The link of one strategy.
#[derive(Clone)]
pub struct Inside {
    who: Who,
    has_diary: bool,
    caller: Caller,
    inbox: bus::Inbox,
    clerk: Sender<Asked>,
    mailbox: Arc<Mailbox>,
}

impl Inside {
    pub(super) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    /// Sends a command; the outcome is passed to `answer`, once.
    pub fn ask(&self, command: Command, answer: impl FnOnce(Result<(), Reason>) + Send + 'static) -> Result<(), Lost> {
        // A disconnected strategy may still run; its commands have no effect.
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
                let asked = Asked { strategy: self.who.id, ticket, answer };
                self.clerk.send(asked).map_err(|_| stops())
            }
            Err(Closed::Busy) => {
                self.turn_away()?;
                let text = "too many requests wait; this one had no effect".into();
                answer(Err(Reason { code: "busy".into(), text }));
                Ok(())
            }
            Err(Closed::Stopped) => Err(stops()),
        }
    }

    /// Whether a disconnected strategy may begin a new run.
    pub fn may_return(&self) -> bool {
        self.mailbox.may_return()
    }

    /// Whether the strategy's delivery log is journalled.
    pub fn has_diary(&self) -> bool {
        self.has_diary
    }

    /// Records in the delivery log that a command was refused at the inbox and will never be in the journal.
    pub fn turn_away(&self) -> Result<(), Lost> {
        self.write_diary(Leaf::turned_away(self.who.id, self.who.run).to_bytes())
    }

    /// Waits while the engine is behind. Without a delivery log, nothing is written.
    pub fn write_diary(&self, leaf: Vec<u8>) -> Result<(), Lost> {
        if self.has_diary { self.inbox.write_diary(leaf, &self.who.name).map_err(|_| stops()) } else { Ok(()) }
    }
}

fn stops() -> Lost {
    Lost("the server stops".to_owned())
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
    fn write(&mut self, leaf: Vec<u8>) -> Result<(), Lost> {
        self.write_diary(leaf)
    }
}
