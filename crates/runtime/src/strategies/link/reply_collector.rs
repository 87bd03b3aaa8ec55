//! Reply collector: waits for the replies to strategy commands on one thread, so that no strategy has to. Replies come
//! in the order of the commands, because one engine gives them all.

use bus::ReplyReceiver;
use bus::reply::{NoReply, Reply};
use crossbeam_channel::{Receiver, Sender, bounded};
use domain::{Refusal, StrategyId, Text};

use super::strategy_thread::RunnerEvent;
use crate::strategies::failures::is_rate_refusal;

/// Commands that may wait for a reply; a strategy with one more waits.
const OPEN_COMMANDS_MAX: usize = 8_192;

/// A command that was sent.
pub(crate) struct PendingCommand {
    pub(crate) strategy: StrategyId,
    pub(crate) reply: ReplyReceiver,
    pub(crate) on_reply: ReplyCallback,
}

/// Receives the outcome: success, or code and reason of a refusal.
pub(crate) type ReplyCallback = Box<dyn FnOnce(Result<(), CommandReject>) + Send>;

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandReject {
    /// Stable, kebab-case.
    pub code: Text,
    pub text: Text,
}

/// No answer came: the server ends.
const OUTCOME_UNKNOWN: &str = "outcome-unknown";

impl CommandReject {
    /// Whether the engine has not answered. A later server knows what became of the command.
    pub fn is_outcome_unknown(&self) -> bool {
        &*self.code == OUTCOME_UNKNOWN
    }
}

/// Starts the thread; it ends when all senders are dropped.
pub(crate) fn spawn(notes: Sender<RunnerEvent>) -> std::io::Result<Sender<PendingCommand>> {
    let (sender, asked) = bounded(OPEN_COMMANDS_MAX);
    std::thread::Builder::new().name("strategy-clerk".into()).spawn(move || run(&asked, &notes))?;
    Ok(sender)
}

fn run(asked: &Receiver<PendingCommand>, notes: &Sender<RunnerEvent>) {
    for PendingCommand { strategy, reply: ticket, on_reply: answer } in asked {
        on_reply(strategy, ticket.recv_blocking(), answer, notes);
    }
}

fn on_reply(strategy: StrategyId, reply: Result<Reply, NoReply>, answer: ReplyCallback, notes: &Sender<RunnerEvent>) {
    let Ok(Reply { outcome, .. }) = reply else { return answer(Err(no_reply())) };
    if let Err(refusal) = &outcome
        && is_rate_refusal(refusal, strategy)
    {
        // A host that has stopped needs no message.
        let _ = notes.send(RunnerEvent::RateRefused(strategy));
    }
    answer(outcome.map(drop).map_err(|refusal| reject_reason(&refusal)));
}

/// The same without a thread: replies are taken when they are there.
pub(crate) struct ReadyReplies {
    asked: Receiver<PendingCommand>,
    /// The oldest without a reply.
    first: Option<PendingCommand>,
    notes: Sender<RunnerEvent>,
}

impl ReadyReplies {
    pub(crate) fn open(notes: Sender<RunnerEvent>) -> (Sender<PendingCommand>, Self) {
        let (sender, asked) = bounded(OPEN_COMMANDS_MAX);
        (sender, Self { asked, first: None, notes })
    }

    /// Passes on every reply that is there, in the order of the commands.
    pub(crate) fn collect(&mut self) {
        while let Some(mut first) = self.first.take().or_else(|| self.asked.try_recv().ok()) {
            let Some(reply) = first.reply.try_recv() else {
                self.first = Some(first);
                return;
            };
            on_reply(first.strategy, reply, first.on_reply, &self.notes);
        }
    }
}

fn reject_reason(refusal: &Refusal) -> CommandReject {
    CommandReject { code: refusal.code().into(), text: refusal.to_string().into() }
}

fn no_reply() -> CommandReject {
    let text = "no answer came, so it is not known whether this took effect".into();
    CommandReject { code: OUTCOME_UNKNOWN.into(), text }
}
