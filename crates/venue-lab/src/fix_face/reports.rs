//! Execution Reports (8) and Order Cancel Rejects (9).

use fix::{OutgoingMessage, UtcTimestamp};

use super::tags;
use super::version::FixVersion;
use crate::exchange::{
    AccountTrade, DUPLICATE_ORDER, ExecutionType, INSUFFICIENT_BALANCE, SpotExecution, SpotOrder, SpotOrderType,
    SpotReject, SpotSide, SpotStatus, SpotTimeInForce, Units,
};

/// Digits of a second in times; more are not known to FIX 4.2.
pub(crate) const FRACTION_DIGITS: u8 = 3;
/// In place of an OrderID (37) where there is no order.
const NO_ORDER: &str = "NONE";
/// ExecType (150) of an answer to a status request, and its ExecID (17).
const STATUS: &str = "I";
const STATUS_EXEC_ID: &str = "0";
/// OrdRejReason (103).
const UNKNOWN_SYMBOL: u64 = 1;
const EXCEEDS_LIMIT: u64 = 3;
const UNKNOWN_ORDER: u64 = 5;
const DUPLICATE: u64 = 6;

/// Who is told.
#[derive(Debug, Clone)]
pub(crate) struct ReportScope {
    pub(crate) version: FixVersion,
    pub(crate) account: String,
    pub(crate) is_drop_copy: bool,
}

pub(crate) fn timestamp(micros: i64) -> UtcTimestamp {
    UtcTimestamp::from_nanos(micros.saturating_mul(1_000))
}

fn side_code(side: SpotSide) -> &'static str {
    match side {
        SpotSide::Buy => "1",
        SpotSide::Sell => "2",
    }
}

/// None for an order from another face that FIX has no type for.
fn type_code(kind: SpotOrderType, version: FixVersion) -> Option<&'static str> {
    match kind {
        SpotOrderType::Market => Some("1"),
        SpotOrderType::Limit | SpotOrderType::LimitMaker => Some("2"),
        SpotOrderType::StopLoss => Some("3"),
        SpotOrderType::StopLossLimit => Some("4"),
        SpotOrderType::TakeProfit if version == FixVersion::Fix44 => Some("J"),
        SpotOrderType::TakeProfit | SpotOrderType::TakeProfitLimit => None,
    }
}

fn time_in_force_code(time_in_force: SpotTimeInForce) -> &'static str {
    match time_in_force {
        SpotTimeInForce::Gtc => "1",
        SpotTimeInForce::Ioc => "3",
        SpotTimeInForce::Fok => "4",
    }
}

/// FIX 4.2 has a status for an order that was replaced and not yet filled.
pub(crate) fn status_code(order: &SpotOrder, version: FixVersion) -> &'static str {
    match order.status {
        SpotStatus::New if version == FixVersion::Fix42 && !order.amendments.is_empty() => "5",
        SpotStatus::New => "0",
        SpotStatus::PartiallyFilled => "1",
        SpotStatus::Filled => "2",
        SpotStatus::Canceled => "4",
        SpotStatus::Expired | SpotStatus::ExpiredInMatch => "C",
    }
}

impl ReportScope {
    /// A step in the life of an order.
    pub(crate) fn execution(&self, report: &SpotExecution) -> OutgoingMessage {
        let order = &report.order;
        let mut out = self.begin(order);
        out.field(tags::EXEC_ID, format!("{}-{}", order.symbol, report.execution_id));
        if self.version == FixVersion::Fix42 {
            out.field(tags::EXEC_TRANS_TYPE, "0");
        }
        out.field(tags::EXEC_TYPE, self.exec_type(report));
        out.time(tags::TRANSACT_TIME, timestamp(report.time_micros), FRACTION_DIGITS);
        match (report.kind, &report.cancel_id) {
            (ExecutionType::Canceled, Some(cancel_id)) => {
                out.field(tags::CL_ORD_ID, cancel_id).field(tags::ORIG_CL_ORD_ID, &order.client_id);
            }
            (ExecutionType::Replaced, Some(former)) => {
                out.field(tags::CL_ORD_ID, &order.client_id).field(tags::ORIG_CL_ORD_ID, former);
            }
            _ => {
                out.field(tags::CL_ORD_ID, &order.client_id);
            }
        }
        if is_triggered_now(report) {
            out.field(tags::EXEC_RESTATEMENT_REASON, "4").field(tags::TEXT, "the stop was triggered");
        }
        if let Some(trade) = &report.trade {
            self.add_trade(trade, &mut out);
        }
        out
    }

    fn exec_type(&self, report: &SpotExecution) -> &'static str {
        match report.kind {
            ExecutionType::New if is_triggered_now(report) => "D",
            ExecutionType::New => "0",
            ExecutionType::Trade if self.version == FixVersion::Fix44 => "F",
            ExecutionType::Trade if report.order.status == SpotStatus::Filled => "2",
            ExecutionType::Trade => "1",
            ExecutionType::Canceled => "4",
            ExecutionType::Expired | ExecutionType::TradePrevention => "C",
            ExecutionType::Replaced => "5",
        }
    }

    fn add_trade(&self, trade: &AccountTrade, out: &mut OutgoingMessage) {
        out.display(tags::LAST_QTY, trade.quantity).display(tags::LAST_PX, trade.price);
        out.display(tags::COMMISSION, trade.commission).field(tags::COMM_TYPE, "3");
        match self.version {
            FixVersion::Fix44 => {
                out.field(tags::COMM_CURRENCY, &trade.commission_asset).number(tags::SECONDARY_EXEC_ID, trade.trade_id);
                out.field(tags::LAST_LIQUIDITY_IND, if trade.is_maker { "1" } else { "2" });
            }
            // It has no fields for these.
            FixVersion::Fix42 => {
                out.field(tags::TEXT, format!("trade {}, commission in {}", trade.trade_id, trade.commission_asset));
            }
        }
    }

    /// Identity, terms and progress.
    fn begin(&self, order: &SpotOrder) -> OutgoingMessage {
        let mut out = OutgoingMessage::new("8");
        out.field(tags::ACCOUNT, &self.account).number(tags::ORDER_ID, order.id).field(tags::SYMBOL, &order.symbol);
        out.field(tags::SIDE, side_code(order.side)).field(tags::ORD_STATUS, status_code(order, self.version));
        out.display(tags::ORDER_QTY, order.quantity).display(tags::CUM_QTY, order.executed);
        let left = if order.status.is_open() { order.open_quantity() } else { Units::ZERO };
        let average = order.cumulative_quote.over(order.executed).unwrap_or_default();
        out.display(tags::LEAVES_QTY, left).display(tags::AVG_PX, average);
        if let Some(code) = type_code(order.kind, self.version) {
            out.field(tags::ORD_TYPE, code);
        }
        if order.kind == SpotOrderType::LimitMaker {
            out.field(tags::EXEC_INST, "6");
        }
        if order.kind.has_limit() {
            out.display(tags::PRICE, order.price);
        }
        if let Some(stop) = order.stop_price {
            out.display(tags::STOP_PX, stop);
        }
        if order.quote_quantity.is_positive() {
            out.display(tags::CASH_ORDER_QTY, order.quote_quantity);
        }
        out.field(tags::TIME_IN_FORCE, time_in_force_code(order.time_in_force));
        if self.is_drop_copy && self.version == FixVersion::Fix44 {
            out.field(tags::COPY_MSG_INDICATOR, "Y");
        }
        out
    }

    /// The answer to a status request.
    pub(crate) fn status(&self, order: &SpotOrder) -> OutgoingMessage {
        let mut out = self.begin(order);
        out.field(tags::CL_ORD_ID, &order.client_id).field(tags::EXEC_ID, STATUS_EXEC_ID);
        out.time(tags::TRANSACT_TIME, timestamp(order.update_micros), FRACTION_DIGITS);
        match self.version {
            FixVersion::Fix42 => {
                out.field(tags::EXEC_TRANS_TYPE, "3").field(tags::EXEC_TYPE, status_code(order, self.version));
            }
            FixVersion::Fix44 => {
                out.field(tags::EXEC_TYPE, STATUS);
            }
        }
        out
    }

    /// A new order that was not taken, or the status of one that does not exist.
    pub(crate) fn rejected(&self, request: &RejectedRequest, exec_id: &str, reason: (u64, &str)) -> OutgoingMessage {
        let mut out = OutgoingMessage::new("8");
        out.field(tags::ACCOUNT, &self.account).field(tags::ORDER_ID, NO_ORDER).field(tags::EXEC_ID, exec_id);
        out.field(tags::ORD_STATUS, "8").number(tags::ORD_REJ_REASON, reason.0).field(tags::TEXT, reason.1);
        let zero = Units::ZERO;
        out.display(tags::CUM_QTY, zero).display(tags::LEAVES_QTY, zero).display(tags::AVG_PX, zero);
        let exec_type = match (self.version, request.is_status) {
            (FixVersion::Fix44, true) => STATUS,
            _ => "8",
        };
        out.field(tags::EXEC_TYPE, exec_type);
        if self.version == FixVersion::Fix42 {
            out.field(tags::EXEC_TRANS_TYPE, if request.is_status { "3" } else { "0" });
        }
        for (tag, value) in &request.echoed {
            out.field(*tag, value);
        }
        out
    }

    /// An Order Cancel Reject (9); `order` is the one that was meant, where it exists.
    pub(crate) fn cancel_rejected(
        &self,
        request: &RejectedCancel,
        order: Option<&SpotOrder>,
        reason: (u64, &str),
    ) -> OutgoingMessage {
        let mut out = OutgoingMessage::new("9");
        match order {
            Some(order) => out.number(tags::ORDER_ID, order.id),
            None => out.field(tags::ORDER_ID, NO_ORDER),
        };
        out.field(tags::CL_ORD_ID, &request.id).field(tags::ORIG_CL_ORD_ID, &request.original_id);
        out.field(tags::ORD_STATUS, order.map_or("8", |order| status_code(order, self.version)));
        out.field(tags::ACCOUNT, &self.account);
        out.field(tags::CXL_REJ_RESPONSE_TO, if request.is_replace { "2" } else { "1" });
        out.number(tags::CXL_REJ_REASON, reason.0).field(tags::TEXT, reason.1);
        out
    }

    /// OrdRejReason (103) for a reject of the exchange.
    pub(crate) fn order_reason(&self, reject: &SpotReject) -> u64 {
        match (reject.code, reject.text.as_str()) {
            (-1121, _) => UNKNOWN_SYMBOL,
            (_, DUPLICATE_ORDER) => DUPLICATE,
            (_, INSUFFICIENT_BALANCE) => EXCEEDS_LIMIT,
            _ => self.version.other_order_reason(),
        }
    }

    /// CxlRejReason (102): too late, unknown, a duplicate id, or another.
    pub(crate) fn cancel_reason(&self, reject: &SpotReject, order: Option<&SpotOrder>) -> u64 {
        match order {
            None => 1,
            Some(order) if !order.status.is_open() => 0,
            Some(_) if reject.text == DUPLICATE_ORDER && self.version == FixVersion::Fix44 => 6,
            Some(_) => self.version.other_cancel_reason(),
        }
    }

    pub(crate) fn unknown_order(&self, request: &RejectedRequest) -> OutgoingMessage {
        self.rejected(request, STATUS_EXEC_ID, (UNKNOWN_ORDER, "there is no such order"))
    }
}

/// What a reject repeats of its request.
#[derive(Debug, Clone)]
pub(crate) struct RejectedRequest {
    pub(crate) echoed: Vec<(fix::tag::Tag, Vec<u8>)>,
    pub(crate) is_status: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct RejectedCancel {
    pub(crate) id: String,
    pub(crate) original_id: String,
    pub(crate) is_replace: bool,
}

/// A stop is new when it is accepted, and reported once more when it is triggered.
fn is_triggered_now(report: &SpotExecution) -> bool {
    report.kind == ExecutionType::New && report.order.kind.is_triggered() && report.order.working_micros.is_some()
}
