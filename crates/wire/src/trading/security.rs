//! Securities of every kind: keys of one kind are present only there, beside those that all have.

use std::collections::BTreeMap;

use domain::reference::OptionRight;
use domain::{Currency, Date, Decimal, Price, Security, SecurityChange, SecurityKind};

use crate::json::{AsText, DateText, ExactDecimal, exact};
use crate::object_schema::{SchemaVariant, variant};
use crate::value_object::value_object;

value_object! {
    /// Something that is traded or observed; the keys of a kind stand only on that kind.
    pub struct SecurityVO<'a> ("SecurityVO", golden)
    from (security: &'a Security)
    let kind = KindFields::of(&security.kind); {
        id: u64 = security.id.0,
        objectType: &'static str [OneOf(SECURITY_TYPES)] = object_type(&security.kind),
        symbol: &'a str = &security.symbol,
        description: Option<&'a str> = security.description.as_deref(),
        isin: Option<&'a str> = security.isin.as_deref(),
        bbgid: Option<&'a str> = security.bbgid.as_deref(),
        ric: Option<&'a str> = security.ric.as_deref(),
        conid: Option<&'a str> = security.conid.as_deref(),
        adapterTicker: Option<&'a str> = security.adapter_ticker.as_deref(),
        underlyingId: Option<u64> = security.underlying.map(|id| id.0),
        securityFamilyId: Option<u64> = security.family.map(|id| id.0),
        exchangeId: u64 = security.exchange.0,
        currency: AsText<Currency> = AsText(security.currency),
        contractSize: ExactDecimal = ExactDecimal(security.contract_size),
        minQty: Option<ExactDecimal> = exact(security.min_qty),
        maxQty: Option<ExactDecimal> = exact(security.max_qty),
        qtyIncr: ExactDecimal = ExactDecimal(security.qty_incr),
        minPrice: Option<ExactDecimal> = exact(security.min_price),
        maxPrice: Option<ExactDecimal> = exact(security.max_price),
        priceIncr: ExactDecimal = ExactDecimal(security.price_incr),
        minNotional: Option<ExactDecimal> = exact(security.min_notional),
        tradeable: bool = security.tradeable,
        venueSymbols: BTreeMap<&'a str, &'a str> =
            security.venue_symbols.0.iter().map(|(venue, symbol)| (&**venue, &**symbol)).collect(),
        ? baseCurrency: AsText<Currency> = kind.pair.map(|(base, _)| AsText(base)),
        ? transactionCurrency: AsText<Currency> = kind.pair.map(|(_, transaction)| AsText(transaction)),
        ? expiration: DateText = kind.expiration.map(AsText),
        ? monthYear: &'a str = kind.month.map(|(month_year, _)| month_year),
        ? firstNotice: Option<DateText> = kind.month.map(|(_, first_notice)| first_notice.map(AsText)),
        ? strike: ExactDecimal = kind.option.map(|(strike, _)| strike.into()),
        ? optionType: &'static str [OneOf(OPTION_TYPES)] = kind.option.map(|(_, right)| option_type(right)),
        ? maturity: DateText = kind.bond.map(|(maturity, ..)| AsText(maturity)),
        ? coupon: ExactDecimal = kind.bond.map(|(_, coupon, _)| ExactDecimal(coupon)),
        ? couponFrequency: u8 = kind.bond.map(|(.., frequency)| frequency),
    }
    .with_variants(KINDS)
}

value_object! {
    /// A security that was added, changed or removed, as it is now.
    pub struct SecurityChangeVO<'a> ("SecurityChangeVO", golden)
    from (sequence: u64, change: &'a SecurityChange) {
        sequence: u64 [Whole] = sequence,
        securityId: u64 = change.id.0,
        security: Option<SecurityVO<'a>> [Maybe(&Shape("SecurityVO"))] =
            change.security.as_deref().map(SecurityVO::from_domain),
    }
}

const KINDS: &[SchemaVariant] = &[
    variant(
        "PlainSecurityVO",
        "A security without keys of its own kind.",
        &["Stock", "Index", "Commodity", "Fund", "PerpetualSwap"],
        &[],
    ),
    variant("ForexVO", "A currency pair.", &["Forex"], &["baseCurrency", "transactionCurrency"]),
    variant("FutureVO", "A future.", &["Future"], &["expiration", "monthYear", "firstNotice"]),
    variant("OptionVO", "An option.", &["Option"], &["expiration", "strike", "optionType"]),
    variant("BondVO", "A bond.", &["Bond"], &["maturity", "coupon", "couponFrequency"]),
];

/// What only some kinds have.
#[derive(Default)]
struct KindFields<'a> {
    pair: Option<(Currency, Currency)>,
    expiration: Option<Date>,
    /// Of a future: its month, and the first notice where it delivers.
    month: Option<(&'a str, Option<Date>)>,
    option: Option<(Price, OptionRight)>,
    bond: Option<(Date, Decimal, u8)>,
}

impl<'a> KindFields<'a> {
    fn of(kind: &'a SecurityKind) -> Self {
        let none = Self::default();
        match *kind {
            SecurityKind::Forex { base, transaction } => Self { pair: Some((base, transaction)), ..none },
            SecurityKind::Future { expiration, ref month_year, first_notice } => {
                Self { expiration: Some(expiration), month: Some((month_year, first_notice)), ..none }
            }
            SecurityKind::Option { expiration, strike, right } => {
                Self { expiration: Some(expiration), option: Some((strike, right)), ..none }
            }
            SecurityKind::Bond { maturity, coupon, coupon_frequency } => {
                Self { bond: Some((maturity, coupon, coupon_frequency)), ..none }
            }
            SecurityKind::Stock
            | SecurityKind::Index
            | SecurityKind::Commodity
            | SecurityKind::Fund
            | SecurityKind::PerpetualSwap => none,
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

pub(crate) fn option_type(right: OptionRight) -> &'static str {
    match right {
        OptionRight::Call => "CALL",
        OptionRight::Put => "PUT",
    }
}
