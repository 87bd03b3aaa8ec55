//! Trade Capture Reports (AE) and the acknowledgement of their request (AQ).

use std::collections::BTreeSet;

use domain::order::{ExecType, OrderStatus};
use domain::{Liquidity, Price, Quantity, ReferenceData, SecurityId, Side, Text, Timestamp};
use fix::OutgoingMessage;

use super::trade_request::TradeRefusal;
use super::{utc_date, write_security};
use crate::translate::exec_id::ExecIds;
use crate::translate::field;
use crate::translate::report::{printable_text, write_utc};
use crate::translate::request_echo::RequestEcho;

/// TradeRequestStatus (750).
const ACCEPTED: &str = "0";
const COMPLETED: &str = "1";
const REJECTED: &str = "2";
/// TradeRequestResult (749).
const SUCCESSFUL: u64 = 0;
/// Symbol (55) where the request is about all securities.
const ANY_SYMBOL: &str = "[N/A]";

/// TradeReportTransType (487).
const CANCEL: u64 = 1;
const REPLACE: u64 = 2;

/// An execution that counts, or that another one does not count any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CapturedTrade {
    /// Of what is only taken back an id of its own.
    pub(crate) exec_id: String,
    pub(crate) step: TradeStep,
    pub(crate) order_id: Text,
    pub(crate) cl_ord_id: Text,
    pub(crate) account: u64,
    pub(crate) security: SecurityId,
    pub(crate) side: Side,
    pub(crate) quantity: Quantity,
    pub(crate) price: Price,
    pub(crate) at: Timestamp,
    /// The input that caused it.
    pub(crate) sequence: u64,
    pub(crate) liquidity: Option<Liquidity>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TradeStep {
    Executed,
    /// It counts instead of the execution with this id.
    Replaces(String),
    /// The execution with this id does not count, and none does instead.
    TakesBack(String),
}

impl CapturedTrade {
    pub(crate) fn counts(&self) -> bool {
        !matches!(self.step, TradeStep::TakesBack(_))
    }
}

/// The executions of an order that count, oldest first, with the ids that its reports (8) have; and what was taken back. Each execution that
/// does not count any more is named once: by the one that counts instead, or else by itself. So it is where the events begin after it.
pub(crate) fn captured_trades(events: &[OrderStatus], ids: ExecIds) -> Vec<CapturedTrade> {
    let mut trades: Vec<CapturedTrade> = Vec::new();
    for status in events {
        let referred = status.client.as_ref().and_then(|view| view.exec_ref_id.as_deref());
        let referred = referred.map(|id| ids.for_execution(status.order.0, id));
        let taken = referred.as_deref().and_then(|id| take_back(&mut trades, id));
        match status.exec_type {
            ExecType::PartialFill | ExecType::Fill | ExecType::TradeCorrect => {
                let step = referred.map_or(TradeStep::Executed, TradeStep::Replaces);
                trades.extend(captured_trade(status, ids).map(|trade| CapturedTrade { step, ..trade }));
            }
            ExecType::TradeCancel => {
                let busted = taken.or_else(|| unknown_trade(status, referred?));
                trades.extend(busted.map(|busted| bust_of(busted, status, ids)));
            }
            _ => {}
        }
    }
    // A correction may keep the id of what it corrects.
    let counting: BTreeSet<String> =
        trades.iter().filter(|trade| trade.counts()).map(|trade| trade.exec_id.clone()).collect();
    trades.retain(|trade| !matches!(&trade.step, TradeStep::TakesBack(id) if counting.contains(id)));
    trades
}

/// The execution that does not count any more. What it had replaced itself is only taken back now.
fn take_back(trades: &mut Vec<CapturedTrade>, exec_id: &str) -> Option<CapturedTrade> {
    let place = trades.iter().position(|trade| trade.counts() && trade.exec_id == exec_id)?;
    let taken = trades[place].clone();
    match &taken.step {
        TradeStep::Replaces(earlier) => trades[place].step = TradeStep::TakesBack(earlier.clone()),
        TradeStep::Executed | TradeStep::TakesBack(_) => drop(trades.remove(place)),
    }
    Some(taken)
}

fn bust_of(busted: CapturedTrade, status: &OrderStatus, ids: ExecIds) -> CapturedTrade {
    CapturedTrade {
        exec_id: ids.for_bust(&busted.exec_id),
        step: TradeStep::TakesBack(busted.exec_id),
        at: status.at,
        sequence: status.sequence,
        ..busted
    }
}

fn captured_trade(status: &OrderStatus, ids: ExecIds) -> Option<CapturedTrade> {
    let exec_id = ids.for_execution(status.order.0, status.client.as_ref()?.exec_id.as_deref()?);
    trade_of(status, exec_id, (status.last_quantity?, status.last_price?))
}

/// One from before the first event: how much it was is not known, and does not count.
fn unknown_trade(status: &OrderStatus, exec_id: String) -> Option<CapturedTrade> {
    trade_of(status, exec_id, (Quantity::ZERO, Price::ZERO))
}

fn trade_of(status: &OrderStatus, exec_id: String, (quantity, price): (Quantity, Price)) -> Option<CapturedTrade> {
    let view = status.client.as_ref()?;
    let int_id = status.int_id.as_str();
    Some(CapturedTrade {
        exec_id,
        step: TradeStep::Executed,
        order_id: int_id.into(),
        cl_ord_id: view.cl_ord_id.clone().unwrap_or_else(|| int_id.into()),
        account: view.account.0,
        security: view.security,
        side: view.side,
        quantity,
        price,
        at: status.at,
        sequence: status.sequence,
        liquidity: view.liquidity,
    })
}

/// Where a report stands among those of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReportPlace {
    /// From 1 on.
    pub(crate) number: usize,
    pub(crate) total: usize,
}

pub(crate) fn trade_report(
    echo: &RequestEcho,
    trade: &CapturedTrade,
    place: ReportPlace,
    with_liquidity: bool,
    reference: &ReferenceData,
) -> OutgoingMessage {
    let mut report = OutgoingMessage::new("AE");
    report.field(field::TRADE_REPORT_ID, &trade.exec_id).field(field::EXEC_ID, &trade.exec_id);
    report.field(field::TRADE_REQUEST_ID, echo.get(field::TRADE_REQUEST_ID).unwrap_or(field::NONE));
    report.number(field::TOT_NUM_TRADE_REPORTS, place.total as u64);
    report.field(field::LAST_RPT_REQUESTED, if place.number == place.total { "Y" } else { "N" });
    report.field(field::PREVIOUSLY_REPORTED, "Y");
    write_step(&mut report, &trade.step);
    write_security(trade.security, reference, &mut report);
    report.display(field::LAST_QTY, trade.quantity).display(field::LAST_PX, trade.price);
    report.field(field::TRADE_DATE, utc_date(trade.at));
    write_utc(&mut report, field::TRANSACT_TIME, trade.at);
    if let Some(liquidity) = trade.liquidity.filter(|_| with_liquidity) {
        report.field(field::LAST_LIQUIDITY_IND, field::last_liquidity_ind(liquidity));
    }
    report.number(field::NO_SIDES, 1).member(field::SIDE, field::side(trade.side));
    report.member(field::ORDER_ID, &*trade.order_id).member(field::CL_ORD_ID, &*trade.cl_ord_id);
    report.member(field::ACCOUNT, trade.account.to_string());
    report
}

/// An execution without more is a new one (487 is 0 where it is absent).
fn write_step(report: &mut OutgoingMessage, step: &TradeStep) {
    let (exec_type, taken_back) = match step {
        TradeStep::Executed => ("F", None),
        TradeStep::Replaces(id) => ("G", Some((REPLACE, id))),
        TradeStep::TakesBack(id) => ("H", Some((CANCEL, id))),
    };
    report.field(field::EXEC_TYPE, exec_type);
    if let Some((trans_type, id)) = taken_back {
        report.number(field::TRADE_REPORT_TRANS_TYPE, trans_type).field(field::TRADE_REPORT_REF_ID, id);
    }
}

/// How many reports follow, or why none does.
pub(crate) fn trades_ack(echo: &RequestEcho, outcome: Result<usize, &TradeRefusal>) -> OutgoingMessage {
    let mut ack = OutgoingMessage::new("AQ");
    ack.field(field::TRADE_REQUEST_ID, echo.get(field::TRADE_REQUEST_ID).unwrap_or(field::NONE));
    ack.field(field::TRADE_REQUEST_TYPE, echo.get(field::TRADE_REQUEST_TYPE).unwrap_or("0"));
    ack.field(field::SYMBOL, echo.get(field::SYMBOL).unwrap_or(ANY_SYMBOL));
    match outcome {
        Ok(total) => {
            let status = if total == 0 { COMPLETED } else { ACCEPTED };
            ack.number(field::TOT_NUM_TRADE_REPORTS, total as u64);
            ack.number(field::TRADE_REQUEST_RESULT, SUCCESSFUL).field(field::TRADE_REQUEST_STATUS, status);
        }
        Err(TradeRefusal { result, reject }) => {
            ack.number(field::TRADE_REQUEST_RESULT, *result).field(field::TRADE_REQUEST_STATUS, REJECTED);
            ack.field(field::TEXT, printable_text(&reject.display_text()));
        }
    }
    ack
}
