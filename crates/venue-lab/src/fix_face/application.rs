//! A session's application: requests go to the exchange, and what the exchange has for the session goes out.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use fix::{
    Application, BusinessRejectReason, DisconnectReason, FixMessage, LogonDecision, LogonTicket, OutgoingMessage,
    SessionSender, tag,
};
use tokio::time::Instant;

use super::faults::report_faults::ReportFaults;
use super::inbox::{KEPT_REPORTS_MAX, SessionInput};
use super::market_data::{self, MarketDataRequests};
use super::scope::SessionScope;
use super::tags;
use super::version::FixVersion;
use crate::exchange::{ExecutionType, SpotExecution, VenueEvent};
use crate::faults::catalogue::Fault;
use crate::publisher::{EventInterest, EventSubscription, VenueEvents};
use crate::sequencer::Unavailable;
use crate::sessions::{SessionEntry, Sessions};

const EXECUTION_REPORT: &[u8] = b"8";

pub(crate) struct FixApplication {
    scope: Arc<SessionScope>,
    events: EventSubscription,
    market_data: MarketDataRequests,
    /// Reports that no one was there for.
    kept: VecDeque<OutgoingMessage>,
    faults: ReportFaults,
    sessions: Arc<Sessions>,
    peer: Option<IpAddr>,
    entry: Option<SessionEntry>,
    /// Until when a fault refuses every Logon.
    blocked_until: Option<Instant>,
}

impl FixApplication {
    pub(crate) fn new(scope: Arc<SessionScope>, sessions: Arc<Sessions>) -> Self {
        let inbox = scope.inbox.clone();
        let sink = move |events: &VenueEvents| {
            inbox.push_events(events);
            true
        };
        let events = scope.exchange.events.subscribe(EventInterest::account(scope.account), sink);
        Self {
            faults: ReportFaults::new(scope.faults.clone()),
            scope,
            events,
            market_data: MarketDataRequests::default(),
            kept: VecDeque::new(),
            sessions,
            peer: None,
            entry: None,
            blocked_until: None,
        }
    }

    fn execute(&mut self, message: &FixMessage<'_>) -> Result<bool, Unavailable> {
        let scope = &self.scope;
        if scope.report.is_drop_copy {
            return Ok(false);
        }
        match (message.msg_type(), scope.report.version) {
            (b"D", _) => {
                scope.new_order(message)?;
                scope.place_strange_orders(message)?;
                if scope.faults.strikes(Fault::FixNumbersReset) {
                    scope.inbox.reset_numbers();
                }
            }
            (b"F", _) => scope.cancel_order(message)?,
            (b"G", _) => scope.replace_order(message)?,
            (b"H", _) => scope.order_status(message)?,
            (b"AF", FixVersion::Fix44) => scope.mass_status(message)?,
            (b"x", FixVersion::Fix44) => scope.security_list(message)?,
            (b"V", _) => self.request_market_data(message)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn request_market_data(&mut self, message: &FixMessage<'_>) -> Result<(), Unavailable> {
        self.scope.faults.count_request(false);
        if let Some(reject) = self.market_data.accept(&self.scope, message) {
            self.scope.inbox.send(reject);
            return Ok(());
        }
        self.update_interest();
        let id = message.get(tags::MD_REQ_ID).unwrap_or_default();
        market_data::ask_books(&self.scope, id, self.market_data.awaited(id))
    }

    fn update_interest(&self) {
        let interest =
            EventInterest { markets: self.market_data.markets(), ..EventInterest::account(self.scope.account) };
        self.events.set_interest(interest);
    }

    fn messages_of(&mut self, input: SessionInput) -> Vec<OutgoingMessage> {
        match input {
            SessionInput::Message(message) => vec![*message],
            SessionInput::Snapshot(snapshot) => self.market_data.begin(&snapshot).into_iter().collect(),
            SessionInput::Events(events) => {
                let steps = events.iter().filter_map(|event| self.own_step(event)).cloned().collect();
                // A session that nobody is logged on to gets the events too: it must not use up the faults of one that is.
                let steps = if self.entry.is_some() { self.faults.strike(steps) } else { steps };
                let mut messages: Vec<_> = steps.iter().map(|step| self.report_of(step)).collect();
                messages.extend(self.market_data.on_events(&events));
                messages
            }
        }
    }

    fn own_step<'a>(&self, event: &'a VenueEvent) -> Option<&'a SpotExecution> {
        match event {
            VenueEvent::Execution(step) if step.order.account == self.scope.account => Some(step),
            _ => None,
        }
    }

    fn report_of(&self, step: &SpotExecution) -> OutgoingMessage {
        let is_struck = self.entry.is_some()
            && step.kind == ExecutionType::Canceled
            && self.scope.faults.strikes(Fault::FixContradiction);
        match is_struck {
            true => self.scope.report.execution(&step.contradictory()),
            false => self.scope.report.execution(step),
        }
    }

    /// A report that cannot be sent is kept, where the face does so; anything else was for a connection that has ended.
    fn send(&mut self, message: OutgoingMessage, line: &mut dyn SessionSender) {
        let is_sent = line.send(&message).is_ok();
        if is_sent || !self.scope.keeps_reports || message.msg_type() != EXECUTION_REPORT {
            return;
        }
        if self.kept.len() >= KEPT_REPORTS_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(message);
    }
}

impl Application for FixApplication {
    fn on_connected(&mut self, peer: Option<IpAddr>) {
        self.peer = peer;
    }

    fn on_logon(&mut self, logon: &FixMessage<'_>, _ticket: LogonTicket) -> LogonDecision {
        let now = Instant::now();
        if self.scope.faults.strikes(Fault::FixLogonBlocked) {
            let heartbeat = Duration::from_secs(logon.number(tag::HEART_BT_INT).unwrap_or_default());
            self.blocked_until = Some(now + heartbeat * 2);
        }
        match self.blocked_until {
            Some(until) if now < until => LogonDecision::Reject("SenderCompID (49) is in use".to_owned()),
            _ => LogonDecision::Accept,
        }
    }

    fn on_logged_on(&mut self, line: &mut dyn SessionSender) {
        let away = self.scope.inbox.on_logged_on();
        // Made while no entry is there: a fault does not strike what happened before.
        let steps = away.iter().flat_map(|events| events.iter()).filter_map(|event| self.own_step(event));
        let reports: Vec<_> = steps.map(|step| self.report_of(step)).collect();
        self.kept.extend(reports);
        self.kept.drain(..self.kept.len().saturating_sub(KEPT_REPORTS_MAX));
        let peer = self.peer.unwrap_or(IpAddr::from([127, 0, 0, 1]));
        let entry = self.sessions.open(self.scope.report.version.face(), SocketAddr::new(peer, 0));
        let role = if self.scope.report.is_drop_copy { "drop copy" } else { "orders" };
        entry.describe(|| format!("{role} of account {}", self.scope.account));
        self.entry = Some(entry);
        for report in std::mem::take(&mut self.kept) {
            self.send(report, line);
        }
    }

    fn on_message(&mut self, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let refusal = match self.execute(message) {
            Ok(true) => return,
            Ok(false) => BusinessRejectReason::UnsupportedMessageType,
            Err(Unavailable::Busy | Unavailable::Stopped) => BusinessRejectReason::ApplicationNotAvailable,
        };
        let mut answer = OutgoingMessage::default();
        refusal.reject(message, None, &mut answer);
        if let Some(id) = message.get(tag::CL_ORD_ID) {
            answer.field(tags::BUSINESS_REJECT_REF_ID, id);
        }
        self.send(answer, line);
    }

    fn is_ready(&self) -> bool {
        self.scope.is_ready()
    }

    fn on_wake(&mut self, line: &mut dyn SessionSender) {
        for input in self.scope.inbox.take() {
            for message in self.messages_of(input) {
                self.send(message, line);
            }
        }
    }

    fn on_logged_out(&mut self) {
        self.entry = None;
        self.faults.clear();
        self.scope.inbox.on_logged_out();
        self.market_data.clear();
        self.update_interest();
    }

    fn on_disconnected(&mut self, _reason: &DisconnectReason) {
        self.peer = None;
    }
}
