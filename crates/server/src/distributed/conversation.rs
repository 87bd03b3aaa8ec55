//! The strategy's end: one conversation that outlives connections. A connection that breaks is made again, and the server is
//! told what was heard last; commands without an answer are sent again under the same key.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use domain::{Bar, Command, Event, Published, ReferenceData, SecurityId, Text};
use runtime::strategies::protocol::{self, Letter, Message, Parcel, Request, Resume};
use runtime::strategies::{Delivery, Lost};
use stomp::Frame;
use strategy::{Refused, Who};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::{interval, sleep, timeout};
use wire::topics::{SHARED_GENERIC_EVENT, SHARED_MARKET_DATA};

use super::backoff::Backoff;
use super::line::Line;
use super::outside::{Outside, Said};
use super::seen::Seen;
use super::server_time::ServerTime;
use super::unanswered::Unanswered;
use super::{REQUESTS, TAKEN, build, deliveries};

/// Deliveries that may wait for the strategy: of prices no more are taken, with one more event of its own it is lost.
const DELIVERIES_MAX: usize = 65_536;
/// What the strategy has said and the network has not taken.
const SAID_MAX: usize = 8_192;
/// Without a connection for so long the conversation is over.
const RECONNECT_MAX: Duration = Duration::from_secs(30);
/// Where another process runs the strategy, this one knocks for so long: one that was killed is not well after two seconds.
const KNOCK_MAX: Duration = Duration::from_secs(4);
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// How often commands are looked through for those whose deadline is over.
const DEADLINES_EVERY: Duration = Duration::from_millis(500);

/// A life of the strategy: it begins with INIT.
pub struct Life {
    pub who: Who,
    pub reference: Arc<ReferenceData>,
    pub link: Outside,
    /// Whether the strategy shall keep a diary.
    pub has_diary: bool,
}

pub struct Conversation {
    lives: Receiver<Life>,
    said: mpsc::Sender<Said>,
    time: ServerTime,
    thread: JoinHandle<Lost>,
}

impl Conversation {
    /// As that strategy with the broker, whose address is asked for at every try: a server that restarts may have moved it.
    /// Where another process runs the strategy and is well, this one must be told to take over.
    pub fn begin(
        broker: impl Fn() -> io::Result<String> + Send + Sync + 'static,
        strategy: Text,
        token: Option<String>,
        takes_over: bool,
    ) -> io::Result<Self> {
        let (begun, lives) = bounded(1);
        let (said, waiting) = mpsc::channel(SAID_MAX);
        let time = ServerTime::new();
        let mut talk = Talk::new(Arc::new(broker), strategy, token, time.clone(), begun, said.downgrade());
        talk.takes_over = takes_over;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = move || runtime.block_on(talk.converse(waiting));
        let thread = std::thread::Builder::new().name("conversation".into()).spawn(run)?;
        Ok(Self { lives, said, time, thread })
    }

    /// The next life; none when the conversation is over.
    pub fn next_life(&self) -> Option<Life> {
        self.lives.recv().ok()
    }

    /// Whether nothing more will come.
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// The server's time.
    pub fn clock(&self) -> runtime::Clock {
        self.time.shared()
    }

    pub fn say(&self, request: Request) {
        // A conversation that is over hears nothing.
        let _ = self.said.blocking_send(Said::Request(request));
    }

    /// Says a request from any thread.
    pub fn sayer(&self) -> impl Fn(Request) + Clone + Send + 'static {
        let said = self.said.downgrade();
        move |request| {
            if let Some(said) = said.upgrade() {
                let _ = said.blocking_send(Said::Request(request));
            }
        }
    }

    /// Everything that was said goes out; then why it is over.
    pub fn end(self) -> Lost {
        drop(self.said);
        self.thread.join().unwrap_or_else(|_| Lost("the conversation broke off".to_owned()))
    }
}

/// Says where the broker is; blocks.
type Whereabouts = Arc<dyn Fn() -> io::Result<String> + Send + Sync>;

/// Both ends of what is being said.
struct Talk {
    broker: Whereabouts,
    strategy: Text,
    /// Of this process, and of no other.
    address: String,
    token: Option<String>,
    takes_over: bool,
    time: ServerTime,
    begun: Sender<Life>,
    said: mpsc::WeakSender<Said>,
    reference: Arc<ReferenceData>,
    run: Option<u64>,
    heard: Option<Sender<Delivery>>,
    seen: Seen,
    wanted: BTreeSet<SecurityId>,
    epoch: u64,
    number: u64,
    is_welcome: bool,
    /// Bars of the past that came before the phase that needs them.
    past: Vec<Bar>,
    /// Said before the server was there.
    unsaid: VecDeque<Request>,
    unanswered: Unanswered,
}

/// Why a connection ended.
enum Break {
    Connection(io::Error),
    /// Another process runs the strategy; it may be one that has just died.
    Taken(String),
    /// There is no way back.
    Final(Lost),
}

impl From<io::Error> for Break {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::Final(Lost(format!("the broker refused: {error}"))),
            _ => Self::Connection(error),
        }
    }
}

fn lost(reason: impl Into<String>) -> Break {
    Break::Final(Lost(reason.into()))
}

impl Talk {
    fn new(
        broker: Whereabouts,
        strategy: Text,
        token: Option<String>,
        time: ServerTime,
        begun: Sender<Life>,
        said: mpsc::WeakSender<Said>,
    ) -> Self {
        Self {
            broker,
            strategy,
            address: format!("{:x}-{:x}", time.now().0, std::process::id()),
            token,
            takes_over: false,
            time,
            begun,
            said,
            reference: Arc::default(),
            run: None,
            heard: None,
            seen: Seen::default(),
            wanted: BTreeSet::new(),
            epoch: 0,
            number: 0,
            is_welcome: false,
            past: vec![],
            unsaid: VecDeque::new(),
            unanswered: Unanswered::default(),
        }
    }

    async fn converse(mut self, mut said: mpsc::Receiver<Said>) -> Lost {
        let (begun, mut has_knocked) = (Instant::now(), false);
        let mut connected_at = begun;
        let mut backoff = Backoff::new();
        loop {
            match self.connection(&mut said, &mut connected_at).await {
                Err(Break::Final(lost)) => return lost,
                Err(Break::Connection(error)) if connected_at.elapsed() > RECONNECT_MAX => {
                    return Lost(format!("the server can't be reached: {error}"));
                }
                Err(Break::Taken(text)) if begun.elapsed() > KNOCK_MAX => return Lost(text),
                Err(Break::Taken(_)) if !std::mem::replace(&mut has_knocked, true) => {
                    tracing::info!(
                        "another process runs the strategy; in case that it has just died, this one knocks again"
                    );
                }
                Err(Break::Taken(_)) => {}
                Err(Break::Connection(error)) if self.is_welcome => {
                    tracing::warn!("the connection is lost and made again: {error}");
                }
                Err(Break::Connection(error)) => {
                    tracing::warn!("the server is not there, so this is tried again: {error}");
                }
                Ok(()) => return Lost("it left".to_owned()),
            }
            if std::mem::take(&mut self.is_welcome) {
                backoff = Backoff::new();
            }
            sleep(backoff.pause()).await;
        }
    }

    async fn connection(&mut self, said: &mut mpsc::Receiver<Said>, connected_at: &mut Instant) -> Result<(), Break> {
        let connecting = async {
            let broker = self.broker.clone();
            let stream = TcpStream::connect(spawn_blocking(move || broker()).await??).await?;
            stream.set_nodelay(true)?;
            Line::connect(stream, self.token.as_deref()).await
        };
        let mut line = timeout(CONNECT_MAX, connecting).await.map_err(io::Error::other)??;
        *connected_at = Instant::now();
        line.subscribe("own", &deliveries(&self.strategy, &self.address)).await?;
        line.subscribe("prices", &format!("/topic/{SHARED_MARKET_DATA}")).await?;
        line.subscribe("events", &format!("/topic/{SHARED_GENERIC_EVENT}")).await?;
        self.hello(&mut line).await?;
        let mut deadlines = interval(DEADLINES_EVERY);
        loop {
            tokio::select! {
                frame = line.next() => {
                    *connected_at = Instant::now();
                    self.hear(&frame?, &mut line).await?;
                }
                said = said.recv() => match said {
                    Some(said) => self.pass_on(said, &mut line).await?,
                    None => return Ok(()),
                },
                _ = deadlines.tick() => self.drop_late(),
            }
        }
    }

    async fn hello(&mut self, line: &mut Line<TcpStream>) -> Result<(), Break> {
        // Later than every one before, also those of a process that died.
        self.epoch = self.time.now().0.unsigned_abs().max(self.epoch + 1);
        self.number = 0;
        self.past.clear();
        let resume = self.run.map(|run| Resume { run, heard: self.seen.newest() });
        let takes_over = self.takes_over;
        self.send(Request::Hello { build: build().into(), resume, takes_over }, line).await
    }

    async fn send(&self, request: Request, line: &mut Line<TcpStream>) -> Result<(), Break> {
        let (strategy, address) = (self.strategy.clone(), self.address.as_str().into());
        let letter = Letter { strategy, epoch: self.epoch, request, address };
        Ok(line.send_to(REQUESTS, protocol::encoded(letter)).await?)
    }

    async fn pass_on(&mut self, said: Said, line: &mut Line<TcpStream>) -> Result<(), Break> {
        let request = match said {
            Said::Alive if self.is_welcome => Request::Alive { heard: self.seen.newest() },
            Said::Alive => return Ok(()),
            Said::Request(request) => request,
            Said::Command(command) => return self.send_keyed(line, |talk| talk.take_command(command)).await,
            Said::Leaf(leaf) => return self.send_keyed(line, |talk| talk.unanswered.leaf(leaf)).await,
        };
        if self.is_welcome {
            self.send(request, line).await
        } else {
            self.unsaid.push_back(request);
            Ok(())
        }
    }

    /// What has a key waits among the unanswered while the server is away.
    async fn send_keyed(
        &mut self,
        line: &mut Line<TcpStream>,
        keyed: impl FnOnce(&mut Self) -> Request,
    ) -> Result<(), Break> {
        let request = keyed(self);
        if self.is_welcome { self.send(request, line).await } else { Ok(()) }
    }

    fn take_command(&mut self, command: Box<Command>) -> Request {
        match &*command {
            Command::Subscribe(wish) => drop(self.wanted.insert(wish.security)),
            Command::Unsubscribe(wish) => drop(self.wanted.remove(&wish.security)),
            _ => {}
        }
        self.unanswered.command(self.time.now(), command)
    }

    async fn hear(&mut self, frame: &Frame, line: &mut Line<TcpStream>) -> Result<(), Break> {
        if frame.command != stomp::Command::Message {
            let text = frame.headers.get("message").unwrap_or_default();
            let text = format!("the broker says {}: {text}", frame.command.name());
            // Who was never let in will not be by knocking again.
            return Err(if self.run.is_none() { lost(text) } else { io::Error::other(text).into() });
        }
        match frame.headers.get("subscription") {
            Some("own") => {
                let parcel = minicbor::decode(&frame.body).map_err(io::Error::other)?;
                self.unpack(parcel, line).await
            }
            Some("prices") => {
                self.price(frame);
                Ok(())
            }
            _ => self.generic(frame),
        }
    }

    fn price(&self, frame: &Frame) {
        let Some(event) = wire::heard::market_data(&frame.body) else { return };
        let is_wanted = match &event {
            Event::Tick(tick) => self.wanted.contains(&tick.security),
            Event::Trade(trade) => self.wanted.contains(&trade.security),
            Event::Book(book) => self.wanted.contains(&book.security),
            Event::Bar(bar) => self.wanted.contains(&bar.security),
            _ => false,
        };
        if is_wanted && let Some(heard) = &self.heard {
            // A strategy that is behind hears newer prices when it is not.
            let _ = heard.try_send(Delivery::Event(self.published(frame, event)));
        }
    }

    fn generic(&self, frame: &Frame) -> Result<(), Break> {
        match wire::heard::generic_event(&frame.body, &self.reference) {
            Some(event) => self.deliver(Delivery::Event(self.published(frame, Event::Generic(Arc::new(event))))),
            None => Ok(()),
        }
    }

    fn published(&self, frame: &Frame, event: Event) -> Published {
        let sequence = frame.headers.get("sequence").and_then(|sequence| sequence.parse().ok()).unwrap_or(0);
        Published { sequence, at: self.time.now(), event }
    }

    async fn unpack(&mut self, parcel: Parcel, line: &mut Line<TcpStream>) -> Result<(), Break> {
        // What an older connection left in the queue was told again already.
        if parcel.epoch != self.epoch || parcel.number <= self.number {
            return Ok(());
        }
        if parcel.number != self.number + 1 {
            return Err(io::Error::other("a parcel is missing").into());
        }
        self.number = parcel.number;
        match parcel.message {
            Message::Welcome { id, run, is_resumed, reference, now, has_diary } => {
                self.time.set(now);
                self.reference = Arc::new(protocol::reference(reference));
                let who = Who { id, name: self.strategy.clone(), run };
                if !is_resumed {
                    self.begin_life(who, has_diary)?;
                }
                self.welcome(line).await
            }
            Message::Unwelcome { code, text } if &*code == TAKEN => Err(Break::Taken(text.to_string())),
            Message::Unwelcome { code, text } => Err(lost(format!("the server refused ({code}): {text}"))),
            Message::Cut { reason } => Err(lost(format!("the server has cut it off: {reason}"))),
            Message::Event { sequence, at, class, payload } => {
                if !self.seen.take(sequence, class, &payload) {
                    return Ok(());
                }
                match protocol::event(sequence, at, class, &payload) {
                    Some(published) => self.deliver(Delivery::Event(published)),
                    None => Ok(()),
                }
            }
            Message::Answer { key, refusal } => self.answered(key, refusal),
            Message::Enter { bars, is_partial: true, .. } => {
                self.past.extend(bars);
                Ok(())
            }
            Message::Enter { phase, bars, is_partial: false } => {
                let past = std::mem::take(&mut self.past).into_iter().chain(bars).collect();
                self.deliver(Delivery::Enter(phase, Arc::new(past)))
            }
        }
    }

    async fn welcome(&mut self, line: &mut Line<TcpStream>) -> Result<(), Break> {
        // Who was let in once takes nobody's place when he comes back.
        (self.is_welcome, self.takes_over) = (true, false);
        tracing::info!("the server has let the strategy in");
        for request in self.unanswered.again() {
            self.send(request, line).await?;
        }
        while let Some(request) = self.unsaid.pop_front() {
            self.send(request, line).await?;
        }
        Ok(())
    }

    /// Whatever the life before had asked for is nobody's any more.
    fn begin_life(&mut self, who: Who, has_diary: bool) -> Result<(), Break> {
        self.unanswered.clear();
        self.unsaid.clear();
        self.wanted.clear();
        self.run = Some(who.run);
        let (heard, deliveries) = bounded(DELIVERIES_MAX);
        self.heard = Some(heard);
        let said = self.said.upgrade().ok_or_else(|| lost("it left"))?;
        let link = Outside::new(deliveries, said);
        let life = Life { who, reference: self.reference.clone(), link, has_diary };
        self.begun.send(life).map_err(|_| lost("it left"))
    }

    fn answered(&mut self, key: u64, refusal: Option<protocol::Refusal>) -> Result<(), Break> {
        let (Some(command), Some(refusal)) = (self.unanswered.answered(key), refusal) else { return Ok(()) };
        let refused = Refused { command: *command, code: refusal.code, reason: refusal.text };
        self.deliver(Delivery::Refused(Box::new(refused)))
    }

    /// The server takes no command after its deadline; whether it took one before is not known.
    fn drop_late(&mut self) {
        for key in self.unanswered.late(self.time.now()) {
            let text = "no answer came before the deadline, so it is not known whether this took effect".into();
            // A strategy that hears nothing is lost at its next event.
            let _ = self.answered(key, Some(protocol::Refusal { code: "outcome-unknown".into(), text }));
        }
    }

    fn deliver(&self, delivery: Delivery) -> Result<(), Break> {
        let Some(heard) = &self.heard else { return Ok(()) };
        match heard.try_send(delivery) {
            Ok(()) => Ok(()),
            Err(crossbeam_channel::TrySendError::Disconnected(_)) => Ok(()),
            Err(crossbeam_channel::TrySendError::Full(_)) => Err(lost("the strategy leaves its events unread")),
        }
    }
}
