//! Event codec: events and reference data in the journal's encoding, for strategy processes and delivery logs.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::command::ReferenceChange;
use domain::{Event, EventClass, ReferenceData, ReferenceUpdate};
use minicbor::{Decode, Encode};

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
        Event::Reference(update) => encode(&update.changes),
        _ => return None,
    };
    Some((event.class() as u8, payload))
}

/// The event as it was; absent where this build can't read it. Of reference data only what changed is encoded, so `reference`
/// is what the receiver had before.
pub(crate) fn from_bytes(class: u8, payload: &[u8], reference: &Arc<ReferenceData>) -> Option<Event> {
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
        EventClass::Reference => Event::Reference(Arc::new(update(minicbor::decode(payload).ok()?, reference))),
        _ => return None,
    })
}

fn read<'a, T: Decode<'a, ()>>(payload: &'a [u8]) -> Option<Arc<T>> {
    minicbor::decode(payload).ok().map(Arc::new)
}

/// Reference data as the changes that make it.
pub(super) fn changes(data: &ReferenceData) -> Vec<ReferenceChange> {
    difference(&ReferenceData::default(), data)
}

/// The changes that make later reference data from earlier ones.
pub fn difference(before: &ReferenceData, after: &ReferenceData) -> Vec<ReferenceChange> {
    let exchanges = differing(&before.exchanges, &after.exchanges).map(ReferenceChange::Exchange);
    let families = differing(&before.families, &after.families).map(ReferenceChange::Family);
    let securities = differing(&before.securities, &after.securities).map(ReferenceChange::Security);
    let accounts = differing(&before.accounts, &after.accounts).map(ReferenceChange::Account);
    let strategies = differing(&before.strategies, &after.strategies).map(ReferenceChange::Strategy);
    let removed = before.securities.keys().filter(|id| !after.securities.contains_key(id));
    let removed = removed.map(|id| ReferenceChange::RetireSecurity(*id));
    exchanges.chain(families).chain(securities).chain(accounts).chain(strategies).chain(removed).collect()
}

fn differing<K: Ord, T: PartialEq + Clone>(
    before: &BTreeMap<K, Arc<T>>,
    after: &BTreeMap<K, Arc<T>>,
) -> impl Iterator<Item = T> {
    after.iter().filter(|(id, value)| before.get(id) != Some(value)).map(|(_, value)| T::clone(value))
}

/// Reference data from the changes that make it.
pub fn reference(changes: Vec<ReferenceChange>) -> ReferenceData {
    let mut data = ReferenceData::default();
    apply(&mut data, changes);
    data
}

fn update(changes: Vec<ReferenceChange>, before: &Arc<ReferenceData>) -> ReferenceUpdate {
    let mut data = before.clone();
    apply(Arc::make_mut(&mut data), changes.clone());
    ReferenceUpdate { changes, data }
}

fn apply(data: &mut ReferenceData, changes: Vec<ReferenceChange>) {
    for change in changes {
        match change {
            ReferenceChange::Exchange(exchange) => drop(data.exchanges.insert(exchange.id, exchange.into())),
            ReferenceChange::Family(family) => drop(data.families.insert(family.id, family.into())),
            ReferenceChange::Security(security) => drop(data.securities.insert(security.id, security.into())),
            ReferenceChange::Account(account) => drop(data.accounts.insert(account.id, account.into())),
            ReferenceChange::Strategy(strategy) => drop(data.strategies.insert(strategy.id, strategy.into())),
            ReferenceChange::RetireSecurity(id) => drop(data.securities.remove(&id)),
        }
    }
}

pub fn encode<T: Encode<()>>(value: T) -> Vec<u8> {
    minicbor::to_vec(value).expect("a vector takes everything")
}
