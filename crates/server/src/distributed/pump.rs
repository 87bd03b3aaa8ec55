//! Host forwarder: a thread that forwards messages of the strategy host to the bridge, until the host detaches the
//! strategy.

use std::io;
use std::time::Duration;

use domain::Text;
use domain::command::Phase;
use runtime::strategies::protocol::Message;
use runtime::strategies::{Attached, Delivery, Ending, Link, Lost, Note};

/// Time-out of a wait for events.
const PATIENCE: Duration = Duration::from_millis(500);

/// A message of the host for a strategy.
pub(super) struct Carried {
    pub(super) name: Text,
    pub(super) run: u64,
    /// `None`: what follows begins at the last event that the strategy received.
    pub(super) message: Option<Message>,
}

/// Forwards by `carry`, which returns whether the bridge still runs.
pub(super) fn pump(attached: &Attached, carry: impl Fn(Carried) -> bool + Send + 'static) -> io::Result<()> {
    let (who, mut link, notes) = (attached.who.clone(), attached.link.clone(), attached.notes.clone());
    let work = move || {
        let carried = |message| carry(Carried { name: who.name.clone(), run: who.run, message });
        loop {
            let mut deliveries = vec![];
            if let Err(Lost(reason)) = link.receive(PATIENCE, &mut deliveries) {
                carried(Some(Message::Cut { reason: reason.as_str().into(), may_return: link.may_return() }));
                // A host that has detached it knows already; a stopped host needs no note.
                let _ = notes.send(Note::Ended((&who).into(), Ending::Lost(reason)));
                return;
            }
            for delivery in deliveries {
                let is_last = matches!(delivery, Delivery::Enter(Phase::Exit, _));
                if !told(delivery, &carried) || is_last {
                    return;
                }
            }
        }
    };
    std::thread::Builder::new().name("strategy-pump".into()).spawn(work).map(drop)
}

/// Prices and generic events have shared topics; refusals are sent as answers.
fn told(delivery: Delivery, carried: &impl Fn(Option<Message>) -> bool) -> bool {
    match delivery {
        Delivery::Event(published) => Message::of_event(&published).is_none_or(|message| carried(Some(message))),
        Delivery::Enter(phase, past) => {
            Message::of_phase(phase, &past).into_iter().all(|message| carried(Some(message)))
        }
        Delivery::Replay => carried(None),
        Delivery::Refused(_) => true,
    }
}
