//! Reply collector: waits for the replies to strategy commands on one thread, so that no strategy has to. Replies come
//! in the order of the commands, because one engine gives them all.

use bus::Ticket;
use crossbeam_channel::{Receiver, Sender, bounded};
use domain::{Refusal, StrategyId, Text};

use super::failing::is_too_fast;
use super::runner::Note;

/// Commands that may wait for a reply; a strategy with one more waits.
const OPEN_COMMANDS_MAX: usize = 8_192;

/// A command that was sent.
pub(super) struct Asked {
    pub(super) strategy: StrategyId,
    pub(super) ticket: Ticket,
    pub(super) answer: Answering,
}

/// Receives the outcome: success, or code and reason of a refusal.
pub(super) type Answering = Box<dyn FnOnce(Result<(), Reason>) + Send>;

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Stable, kebab-case.
    pub code: Text,
    pub text: Text,
}

/// Starts the thread; it ends when all senders are dropped.
pub(super) fn employ(notes: Sender<Note>) -> std::io::Result<Sender<Asked>> {
    let (sender, asked) = bounded(OPEN_COMMANDS_MAX);
    std::thread::Builder::new().name("strategy-clerk".into()).spawn(move || work(&asked, &notes))?;
    Ok(sender)
}

fn work(asked: &Receiver<Asked>, notes: &Sender<Note>) {
    for Asked { strategy, ticket, answer } in asked {
        let outcome = match ticket.reply_blocking() {
            Ok(reply) => reply.outcome,
            Err(bus::ticket::Unanswered) => {
                answer(Err(unanswered()));
                continue;
            }
        };
        if let Err(refusal) = &outcome
            && is_too_fast(refusal, strategy)
        {
            // A host that has stopped needs no message.
            let _ = notes.send(Note::RateRefused(strategy));
        }
        answer(outcome.map(drop).map_err(|refusal| reason(&refusal)));
    }
}

fn reason(refusal: &Refusal) -> Reason {
    Reason { code: refusal.code().into(), text: refusal.to_string().into() }
}

fn unanswered() -> Reason {
    let text = "no answer came, so it is not known whether this took effect".into();
    Reason { code: "outcome-unknown".into(), text }
}
