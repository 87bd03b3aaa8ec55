//! Reply channel: one reply per request, sent when its cause is durable.

use std::sync::Arc;

use domain::Refusal;
use domain::query::Answer;
use tokio::sync::oneshot;

use crate::quotas::Allowance;
use crate::tally::Tally;

/// An answer with the sequence that it reflects.
#[derive(Debug)]
pub struct Reply {
    pub sequence: u64,
    pub outcome: Result<Answer, Refusal>,
}

/// The engine stopped before it replied: whether the request took effect is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unanswered;

/// Receiving half.
#[derive(Debug)]
pub struct Ticket(oneshot::Receiver<Reply>);

/// Sending half, for the runtime.
#[derive(Debug)]
pub struct Promise {
    asker: oneshot::Sender<Reply>,
    /// Metrics that count a refusal.
    tally: Option<Arc<Tally>>,
    /// Released with the reply, or when there will be none.
    allowance: Allowance,
}

pub fn ticket() -> (Promise, Ticket) {
    let (sender, receiver) = oneshot::channel();
    (Promise { asker: sender, tally: None, allowance: Allowance::default() }, Ticket(receiver))
}

impl Ticket {
    pub async fn reply(self) -> Result<Reply, Unanswered> {
        self.0.await.map_err(|_| Unanswered)
    }

    pub fn reply_blocking(self) -> Result<Reply, Unanswered> {
        self.0.blocking_recv().map_err(|_| Unanswered)
    }
}

impl Promise {
    /// Counts a refusal in these metrics.
    pub(crate) fn counted_in(self, tally: Arc<Tally>) -> Self {
        Self { tally: Some(tally), ..self }
    }

    /// Counts as in flight under these limits.
    pub(crate) fn within(self, allowance: Allowance) -> Self {
        Self { allowance, ..self }
    }

    /// The caller may be gone; then the reply is dropped.
    pub fn keep(self, reply: Reply) {
        if let (Some(tally), Err(refusal)) = (&self.tally, &reply.outcome) {
            tally.refused(refusal.code());
        }
        drop(self.asker.send(reply));
        drop(self.allowance);
    }
}
