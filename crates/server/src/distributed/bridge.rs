//! Strategy bridge (server side): requests of strategy processes become commands or notes, messages of the strategy
//! host go to the queue of their strategy.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::time::{Duration, Instant};

use domain::{StrategyId, Text};
use runtime::Clock;
use runtime::strategies::protocol::{self, Letter, Message, Request, Resume};
use runtime::strategies::{Attached, Controls, Lost, Trouble};
use stomp::{Command, Frame};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tracing::{info, warn};

use super::backoff::Backoff;
use super::line::Line;
use super::member::Member;
use super::pump::{Carried, pump};
use super::{REQUESTS, TAKEN, build, deliveries};

/// Events that are queued for the bridge; a sender of one more waits.
const OUTGOING_MAX: usize = 16_384;
/// A broker connection that lasted this long was stable: the back-off is reset.
const STEADY: Duration = Duration::from_secs(5);
/// Queues of ended processes that are drained; beyond this the oldest is dropped.
const LEFT_BEHIND_MAX: usize = 64;
/// The subscription of requests.
const INCOMING: &str = "requests";
const NOT_ATTACHED: &str = "the server does not know this process, or it is replaced by another process";

pub struct Bridge {
    line: Line<DuplexStream>,
    controls: Controls,
    clock: Clock,
    members: BTreeMap<Text, Member>,
    /// Queues of ended processes, oldest first: their messages are dropped.
    left_behind: VecDeque<String>,
    outgoing: mpsc::Sender<Outgoing>,
    answers: mpsc::UnboundedSender<Answered>,
}

/// Inputs of the bridge.
struct Waiting {
    outgoing: mpsc::Receiver<Outgoing>,
    /// Each process has a bounded number of commands in flight, so these need no bound of their own; with one, the
    /// engine's answers and the bridge could wait for each other.
    answers: mpsc::UnboundedReceiver<Answered>,
}

/// The sender of a request.
#[derive(Debug, Clone)]
struct Sender {
    name: Text,
    address: Text,
    epoch: u64,
}

/// Events from other tasks and threads.
enum Outgoing {
    /// A strategy was attached, or rejected.
    Arrived { sender: Sender, resume: Option<Resume>, attached: Box<Result<Attached, Trouble>> },
    /// The host has a message for a strategy.
    Carried(Carried),
}

/// The engine's answer to a command.
struct Answered {
    name: Text,
    run: u64,
    message: Message,
}

impl Bridge {
    /// Runs as long as the program. A lost broker connection is restored, and every process is requested to resume from
    /// the last event that it received.
    pub async fn serve(connect: impl Fn() -> DuplexStream, controls: Controls, clock: Clock) {
        let (outgoing, outgoing_waits) = mpsc::channel(OUTGOING_MAX);
        let (answers, answers_wait) = mpsc::unbounded_channel();
        let mut waiting = Waiting { outgoing: outgoing_waits, answers: answers_wait };
        let mut backoff = Backoff::new();
        let line = open(&connect, &mut backoff).await;
        let (members, left_behind) = (BTreeMap::new(), VecDeque::new());
        let mut bridge = Self { line, controls, clock, members, left_behind, outgoing, answers };
        loop {
            let begun = Instant::now();
            let Err(error) = bridge.converse(&mut waiting).await;
            warn!(%error, "strategy bridge lost the broker connection; reconnecting");
            if begun.elapsed() > STEADY {
                backoff = Backoff::new();
            }
            sleep(backoff.pause()).await;
            bridge.line = open(&connect, &mut backoff).await;
        }
    }

    async fn converse(&mut self, waiting: &mut Waiting) -> io::Result<Infallible> {
        self.line.subscribe(INCOMING, REQUESTS).await?;
        for queue in &self.left_behind {
            self.line.subscribe(queue, queue).await?;
        }
        self.call_back().await?;
        loop {
            tokio::select! {
                frame = self.line.next() => self.hear(&frame?).await?,
                Some(outgoing) = waiting.outgoing.recv() => self.carry(outgoing).await?,
                Some(answered) = waiting.answers.recv() => self.pass_on(answered).await?,
            }
        }
    }

    /// Messages in flight when a connection broke may be lost.
    async fn call_back(&mut self) -> io::Result<()> {
        for (name, member) in &mut self.members {
            if let Some(parcel) = member.call_back() {
                self.line.send_to(&deliveries(name, &member.address), parcel).await?;
            }
        }
        Ok(())
    }

    async fn hear(&mut self, frame: &Frame) -> io::Result<()> {
        if frame.command != Command::Message {
            let text = frame.headers.get("message").unwrap_or_default();
            return Err(io::Error::other(format!("the broker says {}: {text}", frame.command.name())));
        }
        // From a stale queue.
        if frame.headers.get("subscription") != Some(INCOMING) {
            return Ok(());
        }
        let Ok(Letter { strategy: name, epoch, request, address }) = minicbor::decode(&frame.body) else {
            warn!(bytes = frame.body.len(), "malformed request from a strategy process: ignored");
            return Ok(());
        };
        let sender = Sender { name, address, epoch };
        // The broker adds a header with the strategy that the sender's credentials are bound to.
        if frame.headers.get("strategy").is_some_and(|signed| signed != &*sender.name) {
            return self.unwelcome(&sender, "foreign-strategy", "the credentials are bound to another strategy").await;
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
            // The bridge has ended: nothing to attach to.
            let _ = outgoing.blocking_send(Outgoing::Arrived { sender, resume, attached });
        });
        Ok(())
    }

    async fn request(&mut self, sender: Sender, request: Request) -> io::Result<()> {
        let name = &sender.name;
        let Some(member) = self.members.get_mut(name).filter(|member| member.epoch() == sender.epoch) else {
            return self.unwelcome(&sender, "not-attached", NOT_ATTACHED).await;
        };
        if let Request::Taken { number } = request {
            member.taken(number);
            return self.flush(name).await;
        }
        member.pulse.beat();
        match request {
            Request::Alive { heard } => member.pulse.heard(heard),
            Request::Entered { phase, wishes } => {
                member.entered(phase, wishes.into_iter().map(Into::into).collect());
            }
            Request::Failed { reason } => member.failed(&reason),
            Request::Leave => self.leave(name.clone()),
            Request::Command { key, expires, command } => return self.command(name, key, expires, *command).await,
            Request::Diary { key, leaf } => return self.diary(name, key, leaf).await,
            Request::Hello { .. } | Request::Taken { .. } => {}
        }
        Ok(())
    }

    fn leave(&self, name: Text) {
        let controls = self.controls.clone();
        // Detaches a strategy that may still run.
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
        match member.begin(key) {
            Ok(()) => {}
            Err(None) => return Ok(()),
            Err(Some(known)) => return self.send(name, known).await,
        }
        let refusal = if (self.clock)() > expires {
            Some(refusal("deadline-passed", "it came after its deadline and had no effect"))
        } else if member.is_busy() {
            Some(refusal("busy", "too many commands wait for an answer; this had no effect"))
        } else {
            member.check(&command).err()
        };
        if refusal.is_some() {
            member.turn_away();
            return self.answer(name, key, Message::Answer { key, refusal }).await;
        }
        let (answers, run, to) = (self.answers.clone(), member.run, name.clone());
        let asked = member.link.ask(command, move |outcome| {
            let message = Message::Answer { key, refusal: outcome.err().map(Into::into) };
            // The bridge has ended: the answer is dropped.
            let _ = answers.send(Answered { name: to, run, message });
        });
        let Err(Lost(reason)) = asked else { return Ok(()) };
        let may_return = member.link.may_return();
        self.send(name, Message::Cut { reason: reason.into(), may_return }).await
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
            Outgoing::Carried(carried) => self.forward(carried).await,
        }
    }

    async fn forward(&mut self, carried: Carried) -> io::Result<()> {
        let Carried { name, run, message } = carried;
        let Some(member) = self.members.get_mut(&name).filter(|member| member.run == run) else { return Ok(()) };
        let Some(message) = message else {
            member.awaits_replay = false;
            return Ok(());
        };
        match &message {
            Message::Event { .. } if member.awaits_replay => return Ok(()),
            Message::Enter { .. } => member.enters(&message),
            _ => {}
        }
        self.send(&name, message).await
    }

    async fn pass_on(&mut self, answered: Answered) -> io::Result<()> {
        let Answered { name, run, message } = answered;
        let Some(member) = self.members.get_mut(&name).filter(|member| member.run == run) else { return Ok(()) };
        if let Message::Answer { key, .. } = &message {
            member.answered(*key, &message);
        }
        self.send(&name, message).await
    }

    async fn arrived(&mut self, sender: Sender, resume: Option<Resume>, attached: Attached) -> io::Result<()> {
        let Sender { name, address, epoch } = sender;
        let (parts, reference) = Message::of_reference(&attached.reference);
        let welcome = Message::Welcome {
            id: attached.who.id,
            run: attached.who.run,
            is_resumed: attached.is_resumed,
            reference,
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
                info!(strategy = %name, "strategy process attached");
                let outgoing = self.outgoing.clone();
                pump(&attached, move |carried| outgoing.blocking_send(Outgoing::Carried(carried)).is_ok())?;
                let before = self.members.insert(name.clone(), Member::new(attached, epoch, address.clone()));
                if let Some(before) = before.filter(|before| before.address != address) {
                    self.empty(deliveries(&name, &before.address)).await?;
                }
                vec![]
            }
        };
        for message in parts.into_iter().chain([welcome]).chain(unfinished) {
            self.send(&name, message).await?;
        }
        Ok(())
    }

    async fn send(&mut self, name: &Text, message: Message) -> io::Result<()> {
        if let Some(member) = self.members.get_mut(name) {
            member.put(message);
        }
        self.flush(name).await
    }

    /// Sends queued messages of a process as far as its window allows.
    async fn flush(&mut self, name: &Text) -> io::Result<()> {
        let Some(member) = self.members.get_mut(name) else { return Ok(()) };
        let queue = deliveries(name, &member.address);
        while let Some(parcel) = member.next_parcel() {
            self.line.send_to(&queue, parcel).await?;
        }
        Ok(())
    }

    async fn unwelcome(&mut self, sender: &Sender, code: &str, text: &str) -> io::Result<()> {
        let message = Message::Unwelcome { code: code.into(), text: text.into() };
        let parcel = message.into_bytes(sender.epoch, 1);
        self.line.send_to(&deliveries(&sender.name, &sender.address), parcel).await
    }

    /// Messages for a replaced process are dropped, now and when its connection returns more.
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

/// A connection to the broker, retried until there is one.
async fn open(connect: &impl Fn() -> DuplexStream, backoff: &mut Backoff) -> Line<DuplexStream> {
    loop {
        match Line::connect(connect(), None).await {
            Ok(line) => return line,
            Err(error) => info!(%error, "broker rejected the strategy bridge; retrying"),
        }
        sleep(backoff.pause()).await;
    }
}

fn refusal(code: &str, text: &str) -> protocol::Refusal {
    protocol::Refusal { code: code.into(), text: text.into() }
}

fn code_of(trouble: &Trouble) -> &'static str {
    match trouble {
        Trouble::RunsAlready => "strategy-runs",
        Trouble::LivesElsewhere => TAKEN,
        _ => "not-attached",
    }
}

/// Until the replay is complete, newer events stay in history: sent now, they would overtake the older ones.
fn replay(controls: Controls, strategy: StrategyId, resume: Option<Resume>) {
    if let Some(Resume { heard, .. }) = resume {
        tokio::task::spawn_blocking(move || controls.replay(strategy, heard));
    }
}
