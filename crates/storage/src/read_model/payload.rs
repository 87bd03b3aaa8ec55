//! Event payloads in CBOR: the domain's own types. A type without an encoding of its own is written as the array of its
//! fields, like the derived encoding of a struct.

use domain::Event;
use minicbor::Encode;

/// Whether the read model has a place for it: for orders, of which the newest is kept, for the value history, and for
/// everything that happened.
pub(crate) fn is_stored(event: &Event) -> bool {
    !matches!(
        event,
        Event::Tick(_)
            | Event::Trade(_)
            | Event::Book(_)
            | Event::Bar(_)
            | Event::Position(_)
            | Event::Cash(_)
            | Event::Portfolio(_)
            | Event::Reference(_)
            | Event::Security(_)
    )
}

/// Encodes an event as the read model stores it; false where it is a state and not an event of the history.
pub fn encode_event(event: &Event, into: &mut Vec<u8>) -> bool {
    if !bus::history::is_stored(event.class()) {
        return false;
    }
    match event {
        Event::OrderStatus(status) => encode(status.as_ref(), into),
        Event::Fill(fill) => encode(fill.as_ref(), into),
        Event::Transaction(transaction) => encode(transaction.as_ref(), into),
        Event::Subscription(subscription, is_wanted) => encode((subscription, is_wanted), into),
        Event::LifeCycle(change) => encode(change.as_ref(), into),
        Event::Session(change) => encode(change.as_ref(), into),
        Event::TradingState(change) => encode(change.as_ref(), into),
        Event::Limits(scope, limits) => encode((scope, limits.as_ref()), into),
        Event::Alarm(alarm) => encode(alarm.as_ref(), into),
        Event::Generic(event) => encode(event.as_ref(), into),
        Event::Refused(refused) => encode(refused.as_ref(), into),
        Event::MassCancel(cancel) => encode(cancel.as_ref(), into),
        Event::Break(found) => encode(found.as_ref(), into),
        Event::Order(_)
        | Event::Tick(_)
        | Event::Trade(_)
        | Event::Book(_)
        | Event::Bar(_)
        | Event::Position(_)
        | Event::Cash(_)
        | Event::Portfolio(_)
        | Event::ValueSample(_)
        | Event::Reference(_)
        | Event::Security(_) => return false,
    }
    true
}

pub(crate) fn encode<T: Encode<()>>(value: T, into: &mut Vec<u8>) {
    into.clear();
    minicbor::encode(value, into).expect("a vector takes every byte");
}
