//! Warm start: loads the current state from the engine, so that the first snapshots are complete.

use std::sync::Arc;

use bus::{EventReceiver, InFlightPermit, InboxError};
use domain::event::SessionChange;
use domain::query::{AdapterStatus, Filter};
use domain::{Answer, Event, PublishedEvent, Query};
use tokio::time::sleep;

use crate::event_publication::{begin_behind, publish_waiting};
use crate::limits::REPLAY_RETRY;
use crate::state::BrokerState;

/// Queries the engine for its state and caches it. Nobody is told of it: it is no news, and connections wait until it is loaded.
pub(crate) async fn load_state(broker: &BrokerState, listener: &mut EventReceiver) {
    start(broker, listener).await;
    let all = Filter::default();
    let queries = [
        Query::OpenOrders(all),
        Query::Positions(all),
        Query::Balances(all),
        Query::PortfolioValue(None),
        Query::TradingStates,
        Query::Breaks,
        Query::Adapters,
    ];
    for query in queries {
        // A stopped engine has no state.
        let Ok(ticket) = broker.bus.inbox.query_when_free(query, InFlightPermit::default()).await else { return };
        let Ok(reply) = ticket.recv().await else { return };
        reply.outcome.into_iter().for_each(|answer| apply_answer(broker, reply.sequence, answer));
    }
    // What was published while the engine answered is older than some answers. It is counted before anyone is shown the state, so that
    // no topic goes back in time.
    publish_waiting(broker, listener).await;
}

/// The listener receives every event after the sequence of the answer. Inputs that are not journalled yet have
/// published nothing that is stored, so the sequence counts only as far as the journal goes.
pub(crate) async fn start(broker: &BrokerState, listener: &mut EventReceiver) {
    loop {
        match broker.bus.inbox.query(Query::TradingStates) {
            Ok(ticket) => {
                let Ok(reply) = ticket.recv().await else { return };
                let sequence = reply.sequence.min(broker.bus.journal.durable());
                return begin_behind(broker, listener, sequence).await;
            }
            Err(InboxError::Busy) => sleep(REPLAY_RETRY).await,
            Err(InboxError::Stopped) => return,
        }
    }
}

fn apply_answer(broker: &BrokerState, sequence: u64, answer: Answer) {
    let at = broker.access.now();
    let published = events(answer).into_iter().map(|event| PublishedEvent { sequence, at, event });
    broker.hub.load_state(broker.clock.now(), published);
}

fn events(answer: Answer) -> Vec<Event> {
    match answer {
        Answer::Orders(orders) => orders.into_iter().map(Event::Order).collect(),
        Answer::Positions(positions) => positions.into_iter().map(|one| Event::Position(Arc::new(one))).collect(),
        Answer::Balances(balances) => balances.into_iter().map(|one| Event::Cash(Arc::new(one))).collect(),
        Answer::PortfolioValues(values) => values.into_iter().map(|one| Event::Portfolio(Arc::new(one))).collect(),
        Answer::TradingStates(states) => states.into_iter().map(|one| Event::TradingState(Arc::new(one))).collect(),
        Answer::Breaks(breaks) => breaks.into_iter().map(Event::Break).collect(),
        Answer::Adapters(sessions) => sessions.into_iter().map(session).collect(),
        _ => vec![],
    }
}

fn session(status: AdapterStatus) -> Event {
    let lines = status.lines.into_iter().map(|line| line.state).collect();
    Event::Session(Arc::new(SessionChange { adapter: status.adapter, state: status.session, lines }))
}
