//! Session of the WebSocket API: numbered requests with their answers, and the private events of the account.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use adapter_kit::connection::{Dialer, SocketError, SocketLimits, SocketMessage, VenueSocket, VenueUrl};
use adapter_kit::recording::LineRecorder;
use domain::Timestamp;

use crate::protocol::answers::error_codes::ErrorMeaning;
use crate::protocol::answers::{CallAnswer, CallError, SocketFrame, decode_frame};
use crate::protocol::requests::BinanceRequest;
use crate::protocol::requests::calls::BinanceCall;
use crate::protocol::requests::encoding::{EncodingError, RequestStamp, SocketAuthority, encode_socket};
use crate::protocol::requests::signing::RequestSigner;
use crate::protocol::user_events::{UserEvent, decode_user_event};

/// A connection to the WebSocket API.
#[derive(Debug)]
pub struct ApiSession {
    socket: VenueSocket,
    signer: Arc<RequestSigner>,
    is_logged_on: bool,
    next_number: u64,
    /// Requests without an answer.
    under_way: BTreeMap<u64, BinanceCall>,
    /// What came while the session was being opened.
    early: VecDeque<ApiMessage>,
}

/// What came over the connection.
#[derive(Debug, Clone, PartialEq)]
pub enum ApiMessage {
    Answer {
        number: u64,
        call: BinanceCall,
        answer: CallAnswer,
    },
    Event(UserEvent),
    /// An event or frame that cannot be read: what it said must be asked for.
    Gap(String),
    /// The venue does not accept the key any more.
    Revoked(CallError),
}

/// Why a request has no answer to wait for.
#[derive(Debug)]
pub enum ApiSendError {
    /// It certainly did not leave.
    NotSent(EncodingError),
    /// It may have left. The connection is of no more use.
    Unknown(SocketError),
}

/// Why a session could not be opened.
#[derive(Debug)]
pub enum ApiOpenError {
    Connection(SocketError),
    Encoding(EncodingError),
    /// The venue refused the log-on or the subscription.
    Refused(CallError),
}

impl ApiSession {
    pub async fn connect(
        url: &VenueUrl,
        dialer: &Dialer,
        limits: SocketLimits,
        recorder: Option<LineRecorder>,
        signer: Arc<RequestSigner>,
    ) -> Result<Self, SocketError> {
        let socket = VenueSocket::connect(url, &[], dialer, limits, recorder).await?;
        Ok(Self {
            socket,
            signer,
            is_logged_on: false,
            next_number: 0,
            under_way: BTreeMap::new(),
            early: VecDeque::new(),
        })
    }

    /// Logs on where the key can, and subscribes to the private events. From its success on no event is missed.
    pub async fn open(
        &mut self,
        stamp: impl Fn() -> RequestStamp,
        clock: impl Fn() -> Timestamp,
    ) -> Result<(), ApiOpenError> {
        if self.signer.can_log_on() {
            self.ask(&BinanceRequest::log_on(), stamp(), &clock).await?;
            self.is_logged_on = true;
        }
        self.ask(&BinanceRequest::subscribe_user(self.is_logged_on), stamp(), &clock).await
    }

    /// Sends a request; its answer comes out of `receive` with the number.
    pub async fn send(&mut self, request: &BinanceRequest, stamp: RequestStamp) -> Result<u64, ApiSendError> {
        let authority =
            if self.is_logged_on { SocketAuthority::Session } else { SocketAuthority::Signature(&self.signer) };
        let number = self.next_number + 1;
        let frame = encode_socket(number, request, authority, stamp).map_err(ApiSendError::NotSent)?;
        self.next_number = number;
        self.under_way.insert(number, request.call);
        self.socket.send(frame).await.map_err(ApiSendError::Unknown)?;
        Ok(number)
    }

    /// The next message. It may be dropped and called again without a loss.
    pub async fn receive(&mut self, clock: impl Fn() -> Timestamp) -> Result<ApiMessage, SocketError> {
        if let Some(early) = self.early.pop_front() {
            return Ok(early);
        }
        let text = match self.socket.receive().await? {
            SocketMessage::Text(text) => text,
            SocketMessage::Binary(_) => return Ok(ApiMessage::Gap("a binary frame".to_owned())),
        };
        Ok(self.message_of(decode_frame(&text, clock())))
    }

    /// Ends the connection; requests without an answer, which may or may not have taken effect, are given back.
    pub async fn close(self) -> Vec<(u64, BinanceCall)> {
        self.socket.close().await;
        self.under_way.into_iter().collect()
    }

    pub fn unanswered(&self) -> impl Iterator<Item = (u64, BinanceCall)> + '_ {
        self.under_way.iter().map(|(number, call)| (*number, *call))
    }

    fn message_of(&mut self, frame: SocketFrame) -> ApiMessage {
        match frame {
            SocketFrame::Answer(number, answer) => match self.under_way.remove(&number) {
                Some(call) => ApiMessage::Answer { number, call, answer },
                None => ApiMessage::Gap(format!("an answer to request {number}, which was not made")),
            },
            SocketFrame::Event(_, event) => match decode_user_event(&event) {
                Ok(event) => ApiMessage::Event(event),
                Err(unreadable) => ApiMessage::Gap(unreadable.0),
            },
            SocketFrame::SessionError(error) if error.meaning == ErrorMeaning::Key => ApiMessage::Revoked(error),
            SocketFrame::SessionError(error) => ApiMessage::Gap(error.describe()),
            SocketFrame::Unreadable(excerpt) => ApiMessage::Gap(excerpt),
        }
    }

    /// Sends a request of the opening and waits for its answer.
    async fn ask(
        &mut self,
        request: &BinanceRequest,
        stamp: RequestStamp,
        clock: &impl Fn() -> Timestamp,
    ) -> Result<(), ApiOpenError> {
        let signer = Arc::clone(&self.signer);
        let number = self.next_number + 1;
        let frame = encode_socket(number, request, SocketAuthority::Signature(&signer), stamp)
            .map_err(ApiOpenError::Encoding)?;
        self.next_number = number;
        self.under_way.insert(number, request.call);
        self.socket.send(frame).await.map_err(ApiOpenError::Connection)?;
        loop {
            let SocketMessage::Text(text) = self.socket.receive().await.map_err(ApiOpenError::Connection)? else {
                continue;
            };
            match self.message_of(decode_frame(&text, clock())) {
                ApiMessage::Answer { number: answered, answer, .. } if answered == number => {
                    return answer.outcome.map(|_| ()).map_err(ApiOpenError::Refused);
                }
                ApiMessage::Revoked(error) => return Err(ApiOpenError::Refused(error)),
                other => self.early.push_back(other),
            }
        }
    }
}

impl fmt::Display for ApiSendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(reason) => write!(f, "not sent: {reason}"),
            Self::Unknown(reason) => write!(f, "outcome unknown: {reason}"),
        }
    }
}

impl fmt::Display for ApiOpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(reason) => reason.fmt(f),
            Self::Encoding(reason) => reason.fmt(f),
            Self::Refused(error) => write!(f, "the venue refused the session: {}", error.describe()),
        }
    }
}

impl std::error::Error for ApiSendError {}
impl std::error::Error for ApiOpenError {}
