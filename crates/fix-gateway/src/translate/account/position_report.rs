//! Position Reports (AP) and the acknowledgement of their request (AO).

use std::collections::BTreeMap;

use domain::{Overflow, Position, Price, Quantity, ReferenceData, SecurityId, Timestamp};
use fix::OutgoingMessage;

use super::position_request::PositionRefusal;
use super::{utc_date, write_security};
use crate::translate::field;
use crate::translate::report::printable_text;
use crate::translate::request_echo::RequestEcho;

/// PosReqResult (728).
const VALID: u64 = 0;
const NONE_FOUND: u64 = 2;
/// PosReqStatus (729).
const COMPLETED: &str = "0";
const REJECTED: &str = "2";
/// AccountType (581) where the request has none that can be repeated: a customer's account.
const CUSTOMER: &str = "1";
/// SettlPriceType (731): theoretical, the price by which the platform values.
const THEORETICAL: &str = "2";
/// PosType (703): total transaction quantity.
const TOTAL: &str = "TOT";

/// What an account holds of a security, over all strategies that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeldPosition {
    pub(crate) security: SecurityId,
    /// Negative for a short.
    pub(crate) quantity: Quantity,
    /// By which it is valued; absent where there is none.
    pub(crate) price: Option<Price>,
}

/// Adds the strategies up; what is closed is not held.
pub(crate) fn held_positions(positions: &[Position]) -> Result<Vec<HeldPosition>, Overflow> {
    let mut held: BTreeMap<SecurityId, HeldPosition> = BTreeMap::new();
    for position in positions {
        let security = position.security;
        let none = HeldPosition { security, quantity: Quantity::ZERO, price: None };
        let sum = held.entry(security).or_insert(none);
        sum.quantity = sum.quantity.plus(position.quantity)?;
        sum.price = sum.price.or(position.market_price);
    }
    Ok(held.into_values().filter(|position| !position.quantity.is_zero()).collect())
}

/// An answer, as far as all its messages have it.
#[derive(Debug, Clone)]
pub(crate) struct PositionAnswer<'a> {
    pub(crate) echo: &'a RequestEcho,
    /// Differs for each answer.
    pub(crate) id: String,
    pub(crate) at: Timestamp,
    pub(crate) total: usize,
}

impl PositionAnswer<'_> {
    fn begin(&self, msg_type: &'static str, number: usize) -> OutgoingMessage {
        let mut message = OutgoingMessage::new(msg_type);
        message.display(field::POS_MAINT_RPT_ID, format_args!("{}-{number}", self.id));
        message.field(field::POS_REQ_ID, self.echo.get(field::POS_REQ_ID).unwrap_or(field::NONE));
        message.field(field::ACCOUNT, self.echo.get(field::ACCOUNT).unwrap_or(field::NONE));
        let kind = self.echo.get(field::ACCOUNT_TYPE).filter(|kind| matches!(kind.as_bytes(), [b'1'..=b'8']));
        message.field(field::ACCOUNT_TYPE, kind.unwrap_or(CUSTOMER));
        message.number(field::TOTAL_NUM_POS_REPORTS, self.total as u64);
        message
    }
}

/// How many reports follow, or why none does.
pub(crate) fn positions_ack(answer: &PositionAnswer<'_>, refusal: Option<&PositionRefusal>) -> OutgoingMessage {
    let mut ack = answer.begin("AO", 0);
    match refusal {
        None => {
            let result = if answer.total == 0 { NONE_FOUND } else { VALID };
            ack.number(field::POS_REQ_RESULT, result).field(field::POS_REQ_STATUS, COMPLETED);
        }
        Some(PositionRefusal { result, reject }) => {
            ack.number(field::POS_REQ_RESULT, *result).field(field::POS_REQ_STATUS, REJECTED);
            ack.field(field::TEXT, printable_text(&reject.display_text()));
        }
    }
    ack
}

pub(crate) fn position_report(
    answer: &PositionAnswer<'_>,
    number: usize,
    held: &HeldPosition,
    reference: &ReferenceData,
) -> OutgoingMessage {
    let mut report = answer.begin("AP", number);
    report.number(field::POS_REQ_RESULT, VALID).field(field::POS_REQ_TYPE, "0");
    report.field(field::CLEARING_BUSINESS_DATE, utc_date(answer.at));
    write_security(held.security, reference, &mut report);
    report.display(field::SETTL_PRICE, held.price.unwrap_or(Price::ZERO)).field(field::SETTL_PRICE_TYPE, THEORETICAL);
    report.field(field::PRIOR_SETTL_PRICE, "0");
    let (side, size) = match held.quantity.is_positive() {
        true => (field::LONG_QTY, held.quantity.to_string()),
        false => (field::SHORT_QTY, held.quantity.to_string().trim_start_matches('-').to_owned()),
    };
    report.number(field::NO_POSITIONS, 1).member(field::POS_TYPE, TOTAL).member(side, size);
    report
}
