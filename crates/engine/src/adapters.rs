//! Adapter states: capabilities, session, and whether reconciliation is done.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::event::SessionChange;
use domain::report::{AdapterCapabilities, SessionState};
use domain::{AdapterName, Event, ExchangeId, Instruction};
use minicbor::{Decode, Encode};

use crate::moment::Moment;
use crate::outbox::Outbox;
use crate::trading::Trading;

#[derive(Debug, Clone, Default, Encode, Decode)]
#[cbor(transparent)]
pub(crate) struct AdapterStates(#[n(0)] BTreeMap<AdapterName, AdapterState>);

#[derive(Debug, Clone, Encode, Decode)]
struct AdapterState {
    #[n(0)]
    capabilities: AdapterCapabilities,
    #[n(1)]
    session: SessionState,
    /// Reconciled with the venue since it connected.
    #[n(2)]
    reconciled: bool,
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

    pub(crate) fn rejects_duplicates(&self, adapter: &AdapterName) -> bool {
        self.0.get(adapter).is_some_and(|desk| desk.capabilities.rejects_duplicates)
    }

    pub(crate) fn expires_orders(&self, adapter: &AdapterName) -> bool {
        self.0.get(adapter).is_none_or(|desk| desk.capabilities.expires_orders)
    }

    pub(crate) fn mark_reconciled(&mut self, adapter: &AdapterName) {
        if let Some(desk) = self.0.get_mut(adapter) {
            desk.reconciled = true;
        }
    }

    pub(crate) fn sessions(&self) -> Vec<(AdapterName, SessionState)> {
        self.0.keys().map(|name| (name.clone(), self.session(name))).collect()
    }
}

impl Trading {
    /// An adapter attaches, at start or again: it is not connected yet, its unanswered requests are in doubt, and it
    /// needs its subscriptions.
    pub(crate) fn on_adapter_attached(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        profile: &AdapterCapabilities,
        out: &mut Outbox,
    ) {
        self.mark_unanswered_in_doubt(moment, adapter, out);
        let desk =
            AdapterState { capabilities: profile.clone(), session: SessionState::Disconnected, reconciled: false };
        self.adapters.0.insert(adapter.clone(), desk);
        let data = self.reference.data();
        let served = |security: &domain::SecurityId| {
            data.securities.get(security).is_some_and(|security| profile.exchanges.contains(&security.exchange))
        };
        for security in self.subscriptions.securities().filter(served) {
            out.instruct(adapter, Instruction::Subscribe(security));
        }
        out.instruct(adapter, Instruction::LogOn);
    }

    pub(crate) fn on_session_change(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        state: SessionState,
        out: &mut Outbox,
    ) {
        let Some(desk) = self.adapters.0.get_mut(adapter) else {
            return out.error("unknown-adapter", format!("adapter {adapter} reports before it was attached"));
        };
        desk.session = state;
        if state <= SessionState::Connected {
            desk.reconciled = false;
        }
        out.publish(Event::Session(Arc::new(SessionChange { adapter: adapter.clone(), state })));
        if state == SessionState::Disconnected {
            self.mark_unanswered_in_doubt(moment, adapter, out);
        }
    }
}
