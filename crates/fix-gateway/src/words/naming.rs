//! Resolves security, exchange, account and strategy of a message.

use std::sync::Arc;

use domain::{AccountId, Exchange, ExchangeId, ReferenceData, Security, SecurityId, StrategyId, Text};
use fix::Message;
use fix::tag::Tag;

use super::field::{
    ACCOUNT, EX_DESTINATION, SECURITY_EXCHANGE, SECURITY_ID, SECURITY_ID_SOURCE, STRATEGY_ID, STRATEGY_NAME, SYMBOL,
};
use super::reading::{Complaint, optional, text_of};
use super::reasons::{UNKNOWN_ACCOUNT, UNKNOWN_SYMBOL};

/// SecurityIDSource (22).
const ISIN: &str = "4";
const RIC: &str = "5";

/// The code of a rejection because several securities match.
const AMBIGUOUS: &str = "security-ambiguous";

/// Symbol (55) of a client that must send one and has none.
const NO_SYMBOL: &str = "[N/A]";

/// By SecurityID (48), which is the platform's id or, with 22, an ISIN or RIC; else by Symbol (55). An exchange decides
/// where several match; both fields must identify the same security.
pub(crate) fn security<'a>(
    message: &Message<'_>,
    reference: &'a ReferenceData,
) -> Result<Option<&'a Arc<Security>>, Complaint> {
    let exchange = listing(message, reference)?;
    let symbol = text_of(message, SYMBOL);
    if let Some(id) = text_of(message, SECURITY_ID) {
        let security = by_id(&id, text_of(message, SECURITY_ID_SOURCE).as_deref(), exchange, reference)?;
        return agrees(security, &id, symbol.as_deref()).map(|()| Some(security));
    }
    let Some(symbol) = symbol else { return Ok(None) };
    only(SYMBOL, &symbol, exchange, reference, |security| *security.symbol == *symbol).map(Some)
}

/// As far as a cancel has it: an id that matches several securities, or none, is left to the order's.
pub(crate) fn security_if_told(
    message: &Message<'_>,
    reference: &ReferenceData,
) -> Result<Option<SecurityId>, Complaint> {
    let (id, symbol) = (text_of(message, SECURITY_ID), text_of(message, SYMBOL));
    if id.is_none() && symbol.as_deref() == Some(NO_SYMBOL) {
        return Ok(None);
    }
    let is_single = id.is_none() || symbol.is_none();
    match security(message, reference) {
        Err(complaint) if is_single && complaint.code == AMBIGUOUS => Ok(None),
        told => Ok(told?.map(|security| security.id)),
    }
}

fn by_id<'a>(
    id: &str,
    source: Option<&str>,
    exchange: Option<ExchangeId>,
    reference: &'a ReferenceData,
) -> Result<&'a Arc<Security>, Complaint> {
    match source {
        Some(ISIN) => only(SECURITY_ID, id, exchange, reference, |security| security.isin.as_deref() == Some(id)),
        Some(RIC) => only(SECURITY_ID, id, exchange, reference, |security| security.ric.as_deref() == Some(id)),
        Some(other) => Err(Complaint::bad(SECURITY_ID_SOURCE, other.as_bytes(), "4 (ISIN) or 5 (RIC)")),
        // The platform's own id needs none.
        None => id
            .parse()
            .ok()
            .and_then(|id| reference.securities.get(&SecurityId(id)))
            .ok_or_else(|| unknown_security(SECURITY_ID, id)),
    }
}

fn agrees(security: &Security, id: &str, symbol: Option<&str>) -> Result<(), Complaint> {
    match symbol.filter(|symbol| **symbol != *security.symbol && *symbol != NO_SYMBOL) {
        None => Ok(()),
        Some(symbol) => {
            let text = format!("SecurityID (48) {id} is {}, but Symbol (55) is {symbol}", security.symbol);
            Err(Complaint::new(UNKNOWN_SYMBOL, AMBIGUOUS, &text))
        }
    }
}

/// The only security that matches.
fn only<'a>(
    tag: Tag,
    name: &str,
    exchange: Option<ExchangeId>,
    reference: &'a ReferenceData,
    is_meant: impl Fn(&Security) -> bool,
) -> Result<&'a Arc<Security>, Complaint> {
    let listed = |security: &Security| exchange.is_none_or(|exchange| security.exchange == exchange);
    let mut meant = reference.securities.values().filter(|security| is_meant(security) && listed(security));
    let first = meant.next().ok_or_else(|| unknown_security(tag, name))?;
    if meant.next().is_some() {
        let text = format!("{} {name} is listed on several exchanges, say which by 207", super::field::named(tag));
        return Err(Complaint::new(UNKNOWN_SYMBOL, AMBIGUOUS, &text));
    }
    Ok(first)
}

fn unknown_security(tag: Tag, name: &str) -> Complaint {
    let text = format!("{} {name} is not known", super::field::named(tag));
    Complaint::new(UNKNOWN_SYMBOL, "unknown-security", &text)
}

/// The exchange of the listing, as far as the message has it.
fn listing(message: &Message<'_>, reference: &ReferenceData) -> Result<Option<ExchangeId>, Complaint> {
    match exchange_in(message, SECURITY_EXCHANGE, reference)? {
        Some(exchange) => Ok(Some(exchange)),
        None => exchange_in(message, EX_DESTINATION, reference),
    }
}

/// The exchange to route to.
pub(crate) fn destination(message: &Message<'_>, reference: &ReferenceData) -> Result<Option<ExchangeId>, Complaint> {
    match exchange_in(message, EX_DESTINATION, reference)? {
        Some(exchange) => Ok(Some(exchange)),
        None => exchange_in(message, SECURITY_EXCHANGE, reference),
    }
}

/// By code, MIC, Bloomberg's code, name or id.
fn exchange_in(message: &Message<'_>, tag: Tag, reference: &ReferenceData) -> Result<Option<ExchangeId>, Complaint> {
    let Some(name) = text_of(message, tag) else { return Ok(None) };
    let bears = |exchange: &Exchange| {
        let codes = [&exchange.code, &exchange.mic, &exchange.bloomberg_code].into_iter().flatten();
        codes.chain([&exchange.name]).any(|known| **known == *name) || exchange.id.to_string() == name
    };
    let found = reference.exchanges.values().find(|exchange| bears(exchange)).map(|exchange| exchange.id);
    let unknown = || format!("{} {name} is not known", super::field::named(tag));
    found.map(Some).ok_or_else(|| Complaint::other("unknown-exchange", &unknown()))
}

/// By id or name.
pub(crate) fn account(message: &Message<'_>, reference: &ReferenceData) -> Result<Option<AccountId>, Complaint> {
    let Some(name) = text_of(message, ACCOUNT) else { return Ok(None) };
    let by_id = name.parse().ok().map(AccountId).filter(|id| reference.accounts.contains_key(id));
    let found = by_id.or_else(|| reference.account_named(&name).map(|account| account.id));
    let unknown = || Complaint::new(UNKNOWN_ACCOUNT, "unknown-account", &format!("Account (1) {name} is not known"));
    found.map(Some).ok_or_else(unknown)
}

/// By 7001 or 7002; a client that is bound to one strategy trades for no other.
pub(crate) fn strategy(
    message: &Message<'_>,
    reference: &ReferenceData,
    bound_to: Option<&Text>,
) -> Result<Option<StrategyId>, Complaint> {
    let by_id = optional(message, STRATEGY_ID, "the id of a strategy")?.map(StrategyId);
    let by_name = match text_of(message, STRATEGY_NAME) {
        Some(name) => Some(named_strategy(&name, reference)?),
        None => None,
    };
    if let (Some(id), Some(named)) = (by_id, by_name)
        && id != named
    {
        let text = "StrategyID (7001) and StrategyName (7002) mean different strategies";
        return Err(Complaint::other("strategy-ambiguous", text));
    }
    if let Some(id) = by_id.filter(|id| !reference.strategies.contains_key(id)) {
        return Err(Complaint::other("unknown-strategy", &format!("StrategyID (7001) {id} is not known")));
    }
    let Some(bound_to) = bound_to else { return Ok(by_id.or(by_name)) };
    let own = named_strategy(bound_to, reference)?;
    match by_id.or(by_name).is_none_or(|wanted| wanted == own) {
        true => Ok(Some(own)),
        false => Err(Complaint::other("foreign-strategy", &format!("you trade for strategy {bound_to} alone"))),
    }
}

fn named_strategy(name: &str, reference: &ReferenceData) -> Result<StrategyId, Complaint> {
    let found = reference.strategy_named(name).map(|strategy| strategy.id);
    found.ok_or_else(|| Complaint::other("unknown-strategy", &format!("strategy {name} is not known")))
}
