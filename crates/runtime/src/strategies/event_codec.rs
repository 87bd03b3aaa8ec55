//! Event codec: events in the journal's encoding, for strategy processes and delivery logs.

use std::sync::Arc;

use domain::{Event, EventClass};
use minicbor::Decode;

use super::reference_codec::{changes, encode, reference};

/// Class and payload of an event that a strategy can get.
pub(crate) fn to_bytes(event: &Event) -> Option<(u8, Vec<u8>)> {
    let payload = match event {
        Event::Tick(tick) => encode(&**tick),
        Event::Trade(trade) => encode(&**trade),
        Event::Book(book) => encode(&**book),
        Event::Bar(bar) => encode(&**bar),
        Event::Order(order) => encode(&**order),
        Event::OrderStatus(status) => encode(&**status),
        Event::Fill(fill) => encode(&**fill),
        Event::Transaction(transaction) => encode(&**transaction),
        Event::Position(position) => encode(&**position),
        Event::Cash(balance) => encode(&**balance),
        Event::Portfolio(value) => encode(&**value),
        Event::Session(change) => encode(&**change),
        Event::TradingState(change) => encode(&**change),
        Event::Generic(event) => encode(&**event),
        Event::Reference(data) => encode(changes(data)),
        _ => return None,
    };
    Some((event.class() as u8, payload))
}

/// The event as it was; absent where this build can't read it.
pub(crate) fn from_bytes(class: u8, payload: &[u8]) -> Option<Event> {
    Some(match EventClass::ALL.get(usize::from(class))? {
        EventClass::Tick => Event::Tick(read(payload)?),
        EventClass::Trade => Event::Trade(read(payload)?),
        EventClass::Book => Event::Book(read(payload)?),
        EventClass::Bar => Event::Bar(read(payload)?),
        EventClass::Order => Event::Order(read(payload)?),
        EventClass::OrderStatus => Event::OrderStatus(read(payload)?),
        EventClass::Fill => Event::Fill(read(payload)?),
        EventClass::Transaction => Event::Transaction(read(payload)?),
        EventClass::Position => Event::Position(read(payload)?),
        EventClass::Cash => Event::Cash(read(payload)?),
        EventClass::Portfolio => Event::Portfolio(read(payload)?),
        EventClass::Session => Event::Session(read(payload)?),
        EventClass::TradingState => Event::TradingState(read(payload)?),
        EventClass::Generic => Event::Generic(read(payload)?),
        EventClass::Reference => Event::Reference(Arc::new(reference(minicbor::decode(payload).ok()?))),
        _ => return None,
    })
}

fn read<'a, T: Decode<'a, ()>>(payload: &'a [u8]) -> Option<Arc<T>> {
    minicbor::decode(payload).ok().map(Arc::new)
}
