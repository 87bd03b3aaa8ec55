//! Commands that a client gave a follower of a cluster, on their way to the leader and back.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use minicbor::{Decode, Encode};
use tokio::sync::oneshot;

/// A request over HTTP that a follower has authenticated. The leader decides about it as about one of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct ForwardedRequest {
    /// The name of the user or the token; none for an anonymous caller of the follower's machine.
    #[n(0)]
    pub user: Option<String>,
    /// Address of the client, for the audit and for limits by address.
    #[n(1)]
    pub peer: Option<String>,
    /// Such as `POST`.
    #[n(2)]
    pub method: String,
    /// With its query.
    #[n(3)]
    pub path: String,
    /// Those that the leader needs, as names and values.
    #[n(4)]
    pub headers: Vec<(String, String)>,
    /// As it came.
    #[n(5)]
    #[cbor(with = "minicbor::bytes")]
    pub body: Vec<u8>,
}

/// The leader's answer, as its client gets it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct ForwardedResponse {
    /// Of HTTP.
    #[n(0)]
    pub status: u16,
    /// Names and values.
    #[n(1)]
    pub headers: Vec<(String, String)>,
    /// As the leader wrote it.
    #[n(2)]
    #[cbor(with = "minicbor::bytes")]
    pub body: Vec<u8>,
    /// What the leader had journalled when it answered: a follower that has applied it shows what the command did.
    #[n(3)]
    pub sequence: u64,
}

/// Why there is no answer of a leader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForwardingError {
    /// It reached no leader, or the leader refused to take it, for this reason: it had no effect.
    NotTaken(String),
    /// A leader may have carried it out, or may still do so.
    Unanswered,
}

/// An answer that is waited for.
pub type ForwardingFuture<'a> = Pin<Box<dyn Future<Output = Result<ForwardedResponse, ForwardingError>> + Send + 'a>>;

/// A follower's way to the leader.
pub trait CommandForwarder: Send + Sync {
    /// Sends a request to the leader, once. After `patience` the leader does not begin with it any more.
    fn forward(&self, request: ForwardedRequest, patience: Duration) -> ForwardingFuture<'_>;
}

/// A request at the leader, with the place for its answer.
#[derive(Debug)]
pub struct ForwardedCall {
    /// What a follower forwarded.
    pub request: ForwardedRequest,
    /// Dropped where there is no answer.
    pub answer: oneshot::Sender<ForwardedResponse>,
}
