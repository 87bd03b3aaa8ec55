//! Resolves security, exchange, account and strategy of a message.

use std::sync::Arc;

use domain::{AccountId, Exchange, ExchangeId, ReferenceData, Security, SecurityId, StrategyId, Text};
use fix::FixMessage;
use fix::tag::Tag;

use super::field::{
    ACCOUNT, EX_DESTINATION, SECURITY_EXCHANGE, SECURITY_ID, SECURITY_ID_SOURCE, STRATEGY_ID, STRATEGY_NAME, SYMBOL,
};
use super::field_reader::{MessageReject, optional, text_field};
use super::reject_codes::{UNKNOWN_ACCOUNT, UNKNOWN_SYMBOL};

/// SecurityIDSource (22).
const ISIN: &str = "4";
const RIC: &str = "5";

/// The code of a rejection because several securities match.
const AMBIGUOUS_SECURITY: &str = "security-ambiguous";

/// Symbol (55) of a client that must send one and has none.
const NO_SYMBOL: &str = "[N/A]";

/// How a message, or a member of its group, names a security.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SecurityNames {
    pub(crate) id: Option<String>,
    pub(crate) id_source: Option<String>,
    pub(crate) symbol: Option<String>,
    /// With its tag.
    pub(crate) exchange: Option<(Tag, String)>,
}

impl SecurityNames {
    fn from_message(message: &FixMessage<'_>) -> Self {
        let exchange = |tag| Some((tag, text_field(message, tag)?));
        Self {
            id: text_field(message, SECURITY_ID),
            id_source: text_field(message, SECURITY_ID_SOURCE),
            symbol: text_field(message, SYMBOL),
            exchange: exchange(SECURITY_EXCHANGE).or_else(|| exchange(EX_DESTINATION)),
        }
    }

    /// By SecurityID (48), which is the platform's id or, with 22, an ISIN or RIC; else by Symbol (55). An exchange decides
    /// where several match; both fields must identify the same security.
    pub(crate) fn resolve<'a>(&self, reference: &'a ReferenceData) -> Result<Option<&'a Arc<Security>>, MessageReject> {
        let exchange = match &self.exchange {
            Some((tag, name)) => Some(exchange_named(*tag, name, reference)?),
            None => None,
        };
        if let Some(id) = &self.id {
            let security = security_by_id(id, self.id_source.as_deref(), exchange, reference)?;
            return check_same_security(security, id, self.symbol.as_deref()).map(|()| Some(security));
        }
        let Some(symbol) = &self.symbol else { return Ok(None) };
        only_match(SYMBOL, symbol, exchange, reference, |security| *security.symbol == **symbol).map(Some)
    }
}

pub(crate) fn security<'a>(
    message: &FixMessage<'_>,
    reference: &'a ReferenceData,
) -> Result<Option<&'a Arc<Security>>, MessageReject> {
    SecurityNames::from_message(message).resolve(reference)
}

/// As far as a cancel has it: an id that matches several securities, or none, is left to the order's.
pub(crate) fn security_if_given(
    message: &FixMessage<'_>,
    reference: &ReferenceData,
) -> Result<Option<SecurityId>, MessageReject> {
    let (id, symbol) = (text_field(message, SECURITY_ID), text_field(message, SYMBOL));
    if id.is_none() && symbol.as_deref() == Some(NO_SYMBOL) {
        return Ok(None);
    }
    let is_single = id.is_none() || symbol.is_none();
    match security(message, reference) {
        Err(reject) if is_single && reject.code == AMBIGUOUS_SECURITY => Ok(None),
        told => Ok(told?.map(|security| security.id)),
    }
}

fn security_by_id<'a>(
    id: &str,
    source: Option<&str>,
    exchange: Option<ExchangeId>,
    reference: &'a ReferenceData,
) -> Result<&'a Arc<Security>, MessageReject> {
    match source {
        Some(ISIN) => only_match(SECURITY_ID, id, exchange, reference, |security| security.isin.as_deref() == Some(id)),
        Some(RIC) => only_match(SECURITY_ID, id, exchange, reference, |security| security.ric.as_deref() == Some(id)),
        Some(other) => Err(MessageReject::invalid(SECURITY_ID_SOURCE, other.as_bytes(), "4 (ISIN) or 5 (RIC)")),
        // The platform's own id needs none.
        None => id
            .parse()
            .ok()
            .and_then(|id| reference.securities.get(&SecurityId(id)))
            .ok_or_else(|| unknown_security(SECURITY_ID, id)),
    }
}

fn check_same_security(security: &Security, id: &str, symbol: Option<&str>) -> Result<(), MessageReject> {
    match symbol.filter(|symbol| **symbol != *security.symbol && *symbol != NO_SYMBOL) {
        None => Ok(()),
        Some(symbol) => {
            let text = format!("SecurityID (48) {id} is {}, but Symbol (55) is {symbol}", security.symbol);
            Err(MessageReject::new(UNKNOWN_SYMBOL, AMBIGUOUS_SECURITY, &text))
        }
    }
}

/// The only security that matches.
fn only_match<'a>(
    tag: Tag,
    name: &str,
    exchange: Option<ExchangeId>,
    reference: &'a ReferenceData,
    is_meant: impl Fn(&Security) -> bool,
) -> Result<&'a Arc<Security>, MessageReject> {
    let listed = |security: &Security| exchange.is_none_or(|exchange| security.exchange == exchange);
    let mut meant = reference.securities.values().filter(|security| is_meant(security) && listed(security));
    let first = meant.next().ok_or_else(|| unknown_security(tag, name))?;
    if meant.next().is_some() {
        let text = format!(
            "{} {name} is listed on several exchanges, say which by 207",
            crate::translate::field::tag_with_name(tag)
        );
        return Err(MessageReject::new(UNKNOWN_SYMBOL, AMBIGUOUS_SECURITY, &text));
    }
    Ok(first)
}

fn unknown_security(tag: Tag, name: &str) -> MessageReject {
    let text = format!("{} {name} is not known", crate::translate::field::tag_with_name(tag));
    MessageReject::new(UNKNOWN_SYMBOL, "unknown-security", &text)
}

/// The exchange to route to.
pub(crate) fn destination(
    message: &FixMessage<'_>,
    reference: &ReferenceData,
) -> Result<Option<ExchangeId>, MessageReject> {
    match exchange_from(message, EX_DESTINATION, reference)? {
        Some(exchange) => Ok(Some(exchange)),
        None => exchange_from(message, SECURITY_EXCHANGE, reference),
    }
}

fn exchange_from(
    message: &FixMessage<'_>,
    tag: Tag,
    reference: &ReferenceData,
) -> Result<Option<ExchangeId>, MessageReject> {
    text_field(message, tag).map(|name| exchange_named(tag, &name, reference)).transpose()
}

/// By code, MIC, Bloomberg's code, name or id.
fn exchange_named(tag: Tag, name: &str, reference: &ReferenceData) -> Result<ExchangeId, MessageReject> {
    let bears = |exchange: &Exchange| {
        let codes = [&exchange.code, &exchange.mic, &exchange.bloomberg_code].into_iter().flatten();
        codes.chain([&exchange.name]).any(|known| **known == *name) || exchange.id.to_string() == name
    };
    let found = reference.exchanges.values().find(|exchange| bears(exchange)).map(|exchange| exchange.id);
    let unknown = || format!("{} {name} is not known", crate::translate::field::tag_with_name(tag));
    found.ok_or_else(|| MessageReject::other("unknown-exchange", &unknown()))
}

/// By id or name.
pub(crate) fn account(message: &FixMessage<'_>, reference: &ReferenceData) -> Result<Option<AccountId>, MessageReject> {
    let Some(name) = text_field(message, ACCOUNT) else { return Ok(None) };
    let by_id = name.parse().ok().map(AccountId).filter(|id| reference.accounts.contains_key(id));
    let found = by_id.or_else(|| reference.account_named(&name).map(|account| account.id));
    let unknown =
        || MessageReject::new(UNKNOWN_ACCOUNT, "unknown-account", &format!("Account (1) {name} is not known"));
    found.map(Some).ok_or_else(unknown)
}

/// By 7001 or 7002; a client that is bound to one strategy trades for no other.
pub(crate) fn strategy(
    message: &FixMessage<'_>,
    reference: &ReferenceData,
    bound_to: Option<&Text>,
) -> Result<Option<StrategyId>, MessageReject> {
    let by_id = optional(message, STRATEGY_ID, "the id of a strategy")?.map(StrategyId);
    let by_name = match text_field(message, STRATEGY_NAME) {
        Some(name) => Some(strategy_by_name(&name, reference)?),
        None => None,
    };
    if let (Some(id), Some(named)) = (by_id, by_name)
        && id != named
    {
        let text = "StrategyID (7001) and StrategyName (7002) mean different strategies";
        return Err(MessageReject::other("strategy-ambiguous", text));
    }
    if let Some(id) = by_id.filter(|id| !reference.strategies.contains_key(id)) {
        return Err(MessageReject::other("unknown-strategy", &format!("StrategyID (7001) {id} is not known")));
    }
    let Some(bound_to) = bound_to else { return Ok(by_id.or(by_name)) };
    let own = strategy_by_name(bound_to, reference)?;
    match by_id.or(by_name).is_none_or(|wanted| wanted == own) {
        true => Ok(Some(own)),
        false => Err(MessageReject::other("foreign-strategy", &format!("you trade for strategy {bound_to} alone"))),
    }
}

fn strategy_by_name(name: &str, reference: &ReferenceData) -> Result<StrategyId, MessageReject> {
    let found = reference.strategy_named(name).map(|strategy| strategy.id);
    found.ok_or_else(|| MessageReject::other("unknown-strategy", &format!("strategy {name} is not known")))
}
