//! Questions about the account as a whole: the snapshot after a log-on, lists while the session is up, and positions.

use std::time::{Duration, Instant};

use adapters::{ReportSink, SendOutcome, SessionLost};
use crossbeam_channel::RecvTimeoutError;
use domain::report::{FillsScope, ListingCapabilities, ReportKind, VenueSnapshot};
use domain::{AccountId, Order, Security, SecurityKind, Text, Timestamp};
use fix::{FixDecoder, FixMessage};

use crate::account::fill_list::{FillCursor, FillListStep};
use crate::account::open_captures::{CaptureScope, trade_capture};
use crate::account::open_order_list::OrderListStep;
use crate::account::position_request::{PositionStep, position_request};
use crate::account::snapshot::SnapshotAnswers;
use crate::adapter::FixAdapter;
use crate::requests::{QuestionId, RequestKind, mass_status};
use crate::sessions::session::Inbound;

/// How long a log-on waits for the snapshot; without it every open order is asked about.
const SNAPSHOT_WAIT: Duration = Duration::from_secs(2);
/// Executions before are not asked for; an order that has older ones is asked about alone.
const TRADES_LOOK_BACK_SECONDS: i64 = 48 * 3_600;
/// Other messages that wait behind the snapshot; beyond it the snapshot is given up.
const HELD_MESSAGES_MAX: usize = 16_384;

impl FixAdapter {
    pub(crate) fn next_question(&mut self) -> QuestionId {
        let id = self.questions;
        self.questions.number += 1;
        id
    }

    /// Questions of an earlier connection get no answers.
    pub(crate) fn forget_questions(&mut self) {
        self.translator.captures.clear();
        self.positions.clear();
        self.open_orders.clear();
        self.fills.clear();
    }

    /// Orders and executions as the venue has them, where the dialect says how; an incomplete one has nothing.
    pub(crate) fn take_snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        let nothing = VenueSnapshot { as_of: Some(at), complete: false, ..VenueSnapshot::default() };
        if !self.setup.dialect.recovery.snapshot {
            return Ok(nothing);
        }
        let Some(mut answers) = self.ask_for_account(at) else { return Ok(nothing) };
        let until = Instant::now() + self.runtime.patience(SNAPSHOT_WAIT);
        while !answers.is_complete() {
            let is_over = answers.is_refused() || self.rest.len() > HELD_MESSAGES_MAX || Instant::now() >= until;
            if is_over {
                tracing::warn!(venue = %self.setup.venue, "no snapshot of the account came; every open order is asked about");
                return Ok(nothing);
            }
            self.collect(&mut answers, until)?;
        }
        Ok(answers.into_snapshot(&mut self.translator, at))
    }

    fn ask_for_account(&mut self, at: Timestamp) -> Option<SnapshotAnswers> {
        let (orders, trades) = (self.next_question(), self.next_question());
        let (dialect, ids) = (self.translator.dialect(), self.translator.ids());
        let since = CaptureScope::Since(at.plus_seconds(-TRADES_LOOK_BACK_SECONDS));
        let (status, capture) = (mass_status(dialect, orders, true), trade_capture(dialect, ids, trades, since));
        self.translator.on_executions_asked(trades, None);
        for (kind, message) in [(RequestKind::MassStatus, status), (RequestKind::TradeCapture, capture)] {
            if let SendOutcome::NotSent(reason) | SendOutcome::Unknown { reason, .. } = self.send(at, kind, message) {
                tracing::warn!(venue = %self.setup.venue, %reason, "the snapshot of the account is not asked for");
                return None;
            }
        }
        Some(SnapshotAnswers::new(orders, trades))
    }

    /// What is not part of the answers comes behind them, in its order.
    fn collect(&mut self, answers: &mut SnapshotAnswers, until: Instant) -> Result<(), SessionLost> {
        let Some(running) = &self.session else { return Err(SessionLost("not logged on".into())) };
        running.session.resume();
        let inbound = match running.session.inbound().recv_deadline(until) {
            Ok(Inbound::Lost(reason)) => return Err(SessionLost(reason.into())),
            Ok(inbound) => inbound,
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(SessionLost("the session has ended".into())),
        };
        if let Inbound::Message(frame) = &inbound {
            let mut decoder = FixDecoder::new();
            if decoder.decode(frame).is_ok_and(|message| answers.on_message(&mut self.translator, &message)) {
                return Ok(());
            }
        }
        self.rest.push_back(inbound);
        Ok(())
    }

    /// The executions of an order, where the dialect says how; they are part of the answer to the question about it.
    pub(crate) fn ask_for_fills(&mut self, at: Timestamp, order: &Order) -> Result<Option<QuestionId>, SendOutcome> {
        if !self.setup.dialect.recovery.trades {
            return Ok(None);
        }
        let id = self.next_question();
        let known = self.translator.chains.inquiry_id(self.setup.instance, order);
        let (dialect, ids) = (self.translator.dialect(), self.translator.ids());
        let message = trade_capture(dialect, ids, id, CaptureScope::Order(known));
        match self.send(at, RequestKind::TradeCapture, message) {
            SendOutcome::Sent => {
                self.translator.on_executions_asked(id, Some(order.id));
                Ok(Some(id))
            }
            unsent => Err(unsent),
        }
    }

    pub(crate) fn lists(&self) -> ListingCapabilities {
        let recovery = &self.setup.dialect.recovery;
        let fills = recovery.fills.then_some(FillsScope::All);
        ListingCapabilities { open_orders: recovery.open_orders, fills, statement: recovery.positions }
    }

    pub(crate) fn ask_for_open_orders(&mut self, at: Timestamp) -> SendOutcome {
        if !self.setup.dialect.recovery.open_orders {
            return SendOutcome::NotSent("the venue lists no open orders".into());
        }
        let id = self.next_question();
        let outcome = self.send(at, RequestKind::MassStatus, mass_status(self.translator.dialect(), id, false));
        if outcome == SendOutcome::Sent {
            self.open_orders.begin(id, at);
        }
        outcome
    }

    /// Whether the message was part of the list of open orders.
    pub(crate) fn on_order_list(&mut self, message: &FixMessage<'_>, sink: &mut dyn ReportSink) -> bool {
        match self.open_orders.on_message(&self.translator, message) {
            OrderListStep::NotOfList => return false,
            OrderListStep::Waiting => {}
            OrderListStep::Done(report) => sink.on_report(None, *report),
        }
        true
    }

    /// From a cursor on, of all securities.
    pub(crate) fn ask_for_fill_list(&mut self, at: Timestamp, cursor: Option<&Text>) -> SendOutcome {
        let recovery = &self.setup.dialect.recovery;
        if !recovery.fills {
            return SendOutcome::NotSent("the venue lists no fills".into());
        }
        let Ok(cursor) = cursor.map(|text| FillCursor::parse(text).ok_or(())).transpose() else {
            return SendOutcome::NotSent("the cursor is none of a list of fills".into());
        };
        let scope = self.fills.scope(cursor.as_ref(), at, recovery.read_lag_millis);
        let id = self.next_question();
        let message = trade_capture(self.translator.dialect(), self.translator.ids(), id, scope);
        let outcome = self.send(at, RequestKind::TradeCapture, message);
        if outcome == SendOutcome::Sent {
            self.fills.begin(&mut self.translator, id, at, cursor);
        }
        outcome
    }

    /// Whether the message was part of the list of executions.
    pub(crate) fn on_fill_list(&mut self, message: &FixMessage<'_>, sink: &mut dyn ReportSink) -> bool {
        match self.fills.on_message(&mut self.translator, message) {
            FillListStep::NotOfList => return false,
            FillListStep::Waiting => {}
            FillListStep::Done(reports) => reports.into_iter().for_each(|report| sink.on_report(None, report)),
        }
        true
    }

    pub(crate) fn ask_for_positions(&mut self, at: Timestamp, account: AccountId) -> SendOutcome {
        if !self.setup.dialect.recovery.positions {
            return SendOutcome::NotSent("the venue gives no statements".into());
        }
        let reference = self.setup.catalogue.current();
        let Some(known) = reference.accounts.get(&account) else {
            return SendOutcome::NotSent("the account is not in the reference data".into());
        };
        let id = self.next_question();
        let name = known.ext_account.as_deref().unwrap_or(&known.name);
        let message = position_request(self.translator.dialect(), id, name, at);
        let outcome = self.send(at, RequestKind::Positions, message);
        if outcome == SendOutcome::Sent {
            self.positions.begin(id, at, account);
        }
        outcome
    }

    /// A message about positions (AO, AP).
    pub(crate) fn on_position_message(&mut self, message: &FixMessage<'_>, sink: &mut dyn ReportSink) {
        let reference = self.setup.catalogue.current();
        let symbol = message.text(55).unwrap_or_default();
        // Of currency pairs a venue holds the two currencies.
        let is_meant = |security: &Security| {
            security.exchange == self.setup.exchange
                && &**security.symbol_at(&self.setup.venue) == symbol
                && !matches!(security.kind, SecurityKind::Forex { .. })
        };
        let security = reference.securities.values().find(|security| is_meant(security)).map(|security| security.id);
        match self.positions.on_message(message, security) {
            PositionStep::Waiting => {}
            PositionStep::Refused(reason) => {
                tracing::warn!(venue = %self.setup.venue, %reason, "the venue does not tell positions");
            }
            PositionStep::Stated(statement) => sink.on_report(None, ReportKind::Statement(statement)),
        }
    }
}
