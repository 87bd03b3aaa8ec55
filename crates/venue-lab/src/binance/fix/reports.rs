//! Execution Reports (8).

use fix::OutgoingMessage;
use fix::tag::Tag;

use super::link::time_text;
use crate::exchange::{
    AccountTrade, ExecutionType, PreventionMode, SpotExecution, SpotOrder, SpotOrderType, SpotSide, SpotStatus,
    SpotTimeInForce, Units,
};

const SELF_TRADE_PREVENTION: Tag = 25_001;
const CUM_QUOTE_QTY: Tag = 25_017;
const ORDER_CREATION_TIME: Tag = 25_018;
const WORKING_TIME: Tag = 25_023;
const PREVENTED_MATCH_ID: Tag = 25_024;
const PREVENTED_QTY: Tag = 25_030;

/// A step in the life of an order.
pub(super) fn execution(report: &SpotExecution) -> OutgoingMessage {
    let order = &report.order;
    let mut out = OutgoingMessage::new("8");
    out.number(17, report.execution_id).number(37, order.id).field(55, &order.symbol);
    match (report.kind, &report.cancel_id) {
        (ExecutionType::Canceled, Some(cancel_id)) => out.field(11, cancel_id).field(41, &order.client_id),
        (ExecutionType::Replaced, Some(former)) => out.field(11, &order.client_id).field(41, former),
        _ => out.field(11, &order.client_id),
    };
    add_terms(order, &mut out);
    add_progress(report, &mut out);
    if let Some(trade) = &report.trade {
        add_trade(trade, &mut out);
    }
    out
}

fn add_terms(order: &SpotOrder, out: &mut OutgoingMessage) {
    out.field(54, if order.side == SpotSide::Buy { "1" } else { "2" }).display(38, order.quantity);
    out.field(40, type_code(order.kind)).field(59, time_in_force_code(order.time_in_force));
    if order.kind == SpotOrderType::LimitMaker {
        out.field(18, "6");
    }
    if order.kind.has_limit() {
        out.display(44, order.price);
    }
    if order.quote_quantity.is_positive() {
        out.display(152, order.quote_quantity);
    }
    if let Some(kind) = order.strategy_type {
        out.display(847, kind);
    }
    if let Some(id) = order.strategy_id {
        out.display(7_940, id);
    }
    if let (Some(stop), Some(is_up)) = (order.stop_price, order.kind.triggers_upwards(order.side)) {
        out.field(1_100, "4").field(1_101, "1").display(1_102, stop).field(1_107, "2");
        out.field(1_109, if is_up { "U" } else { "D" });
    }
    out.field(SELF_TRADE_PREVENTION, prevention_code(order.prevention));
}

fn type_code(kind: SpotOrderType) -> &'static str {
    match kind {
        SpotOrderType::Market => "1",
        SpotOrderType::Limit | SpotOrderType::LimitMaker => "2",
        SpotOrderType::StopLoss | SpotOrderType::TakeProfit => "3",
        SpotOrderType::StopLossLimit | SpotOrderType::TakeProfitLimit => "4",
    }
}

fn time_in_force_code(time_in_force: SpotTimeInForce) -> &'static str {
    match time_in_force {
        SpotTimeInForce::Gtc => "1",
        SpotTimeInForce::Ioc => "3",
        SpotTimeInForce::Fok => "4",
    }
}

fn prevention_code(prevention: PreventionMode) -> &'static str {
    match prevention {
        PreventionMode::None => "1",
        PreventionMode::ExpireTaker => "2",
        PreventionMode::ExpireMaker => "3",
        PreventionMode::ExpireBoth => "4",
        PreventionMode::Decrement => "5",
    }
}

fn exec_type(kind: ExecutionType) -> &'static str {
    match kind {
        ExecutionType::New => "0",
        ExecutionType::Trade => "F",
        ExecutionType::Canceled => "4",
        ExecutionType::Expired | ExecutionType::TradePrevention => "C",
        ExecutionType::Replaced => "5",
    }
}

fn status_code(status: SpotStatus) -> &'static str {
    match status {
        SpotStatus::New => "0",
        SpotStatus::PartiallyFilled => "1",
        SpotStatus::Filled => "2",
        SpotStatus::Canceled => "4",
        SpotStatus::Expired | SpotStatus::ExpiredInMatch => "C",
    }
}

fn add_progress(report: &SpotExecution, out: &mut OutgoingMessage) {
    let order = &report.order;
    out.field(150, exec_type(report.kind)).field(39, status_code(order.status));
    let left = if order.status.is_open() { order.open_quantity() } else { Units::ZERO };
    out.display(14, order.executed).display(151, left).display(CUM_QUOTE_QTY, order.cumulative_quote);
    if report.trade.is_none() {
        out.display(32, Units::ZERO);
    }
    out.field(60, time_text(report.time_micros)).field(ORDER_CREATION_TIME, time_text(order.time_micros));
    if let Some(working) = order.working_micros {
        out.field(636, if order.status.is_open() { "Y" } else { "N" }).field(WORKING_TIME, time_text(working));
    }
    if let Some(prevented) = order.prevented_match {
        out.number(PREVENTED_MATCH_ID, prevented).display(PREVENTED_QTY, order.prevented);
    }
}

fn add_trade(trade: &AccountTrade, out: &mut OutgoingMessage) {
    out.display(31, trade.price).display(32, trade.quantity).number(1_003, trade.trade_id);
    out.field(1_057, if trade.is_maker { "N" } else { "Y" }).field(574, "4");
    out.number(136, 1).member(137, trade.commission.to_string()).member(138, &trade.commission_asset).member(139, "4");
}

/// The state of an order that was not taken.
pub(super) fn add_rejected(out: &mut OutgoingMessage) {
    out.field(150, "8").field(39, "8").display(14, Units::ZERO).display(32, Units::ZERO);
}
