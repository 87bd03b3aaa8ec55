//! Adapter states: capabilities, session, and whether reconciliation is done.

use std::collections::BTreeMap;

use domain::query::AdapterStatus;
use domain::report::{AdapterCapabilities, SessionState};
use domain::{AdapterName, ExchangeId, OrderProperties, OrderProperty, Timestamp};
use minicbor::{Decode, Encode};

#[derive(Debug, Clone, Default, Encode, Decode)]
#[cbor(transparent)]
pub(crate) struct AdapterStates(#[n(0)] pub(crate) BTreeMap<AdapterName, AdapterState>);

#[derive(Debug, Clone, Encode, Decode)]
pub(crate) struct AdapterState {
    #[n(0)]
    pub(crate) capabilities: AdapterCapabilities,
    #[n(1)]
    pub(crate) session: SessionState,
    /// Reconciled with the venue since it connected.
    #[n(2)]
    pub(crate) reconciled: bool,
}

impl AdapterStates {
    pub(crate) fn serves(&self, adapter: &AdapterName, exchange: ExchangeId) -> bool {
        self.0.get(adapter).is_some_and(|desk| desk.capabilities.exchanges.contains(&exchange))
    }

    pub(crate) fn adapters_for(&self, exchange: ExchangeId) -> impl Iterator<Item = &AdapterName> {
        let serves = move |desk: &AdapterState| desk.capabilities.exchanges.contains(&exchange);
        self.0.iter().filter(move |(_, desk)| serves(desk)).map(|(name, _)| name)
    }

    /// An adapter takes orders only after it was reconciled.
    pub(crate) fn session(&self, adapter: &AdapterName) -> SessionState {
        match self.0.get(adapter) {
            Some(desk) if desk.reconciled => desk.session,
            Some(desk) => desk.session.min(SessionState::Connected),
            None => SessionState::Disconnected,
        }
    }

    /// The first of these properties that the venue does not offer.
    pub(crate) fn missing_property(
        &self,
        adapter: &AdapterName,
        properties: &OrderProperties,
    ) -> Option<OrderProperty> {
        let offers = |property| self.0.get(adapter).is_some_and(|desk| desk.capabilities.offers(property));
        properties.needs().find(|property| !offers(*property))
    }

    /// Whether an order that did arrive after all would be refused when it is sent again.
    pub(crate) fn allows_resend(&self, adapter: &AdapterName) -> bool {
        self.0.get(adapter).is_some_and(|desk| desk.capabilities.refuses_repeated_ids.allows_resend())
    }

    /// Whether something that the venue did not show at that instant is not there and cannot come any more.
    pub(crate) fn proves_absence(
        &self,
        adapter: &AdapterName,
        as_of: Timestamp,
        dead_after: Option<Timestamp>,
    ) -> bool {
        let Some(desk) = self.0.get(adapter) else { return false };
        dead_after.is_some_and(|fence| as_of >= fence.plus_millis(desk.capabilities.read_lag_millis()))
    }

    pub(crate) fn gives_statements(&self, adapter: &AdapterName) -> bool {
        self.0.get(adapter).is_some_and(|desk| desk.capabilities.lists.statement)
    }

    pub(crate) fn expires_orders(&self, adapter: &AdapterName) -> bool {
        self.0.get(adapter).is_none_or(|desk| desk.capabilities.expires_orders)
    }

    pub(crate) fn mark_reconciled(&mut self, adapter: &AdapterName) {
        if let Some(desk) = self.0.get_mut(adapter) {
            desk.reconciled = true;
        }
    }

    pub(crate) fn statuses(&self) -> Vec<AdapterStatus> {
        let status = |(name, desk): (&AdapterName, &AdapterState)| AdapterStatus {
            adapter: name.clone(),
            session: self.session(name),
            simulated: desk.capabilities.simulated,
            exchanges: desk.capabilities.exchanges.clone(),
            order_properties: desk.capabilities.order_properties.clone(),
        };
        self.0.iter().map(status).collect()
    }
}
