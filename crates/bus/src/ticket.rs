//! A ticket is handed out for each request; the reply comes on it when what caused it is durable.

use domain::Refusal;
use domain::query::Answer;
use tokio::sync::oneshot;

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
pub struct Promise(oneshot::Sender<Reply>);

pub fn ticket() -> (Promise, Ticket) {
    let (sender, receiver) = oneshot::channel();
    (Promise(sender), Ticket(receiver))
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
    /// Whoever asked may have gone away; then nobody needs the reply.
    pub fn keep(self, reply: Reply) {
        drop(self.0.send(reply));
    }
}
