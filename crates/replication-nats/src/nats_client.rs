//! NATS client for one thread: requests with a bounded wait. The connection lives on a thread of its own.

use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, HeaderMap, Message, Request};
use futures_util::StreamExt;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::member_link::{MemberLink, NewestMessage};
use crate::member_requests::MemberRequests;
use crate::member_status::StatusLink;
use crate::settings::{JetStreamSettings, LogOpenError, NatsLogin, NatsSettings, NatsTls, refused, unavailable};

#[derive(Debug)]
pub(crate) struct NatsClient {
    client: Client,
    /// Dropped last.
    runtime: Runtime,
}

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestFailure {
    /// It reached no stream, for certain.
    NotSent { reason: String },
    /// It may have been carried out.
    Unanswered { reason: String },
}

impl NatsClient {
    pub(crate) fn connect(settings: &JetStreamSettings) -> Result<Self, LogOpenError> {
        Self::start(options(&settings.connection())?, &settings.servers, settings.open_wait)
    }

    /// To this server and no other, also when the connection is made anew.
    pub(crate) fn connect_to(settings: &JetStreamSettings, server: &str) -> Result<Self, LogOpenError> {
        let options = options(&settings.connection())?.ignore_discovered_servers();
        Self::start(options, &[server.to_owned()], settings.answer_wait)
    }

    fn start(options: ConnectOptions, servers: &[String], wait: Duration) -> Result<Self, LogOpenError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .thread_name("nats")
            .build()
            .map_err(unavailable)?;
        let connected = async { tokio::time::timeout(wait, options.connect(servers)).await };
        let client = runtime.block_on(connected).map_err(unavailable)?.map_err(connect_failure)?;
        Ok(Self { client, runtime })
    }

    /// Messages whose newest counts, to a subject.
    pub(crate) fn newest_message(&self, subject: String) -> NewestMessage {
        NewestMessage::start(self.runtime.handle(), self.client.clone(), subject)
    }

    pub(crate) fn link(
        &self,
        settings: &JetStreamSettings,
        on_report: impl Fn(&[u8]) + Send + 'static,
    ) -> Result<MemberLink, LogOpenError> {
        let parts = (self.runtime.handle(), &self.client);
        let open = MemberLink::open(parts, &settings.stream, on_report);
        let opened = self.runtime.block_on(async { tokio::time::timeout(settings.open_wait, open).await });
        opened.map_err(unavailable)?.map_err(unavailable)
    }

    pub(crate) fn status_link(
        &self,
        settings: &JetStreamSettings,
        on_status: impl Fn(&[u8]) + Send + 'static,
    ) -> Result<StatusLink, LogOpenError> {
        let parts = (self.runtime.handle(), &self.client);
        let open = StatusLink::open(parts, &settings.stream, settings.answer_wait, on_status);
        let opened = self.runtime.block_on(async { tokio::time::timeout(settings.open_wait, open).await });
        opened.map_err(unavailable)?.map_err(unavailable)
    }

    pub(crate) fn member_requests(&self, stream: &str) -> MemberRequests {
        MemberRequests::new(self.runtime.handle(), &self.client, stream)
    }

    pub(crate) fn request(
        &self,
        subject: &str,
        headers: &[(&'static str, String)],
        payload: Vec<u8>,
        wait: Duration,
    ) -> Result<Value, RequestFailure> {
        let message = self.exchange(subject, headers, payload, wait)?;
        serde_json::from_slice(&message.payload)
            .map_err(|error| RequestFailure::Unanswered { reason: format!("the answer is not JSON: {error}") })
    }

    /// All answers of a request that has several, at most so many; none where they do not come in time.
    pub(crate) fn exchange_many(&self, subject: &str, payload: Vec<u8>, most: usize, wait: Duration) -> Vec<Message> {
        if !self.is_connected() {
            return Vec::new();
        }
        let answers = answers_of(&self.client, subject.to_owned(), payload, most);
        let answered = self.runtime.block_on(async { tokio::time::timeout(wait, answers).await });
        answered.ok().flatten().unwrap_or_default()
    }

    /// The answer as it came. Without a connection there is none, at once: the library would keep the request, and send all that were kept
    /// when it is back.
    pub(crate) fn exchange(
        &self,
        subject: &str,
        headers: &[(&'static str, String)],
        payload: Vec<u8>,
        wait: Duration,
    ) -> Result<Message, RequestFailure> {
        if !self.is_connected() {
            return Err(RequestFailure::Unanswered { reason: "the NATS servers can't be reached".to_owned() });
        }
        let mut request = Request::new().payload(payload.into()).timeout(Some(wait));
        if !headers.is_empty() {
            let mut map = HeaderMap::new();
            headers.iter().for_each(|(name, value)| map.insert(*name, value.as_str()));
            request = request.headers(map);
        }
        // The client's own wait begins when it has taken the request; this one bounds both.
        let answered =
            async { tokio::time::timeout(wait * 2, self.client.send_request(subject.to_owned(), request)).await };
        match self.runtime.block_on(answered) {
            Err(_) => Err(RequestFailure::Unanswered { reason: "no answer came in time".to_owned() }),
            Ok(Err(error)) => Err(failure(error.kind(), error.to_string())),
            Ok(Ok(message)) => Ok(message),
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }
}

/// The answers up to the first that is none.
async fn answers_of(client: &Client, subject: String, payload: Vec<u8>, most: usize) -> Option<Vec<Message>> {
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await.ok()?;
    client.publish_with_reply(subject, inbox, payload.into()).await.ok()?;
    let mut messages = Vec::new();
    while messages.len() < most
        && let Some(message) = answers.next().await
        && message.status.is_none()
    {
        messages.push(message);
    }
    Some(messages)
}

pub(crate) fn options(settings: &NatsSettings) -> Result<ConnectOptions, LogOpenError> {
    let options = ConnectOptions::new().name("rialto").connection_timeout(settings.open_wait).ping_interval(PING);
    let options = match &settings.login {
        None => options,
        Some(NatsLogin::Password { user, password }) => options.user_and_password(user.clone(), password.clone()),
        Some(NatsLogin::NkeySeed(seed)) => options.nkey(seed.clone()),
        // The reason of the library may name what it could not read.
        Some(NatsLogin::Credentials(text)) => options
            .credentials(text)
            .map_err(|_| refused("login", "the credentials file has no JWT with the seed of its key".to_owned()))?,
    };
    Ok(with_tls(options, settings))
}

fn with_tls(mut options: ConnectOptions, settings: &NatsSettings) -> ConnectOptions {
    let Some(NatsTls { ca_file, own }) = &settings.tls else { return options };
    options = options.require_tls(true);
    if let Some(file) = ca_file {
        options = options.add_root_certificates(file.clone());
    }
    match own {
        Some((certificate, key)) => options.add_client_certificate(certificate.clone(), key.clone()),
        None => options,
    }
}

/// A user or a certificate that is refused stays so until somebody changes a file.
pub(crate) fn connect_failure(error: ConnectError) -> LogOpenError {
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            refused("login", format!("the NATS servers do not let the member in: {error}"))
        }
        ConnectErrorKind::Tls => refused("tls", error.to_string()),
        _ => unavailable(error),
    }
}

/// A broken connection is noticed when the third of these finds two without an answer.
const PING: Duration = Duration::from_secs(1);

fn failure(kind: RequestErrorKind, reason: String) -> RequestFailure {
    match kind {
        RequestErrorKind::NoResponders | RequestErrorKind::InvalidSubject | RequestErrorKind::MaxPayloadExceeded => {
            RequestFailure::NotSent { reason }
        }
        RequestErrorKind::TimedOut | RequestErrorKind::Other => RequestFailure::Unanswered { reason },
    }
}
