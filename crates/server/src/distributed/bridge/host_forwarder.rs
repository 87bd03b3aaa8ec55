//! Host forwarder: a thread that forwards messages of the strategy host to the bridge, until the host detaches the
//! strategy.

use std::io;
use std::time::Duration;

use domain::Text;
use domain::command::StrategyPhase;
use runtime::strategies::protocol::ServerMessage;
use runtime::strategies::{AttachedStrategy, LinkLost, RunnerEvent, RunnerExit, StrategyDelivery, StrategyLink};

/// Time-out of a wait for events.
const POLL_TIMEOUT: Duration = Duration::from_millis(500);

/// A message of the host for a strategy.
pub(crate) struct HostMessage {
    pub(crate) name: Text,
    pub(crate) run: u64,
    /// `None`: what follows begins at the last event that the strategy received.
    pub(crate) message: Option<ServerMessage>,
}

/// Forwards by `carry`, which returns whether the bridge still runs.
pub(crate) fn spawn_forwarder(
    attached: &AttachedStrategy,
    carry: impl Fn(HostMessage) -> bool + Send + 'static,
) -> io::Result<()> {
    let (who, mut link, notes) = (attached.identity.clone(), attached.link.clone(), attached.events.clone());
    let work = move || {
        let carried = |message| carry(HostMessage { name: who.name.clone(), run: who.run, message });
        loop {
            let mut deliveries = vec![];
            if let Err(LinkLost(reason)) = link.receive(POLL_TIMEOUT, &mut deliveries) {
                // Where the server ends, the process finds its connection lost, and goes on at the next one.
                if !link.is_detached() {
                    return;
                }
                carried(Some(ServerMessage::Disconnected {
                    reason: reason.as_str().into(),
                    may_return: link.may_reconnect(),
                }));
                // A host that has detached it knows already; a stopped host needs no note.
                let _ = notes.send(RunnerEvent::Ended((&who).into(), RunnerExit::Disconnected(reason)));
                return;
            }
            for delivery in deliveries {
                let is_last = matches!(delivery, StrategyDelivery::Enter(StrategyPhase::Exit, _));
                if !forward(delivery, &carried) || is_last {
                    return;
                }
            }
        }
    };
    std::thread::Builder::new().name("strategy-pump".into()).spawn(work).map(drop)
}

/// Prices and generic events have shared topics; refusals are sent as answers.
fn forward(delivery: StrategyDelivery, carried: &impl Fn(Option<ServerMessage>) -> bool) -> bool {
    match delivery {
        StrategyDelivery::Event(published) => {
            ServerMessage::from_event(&published).is_none_or(|message| carried(Some(message)))
        }
        StrategyDelivery::Enter(phase, past) => {
            ServerMessage::from_phase(phase, &past).into_iter().all(|message| carried(Some(message)))
        }
        StrategyDelivery::Replay => carried(None),
        StrategyDelivery::Refused(_) => true,
    }
}
