//! Trade Capture Report Request (AD), and the answers to it as far as they have come. An answer counts when its last report has come; half
//! of one is none.

use std::collections::BTreeMap;

use domain::report::{ReportKind, VenueFill};
use domain::{OrderId, Text, Timestamp, WireId};
use fix::{FixMessage, OutgoingMessage};

use crate::dialect::Dialect;
use crate::requests::{ClientIds, QuestionId, RequestKind, RequestRefusal, utc, write_constants};

/// First letter of TradeRequestID (568).
pub(crate) const CAPTURE_PREFIX: char = 'T';
/// Digits of a date: `20260105`.
pub(crate) const DATE_DIGITS: usize = 8;
/// Executions of one answer; a longer one is not used.
pub(crate) const CAPTURED_FILLS_MAX: usize = 100_000;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureScope {
    /// By the id under which the venue knows it.
    Order(WireId),
    /// All orders, executed at this instant or later.
    Since(Timestamp),
    /// Of these the oldest, so many at most where the venue can be told.
    Oldest(Timestamp, usize),
}

/// Asks for executions.
pub fn trade_capture(
    dialect: &Dialect,
    ids: &ClientIds,
    id: QuestionId,
    scope: CaptureScope,
) -> Result<OutgoingMessage, RequestRefusal> {
    let mut message = OutgoingMessage::new(RequestKind::TradeCapture.msg_type());
    message.field(568, id.text(CAPTURE_PREFIX)).field(569, "1");
    match scope {
        CaptureScope::Order(order) => drop(message.field(11, ids.write(order)?)),
        CaptureScope::Since(from) | CaptureScope::Oldest(from, _) => {
            let mut time = Vec::new();
            utc(from).write(dialect.session.time_digits, &mut time);
            // The date begins the entry.
            message.field(580, "1").member(75, &time[..time.len().min(DATE_DIGITS)]).member(60, &time);
        }
    }
    if let (CaptureScope::Oldest(_, limit), Some(tag)) = (scope, dialect.recovery.fills_limit_tag) {
        message.number(tag, limit as u64);
    }
    write_constants(dialect, RequestKind::TradeCapture, &mut message)?;
    Ok(message)
}

/// The executions of an answer, as far as they are of our orders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Captured {
    /// Those that count.
    pub(crate) fills: Vec<VenueFill>,
    pub(crate) taken_back: Vec<TakenBack>,
}

/// An execution that does not count any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TakenBack {
    pub(crate) order: OrderId,
    pub(crate) exec_id: Text,
    /// The one that counts instead.
    pub(crate) by: Option<VenueFill>,
    pub(crate) at: Option<Timestamp>,
    /// The id of what told it.
    pub(crate) told_by: Option<Text>,
}

impl TakenBack {
    fn is_same(&self, other: &Self) -> bool {
        (self.order, &self.exec_id) == (other.order, &other.exec_id)
    }

    pub(crate) fn report(self) -> ReportKind {
        let Self { order, exec_id, by, at, .. } = self;
        ReportKind::TakenBack { order, exec_id, by: by.map(Box::new), at }
    }
}

impl Captured {
    /// What comes later may take back what came before.
    fn extend(&mut self, mut more: Self) {
        more.taken_back.iter_mut().for_each(|taken| self.name_newest(taken));
        let is_taken_back = |fill: &VenueFill| {
            more.taken_back.iter().any(|taken| taken.order == fill.order && taken.exec_id == fill.exec_id)
        };
        // Of a long answer each execution would look through all before it.
        if !more.taken_back.is_empty() {
            self.fills.retain(|fill| !is_taken_back(fill));
            // A venue may correct a fill more than once under one id: each answer would book all of it again.
            self.taken_back.retain(|earlier| !more.taken_back.iter().any(|taken| taken.is_same(earlier)));
        }
        self.fills.extend(more.fills);
        self.taken_back.extend(more.taken_back);
    }

    /// A venue may name the first execution in each of its corrections: what is corrected is the one that counts in its place.
    fn name_newest(&self, taken: &mut TakenBack) {
        let Some(by) = taken.by.as_ref().filter(|by| by.exec_id != taken.exec_id).map(|by| by.exec_id.clone()) else {
            return;
        };
        // One that says the same again, or keeps the id, names what it means.
        for _ in 0..self.taken_back.len() {
            let earlier = self.taken_back.iter().find(|earlier| earlier.is_same(taken));
            match earlier.and_then(|earlier| earlier.by.as_ref()).map(|newer| &newer.exec_id) {
                Some(newer) if *newer != by && *newer != taken.exec_id => taken.exec_id = newer.clone(),
                _ => return,
            }
        }
    }

    fn len(&self) -> usize {
        self.fills.len() + self.taken_back.len()
    }
}

/// Answers that have begun, or are waited for.
#[derive(Debug, Default)]
pub(crate) struct OpenCaptures(BTreeMap<u64, OpenCapture>);

#[derive(Debug, Default)]
struct OpenCapture {
    /// Of the account where absent.
    order: Option<OrderId>,
    captured: Captured,
    /// AE messages so far, also of orders that are not ours.
    reports: u64,
    total: Option<u64>,
    /// Something in it could not be read.
    is_spoilt: bool,
}

/// What a message of an answer brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CaptureStep {
    /// More has to come, or it is not ours.
    Waiting,
    /// All executions; none at all where the venue refused or what it sent cannot be used.
    Done { number: u64, order: Option<OrderId>, captured: Option<Captured> },
}

impl OpenCaptures {
    pub(crate) fn begin(&mut self, id: QuestionId, order: Option<OrderId>) {
        self.0.insert(id.number, OpenCapture { order, ..OpenCapture::default() });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_open(&self, id: QuestionId) -> bool {
        self.0.contains_key(&id.number)
    }

    /// Its answer is not waited for any more.
    pub(crate) fn forget(&mut self, id: QuestionId) {
        self.0.remove(&id.number);
    }

    /// An acknowledgement (AQ): how many reports come, or that none does.
    pub(super) fn on_ack(&mut self, number: u64, message: &FixMessage<'_>) -> CaptureStep {
        let Some(open) = self.0.get_mut(&number) else { return CaptureStep::Waiting };
        let is_refused = message.text(750) == Some("2") || message.text(749).is_some_and(|result| result != "0");
        if is_refused {
            let reason = message.text(58).or(message.text(749)).unwrap_or_default();
            tracing::warn!(reason, "the venue does not tell executions");
            open.is_spoilt = true;
            return self.end(number);
        }
        open.total = message.number(748);
        match open.total == Some(0) || (message.text(750) == Some("1") && open.reports == 0 && open.total.is_none()) {
            true => self.end(number),
            false => CaptureStep::Waiting,
        }
    }

    pub(super) fn on_report(
        &mut self,
        number: u64,
        captured: Result<Captured, String>,
        message: &FixMessage<'_>,
    ) -> CaptureStep {
        let Some(open) = self.0.get_mut(&number) else { return CaptureStep::Waiting };
        open.reports += 1;
        open.total = message.number(748).or(open.total);
        match captured {
            Ok(more) if open.captured.len() + more.len() <= CAPTURED_FILLS_MAX => open.captured.extend(more),
            Ok(_) => open.is_spoilt = true,
            Err(reason) => {
                tracing::error!(%reason, message = %fix::masked(message.bytes()), "an execution of the venue cannot be read");
                open.is_spoilt = true;
            }
        }
        match message.flag(912) || open.total == Some(open.reports) {
            true => self.end(number),
            false => CaptureStep::Waiting,
        }
    }

    pub(super) fn end(&mut self, number: u64) -> CaptureStep {
        let Some(open) = self.0.remove(&number) else { return CaptureStep::Waiting };
        // Where reports are missing, executions may be.
        let is_whole = !open.is_spoilt && open.total.is_none_or(|total| total == open.reports);
        CaptureStep::Done { number, order: open.order, captured: is_whole.then_some(open.captured) }
    }

    /// The number of the open question about this order.
    pub(super) fn of_order(&self, order: OrderId) -> Option<u64> {
        self.0.iter().find(|(_, open)| open.order == Some(order)).map(|(number, _)| *number)
    }
}
