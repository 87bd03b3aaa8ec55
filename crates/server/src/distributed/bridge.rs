//! The server's end: strategy processes as members of the strategy host. A letter that comes on the queue of requests
//! becomes a command or a note; what the host has for a strategy goes out on the queue of that strategy.

use std::collections::{BTreeMap, VecDeque};
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
use super::{REQUESTS, TAKEN, build, deliveries};

/// What may wait on its way to the queues; a strategy's pump with one more waits.
const OUTGOING_MAX: usize = 16_384;
/// Queues of processes that are gone and are emptied; of more the oldest is let go.
const LEFT_BEHIND_MAX: usize = 64;
/// The subscription on which letters come.
const INCOMING: &str = "requests";
const NOT_ATTACHED: &str = "the server does not know this process, or it is replaced by another process";
/// How long a pump waits for events before it looks whether it is still needed.
const PUMP_PATIENCE: Duration = Duration::from_millis(500);

pub struct Bridge {
    line: Line<DuplexStream>,
    controls: Controls,
    clock: Clock,
    members: BTreeMap<Text, Member>,
    /// Queues of processes that are gone, oldest first: what is left there is thrown away.
    left_behind: VecDeque<String>,
    outgoing: mpsc::Sender<Outgoing>,
}

/// Who sent a letter.
#[derive(Debug, Clone)]
struct Sender {
    name: Text,
    address: Text,
    epoch: u64,
}

/// What other tasks and threads have for the bridge.
enum Outgoing {
    /// A strategy was let in, or not.
    Arrived {
        sender: Sender,
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
        line.subscribe(INCOMING, REQUESTS).await?;
        let (outgoing, mut waiting) = mpsc::channel(OUTGOING_MAX);
        let (members, left_behind) = (BTreeMap::new(), VecDeque::new());
        let mut bridge = Self { line, controls, clock, members, left_behind, outgoing };
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
        // It comes from a queue that was left behind.
        if frame.headers.get("subscription") != Some(INCOMING) {
            return Ok(());
        }
        let Ok(Letter { strategy: name, epoch, request, address }) = minicbor::decode(&frame.body) else {
            warn!("a strategy process sent what is no letter");
            return Ok(());
        };
        let sender = Sender { name, address, epoch };
        // The broker signs what a strategy sends with the name that it is bound to.
        if frame.headers.get("strategy").is_some_and(|signed| signed != &*sender.name) {
            return self.unwelcome(&sender, "foreign-strategy", "the letter is signed by another").await;
        }
        match request {
            Request::Hello { build, resume, takes_over } => self.hello(sender, &build, resume, takes_over).await,
            request => self.request(sender, request).await,
        }
    }

    async fn hello(
        &mut self,
        sender: Sender,
        theirs: &str,
        resume: Option<Resume>,
        takes_over: bool,
    ) -> io::Result<()> {
        let ours = build();
        if theirs != ours {
            let text = format!("the server is build {ours} and the strategy is build {theirs}: build both alike");
            return self.unwelcome(&sender, "build-mismatch", &text).await;
        }
        let (controls, outgoing) = (self.controls.clone(), self.outgoing.clone());
        tokio::task::spawn_blocking(move || {
            let attached = Box::new(controls.attach(&sender.name, resume, takes_over));
            // A bridge that is gone lets nobody in.
            let _ = outgoing.blocking_send(Outgoing::Arrived { sender, resume, attached });
        });
        Ok(())
    }

    async fn request(&mut self, sender: Sender, request: Request) -> io::Result<()> {
        let name = &sender.name;
        let Some(member) = self.members.get_mut(name).filter(|member| member.epoch == sender.epoch) else {
            return self.unwelcome(&sender, "not-attached", NOT_ATTACHED).await;
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
            Request::Diary { key, leaf } => return self.diary(name, key, leaf).await,
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
            member.turn_away();
            return self.answer(name, key, answer(Some(late))).await;
        }
        if let Err(refusal) = member.check(&command) {
            member.turn_away();
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

    async fn diary(&mut self, name: &Text, key: u64, leaf: Vec<u8>) -> io::Result<()> {
        let Some(member) = self.members.get_mut(name) else { return Ok(()) };
        match member.begin(key) {
            Ok(()) => {
                let refusal = member.write(leaf).err();
                self.answer(name, key, Message::Answer { key, refusal }).await
            }
            Err(known) => self.send(name, known.unwrap_or(Message::Answer { key, refusal: None })).await,
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
            Outgoing::Arrived { sender, resume, attached } => match *attached {
                Ok(attached) => self.arrived(sender, resume, attached).await,
                Err(trouble) => self.unwelcome(&sender, code_of(&trouble), &trouble.to_string()).await,
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

    async fn arrived(&mut self, sender: Sender, resume: Option<Resume>, attached: Attached) -> io::Result<()> {
        let Sender { name, address, epoch } = sender;
        let welcome = Message::Welcome {
            id: attached.who.id,
            run: attached.who.run,
            is_resumed: attached.is_resumed,
            reference: protocol::changes(&attached.reference),
            now: (self.clock)(),
            has_diary: attached.link.has_diary(),
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
                let before = self.members.insert(name.clone(), Member::new(attached, epoch, address.clone()));
                if let Some(before) = before.filter(|before| before.address != address) {
                    self.empty(deliveries(&name, &before.address)).await?;
                }
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
        self.line.send_to(&deliveries(name, &member.address), parcel).await
    }

    async fn unwelcome(&mut self, sender: &Sender, code: &str, text: &str) -> io::Result<()> {
        let message = Message::Unwelcome { code: code.into(), text: text.into() };
        let parcel = message.into_bytes(sender.epoch, 1);
        self.line.send_to(&deliveries(&sender.name, &sender.address), parcel).await
    }

    /// What waits for a process whose place was taken is thrown away, now and when its connection gives more back.
    async fn empty(&mut self, queue: String) -> io::Result<()> {
        self.line.subscribe(&queue, &queue).await?;
        self.left_behind.push_back(queue);
        if self.left_behind.len() > LEFT_BEHIND_MAX
            && let Some(oldest) = self.left_behind.pop_front()
        {
            self.line.unsubscribe(&oldest).await?;
        }
        Ok(())
    }
}

fn code_of(trouble: &Trouble) -> &'static str {
    match trouble {
        Trouble::RunsAlready => "strategy-runs",
        Trouble::LivesElsewhere => TAKEN,
        _ => "not-attached",
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
