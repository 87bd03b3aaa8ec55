//! Orders in answers: acknowledgement, status, cancel, amend, and both halves of a cancel-replace.

use serde::Deserialize;
use serde_json::Value;

use super::CallError;
use super::error_codes::{ErrorMeaning, meaning_of};
use super::refusal_codes::refusal_code;
use crate::protocol::venue_enums::{BinanceLegResult, BinanceOrderStatus, BinanceOrderType, BinanceSide, BinanceTif};
use crate::protocol::wire_values::{WireDecimal, WireInteger};

/// The shortest answer to a new order.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OrderAcknowledgement {
    pub symbol: String,
    #[serde(rename = "orderId")]
    pub order_id: WireInteger,
    #[serde(rename = "clientOrderId")]
    pub client_id: String,
    #[serde(default, rename = "transactTime")]
    pub at: Option<WireInteger>,
}

/// An order with its state, as queries, lists and amendments have it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BinanceOrder {
    pub symbol: String,
    #[serde(rename = "orderId")]
    pub order_id: WireInteger,
    #[serde(rename = "clientOrderId")]
    pub client_id: String,
    pub price: WireDecimal,
    /// An amended order has it under another name.
    #[serde(rename = "origQty", alias = "qty")]
    pub quantity: WireDecimal,
    #[serde(rename = "executedQty")]
    pub filled: WireDecimal,
    pub status: BinanceOrderStatus,
    #[serde(rename = "timeInForce")]
    pub tif: BinanceTif,
    #[serde(rename = "type")]
    pub kind: BinanceOrderType,
    pub side: BinanceSide,
    #[serde(default, rename = "stopPrice")]
    pub stop_price: Option<WireDecimal>,
    #[serde(default, rename = "icebergQty")]
    pub iceberg: Option<WireDecimal>,
    /// A market order for an amount of the quote asset has this instead of a quantity.
    #[serde(default, rename = "origQuoteOrderQty", alias = "quoteOrderQty")]
    pub quote_quantity: Option<WireDecimal>,
    #[serde(default, rename = "time")]
    pub created: Option<WireInteger>,
    #[serde(default, rename = "updateTime")]
    pub updated: Option<WireInteger>,
    #[serde(default, rename = "expiryReason")]
    pub expiry_reason: Option<String>,
    /// What self-trade prevention has taken from the quantity: it was not traded, and is not open any more.
    #[serde(default, rename = "preventedQuantity", alias = "preventedQty")]
    pub prevented: Option<WireDecimal>,
}

/// Answer to an amendment that kept its priority.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AmendAnswer {
    #[serde(default, rename = "transactTime")]
    pub at: Option<WireInteger>,
    #[serde(rename = "amendedOrder")]
    pub order: BinanceOrder,
}

/// What became of the two halves of a cancel-replace.
#[derive(Debug, Clone, PartialEq)]
pub enum CancelReplaceOutcome {
    /// The old order is cancelled, the new one is placed.
    Replaced(OrderAcknowledgement),
    /// The old order is cancelled, the new one was refused.
    CanceledOnly { reason: String },
    /// The old order lives, and so does the new one.
    PlacedOnly { placed: OrderAcknowledgement, reason: String },
    /// Nothing changed.
    Neither { meaning: ErrorMeaning, reason: String },
    /// At least one half is not known.
    Unknown { reason: String },
}

#[derive(Deserialize)]
struct WireLegs {
    #[serde(rename = "cancelResult")]
    cancel: BinanceLegResult,
    #[serde(rename = "newOrderResult")]
    place: BinanceLegResult,
    #[serde(default, rename = "cancelResponse")]
    cancel_answer: Value,
    #[serde(default, rename = "newOrderResponse")]
    place_answer: Value,
}

#[derive(Deserialize)]
struct WireLegError {
    code: WireInteger,
    #[serde(default)]
    msg: String,
}

/// Reads both halves, from a success and from an error alike.
pub fn cancel_replace_outcome(answer: Result<&Value, &CallError>) -> CancelReplaceOutcome {
    let legs = match answer {
        Ok(result) => WireLegs::deserialize(result).ok(),
        Err(error) => error.data.as_ref().and_then(|data| WireLegs::deserialize(data).ok()),
    };
    match (legs, answer) {
        (Some(legs), _) => outcome_of_legs(&legs),
        (None, Ok(_)) => CancelReplaceOutcome::Unknown { reason: "the answer has no halves".to_owned() },
        (None, Err(error)) => outcome_without_legs(error),
    }
}

fn outcome_of_legs(legs: &WireLegs) -> CancelReplaceOutcome {
    use BinanceLegResult::{Failure, NotAttempted, Other, Success};
    let placed = || OrderAcknowledgement::deserialize(&legs.place_answer).ok();
    let reasons = || [leg_error(&legs.cancel_answer), leg_error(&legs.place_answer)];
    match (&legs.cancel, &legs.place) {
        (Success, Success) => match placed() {
            Some(placed) => CancelReplaceOutcome::Replaced(placed),
            None => CancelReplaceOutcome::Unknown { reason: "the new order has no id".to_owned() },
        },
        (Success, Failure | NotAttempted) => match leg_error(&legs.place_answer) {
            Some((ErrorMeaning::Unknown, reason)) => CancelReplaceOutcome::Unknown { reason },
            refused => CancelReplaceOutcome::CanceledOnly { reason: reason_of(refused) },
        },
        (Failure, Success) => match placed() {
            Some(placed) => {
                CancelReplaceOutcome::PlacedOnly { placed, reason: reason_of(leg_error(&legs.cancel_answer)) }
            }
            None => CancelReplaceOutcome::Unknown { reason: "the new order has no id".to_owned() },
        },
        (Failure, Failure | NotAttempted) => match reasons() {
            [Some((ErrorMeaning::Unknown, reason)), _] | [_, Some((ErrorMeaning::Unknown, reason))] => {
                CancelReplaceOutcome::Unknown { reason }
            }
            [Some((meaning, reason)), _] => CancelReplaceOutcome::Neither { meaning, reason },
            [None, other] => CancelReplaceOutcome::Neither { meaning: ErrorMeaning::Refused, reason: reason_of(other) },
        },
        (NotAttempted | Other(_), _) | (_, Other(_)) => {
            CancelReplaceOutcome::Unknown { reason: format!("cancel {}, new order {}", legs.cancel, legs.place) }
        }
    }
}

/// The request failed as a whole before either half.
fn outcome_without_legs(error: &CallError) -> CancelReplaceOutcome {
    match error.meaning {
        ErrorMeaning::Unknown | ErrorMeaning::HalfDone => CancelReplaceOutcome::Unknown { reason: error.describe() },
        meaning => CancelReplaceOutcome::Neither { meaning, reason: error.refusal() },
    }
}

fn leg_error(answer: &Value) -> Option<(ErrorMeaning, String)> {
    let error = WireLegError::deserialize(answer).ok()?;
    // The halves have no status of their own; 400 stands for an error that is not the venue's own.
    let meaning = meaning_of(400, error.code.0, &error.msg);
    let code = refusal_code(Some(error.code.0), meaning, &error.msg);
    let text = format!("{} ({})", error.msg, error.code.0);
    let is_unknown = meaning == ErrorMeaning::Unknown;
    Some((meaning, if is_unknown { text } else { format!("{code}: {text}") }))
}

/// Code and text of why an order was not placed: of its own half where there are two.
pub fn place_error(error: &CallError) -> Option<(i64, String)> {
    let legs = error.data.as_ref().and_then(|data| WireLegs::deserialize(data).ok());
    let leg = legs.and_then(|legs| WireLegError::deserialize(&legs.place_answer).ok());
    let leg = leg.map(|leg| (leg.code.0, leg.msg));
    leg.or_else(|| Some((error.code?, error.message.clone())))
}

fn reason_of(error: Option<(ErrorMeaning, String)>) -> String {
    error.map_or_else(|| "no reason was given".to_owned(), |(_, reason)| reason)
}
