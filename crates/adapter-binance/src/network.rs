//! The network side of the adapter: tasks that pass on what comes and send what they are given. They decide nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use adapter_kit::connection::{Dialer, RequestFailure, SocketLimits, VenueUrl};
use adapter_kit::recording::{LineRecorder, RecorderClock};
use adapters::{NO_LEASE, SendLease};
use tokio::sync::mpsc::{Receiver, Sender};

use crate::connection::{ApiMessage, ApiOpenError, ApiSendError, ApiSession, RestClient};
use crate::protocol::answers::error_codes::ErrorMeaning;
use crate::protocol::answers::{CallAnswer, CallError};
use crate::protocol::market_events::MarketEvent;
use crate::protocol::requests::BinanceRequest;
use crate::protocol::requests::encoding::RequestStamp;
use crate::protocol::requests::signing::RequestSigner;
use crate::protocol::user_events::UserEvent;

/// Connection, log-on and subscription together.
const LOG_ON_TIMEOUT: Duration = Duration::from_secs(20);

/// Requests that wait for the WebSocket API; one more is refused (`venue-queue-full`). The rate limits admit fewer.
pub(crate) const WAITING_REQUESTS_MAX: usize = 1_024;
/// Commands that wait for the market streams; one more is refused, and made again with the next session.
pub(crate) const STREAM_COMMANDS_MAX: usize = 4_096;
/// Messages of the venue that the adapter's thread has not read. Then no more are read from the connections, and a venue that
/// waits too long ends them.
pub(crate) const NETWORK_EVENTS_MAX: usize = 65_536;

/// From the network to the adapter's thread.
#[derive(Debug)]
pub(crate) enum NetworkEvent {
    Answered {
        tag: u64,
        answer: CallAnswer,
    },
    Failed {
        tag: u64,
        failure: RequestFailure,
    },
    /// Of this connection of the WebSocket API: for a while there are two.
    User(u64, UserEvent),
    /// Private events may have been lost.
    Gap(String),
    /// The venue does not accept the key of this connection any more.
    Revoked(u64, CallError),
    /// This connection of the WebSocket API is logged on and subscribed.
    ApiOpened(u64),
    /// It could not be opened.
    ApiNotOpened {
        connection: u64,
        reason: String,
        is_key_refused: bool,
    },
    /// It has ended; requests on it without an answer get none.
    ApiEnded {
        connection: u64,
        reason: String,
    },
    Market(MarketEvent),
    StreamsConfirmed(Vec<String>),
    /// The venue has refused these streams.
    StreamsRefused(Vec<String>),
    PricesUp,
    PricesDown(String),
    /// A new connection of market streams has taken over without a gap.
    PricesRenewed,
}

/// A request with the number that its answer comes back with.
#[derive(Debug)]
pub(crate) struct TaggedRequest {
    pub(crate) tag: u64,
    pub(crate) request: BinanceRequest,
    pub(crate) stamp: RequestStamp,
    /// Held by whoever writes the request; of those that trade.
    pub(crate) lease: Option<SendLease>,
}

/// The way to the adapter's thread.
#[derive(Debug, Clone)]
pub(crate) struct EventSender {
    pub(crate) events: Sender<NetworkEvent>,
    pub(crate) wake: crossbeam_channel::Sender<()>,
}

impl EventSender {
    /// Waits where the adapter's thread is behind.
    pub(crate) async fn send(&self, event: NetworkEvent) {
        // A session that has ended is not interested; a full waker wakes already.
        let _ = self.events.send(event).await;
        let _ = self.wake.try_send(());
    }
}

/// One request over REST.
pub(crate) async fn call_rest(rest: Arc<RestClient>, sent: TaggedRequest, clock: RecorderClock, out: EventSender) {
    let tag = sent.tag;
    let outcome = rest.call(&sent.request, sent.stamp, sent.lease.as_ref(), || clock()).await;
    out.send(match outcome {
        Ok(answer) => NetworkEvent::Answered { tag, answer },
        Err(failure) => NetworkEvent::Failed { tag, failure },
    })
    .await;
}

/// How a connection of the WebSocket API is opened.
pub(crate) struct ApiOpening {
    pub(crate) url: VenueUrl,
    pub(crate) dialer: Dialer,
    pub(crate) line: Option<LineRecorder>,
    pub(crate) signer: Arc<RequestSigner>,
    pub(crate) stamp: RequestStamp,
    pub(crate) clock: RecorderClock,
}

/// Why it could not be opened.
pub(crate) enum OpeningError {
    /// The venue does not accept the key.
    Refused(String),
    Failed(String),
}

impl OpeningError {
    fn of(error: ApiOpenError) -> Self {
        let text = error.to_string();
        match error {
            ApiOpenError::Refused(error) if error.meaning == ErrorMeaning::Key => Self::Refused(text),
            ApiOpenError::Refused(_) | ApiOpenError::Connection(_) | ApiOpenError::Encoding(_) => Self::Failed(text),
        }
    }
}

impl ApiOpening {
    /// Logs on and subscribes; from then on no private event is missed.
    pub(crate) async fn open(self) -> Result<ApiSession, OpeningError> {
        let opening = async {
            let connecting =
                ApiSession::connect(&self.url, &self.dialer, SocketLimits::default(), self.line, self.signer);
            let mut session = connecting.await.map_err(|error| OpeningError::Failed(error.to_string()))?;
            session.open(|| self.stamp, || (self.clock)()).await.map_err(OpeningError::of)?;
            Ok(session)
        };
        let late = |_| OpeningError::Failed("the venue did not confirm the log-on in time".to_owned());
        tokio::time::timeout(LOG_ON_TIMEOUT, opening).await.map_err(late)?
    }

    /// In the background: the session runs as soon as it is open.
    pub(crate) async fn open_and_run(self, connection: u64, requests: Receiver<TaggedRequest>, out: EventSender) {
        let clock = Arc::clone(&self.clock);
        let (reason, is_key_refused) = match self.open().await {
            Ok(session) => {
                out.send(NetworkEvent::ApiOpened(connection)).await;
                return run_api((connection, session), requests, clock, out).await;
            }
            Err(OpeningError::Refused(reason)) => (reason, true),
            Err(OpeningError::Failed(reason)) => (reason, false),
        };
        out.send(NetworkEvent::ApiNotOpened { connection, reason, is_key_refused }).await;
    }
}

/// The session of the WebSocket API, until one side ends it.
pub(crate) async fn run_api(
    (connection, mut session): (u64, ApiSession),
    mut requests: Receiver<TaggedRequest>,
    clock: RecorderClock,
    out: EventSender,
) {
    let mut tags = BTreeMap::new();
    loop {
        tokio::select! {
            received = session.receive(|| clock()) => match received {
                Ok(message) => out.send(event_of(connection, message, &mut tags)).await,
                Err(error) => {
                    return out.send(NetworkEvent::ApiEnded { connection, reason: error.to_string() }).await;
                }
            },
            request = requests.recv() => match request {
                None => return drop(session.close().await),
                Some(request) => if let Err(reason) = send(&mut session, request, &mut tags, &out).await {
                    return out.send(NetworkEvent::ApiEnded { connection, reason }).await;
                },
            },
        }
    }
}

async fn send(
    session: &mut ApiSession,
    TaggedRequest { tag, request, stamp, lease }: TaggedRequest,
    tags: &mut BTreeMap<u64, u64>,
    out: &EventSender,
) -> Result<(), String> {
    // It may have waited here while the process was paused.
    if lease.is_some_and(|lease| !lease.is_held()) {
        out.send(NetworkEvent::Failed { tag, failure: RequestFailure::NotSent(NO_LEASE.to_owned()) }).await;
        return Ok(());
    }
    match session.send(&request, stamp).await {
        Ok(number) => drop(tags.insert(number, tag)),
        Err(ApiSendError::NotSent(reason)) => {
            out.send(NetworkEvent::Failed { tag, failure: RequestFailure::NotSent(reason.to_string()) }).await;
        }
        Err(ApiSendError::Unknown(reason)) => {
            let reason = reason.to_string();
            out.send(NetworkEvent::Failed { tag, failure: RequestFailure::Unknown(reason.clone()) }).await;
            return Err(reason);
        }
    }
    Ok(())
}

fn event_of(connection: u64, message: ApiMessage, tags: &mut BTreeMap<u64, u64>) -> NetworkEvent {
    match message {
        ApiMessage::Answer { number, answer, .. } => match tags.remove(&number) {
            Some(tag) => NetworkEvent::Answered { tag, answer },
            None => NetworkEvent::Gap(format!("an answer to request {number}, which was not made")),
        },
        ApiMessage::Event(event) => NetworkEvent::User(connection, event),
        ApiMessage::Gap(what) => NetworkEvent::Gap(what),
        ApiMessage::Revoked(error) => NetworkEvent::Revoked(connection, error),
    }
}
