//! Line of the strategy bus over core NATS. NATS keeps nothing and does not say whether anybody hears, so the server says often that it is
//! there: a process that does not hear it has lost the server, and begins a new connection.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bus::{Catalogue, EventFeed, EventReceiver};
use domain::{Event, EventClass, PublishedEvent};
use replication_nats::{ConnectionLost, LogOpenError, MessageConnection, MessageSender};
use stomp::{decode_segment, encode_segment};
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, timeout_at};
use wire::topics;

use super::bus_message::{BusChannel, BusMessage, BusSource};
use super::nats_file::NatsBusConfig;

/// How often the server says that it is there.
const BEAT_EVERY: Duration = Duration::from_millis(500);
/// A process that has not heard the server for so long has lost it.
const SILENT_MAX: Duration = Duration::from_secs(5);
/// Events for all processes that wait for the connection. With one more the line is lost, and every process begins a new connection.
const SHARED_EVENTS_MAX: usize = 65_536;

/// What all processes hear, as the server has it.
#[derive(Clone)]
pub struct SharedEvents {
    pub feed: EventFeed,
    pub catalogue: Catalogue,
}

pub(super) struct NatsLine {
    connection: MessageConnection,
    subjects: Arc<BusSubjects>,
    end: LineEnd,
}

enum LineEnd {
    Server { id: Vec<u8>, shared: SharedEvents, has_process: Arc<AtomicBool>, publisher: Option<Publisher> },
    Process { server: Option<Vec<u8>>, last_beat: Instant },
}

/// It ends with the line.
struct Publisher(JoinHandle<io::Error>);

impl Drop for Publisher {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl NatsLine {
    pub(super) async fn of_server(config: &NatsBusConfig, shared: SharedEvents) -> io::Result<Self> {
        let (id, has_process, publisher) = (line_id(), Arc::default(), None);
        Self::open(config, LineEnd::Server { id, shared, has_process, publisher }).await
    }

    /// Waits until the server says that it is there.
    pub(super) async fn of_process(config: &NatsBusConfig) -> io::Result<Self> {
        let mut line = Self::open(config, LineEnd::Process { server: None, last_beat: Instant::now() }).await?;
        line.subscribe(line.subjects.alive.clone()).await?;
        let beat = timeout_at(Instant::now() + SILENT_MAX, line.connection.next()).await;
        let beat = beat.map_err(|_| silent(&line.subjects))?.map_err(io_error)?;
        line.on_beat(beat.body)?;
        Ok(line)
    }

    async fn open(config: &NatsBusConfig, end: LineEnd) -> io::Result<Self> {
        let connection = MessageConnection::open(&config.connection).await.map_err(open_error)?;
        Ok(Self { connection, subjects: Arc::new(BusSubjects::new(&config.subject)), end })
    }

    async fn subscribe(&mut self, subject: String) -> io::Result<()> {
        self.connection.subscribe(subject).await.map_err(io_error)
    }

    /// Requests are heard before the server says that it is there.
    pub(super) async fn serve(&mut self) -> io::Result<()> {
        self.subscribe(format!("{}*", self.subjects.request)).await?;
        let (sender, subjects) = (self.connection.sender(), self.subjects.clone());
        if let LineEnd::Server { id, shared, has_process, publisher } = &mut self.end {
            let publish = publish_shared(sender, subjects, id.clone(), shared.clone(), has_process.clone());
            *publisher = Some(Publisher(tokio::spawn(publish)));
        }
        Ok(())
    }

    pub(super) async fn attend(&mut self, own: &BusChannel) -> io::Result<()> {
        let subjects = [self.subjects.of(own), self.subjects.prices.clone(), self.subjects.events.clone()];
        for subject in subjects {
            self.subscribe(subject).await?;
        }
        Ok(())
    }

    pub(super) fn on_process(&self) {
        if let LineEnd::Server { has_process, .. } = &self.end {
            has_process.store(true, Ordering::Relaxed);
        }
    }

    /// A request is for the server whose word the process has heard: another one, such as a leader that was replaced and wakes up,
    /// drops it.
    pub(super) async fn send(&mut self, channel: &BusChannel, body: Vec<u8>) -> io::Result<()> {
        let body = match &self.end {
            LineEnd::Process { server, .. } => addressed(server.as_deref().unwrap_or_default(), &body),
            LineEnd::Server { .. } => body,
        };
        self.connection.sender().send(self.subjects.of(channel), 0, body).await.map_err(io_error)
    }

    pub(super) async fn flush(&mut self) -> io::Result<()> {
        self.connection.sender().flush().await.map_err(io_error)
    }

    /// The next message. Cancel safe.
    pub(super) async fn next(&mut self) -> io::Result<BusMessage> {
        loop {
            let message = match &mut self.end {
                LineEnd::Server { publisher: Some(publisher), .. } => tokio::select! {
                    message = self.connection.next() => message.map_err(io_error)?,
                    ended = &mut publisher.0 => return Err(ended.unwrap_or_else(io::Error::other)),
                },
                LineEnd::Server { publisher: None, .. } => self.connection.next().await.map_err(io_error)?,
                LineEnd::Process { last_beat, .. } => {
                    let message = timeout_at(*last_beat + SILENT_MAX, self.connection.next()).await;
                    message.map_err(|_| silent(&self.subjects))?.map_err(io_error)?
                }
            };
            if message.subject == self.subjects.alive {
                self.on_beat(message.body)?;
                continue;
            }
            let (source, signed_by) = self.subjects.source_of(&message.subject);
            let body = match &self.end {
                LineEnd::Server { id, .. } => match addressed_to(id, &message.body) {
                    Some(body) => body.to_vec(),
                    None => continue,
                },
                LineEnd::Process { .. } => message.body,
            };
            return Ok(BusMessage { source, sequence: message.sequence, signed_by, body });
        }
    }

    /// A server whose connection is a new one may have lost what was sent to it.
    fn on_beat(&mut self, beat: Vec<u8>) -> io::Result<()> {
        let LineEnd::Process { server, last_beat } = &mut self.end else { return Ok(()) };
        *last_beat = Instant::now();
        match server {
            Some(known) if *known != beat => Err(io::Error::other("the server has a new connection to NATS")),
            _ => {
                *server = Some(beat);
                Ok(())
            }
        }
    }
}

/// Subjects of the bus.
struct BusSubjects {
    request: String,
    delivery: String,
    prices: String,
    events: String,
    alive: String,
}

impl BusSubjects {
    fn new(prefix: &str) -> Self {
        Self {
            request: format!("{prefix}.bus.request."),
            delivery: format!("{prefix}.bus.delivery."),
            prices: format!("{prefix}.bus.prices"),
            events: format!("{prefix}.bus.events"),
            alive: format!("{prefix}.bus.alive"),
        }
    }

    /// The strategy is a part of the subject, so that the NATS servers can keep a user to its own.
    fn of(&self, channel: &BusChannel) -> String {
        match channel {
            BusChannel::Request { strategy } => format!("{}{}", self.request, encode_segment(strategy)),
            BusChannel::Delivery { strategy, address } => {
                format!("{}{}.{}", self.delivery, encode_segment(strategy), encode_segment(address))
            }
        }
    }

    fn source_of(&self, subject: &str) -> (BusSource, Option<String>) {
        if let Some(strategy) = subject.strip_prefix(&self.request) {
            let name = decode_segment(strategy).unwrap_or_default().into_owned();
            return (BusSource::Requests, Some(name));
        }
        let source = match subject {
            _ if subject == self.prices => BusSource::Prices,
            _ if subject == self.events => BusSource::GenericEvents,
            _ => BusSource::Own,
        };
        (source, None)
    }
}

/// Until the line is lost, or ends: says that the server is there, and publishes what is for all once somebody hears it.
async fn publish_shared(
    sender: MessageSender,
    subjects: Arc<BusSubjects>,
    id: Vec<u8>,
    shared: SharedEvents,
    has_process: Arc<AtomicBool>,
) -> io::Error {
    let mut events = shared.feed.subscribe(&SHARED_CLASSES, SHARED_EVENTS_MAX);
    let mut beats = interval(BEAT_EVERY);
    loop {
        let sent = tokio::select! {
            _ = beats.tick() => sender.send(subjects.alive.clone(), 0, id.clone()).await,
            event = next_event(&mut events) => match event {
                Some(published) if has_process.load(Ordering::Relaxed) => {
                    publish(&sender, &subjects, &shared.catalogue, &published).await
                }
                Some(_) => Ok(()),
                None if shared.feed.is_closed() => std::future::pending().await,
                None => return io::Error::other(format!("{SHARED_EVENTS_MAX} events wait for NATS: some are lost")),
            },
        };
        if let Err(lost) = sent {
            return io_error(lost);
        }
    }
}

const SHARED_CLASSES: [EventClass; 5] =
    [EventClass::Tick, EventClass::Trade, EventClass::Book, EventClass::Bar, EventClass::Generic];

async fn next_event(events: &mut EventReceiver) -> Option<PublishedEvent> {
    events.recv().await
}

async fn publish(
    sender: &MessageSender,
    subjects: &BusSubjects,
    catalogue: &Catalogue,
    published: &PublishedEvent,
) -> Result<(), ConnectionLost> {
    let reference = catalogue.current();
    let body = topics::shared_body(&published.event, &reference);
    let body = body.unwrap_or_else(|| topics::body(published, &reference));
    let subject = if matches!(published.event, Event::Generic(_)) { &subjects.events } else { &subjects.prices };
    sender.send(subject.clone(), published.sequence, body).await
}

/// Behind the id of the server's connection, and its length in one octet.
fn addressed(server: &[u8], body: &[u8]) -> Vec<u8> {
    let length = u8::try_from(server.len()).expect("an id of a connection is short");
    [&[length], server, body].concat()
}

fn addressed_to<'a>(server: &[u8], message: &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = message.split_first()?;
    let (to, body) = rest.split_at_checked(usize::from(*length))?;
    (to == server).then_some(body)
}

/// This connection, and no other.
fn line_id() -> Vec<u8> {
    use std::time::{SystemTime, UNIX_EPOCH};
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", std::process::id(), since.as_nanos()).into_bytes()
}

fn silent(subjects: &BusSubjects) -> io::Error {
    let text = format!(
        "no server is heard on {}: it must run with --distributed and the same strategies.nats",
        subjects.alive
    );
    io::Error::new(io::ErrorKind::TimedOut, text)
}

fn io_error(lost: ConnectionLost) -> io::Error {
    let kind = if lost.is_refused { io::ErrorKind::PermissionDenied } else { io::ErrorKind::ConnectionAborted };
    io::Error::new(kind, format!("NATS: {lost}"))
}

fn open_error(error: LogOpenError) -> io::Error {
    match error {
        LogOpenError::Refused { setting, reason } => {
            io::Error::new(io::ErrorKind::PermissionDenied, format!("NATS: {setting}: {reason}"))
        }
        LogOpenError::Unavailable { reason } => {
            io::Error::new(io::ErrorKind::NotConnected, format!("the NATS servers can't be reached: {reason}"))
        }
    }
}
