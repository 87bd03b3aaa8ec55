//! Securities of every kind: keys of one kind are present only there, beside those that all have.

use domain::reference::OptionRight;
use domain::{Currency, Security, SecurityKind};
use serde::Serialize;

use crate::json::{Exact, Shown, ShownDate, exact};

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
    currency: Shown<Currency>,
    contract_size: Exact,
    min_qty: Option<Exact>,
    max_qty: Option<Exact>,
    qty_incr: Exact,
    min_price: Option<Exact>,
    max_price: Option<Exact>,
    price_incr: Exact,
    min_notional: Option<Exact>,
    tradeable: bool,
    #[serde(flatten)]
    kind: KindVO<'a>,
}

/// Fields of only one kind.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum KindVO<'a> {
    Plain {},
    Forex { base_currency: Shown<Currency>, transaction_currency: Shown<Currency> },
    Future { expiration: ShownDate, month_year: &'a str, first_notice: Option<ShownDate> },
    Option { expiration: ShownDate, strike: Exact, option_type: &'static str },
    Bond { maturity: ShownDate, coupon: Exact, coupon_frequency: u8 },
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
            currency: Shown(security.currency),
            contract_size: Exact(security.contract_size),
            min_qty: exact(security.min_qty),
            max_qty: exact(security.max_qty),
            qty_incr: Exact(security.qty_incr),
            min_price: exact(security.min_price),
            max_price: exact(security.max_price),
            price_incr: Exact(security.price_incr),
            min_notional: exact(security.min_notional),
            tradeable: security.tradeable,
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
                Self::Forex { base_currency: Shown(base), transaction_currency: Shown(transaction) }
            }
            SecurityKind::Future { expiration, ref month_year, first_notice } => {
                Self::Future { expiration: Shown(expiration), month_year, first_notice: first_notice.map(Shown) }
            }
            SecurityKind::Option { expiration, strike, right } => {
                Self::Option { expiration: Shown(expiration), strike: strike.into(), option_type: option_type(right) }
            }
            SecurityKind::Bond { maturity, coupon, coupon_frequency } => {
                Self::Bond { maturity: Shown(maturity), coupon: Exact(coupon), coupon_frequency }
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
