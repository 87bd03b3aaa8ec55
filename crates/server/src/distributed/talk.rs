//! Bus client of a strategy process. It reconnects, resumes after the last received event and resends unanswered
//! commands under the same key; when the server has ended a run, it releases it and starts the next.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};
use domain::command::{Phase, ReferenceChange};
use domain::{Bar, Command, Event, Published, ReferenceData, SecurityId, Text};
use runtime::strategies::protocol::{self, Letter, Message, Parcel, Request, Resume};
use runtime::strategies::{Delivery, Lost};
use stomp::Frame;
use strategy::{Refused, Who};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::{interval, sleep, timeout};
use wire::topics::{SHARED_GENERIC_EVENT, SHARED_MARKET_DATA};

use super::backoff::Backoff;
use super::conversation::Life;
use super::line::Line;
use super::outside::{Outside, Said, Words};
use super::phases::{Phases, Telling};
use super::seen::Seen;
use super::server_time::ServerTime;
use super::taken::Taken;
use super::unanswered::Unanswered;
use super::{REQUESTS, TAKEN, build, deliveries};

/// Deliveries that are queued for the strategy: beyond this prices are dropped, and with one more event of its own it
/// is lost.
const DELIVERIES_MAX: usize = 65_536;
/// Without a connection for this long the client gives up.
const RECONNECT_MAX: Duration = Duration::from_secs(30);
/// How long to retry while another process runs the strategy: a killed one is declared dead after two seconds.
const KNOCK_MAX: Duration = Duration::from_secs(4);
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// How often expired commands are searched.
const DEADLINES_EVERY: Duration = Duration::from_millis(500);
/// A strategy whose run has ended returns from its call-back within this time, or it hangs and its process ends.
const LET_GO_MAX: Duration = Duration::from_secs(5);

/// Locates the broker; blocks.
pub(super) type Whereabouts = Arc<dyn Fn() -> io::Result<String> + Send + Sync>;

/// State of the bus client.
pub(super) struct Talk {
    broker: Whereabouts,
    strategy: Text,
    /// Unique to this process.
    address: String,
    token: Option<String>,
    pub(super) takes_over: bool,
    time: ServerTime,
    begun: Sender<Life>,
    said: mpsc::WeakSender<Said>,
    /// Items that are not sent yet.
    waiting: mpsc::Receiver<Said>,
    reference: Arc<ReferenceData>,
    /// Changes of reference data from before the attach.
    changes: Vec<ReferenceChange>,
    run: Option<u64>,
    heard: Option<Sender<Delivery>>,
    /// Ends when the strategy has released its run.
    let_go: Option<oneshot::Receiver<Infallible>>,
    phases: Phases,
    seen: Seen,
    wanted: BTreeSet<SecurityId>,
    epoch: u64,
    number: u64,
    taken: Taken,
    is_connected: bool,
    is_welcome: bool,
    /// It has requested to leave, and repeats that after a reconnect.
    is_leaving: bool,
    /// Bars of history that came before the phase that needs them.
    past: Vec<Bar>,
    /// Requests from before the connection.
    unsaid: VecDeque<Request>,
    unanswered: Unanswered,
}

/// Why a connection ended.
enum Break {
    Connection(io::Error),
    /// Another process runs the strategy; it may have just died.
    Taken(String),
    /// The server has ended this run; another may begin.
    Life(String),
    /// No reconnect is possible.
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

/// The broker's error text does not say what to do.
fn not_admitted(answer: &str) -> String {
    format!(
        "the server admits no strategy process under this name: it must run with --distributed, and where users are \
         configured RIALTO_TOKEN must hold a token of the role strategy for it ({answer})"
    )
}

fn lost(reason: impl Into<String>) -> Break {
    Break::Final(Lost(reason.into()))
}

impl Talk {
    pub(super) fn new(
        broker: Whereabouts,
        strategy: Text,
        token: Option<String>,
        time: ServerTime,
        begun: Sender<Life>,
        (said, waiting): (mpsc::WeakSender<Said>, mpsc::Receiver<Said>),
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
            waiting,
            reference: Arc::default(),
            changes: vec![],
            run: None,
            heard: None,
            let_go: None,
            phases: Phases::default(),
            seen: Seen::default(),
            wanted: BTreeSet::new(),
            epoch: 0,
            number: 0,
            taken: Taken::default(),
            is_connected: false,
            is_welcome: false,
            is_leaving: false,
            past: vec![],
            unsaid: VecDeque::new(),
            unanswered: Unanswered::default(),
        }
    }

    pub(super) async fn converse(mut self) -> Lost {
        let (begun, mut has_knocked) = (Instant::now(), false);
        let mut away_since = begun;
        let mut backoff = Backoff::new();
        loop {
            let ended = self.connection().await;
            if std::mem::take(&mut self.is_connected) {
                away_since = Instant::now();
            }
            match ended {
                Err(Break::Final(lost)) => return lost,
                Err(Break::Connection(error)) if away_since.elapsed() > RECONNECT_MAX => {
                    return Lost(format!("the server can't be reached: {error}"));
                }
                Err(Break::Taken(text)) if begun.elapsed() > KNOCK_MAX => return Lost(text),
                Err(Break::Taken(_)) if !std::mem::replace(&mut has_knocked, true) => {
                    tracing::info!("another process runs this strategy; retrying in case it has just ended");
                }
                Err(Break::Taken(_)) => {}
                Err(Break::Life(reason)) => match self.let_go().await {
                    Ok(()) => tracing::warn!(%reason, "server ended the run; starting a new one"),
                    Err(Lost(hang)) => return Lost(format!("the server ended the run: {reason}; {hang}")),
                },
                Err(Break::Connection(error)) if self.is_welcome => {
                    tracing::warn!(%error, "connection lost; reconnecting");
                }
                Err(Break::Connection(error)) => {
                    tracing::warn!(%error, "server not reachable; retrying");
                }
                Ok(()) => return Lost("it left".to_owned()),
            }
            if std::mem::take(&mut self.is_welcome) {
                backoff = Backoff::new();
            }
            sleep(backoff.pause()).await;
        }
    }

    /// The run has ended: waits until the strategy has released it. Its requests are dropped meanwhile.
    async fn let_go(&mut self) -> Result<(), Lost> {
        self.heard = None;
        let Some(mut let_go) = self.let_go.take() else { return Ok(()) };
        let patience = sleep(LET_GO_MAX);
        tokio::pin!(patience);
        loop {
            tokio::select! {
                _ = &mut let_go => return Ok(()),
                said = self.waiting.recv() => match said {
                    Some(said) => self.is_leaving |= matches!(said.words, Words::Request(Request::Leave)),
                    None => return Ok(()),
                },
                () = &mut patience => return Err(Lost("a call-back of the strategy does not return".to_owned())),
            }
        }
    }

    async fn connection(&mut self) -> Result<(), Break> {
        let connecting = async {
            let broker = self.broker.clone();
            let stream = TcpStream::connect(spawn_blocking(move || broker()).await??).await?;
            stream.set_nodelay(true)?;
            Line::connect(stream, self.token.as_deref()).await
        };
        let mut line = timeout(CONNECT_MAX, connecting).await.map_err(io::Error::other)??;
        self.is_connected = true;
        line.subscribe("own", &deliveries(&self.strategy, &self.address)).await?;
        line.subscribe("prices", &format!("/topic/{SHARED_MARKET_DATA}")).await?;
        line.subscribe("events", &format!("/topic/{SHARED_GENERIC_EVENT}")).await?;
        self.hello(&mut line).await?;
        let mut deadlines = interval(DEADLINES_EVERY);
        loop {
            tokio::select! {
                frame = line.next() => self.hear(&frame?, &mut line).await?,
                said = self.waiting.recv() => match said {
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
        (self.number, self.taken) = (0, Taken::default());
        self.past.clear();
        self.changes.clear();
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
        if said.run.is_some() && said.run != self.run {
            return Ok(());
        }
        let request = match said.words {
            Words::Alive if self.is_welcome => Request::Alive { heard: self.seen.newest() },
            Words::Alive => return Ok(()),
            Words::Command(command) => return self.send_keyed(line, |talk| talk.take_command(command)).await,
            Words::Leaf(leaf) => return self.send_keyed(line, |talk| talk.unanswered.leaf(leaf)).await,
            Words::Request(request) => request,
        };
        self.is_leaving |= request == Request::Leave;
        self.phases.said(&request);
        if self.is_welcome {
            self.send(request, line).await
        } else {
            self.unsaid.push_back(request);
            Ok(())
        }
    }

    /// A request with a key is kept among the unanswered ones while there is no connection.
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
            // A client that was never accepted is not accepted by a retry.
            return Err(if self.run.is_none() { lost(not_admitted(&text)) } else { io::Error::other(text).into() });
        }
        match frame.headers.get("subscription") {
            Some("own") => {
                let parcel = minicbor::decode(&frame.body).map_err(io::Error::other)?;
                self.unpack(parcel, line).await?;
                self.tell_taken(frame.body.len(), line).await
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
            // A strategy that is behind receives newer prices later.
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

    /// The server sends only a bounded window ahead of the acknowledgements.
    async fn tell_taken(&mut self, bytes: usize, line: &mut Line<TcpStream>) -> Result<(), Break> {
        if self.taken.is_due_with(bytes) && self.is_welcome {
            self.send(Request::Taken { number: self.number }, line).await?;
        }
        Ok(())
    }

    async fn unpack(&mut self, parcel: Parcel, line: &mut Line<TcpStream>) -> Result<(), Break> {
        // Leftovers of an older connection in the queue were sent again already.
        if parcel.epoch != self.epoch {
            return Ok(());
        }
        // A client that is not attached has no run id.
        if let Message::Unwelcome { code, text } = parcel.message {
            let is_taken = &*code == TAKEN;
            let refused = lost(format!("the server refused ({code}): {text}"));
            return Err(if is_taken { Break::Taken(text.to_string()) } else { refused });
        }
        if parcel.number <= self.number {
            return Ok(());
        }
        if parcel.number != self.number + 1 {
            return Err(io::Error::other("a parcel is missing").into());
        }
        self.number = parcel.number;
        self.heed(parcel.message, line).await
    }

    async fn heed(&mut self, message: Message, line: &mut Line<TcpStream>) -> Result<(), Break> {
        match message {
            Message::Reference { changes } => {
                self.changes.extend(changes);
                Ok(())
            }
            Message::Welcome { id, run, is_resumed, reference, now, has_diary } => {
                self.time.set(now);
                self.changes.extend(reference);
                self.reference = Arc::new(protocol::reference(std::mem::take(&mut self.changes)));
                let who = Who { id, name: self.strategy.clone(), run };
                if !is_resumed {
                    self.let_go().await.map_err(Break::Final)?;
                    self.begin_life(who, has_diary)?;
                }
                self.welcome(line).await
            }
            Message::ComeBack => Err(io::Error::other("the server calls it back to where it stopped hearing").into()),
            Message::Cut { reason, may_return: true } => Err(Break::Life(reason.to_string())),
            Message::Cut { reason, may_return: false } => Err(lost(format!("the server ended the run: {reason}"))),
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
            Message::Enter { phase, bars, is_partial: false } => self.enter(phase, bars, line).await,
            // It has no number and was handled before.
            Message::Unwelcome { .. } => Ok(()),
        }
    }

    async fn enter(&mut self, phase: Phase, bars: Vec<Bar>, line: &mut Line<TcpStream>) -> Result<(), Break> {
        let past = std::mem::take(&mut self.past).into_iter().chain(bars).collect();
        match self.phases.tell(phase) {
            Telling::New => self.deliver(Delivery::Enter(phase, Arc::new(past))),
            Telling::UnderWay => Ok(()),
            Telling::SayAgain(entered) => self.send(entered, line).await,
        }
    }

    async fn welcome(&mut self, line: &mut Line<TcpStream>) -> Result<(), Break> {
        // An attached client that reconnects replaces no other process.
        (self.is_welcome, self.takes_over) = (true, false);
        tracing::info!("attached to the server");
        for request in self.unanswered.again() {
            self.send(request, line).await?;
        }
        while let Some(request) = self.unsaid.pop_front() {
            self.send(request, line).await?;
        }
        if self.is_leaving { self.send(Request::Leave, line).await } else { Ok(()) }
    }

    /// Requests of the previous run are dropped.
    fn begin_life(&mut self, who: Who, has_diary: bool) -> Result<(), Break> {
        self.unanswered.clear();
        self.unsaid.clear();
        self.wanted.clear();
        (self.run, self.phases) = (Some(who.run), Phases::default());
        let (heard, deliveries) = bounded(DELIVERIES_MAX);
        let said = self.said.upgrade().ok_or_else(|| lost("it left"))?;
        let (link, let_go) = Outside::new(who.run, deliveries, said);
        (self.heard, self.let_go) = (Some(heard), Some(let_go));
        let life = Life { who, reference: self.reference.clone(), link, has_diary };
        self.begun.send(life).map_err(|_| lost("it left"))
    }

    fn answered(&mut self, key: u64, refusal: Option<protocol::Refusal>) -> Result<(), Break> {
        let (Some(command), Some(refusal)) = (self.unanswered.answered(key), refusal) else { return Ok(()) };
        let refused = Refused { command: *command, code: refusal.code, reason: refusal.text };
        self.deliver(Delivery::Refused(Box::new(refused)))
    }

    /// The server accepts no command after its deadline; whether it accepted one before is not known.
    fn drop_late(&mut self) {
        for key in self.unanswered.late(self.time.now()) {
            let text = "no answer came before the deadline, so it is not known whether this took effect".into();
            // A strategy that receives nothing is lost at its next event.
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
