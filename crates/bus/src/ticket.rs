//! A ticket is handed out for each request; the reply comes on it when what caused it is durable.

use std::sync::Arc;

use domain::Refusal;
use domain::query::Answer;
use tokio::sync::oneshot;

use crate::quotas::Allowance;
use crate::tally::Tally;

/// An answer with the sequence up to which it is true.
#[derive(Debug)]
pub struct Reply {
    pub sequence: u64,
    pub outcome: Result<Answer, Refusal>,
}

/// The engine stopped before it could answer: whether the request took effect is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unanswered;

/// Where the reply will come.
#[derive(Debug)]
pub struct Ticket(oneshot::Receiver<Reply>);

/// The other half, for the runtime.
#[derive(Debug)]
pub struct Promise {
    asker: oneshot::Sender<Reply>,
    /// Where a refusal is counted.
    tally: Option<Arc<Tally>>,
    /// Given back with the answer, or when there will be none.
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
    /// A refusal will be counted there.
    pub(crate) fn counted_in(self, tally: Arc<Tally>) -> Self {
        Self { tally: Some(tally), ..self }
    }

    /// Counts as unanswered under these limits.
    pub(crate) fn within(self, allowance: Allowance) -> Self {
        Self { allowance, ..self }
    }

    /// Whoever asked may have gone away; then nobody needs the reply.
    pub fn keep(self, reply: Reply) {
        if let (Some(tally), Err(refusal)) = (&self.tally, &reply.outcome) {
            tally.refused(refusal.code());
        }
        drop(self.asker.send(reply));
        drop(self.allowance);
    }
}
