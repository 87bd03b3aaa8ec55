//! Reply channel: one reply per request, sent when its cause is durable.

use std::sync::Arc;

use domain::Refusal;
use domain::query::Answer;
use tokio::sync::oneshot;

use crate::inbox::inbox_metrics::InboxMetrics;
use crate::inbox::quotas::InFlightPermit;

/// An answer with the sequence that it reflects.
#[derive(Debug)]
pub struct Reply {
    /// What the answer reflects.
    pub sequence: u64,
    /// The answer, or why the request was refused.
    pub outcome: Result<Answer, Refusal>,
}

/// The engine stopped before it replied: whether the request took effect is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoReply;

/// Receiving half.
#[derive(Debug)]
pub struct ReplyReceiver(oneshot::Receiver<Reply>);

/// Sending half, for the runtime.
#[derive(Debug)]
pub struct ReplySender {
    sender: oneshot::Sender<Reply>,
    /// Metrics that count a refusal.
    metrics: Option<Arc<InboxMetrics>>,
    /// Released with the reply, or when there will be none.
    permit: InFlightPermit,
}

/// A channel for one reply.
pub fn reply_channel() -> (ReplySender, ReplyReceiver) {
    let (sender, receiver) = oneshot::channel();
    (ReplySender { sender, metrics: None, permit: InFlightPermit::default() }, ReplyReceiver(receiver))
}

impl ReplyReceiver {
    /// Waits for the reply.
    pub async fn recv(self) -> Result<Reply, NoReply> {
        self.0.await.map_err(|_| NoReply)
    }

    /// The reply, or that there will be none; absent while it may still come.
    pub fn try_recv(&mut self) -> Option<Result<Reply, NoReply>> {
        match self.0.try_recv() {
            Ok(reply) => Some(Ok(reply)),
            Err(oneshot::error::TryRecvError::Empty) => None,
            Err(oneshot::error::TryRecvError::Closed) => Some(Err(NoReply)),
        }
    }

    /// As [`Self::recv`], for a thread.
    pub fn recv_blocking(self) -> Result<Reply, NoReply> {
        self.0.blocking_recv().map_err(|_| NoReply)
    }
}

impl ReplySender {
    /// Counts a refusal in these metrics.
    pub(crate) fn with_metrics(self, tally: Arc<InboxMetrics>) -> Self {
        Self { metrics: Some(tally), ..self }
    }

    /// Counts as in flight under these limits.
    pub(crate) fn with_permit(self, allowance: InFlightPermit) -> Self {
        Self { permit: allowance, ..self }
    }

    /// The caller may be gone; then the reply is dropped.
    pub fn send(self, reply: Reply) {
        if let (Some(tally), Err(refusal)) = (&self.metrics, &reply.outcome) {
            tally.count_refusal(refusal.code());
        }
        drop(self.sender.send(reply));
        drop(self.permit);
    }
}
