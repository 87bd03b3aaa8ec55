//! The server's end: strategy processes as members of the strategy host. A letter that comes on the queue of requests
//! becomes a command or a note; what the host has for a strategy goes out on the queue of that strategy.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use domain::command::Phase;
use domain::{Event, IntId, StrategyId, Text};
use runtime::Clock;
use runtime::strategies::protocol::{self, Letter, Message, Request, Resume};
use runtime::strategies::{Attached, Controls, Delivery, Ending, Inside, Link, Lost, Note, Trouble};
use stomp::{Command, Frame};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tracing::{info, warn};

use super::line::Line;
use super::member::Member;
use super::{REQUESTS, build, deliveries};

/// What may wait on its way to the queues; a strategy's pump with one more waits.
const OUTGOING_MAX: usize = 16_384;
/// How long a pump waits for events before it looks whether it is still needed.
const PUMP_PATIENCE: Duration = Duration::from_millis(500);

pub struct Bridge {
    line: Line<DuplexStream>,
    controls: Controls,
    clock: Clock,
    members: BTreeMap<Text, Member>,
    outgoing: mpsc::Sender<Outgoing>,
}

/// What other tasks and threads have for the bridge.
enum Outgoing {
    /// A strategy was let in, or not.
    Arrived {
        name: Text,
        epoch: u64,
        resume: Option<Resume>,
        attached: Box<Result<Attached, Trouble>>,
    },
    Message {
        name: Text,
        run: u64,
        message: Message,
        order: Option<IntId>,
    },
    /// What follows for that strategy begins where it stopped hearing.
    Replay {
        name: Text,
        run: u64,
    },
}

impl Bridge {
    /// Serves until the broker closes.
    pub async fn serve(stream: DuplexStream, controls: Controls, clock: Clock) {
        if let Err(error) = Self::run(stream, controls, clock).await {
            info!("the bus to strategy processes has ended: {error}");
        }
    }

    async fn run(stream: DuplexStream, controls: Controls, clock: Clock) -> io::Result<()> {
        let mut line = Line::connect(stream, None).await?;
        line.subscribe("requests", REQUESTS).await?;
        let (outgoing, mut waiting) = mpsc::channel(OUTGOING_MAX);
        let mut bridge = Self { line, controls, clock, members: BTreeMap::new(), outgoing };
        loop {
            tokio::select! {
                frame = bridge.line.next() => bridge.hear(&frame?).await?,
                Some(outgoing) = waiting.recv() => bridge.carry(outgoing).await?,
            }
        }
    }

    async fn hear(&mut self, frame: &Frame) -> io::Result<()> {
        if frame.command != Command::Message {
            let text = frame.headers.get("message").unwrap_or_default();
            return Err(io::Error::other(format!("the broker says {}: {text}", frame.command.name())));
        }
        let Ok(Letter { strategy, epoch, request }) = minicbor::decode(&frame.body) else {
            warn!("a strategy process sent what is no letter");
            return Ok(());
        };
        // The broker signs what a strategy sends with the name that it is bound to.
        if frame.headers.get("strategy").is_some_and(|signed| signed != &*strategy) {
            return self.unwelcome(&strategy, epoch, "foreign-strategy", "the letter is signed by another").await;
        }
        match request {
            Request::Hello { build, resume } => self.hello(strategy, epoch, &build, resume).await,
            request => self.request(&strategy, epoch, request).await,
        }
    }

    async fn hello(&mut self, name: Text, epoch: u64, theirs: &str, resume: Option<Resume>) -> io::Result<()> {
        let ours = build();
        if theirs != ours {
            let text = format!("the server is build {ours} and the strategy is build {theirs}: build both alike");
            return self.unwelcome(&name, epoch, "build-mismatch", &text).await;
        }
        let (controls, outgoing) = (self.controls.clone(), self.outgoing.clone());
        tokio::task::spawn_blocking(move || {
            let attached = Box::new(controls.attach(&name, resume));
            // A bridge that is gone lets nobody in.
            let _ = outgoing.blocking_send(Outgoing::Arrived { name, epoch, resume, attached });
        });
        Ok(())
    }

    async fn request(&mut self, name: &Text, epoch: u64, request: Request) -> io::Result<()> {
        let Some(member) = self.members.get_mut(name).filter(|member| member.epoch == epoch) else {
            return self.unwelcome(name, epoch, "not-attached", "say hello first").await;
        };
        member.pulse.beat();
        match request {
            Request::Alive { heard } => member.pulse.heard(heard),
            Request::Entered { phase, wishes } => {
                member.entered(phase, wishes.into_iter().map(Into::into).collect());
                if phase == Phase::Exit {
                    member.note(Note::Ended(member.id, Ending::Exited));
                }
            }
            Request::Failed { reason } => member.note(Note::Ended(member.id, Ending::Panicked(reason.to_string()))),
            Request::Leave => self.leave(name.clone()),
            Request::Command { key, expires, command } => return self.command(name, key, expires, *command).await,
            Request::Hello { .. } => {}
        }
        Ok(())
    }

    fn leave(&self, name: Text) {
        let controls = self.controls.clone();
        // One that no longer runs has left.
        tokio::task::spawn_blocking(move || drop(controls.stop(&name)));
    }

    async fn command(
        &mut self,
        name: &Text,
        key: u64,
        expires: domain::Timestamp,
        command: domain::Command,
    ) -> io::Result<()> {
        let Some(member) = self.members.get_mut(name) else { return Ok(()) };
        let answer = |refusal| Message::Answer { key, refusal };
        match member.begin(key) {
            Ok(()) => {}
            Err(None) => return Ok(()),
            Err(Some(known)) => return self.send(name, known).await,
        }
        if (self.clock)() > expires {
            let text = "it came after its deadline and had no effect".into();
            let late = protocol::Refusal { code: "deadline-passed".into(), text };
            return self.answer(name, key, answer(Some(late))).await;
        }
        if let Err(refusal) = member.check(&command) {
            return self.answer(name, key, answer(Some(refusal))).await;
        }
        let (outgoing, run, to) = (self.outgoing.clone(), member.run, name.clone());
        let asked = member.link.ask(command, move |outcome| {
            let message = Message::Answer { key, refusal: outcome.err().map(Into::into) };
            // A bridge that is gone answers nobody.
            let _ = outgoing.blocking_send(Outgoing::Message { name: to, run, message, order: None });
        });
        match asked {
            Ok(()) => Ok(()),
            Err(Lost(reason)) => self.send(name, Message::Cut { reason: reason.into() }).await,
        }
    }

    async fn answer(&mut self, name: &Text, key: u64, message: Message) -> io::Result<()> {
        if let Some(member) = self.members.get_mut(name) {
            member.answered(key, &message);
        }
        self.send(name, message).await
    }

    async fn carry(&mut self, outgoing: Outgoing) -> io::Result<()> {
        match outgoing {
            Outgoing::Arrived { name, epoch, resume, attached } => match *attached {
                Ok(attached) => self.arrived(name, epoch, resume, attached).await,
                Err(trouble) => {
                    let code = if trouble == Trouble::RunsAlready { "strategy-runs" } else { "not-attached" };
                    self.unwelcome(&name, epoch, code, &trouble.to_string()).await
                }
            },
            Outgoing::Message { name, run, message, order } => self.forward(&name, run, message, order).await,
            Outgoing::Replay { name, run } => {
                let member = self.members.get_mut(&name).filter(|member| member.run == run);
                member.into_iter().for_each(|member| member.awaits_replay = false);
                Ok(())
            }
        }
    }

    async fn forward(&mut self, name: &Text, run: u64, message: Message, order: Option<IntId>) -> io::Result<()> {
        let Some(member) = self.members.get_mut(name).filter(|member| member.run == run) else { return Ok(()) };
        order.into_iter().for_each(|int_id| member.owns(int_id));
        match &message {
            Message::Event { .. } if member.awaits_replay => return Ok(()),
            Message::Answer { key, .. } => member.answered(*key, &message),
            Message::Enter { .. } => member.enters(&message),
            _ => {}
        }
        self.send(name, message).await
    }

    async fn arrived(&mut self, name: Text, epoch: u64, resume: Option<Resume>, attached: Attached) -> io::Result<()> {
        let welcome = Message::Welcome {
            id: attached.who.id,
            run: attached.who.run,
            is_resumed: attached.is_resumed,
            reference: protocol::changes(&attached.reference),
            now: (self.clock)(),
        };
        let known = self.members.get_mut(&name).filter(|member| attached.is_resumed && member.run == attached.who.run);
        let unfinished = match known {
            Some(member) => {
                member.resume(epoch);
                replay(self.controls.clone(), member.id, resume);
                member.unfinished_phase()
            }
            None => {
                info!(strategy = %name, "a strategy process is here");
                pump(name.clone(), attached.who.run, attached.link.clone(), self.outgoing.clone())?;
                self.members.insert(name.clone(), Member::new(attached, epoch));
                vec![]
            }
        };
        self.send(&name, welcome).await?;
        for part in unfinished {
            self.send(&name, part).await?;
        }
        Ok(())
    }

    async fn send(&mut self, name: &Text, message: Message) -> io::Result<()> {
        let Some(member) = self.members.get_mut(name) else { return Ok(()) };
        let parcel = member.pack(message);
        self.line.send_to(&deliveries(name), parcel).await
    }

    async fn unwelcome(&mut self, name: &str, epoch: u64, code: &str, text: &str) -> io::Result<()> {
        let message = Message::Unwelcome { code: code.into(), text: text.into() };
        self.line.send_to(&deliveries(name), message.into_bytes(epoch, 1)).await
    }
}

/// A thread that carries what the host has for a strategy, until the host cuts it off.
fn pump(name: Text, run: u64, mut link: Inside, outgoing: mpsc::Sender<Outgoing>) -> io::Result<()> {
    let carry = move || {
        let mut is_over = false;
        while !is_over {
            let mut deliveries = vec![];
            let lost = link.receive(PUMP_PATIENCE, &mut deliveries).err();
            let has_left = |delivery: &Delivery| matches!(delivery, Delivery::Enter(Phase::Exit, _));
            is_over = lost.is_some() || outgoing.is_closed() || deliveries.iter().any(has_left);
            let cut = lost.map(|Lost(reason)| Message::Cut { reason: reason.into() });
            let cut = cut.map(|message| Outgoing::Message { name: name.clone(), run, message, order: None });
            let carried = deliveries.into_iter().flat_map(|delivery| outgoing_of(&name, run, delivery));
            is_over |= carried.chain(cut).map(|carried| outgoing.blocking_send(carried)).any(|sent| sent.is_err());
        }
    };
    std::thread::Builder::new().name("strategy-pump".into()).spawn(carry).map(drop)
}

/// Prices and generic events have topics of their own; refusals are told as answers.
fn outgoing_of(name: &Text, run: u64, delivery: Delivery) -> Vec<Outgoing> {
    let message = |message| Outgoing::Message { name: name.clone(), run, message, order: None };
    match delivery {
        Delivery::Event(published) => {
            let order = match &published.event {
                Event::Order(order) => Some(order.int_id.clone()),
                _ => None,
            };
            let carried = |message| Outgoing::Message { name: name.clone(), run, message, order };
            Message::of_event(&published).map(carried).into_iter().collect()
        }
        Delivery::Enter(phase, past) => Message::of_phase(phase, &past).into_iter().map(message).collect(),
        Delivery::Replay => vec![Outgoing::Replay { name: name.clone(), run }],
        Delivery::Refused(_) => vec![],
    }
}

/// Until it comes, newer events wait in history: told now they would overtake the older ones.
fn replay(controls: Controls, strategy: StrategyId, resume: Option<Resume>) {
    if let Some(Resume { heard, .. }) = resume {
        tokio::task::spawn_blocking(move || controls.replay(strategy, heard));
    }
}
