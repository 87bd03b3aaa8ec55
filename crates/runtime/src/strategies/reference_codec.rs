//! Reference data as the changes that make it, and the encoding of everything that strategies are sent.

use domain::ReferenceData;
use domain::command::ReferenceChange;
use minicbor::Encode;

/// Reference data as the changes that make it.
pub(super) fn changes(data: &ReferenceData) -> Vec<ReferenceChange> {
    let exchanges = data.exchanges.values().map(|exchange| ReferenceChange::Exchange((**exchange).clone()));
    let families = data.families.values().map(|family| ReferenceChange::Family((**family).clone()));
    let securities = data.securities.values().map(|security| ReferenceChange::Security((**security).clone()));
    let accounts = data.accounts.values().map(|account| ReferenceChange::Account((**account).clone()));
    let strategies = data.strategies.values().map(|strategy| ReferenceChange::Strategy((**strategy).clone()));
    exchanges.chain(families).chain(securities).chain(accounts).chain(strategies).collect()
}

pub fn reference(changes: Vec<ReferenceChange>) -> ReferenceData {
    let mut data = ReferenceData::default();
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
    data
}

pub fn encode<T: Encode<()>>(value: T) -> Vec<u8> {
    minicbor::to_vec(value).expect("a vector takes everything")
}
