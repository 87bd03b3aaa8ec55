//! Securities of every kind: keys of one kind are present only there, beside those that all have.

use std::collections::BTreeMap;

use domain::reference::OptionRight;
use domain::{Currency, Security, SecurityKind};
use serde::Serialize;

use crate::json::{AsText, DateText, ExactDecimal, exact};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecurityVO<'a> {
    id: u64,
    object_type: &'static str,
    symbol: &'a str,
    description: Option<&'a str>,
    isin: Option<&'a str>,
    bbgid: Option<&'a str>,
    ric: Option<&'a str>,
    conid: Option<&'a str>,
    adapter_ticker: Option<&'a str>,
    underlying_id: Option<u64>,
    security_family_id: Option<u64>,
    exchange_id: u64,
    currency: AsText<Currency>,
    contract_size: ExactDecimal,
    min_qty: Option<ExactDecimal>,
    max_qty: Option<ExactDecimal>,
    qty_incr: ExactDecimal,
    min_price: Option<ExactDecimal>,
    max_price: Option<ExactDecimal>,
    price_incr: ExactDecimal,
    min_notional: Option<ExactDecimal>,
    tradeable: bool,
    venue_symbols: BTreeMap<&'a str, &'a str>,
    #[serde(flatten)]
    kind: KindVO<'a>,
}

/// Fields of only one kind.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum KindVO<'a> {
    Plain {},
    Forex { base_currency: AsText<Currency>, transaction_currency: AsText<Currency> },
    Future { expiration: DateText, month_year: &'a str, first_notice: Option<DateText> },
    Option { expiration: DateText, strike: ExactDecimal, option_type: &'static str },
    Bond { maturity: DateText, coupon: ExactDecimal, coupon_frequency: u8 },
}

impl<'a> SecurityVO<'a> {
    pub fn from_domain(security: &'a Security) -> Self {
        Self {
            id: security.id.0,
            object_type: object_type(&security.kind),
            symbol: &security.symbol,
            description: security.description.as_deref(),
            isin: security.isin.as_deref(),
            bbgid: security.bbgid.as_deref(),
            ric: security.ric.as_deref(),
            conid: security.conid.as_deref(),
            adapter_ticker: security.adapter_ticker.as_deref(),
            underlying_id: security.underlying.map(|id| id.0),
            security_family_id: security.family.map(|id| id.0),
            exchange_id: security.exchange.0,
            currency: AsText(security.currency),
            contract_size: ExactDecimal(security.contract_size),
            min_qty: exact(security.min_qty),
            max_qty: exact(security.max_qty),
            qty_incr: ExactDecimal(security.qty_incr),
            min_price: exact(security.min_price),
            max_price: exact(security.max_price),
            price_incr: ExactDecimal(security.price_incr),
            min_notional: exact(security.min_notional),
            tradeable: security.tradeable,
            venue_symbols: security.venue_symbols.0.iter().map(|(venue, symbol)| (&**venue, &**symbol)).collect(),
            kind: KindVO::from_domain(&security.kind),
        }
    }
}

pub(crate) fn object_type(kind: &SecurityKind) -> &'static str {
    match kind {
        SecurityKind::Stock => "Stock",
        SecurityKind::Forex { .. } => "Forex",
        SecurityKind::Future { .. } => "Future",
        SecurityKind::Option { .. } => "Option",
        SecurityKind::Index => "Index",
        SecurityKind::Bond { .. } => "Bond",
        SecurityKind::Commodity => "Commodity",
        SecurityKind::Fund => "Fund",
        SecurityKind::PerpetualSwap => "PerpetualSwap",
    }
}

impl<'a> KindVO<'a> {
    fn from_domain(kind: &'a SecurityKind) -> Self {
        match *kind {
            SecurityKind::Forex { base, transaction } => {
                Self::Forex { base_currency: AsText(base), transaction_currency: AsText(transaction) }
            }
            SecurityKind::Future { expiration, ref month_year, first_notice } => {
                Self::Future { expiration: AsText(expiration), month_year, first_notice: first_notice.map(AsText) }
            }
            SecurityKind::Option { expiration, strike, right } => {
                Self::Option { expiration: AsText(expiration), strike: strike.into(), option_type: option_type(right) }
            }
            SecurityKind::Bond { maturity, coupon, coupon_frequency } => {
                Self::Bond { maturity: AsText(maturity), coupon: ExactDecimal(coupon), coupon_frequency }
            }
            SecurityKind::Stock
            | SecurityKind::Index
            | SecurityKind::Commodity
            | SecurityKind::Fund
            | SecurityKind::PerpetualSwap => Self::Plain {},
        }
    }
}

pub(crate) fn option_type(right: OptionRight) -> &'static str {
    match right {
        OptionRight::Call => "CALL",
        OptionRight::Put => "PUT",
    }
}
