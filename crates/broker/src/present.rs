//! What stands when the broker begins: a snapshot tells of it also where nothing has happened since the server started.

use std::sync::Arc;

use domain::event::SessionChange;
use domain::query::Filter;
use domain::report::SessionState;
use domain::{AdapterName, Answer, Event, Published, Query};

use crate::house::House;

/// Asks the engine for what stands and remembers it; whoever is there already hears it once more.
pub(crate) async fn remember(house: &House) {
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

fn note(house: &House, sequence: u64, answer: Answer) {
    let (reference, at) = (house.bus.catalogue.now(), house.access.now());
    let published = events(answer).into_iter().map(|event| Published { sequence, at, event });
    house.hub.tell(house.clock.now(), published, &reference);
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
