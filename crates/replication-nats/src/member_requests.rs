//! Requests from one member to another beside the log, over core NATS: each is sent once, and answered once or not at all.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::{Client, Message, Request, Subscriber};
use futures_util::StreamExt;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

/// The way to the other members, on the connection of the log: it ends with it.
#[derive(Clone)]
pub struct MemberRequests {
    runtime: Handle,
    client: Client,
    stream: String,
}

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberRequestError {
    /// No member got it.
    NotSent { reason: String },
    /// A member may have got it, or may still get it.
    Unanswered,
}

/// Answers requests until it is dropped; those that came before are answered all the same.
pub struct MemberService(AbortHandle);

impl Drop for MemberService {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl MemberRequests {
    pub(crate) fn new(runtime: &Handle, client: &Client, stream: &str) -> Self {
        Self { runtime: runtime.clone(), client: client.clone(), stream: stream.to_owned() }
    }

    /// Sends a request to whoever serves this name. It is not sent where there is no connection now, because it would be sent later.
    pub async fn send(&self, name: &str, payload: Vec<u8>, wait: Duration) -> Result<Vec<u8>, MemberRequestError> {
        if self.client.connection_state() != State::Connected {
            return Err(not_sent("the NATS servers can't be reached"));
        }
        let request = Request::new().payload(payload.into()).timeout(Some(wait));
        let sent = self.client.send_request(self.subject(name), request);
        // The client's own wait begins when it has taken the request; this one bounds both.
        match tokio::time::timeout(wait, sent).await {
            Ok(Ok(Message { payload, .. })) => Ok(payload.to_vec()),
            Ok(Err(error)) => Err(request_failure(error.kind())),
            Err(_) => Err(MemberRequestError::Unanswered),
        }
    }

    /// Answers the requests to a name, each on a task of its own. `None` is no answer.
    pub fn serve<F: Future<Output = Option<Vec<u8>>> + Send + 'static>(
        &self,
        name: &str,
        answer: impl Fn(Vec<u8>) -> F + Send + Sync + 'static,
    ) -> Result<MemberService, String> {
        let subject = self.subject(name);
        let subscribed = async {
            let requests = self.client.subscribe(subject).await.map_err(|error| error.to_string())?;
            // The servers know of it when the next entry of the log is written.
            self.client.flush().await.map_err(|error| error.to_string())?;
            Ok::<_, String>(requests)
        };
        let requests = self.runtime.block_on(async { tokio::time::timeout(SUBSCRIBE_WAIT, subscribed).await });
        let requests = requests.map_err(|_| "the NATS servers gave no answer".to_owned())??;
        let task = self.runtime.spawn(deliver(self.client.clone(), requests, Arc::new(answer)));
        Ok(MemberService(task.abort_handle()))
    }

    fn subject(&self, name: &str) -> String {
        format!("{}.command.{name}", self.stream)
    }
}

const SUBSCRIBE_WAIT: Duration = Duration::from_secs(5);

async fn deliver<F: Future<Output = Option<Vec<u8>>> + Send + 'static>(
    client: Client,
    mut requests: Subscriber,
    answer: Arc<impl Fn(Vec<u8>) -> F + Send + Sync + 'static>,
) {
    while let Some(Message { payload, reply: Some(reply), .. }) = requests.next().await {
        let answering = answer(payload.to_vec());
        let client = client.clone();
        tokio::spawn(async move {
            let Some(answer) = answering.await else { return };
            if let Err(error) = client.publish(reply, answer.into()).await {
                tracing::warn!(%error, "the answer to another member was not sent; there the outcome is unknown");
            }
        });
    }
}

fn not_sent(reason: &str) -> MemberRequestError {
    MemberRequestError::NotSent { reason: reason.to_owned() }
}

fn request_failure(kind: RequestErrorKind) -> MemberRequestError {
    match kind {
        RequestErrorKind::NoResponders => not_sent("the leader does not answer"),
        RequestErrorKind::InvalidSubject | RequestErrorKind::MaxPayloadExceeded => not_sent("it is too large"),
        RequestErrorKind::TimedOut | RequestErrorKind::Other => MemberRequestError::Unanswered,
    }
}
