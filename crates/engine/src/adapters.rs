//! Adapter states: capabilities, session, and whether reconciliation is done.

use std::sync::Arc;

use domain::event::SessionChange;
use domain::report::{AdapterCapabilities, SessionState};
use domain::{AdapterName, Event, Instruction};

use crate::adapter_states::AdapterState;
use crate::moment::Moment;
use crate::outbox::Outbox;
use crate::trading::Trading;

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
        match state {
            SessionState::Disconnected => self.mark_unanswered_in_doubt(moment, adapter, out),
            SessionState::LoggedOn => self.ask_statements(adapter, out),
            SessionState::Connected | SessionState::Subscribed => {}
        }
    }
}
