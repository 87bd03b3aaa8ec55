//! Adapter states: capabilities, session, and whether reconciliation is done.

pub(crate) mod adapter_states;
mod cancel_check;
pub(crate) mod line_monitor;
mod listed_orders;

use std::sync::Arc;

use domain::event::SessionChange;
use domain::report::{AdapterCapabilities, LineKind, LineState, SessionState};
use domain::{AdapterName, Event, Instruction};

use self::adapter_states::AdapterState;
use crate::outbox::{Moment, Outbox};
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
        self.stop_listings(adapter);
        let desk = AdapterState {
            capabilities: profile.clone(),
            session: SessionState::Disconnected,
            reconciled: false,
            down: None,
        };
        let before = self.adapters.0.insert(adapter.clone(), desk);
        before.into_iter().for_each(|before| self.on_cancel_kind(adapter, before.capabilities.cancel, out));
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
            // A new session begins with all its lines.
            desk.down = None;
        }
        self.publish_session(adapter, state, out);
        match state {
            SessionState::Disconnected => {
                self.stop_listings(adapter);
                self.mark_unanswered_in_doubt(moment, adapter, out);
            }
            SessionState::LoggedOn => {
                self.start_statements(moment, adapter, out);
                self.start_listings(moment, adapter);
            }
            SessionState::Connected | SessionState::Subscribed => {}
        }
    }

    /// A line of a session that is up has failed or is back. What was reported on a private line while it was down may be
    /// lost, and a kill may not have reached a trading line.
    pub(crate) fn on_line_change(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        state: &LineState,
        out: &mut Outbox,
    ) {
        let Some(desk) = self.adapters.0.get_mut(adapter) else {
            return out.error("unknown-adapter", format!("adapter {adapter} reports before it was attached"));
        };
        if !desk.set_line(state.line, state.up, state.reason.as_ref()) {
            return;
        }
        let session = desk.session;
        self.publish_session(adapter, session, out);
        match (state.line, state.up) {
            (line, false) => out.warn("line-down", down_text(adapter, line, state.reason.as_deref())),
            (LineKind::Private, true) => self.on_gap(moment, adapter, out),
            (LineKind::Trading, true) => self.resume_kills(moment, adapter, out),
            (LineKind::Prices, true) => {}
        }
    }

    fn publish_session(&self, adapter: &AdapterName, state: SessionState, out: &mut Outbox) {
        let lines = self.adapters.lines(adapter);
        out.publish(Event::Session(Arc::new(SessionChange { adapter: adapter.clone(), state, lines })));
    }
}

fn down_text(adapter: &AdapterName, line: LineKind, reason: Option<&str>) -> String {
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    let effect = match line {
        LineKind::Trading | LineKind::Private => "only cancels and orders that reduce a position pass until it is back",
        LineKind::Prices => "no prices come until it is back",
    };
    format!("{adapter}: the {} line is down{reason}; {effect}", line.name())
}
