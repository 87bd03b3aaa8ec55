//! Execution Report (8): its fields, and whether they agree with each other. A report that contradicts itself is not interpreted.

use domain::order::OrderTerms;
use domain::{Amount, Charge, ChargeKind, Decimal, Liquidity, Price, Quantity, TimeInForce, Timestamp};
use fix::FixMessage;
use fix::tag::Tag;

use crate::dialect::{Dialect, ExecKind, ExecutionRules, OrdState};

/// How an order stands, as a report says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrderCondition {
    pub state: OrdState,
    pub order_qty: Option<Quantity>,
    pub cum_qty: Option<Quantity>,
    pub leaves_qty: Option<Quantity>,
}

/// The fields of a report that count.
#[derive(Debug, Clone)]
pub(crate) struct ExecutionFields<'a> {
    pub kind: ExecKind,
    pub condition: OrderCondition,
    pub orig_cl_ord_id: Option<&'a str>,
    pub order_id: Option<&'a str>,
    /// The name of the execution.
    pub exec_id: Option<&'a str>,
    /// The execution that is busted or corrected.
    pub exec_ref_id: Option<&'a str>,
    pub last_qty: Option<Quantity>,
    pub last_px: Option<Price>,
    pub at: Option<Timestamp>,
    pub text: Option<&'a str>,
    /// OrdRejReason (103).
    pub reject_reason: Option<&'a str>,
}

/// OrderID (37) where the venue has none.
const NO_ORDER_ID: &str = "NONE";
/// OrdRejReason (103): unknown order.
const UNKNOWN_ORDER: &str = "5";
/// OrdRejReason (103): duplicate order.
const DUPLICATE_ORDER: &str = "6";

impl<'a> ExecutionFields<'a> {
    /// What cannot be read is an error that names the field.
    pub(crate) fn read(dialect: &Dialect, message: &FixMessage<'a>) -> Result<Self, String> {
        let rules = &dialect.executions;
        let condition = OrderCondition {
            state: state(rules, message)?,
            order_qty: decimal(message, 38)?.map(Quantity),
            cum_qty: decimal(message, 14)?.map(Quantity),
            leaves_qty: decimal(message, 151)?.map(Quantity),
        };
        Ok(Self {
            kind: kind(rules, message)?,
            condition,
            orig_cl_ord_id: message.text(41),
            order_id: message.text(37).filter(|id| *id != NO_ORDER_ID),
            exec_id: message.text(rules.exec_id_tag).filter(|id| !id.is_empty()),
            exec_ref_id: message.text(19),
            last_qty: decimal(message, 32)?.map(Quantity),
            last_px: decimal(message, 31)?.map(Price),
            at: message.time(60).map(|time| Timestamp(time.nanos())),
            text: message.text(58),
            reject_reason: message.text(103),
        })
    }

    /// A second order with a known id was refused; the first one lives.
    pub(crate) fn is_duplicate(&self) -> bool {
        self.reject_reason == Some(DUPLICATE_ORDER)
    }

    /// The answer to a question about an order that the venue does not know: it says so, or names neither the order nor another reason.
    pub(crate) fn is_unknown_order(&self) -> bool {
        let is_unknown = self.reject_reason.map_or(self.order_id.is_none(), |reason| reason == UNKNOWN_ORDER);
        self.condition.state == OrdState::Rejected && is_unknown
    }

    /// Neither: the venue does not answer the question, such as while it is closed.
    pub(crate) fn is_refused_question(&self) -> bool {
        let is_other = self.reject_reason.is_some_and(|reason| reason != UNKNOWN_ORDER);
        self.condition.state == OrdState::Rejected && self.order_id.is_none() && is_other
    }
}

fn kind(rules: &ExecutionRules, message: &FixMessage<'_>) -> Result<ExecKind, String> {
    if rules.has_exec_trans_type {
        match message.text(20) {
            Some("0") => {}
            Some("1") => return Ok(ExecKind::Bust),
            Some("2") => return Ok(ExecKind::Correct),
            Some("3") => return Ok(ExecKind::Status),
            other => return Err(unknown("ExecTransType (20)", other)),
        }
    }
    let code = message.text(150);
    code.and_then(|code| rules.exec_kind(code)).ok_or_else(|| unknown("ExecType (150)", code))
}

fn state(rules: &ExecutionRules, message: &FixMessage<'_>) -> Result<OrdState, String> {
    let code = message.text(39);
    code.and_then(|code| rules.state(code)).ok_or_else(|| unknown("OrdStatus (39)", code))
}

fn unknown(field: &str, value: Option<&str>) -> String {
    match value {
        Some(value) => format!("{field} is '{}', which the dialect does not know", value.escape_debug()),
        None => format!("{field} is missing"),
    }
}

pub(crate) fn decimal(message: &FixMessage<'_>, tag: Tag) -> Result<Option<Decimal>, String> {
    let Some(value) = message.get(tag) else { return Ok(None) };
    let text = std::str::from_utf8(value).unwrap_or_default();
    match Decimal::from_str_exact(text) {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(format!("tag {tag} is '{}', which is no number", value.escape_ascii())),
    }
}

/// Why a report cannot be true.
pub(crate) fn contradiction(rules: &ExecutionRules, fields: &ExecutionFields<'_>) -> Option<String> {
    status_contradiction(rules, &fields.condition)
        .or_else(|| step_contradiction(fields))
        .or_else(|| trade_contradiction(fields).filter(|_| !rules.fill_group))
}

/// OrdStatus (39) against CumQty (14), LeavesQty (151) and OrderQty (38).
fn status_contradiction(rules: &ExecutionRules, condition: &OrderCondition) -> Option<String> {
    let OrderCondition { state, order_qty, cum_qty, .. } = *condition;
    let leaves_qty = condition.leaves_qty.filter(|_| rules.leaves_qty);
    let is_zero = |quantity: Option<Quantity>| quantity.map(Quantity::is_zero);
    let (nothing_filled, nothing_left) = (is_zero(cum_qty), is_zero(leaves_qty));
    let (wrong, told) = match state {
        OrdState::PendingNew | OrdState::New => (nothing_filled == Some(false), "is new"),
        OrdState::PartiallyFilled => (nothing_filled == Some(true) || nothing_left == Some(true), "is filled in part"),
        OrdState::Filled => {
            let lacks = order_qty.zip(cum_qty).is_some_and(|(total, filled)| filled < total);
            (nothing_filled == Some(true) || nothing_left == Some(false) || lacks, "is filled")
        }
        OrdState::Canceled | OrdState::Expired => (nothing_left == Some(false), "has ended"),
        OrdState::Rejected => (nothing_filled == Some(false) || nothing_left == Some(false), "is rejected"),
        OrdState::PendingRequest | OrdState::Working | OrdState::DoneForDay => (false, "is open"),
    };
    let adds_up = || {
        let (total, filled, left) = (order_qty?, cum_qty?, leaves_qty?);
        Some(filled.plus(left).is_ok_and(|sum| sum == total))
    };
    let may_differ = match state {
        OrdState::PendingRequest => true,
        OrdState::DoneForDay => nothing_left == Some(true),
        _ => !state.is_open(),
    };
    let is_off = !wrong && !may_differ && adds_up() == Some(false);
    let shown = |quantity: Option<Quantity>| quantity.map_or_else(|| "absent".to_owned(), |q| q.to_string());
    (wrong || is_off).then(|| {
        format!(
            "the order {told} by OrdStatus (39), but CumQty (14) is {}, LeavesQty (151) {}, OrderQty (38) {}",
            shown(cum_qty),
            shown(condition.leaves_qty),
            shown(order_qty)
        )
    })
}

/// ExecType (150) against OrdStatus (39): an end needs both.
fn step_contradiction(fields: &ExecutionFields<'_>) -> Option<String> {
    let state = fields.condition.state;
    let wanted = match fields.kind {
        ExecKind::Canceled => Some((state == OrdState::Canceled, "cancelled")),
        ExecKind::Expired => Some((state == OrdState::Expired, "expired")),
        ExecKind::Rejected => Some((state == OrdState::Rejected, "rejected")),
        ExecKind::New => Some((state.is_open() || state == OrdState::Filled, "accepted")),
        ExecKind::PendingNew
        | ExecKind::Trade
        | ExecKind::Pending
        | ExecKind::Replaced
        | ExecKind::Restated
        | ExecKind::Bust
        | ExecKind::Correct
        | ExecKind::Status => None,
    };
    wanted
        .filter(|(agrees, _)| !agrees)
        .map(|(_, step)| format!("the order was {step} by ExecType (150), and OrdStatus (39) says {}", state.word()))
}

fn trade_contradiction(fields: &ExecutionFields<'_>) -> Option<String> {
    if !matches!(fields.kind, ExecKind::Trade | ExecKind::Correct) || fields.last_qty.is_some_and(Quantity::is_zero) {
        return None;
    }
    let Some(last_qty) = fields.last_qty.filter(|quantity| quantity.is_positive()) else {
        return Some("an execution without LastQty (32)".to_owned());
    };
    if fields.last_px.is_none() {
        return Some("an execution without LastPx (31)".to_owned());
    }
    if fields.exec_id.is_none() {
        return Some("an execution without its id".to_owned());
    }
    let less = fields.condition.cum_qty.filter(|cum_qty| *cum_qty < last_qty)?;
    Some(format!("LastQty (32) is {last_qty}, and CumQty (14) only {less}"))
}

/// The terms that a report shows; what it leaves out is as `base` has it. A stop that was triggered may be shown as another
/// type: it stays the stop that was ordered.
pub(crate) fn terms_of(dialect: &Dialect, message: &FixMessage<'_>, base: Option<OrderTerms>) -> Option<OrderTerms> {
    let number = |tag| decimal(message, tag).ok().flatten();
    let limit = number(44).filter(|price| !price.is_zero()).map(Price);
    let stop = number(99).filter(|price| !price.is_zero()).map(Price);
    let quantity = number(38).map(Quantity).or(base.map(|terms| terms.quantity))?;
    let kind = match base {
        Some(terms) => terms.kind.with_prices(limit, stop),
        None => dialect.orders.types.order_type(message.text(40)?)?.with_prices(limit, stop).ok()?,
    };
    Some(OrderTerms { quantity, kind, tif: tif_of(dialect, message, base)? })
}

/// Without a code the standard means DAY.
fn tif_of(dialect: &Dialect, message: &FixMessage<'_>, base: Option<OrderTerms>) -> Option<TimeInForce> {
    let codes = &dialect.orders.times_in_force;
    let Some(code) = message.text(59) else { return Some(base.map_or(TimeInForce::Day, |terms| terms.tif)) };
    if let Some(terms) = base.filter(|terms| codes.code(terms.tif.kind()) == Some(code)) {
        return Some(terms.tif);
    }
    let until = message.time(126).map(|time| Timestamp(time.nanos()));
    let simple =
        [TimeInForce::Day, TimeInForce::Gtc, TimeInForce::Ato, TimeInForce::Ioc, TimeInForce::Fok, TimeInForce::Atc];
    let dated = until.map(|until| TimeInForce::Gtd { until });
    simple.into_iter().chain(dated).find(|tif| codes.code(tif.kind()) == Some(code))
}

/// MiscFeeAmt (137) and MiscFeeCurr (138) of each entry. A fee of nothing is one too: without any, the reference data's would be booked.
pub(crate) fn misc_fees(message: &FixMessage<'_>) -> Vec<Charge> {
    let mut amount = None;
    let mut charges = Vec::new();
    for field in message.fields() {
        let text = std::str::from_utf8(field.value).unwrap_or_default();
        match field.tag {
            137 => amount = Decimal::from_str_exact(text).ok().map(Amount),
            138 => charges.extend(amount.take().zip(text.parse().ok()).map(|(amount, currency)| Charge {
                amount,
                currency,
                kind: ChargeKind::ExecutionCommission,
            })),
            _ => {}
        }
    }
    charges
}

/// LastLiquidityInd (851), else AggressorIndicator (1057). Other values, such as an execution that was routed on, tell neither.
pub(crate) fn liquidity(message: &FixMessage<'_>) -> Option<Liquidity> {
    match (message.get(851), message.get(1057)) {
        (Some(b"1"), _) | (None, Some(b"N")) => Some(Liquidity::Maker),
        (Some(b"2"), _) | (None, Some(b"Y")) => Some(Liquidity::Taker),
        _ => None,
    }
}
