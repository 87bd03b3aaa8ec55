//! Security List Request (x) and Security List (y).

use std::sync::Arc;

use domain::reference::OptionRight;
use domain::{ReferenceData, Security, SecurityId, SecurityKind};
use fix::{FixMessage, MessageFault, OutgoingMessage};

use super::{id_fault, missing_field};
use crate::translate::field::{
    self, CFI_CODE, SECURITY_LIST_REQUEST_TYPE, SECURITY_REQ_ID, SECURITY_TYPE, SUBSCRIPTION_REQUEST_TYPE,
    WITH_TRADING_RULES,
};
use crate::translate::field_reader::{flag, text_field};
use crate::translate::report::printable_text;
use crate::translate::resolve;
use crate::translate::terms::{expiry_digits, matches_security};

/// SecurityRequestResult (560).
const VALID: u64 = 0;
const NOT_OFFERED: u64 = 1;
const NONE_FOUND: u64 = 2;
/// SecurityAltIDSource (456): ISIN.
const ISIN: &str = "4";

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecurityListRequest {
    pub(crate) id: String,
    pub(crate) wanted: WantedSecurities,
    /// SubscriptionRequestType (263) 1: the list comes again when it has changed; 2: it does not any more.
    pub(crate) is_subscription: bool,
    pub(crate) ends: bool,
    /// MinPriceIncrement (969) and MaxTradeVol (1140) too, which the standard's list does not have.
    with_trading_rules: bool,
}

/// Which securities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WantedSecurities {
    All,
    One(SecurityId),
    /// SecurityType (167) and CFICode (461).
    OfType(Option<String>, Option<String>),
}

impl SecurityListRequest {
    /// The error of a message that cannot be answered by y.
    pub(crate) fn fault_in(message: &FixMessage<'_>) -> Option<MessageFault> {
        let required = [SECURITY_REQ_ID, SECURITY_LIST_REQUEST_TYPE];
        missing_field(message, &required).or_else(|| id_fault(message, SECURITY_REQ_ID))
    }

    /// The request, or SecurityRequestResult (560) of its refusal.
    pub(crate) fn from_message(message: &FixMessage<'_>, reference: &ReferenceData) -> Result<Self, u64> {
        let (is_subscription, ends) = match message.get(SUBSCRIPTION_REQUEST_TYPE) {
            None | Some(b"" | b"0") => (false, false),
            Some(b"1") => (true, false),
            Some(b"2") => (false, true),
            Some(_) => return Err(NOT_OFFERED),
        };
        let wanted = match message.get(SECURITY_LIST_REQUEST_TYPE) {
            _ if ends => WantedSecurities::All,
            Some(b"4") => WantedSecurities::All,
            Some(b"0") => {
                let named = resolve::security(message, reference).map_err(|_| NONE_FOUND)?;
                WantedSecurities::One(named.ok_or(NOT_OFFERED)?.id)
            }
            Some(b"1") => {
                let (of_type, cfi_code) = (text_field(message, SECURITY_TYPE), text_field(message, CFI_CODE));
                if of_type.is_none() && cfi_code.is_none() {
                    return Err(NOT_OFFERED);
                }
                WantedSecurities::OfType(of_type, cfi_code)
            }
            _ => return Err(NOT_OFFERED),
        };
        let with_trading_rules = flag(message, WITH_TRADING_RULES).map_err(|_| NOT_OFFERED)?;
        let id = text_field(message, SECURITY_REQ_ID).unwrap_or_default();
        Ok(Self { id, wanted, is_subscription, ends, with_trading_rules })
    }

    /// By id.
    pub(crate) fn securities(&self, reference: &ReferenceData) -> Vec<Arc<Security>> {
        let mut found: Vec<_> =
            reference.securities.values().filter(|security| self.wanted.contains(security)).cloned().collect();
        found.sort_unstable_by_key(|security| security.id);
        found
    }
}

impl WantedSecurities {
    fn contains(&self, security: &Security) -> bool {
        match self {
            Self::All => true,
            Self::One(id) => security.id == *id,
            Self::OfType(of_type, cfi_code) => {
                let is_of = |tag, value: &Option<String>| {
                    value.as_ref().is_none_or(|value| matches_security(tag, value.as_bytes(), security))
                };
                is_of(SECURITY_TYPE, of_type) && is_of(CFI_CODE, cfi_code)
            }
        }
    }
}

/// A list that is not given.
pub(crate) fn security_list_refused(request: &str, response: &str, result: u64) -> OutgoingMessage {
    let mut list = OutgoingMessage::new("y");
    list.field(SECURITY_REQ_ID, request).field(field::SECURITY_RESPONSE_ID, response);
    list.number(field::SECURITY_REQUEST_RESULT, result);
    list
}

/// A part of a list: some of all securities, and whether they are the last.
pub(crate) fn security_list_part(
    request: &SecurityListRequest,
    response: &str,
    (part, total, is_last): (&[Arc<Security>], usize, bool),
    reference: &ReferenceData,
) -> OutgoingMessage {
    let result = if total == 0 { NONE_FOUND } else { VALID };
    let mut list = security_list_refused(&request.id, response, result);
    list.number(field::TOT_NO_RELATED_SYM, total as u64);
    list.field(field::LAST_FRAGMENT, if is_last { "Y" } else { "N" });
    if part.is_empty() {
        return list;
    }
    list.number(field::NO_RELATED_SYM, part.len() as u64);
    for security in part {
        write_security(security, request.with_trading_rules, reference, &mut list);
    }
    list
}

/// The members stand in the order of the standard.
fn write_security(security: &Security, with_rules: bool, reference: &ReferenceData, list: &mut OutgoingMessage) {
    list.member(field::SYMBOL, &*security.symbol).member(field::SECURITY_ID, security.id.0.to_string());
    if let Some(isin) = &security.isin {
        list.member(field::NO_SECURITY_ALT_ID, "1");
        list.member(field::SECURITY_ALT_ID, &**isin).member(field::SECURITY_ALT_ID_SOURCE, ISIN);
    }
    if let Some(kind) = field::security_type(&security.kind) {
        list.member(SECURITY_TYPE, kind);
    }
    write_contract(&security.kind, list);
    list.member(field::CONTRACT_MULTIPLIER, security.contract_size.to_string());
    let exchange = reference.exchanges.get(&security.exchange);
    if let Some(code) = exchange.and_then(|exchange| exchange.mic.as_ref().or(exchange.code.as_ref())) {
        list.member(field::SECURITY_EXCHANGE, &**code);
    }
    if let Some(description) = &security.description {
        list.member(field::SECURITY_DESC, printable_text(description));
    }
    list.member(field::CURRENCY, security.currency.to_string());
    write_rules(security, with_rules, list);
}

fn write_contract(kind: &SecurityKind, list: &mut OutgoingMessage) {
    if let SecurityKind::Future { month_year, .. } = kind {
        list.member(field::MATURITY_MONTH_YEAR, &**month_year);
    }
    if let Some(end) = expiry_digits(kind) {
        list.member(field::MATURITY_DATE, end);
    }
    if let SecurityKind::Option { strike, right, .. } = kind {
        let right = match right {
            OptionRight::Put => "0",
            OptionRight::Call => "1",
        };
        list.member(field::PUT_OR_CALL, right).member(field::STRIKE_PRICE, strike.to_string());
    }
}

fn write_rules(security: &Security, with_rules: bool, list: &mut OutgoingMessage) {
    if !security.qty_incr.is_zero() {
        list.member(field::ROUND_LOT, security.qty_incr.normalize().to_string());
    }
    if let Some(least) = security.min_qty {
        list.member(field::MIN_TRADE_VOL, least.to_string());
    }
    if with_rules && !security.price_incr.is_zero() {
        list.member(field::MIN_PRICE_INCREMENT, security.price_incr.normalize().to_string());
    }
    if let Some(most) = security.max_qty.filter(|_| with_rules) {
        list.member(field::MAX_TRADE_VOL, most.to_string());
    }
}
