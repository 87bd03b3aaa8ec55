//! What stands when the broker begins: a snapshot tells of it also where nothing has happened since the server started.

use std::sync::Arc;

use bus::Closed;
use domain::event::SessionChange;
use domain::query::Filter;
use domain::report::SessionState;
use domain::{AdapterName, Answer, Event, Published, Query};
use tokio::time::sleep;

use crate::house::House;
use crate::limits::REPLAY_RETRY;

/// Asks the engine for what stands and remembers it; whoever is there already hears it once more.
pub(crate) async fn remember(house: &House) {
    begin(house).await;
    let all = Filter::default();
    let queries = [
        Query::OpenOrders(all),
        Query::Positions(all),
        Query::Balances(all),
        Query::PortfolioValue(None),
        Query::TradingStates,
        Query::Adapters,
    ];
    for query in queries {
        // An engine that has stopped has nothing to tell.
        let Ok(ticket) = house.bus.inbox.query(query) else { return };
        let Ok(reply) = ticket.reply().await else { return };
        reply.outcome.into_iter().for_each(|answer| note(house, reply.sequence, answer));
    }
}

/// Whoever listens to the engine already hears of everything behind the sequence that it answers with. What it took without
/// writing it down has caused nothing that is kept, so that counts only as far as the journal goes.
pub(crate) async fn begin(house: &House) {
    loop {
        match house.bus.inbox.query(Query::TradingStates) {
            Ok(ticket) => {
                let Ok(reply) = ticket.reply().await else { return };
                return house.hub.begin_behind(reply.sequence.min(house.bus.operations.durable()));
            }
            Err(Closed::Busy) => sleep(REPLAY_RETRY).await,
            Err(Closed::Stopped) => return,
        }
    }
}

fn note(house: &House, sequence: u64, answer: Answer) {
    let (reference, at) = (house.bus.catalogue.now(), house.access.now());
    let published = events(answer).into_iter().map(|event| Published { sequence, at, event });
    house.hub.remember(house.clock.now(), published, &reference);
}

fn events(answer: Answer) -> Vec<Event> {
    match answer {
        Answer::Orders(orders) => orders.into_iter().map(Event::Order).collect(),
        Answer::Positions(positions) => positions.into_iter().map(|one| Event::Position(Arc::new(one))).collect(),
        Answer::Balances(balances) => balances.into_iter().map(|one| Event::Cash(Arc::new(one))).collect(),
        Answer::PortfolioValues(values) => values.into_iter().map(|one| Event::Portfolio(Arc::new(one))).collect(),
        Answer::TradingStates(states) => states.into_iter().map(|one| Event::TradingState(Arc::new(one))).collect(),
        Answer::Adapters(sessions) => sessions.into_iter().map(session).collect(),
        _ => vec![],
    }
}

fn session((adapter, state): (AdapterName, SessionState)) -> Event {
    Event::Session(Arc::new(SessionChange { adapter, state }))
}
