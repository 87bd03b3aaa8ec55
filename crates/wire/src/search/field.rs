//! Searchable fields: the keys of a `SecurityVO`, each with its type.

use std::cmp::Ordering;

use domain::{Currency, Date, Decimal, Security, SecurityKind, VenueSymbols};

use super::token::{BadSearch, SearchOperator, SearchValue, TextPattern};
use crate::number::decimal;
use crate::trading::security::{object_type, option_type};

/// The value of a field.
enum FieldValue<'a> {
    Text(&'a str),
    /// One of them matches.
    Symbols(&'a VenueSymbols),
    Number(Decimal),
    Date(Date),
    Flag(bool),
}

/// Reads a field; `None` where this security does not have it.
type FieldGetter = fn(&Security) -> Option<FieldValue<'_>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueType {
    Text,
    Number,
    Date,
    Flag,
}

const FIELDS: &[(&str, ValueType, FieldGetter)] = &[
    ("id", ValueType::Number, |security| id(Some(security.id.0))),
    ("objectType", ValueType::Text, |security| Some(FieldValue::Text(object_type(&security.kind)))),
    ("symbol", ValueType::Text, |security| Some(FieldValue::Text(&security.symbol))),
    ("description", ValueType::Text, |security| text(security.description.as_deref())),
    ("isin", ValueType::Text, |security| text(security.isin.as_deref())),
    ("bbgid", ValueType::Text, |security| text(security.bbgid.as_deref())),
    ("ric", ValueType::Text, |security| text(security.ric.as_deref())),
    ("conid", ValueType::Text, |security| text(security.conid.as_deref())),
    ("adapterTicker", ValueType::Text, |security| text(security.adapter_ticker.as_deref())),
    ("underlyingId", ValueType::Number, |security| id(security.underlying.map(|id| id.0))),
    ("securityFamilyId", ValueType::Number, |security| id(security.family.map(|id| id.0))),
    ("exchangeId", ValueType::Number, |security| id(Some(security.exchange.0))),
    ("currency", ValueType::Text, |security| Some(FieldValue::Text(security.currency.as_str()))),
    ("contractSize", ValueType::Number, |security| Some(FieldValue::Number(security.contract_size))),
    ("minQty", ValueType::Number, |security| number(security.min_qty.map(|quantity| quantity.0))),
    ("maxQty", ValueType::Number, |security| number(security.max_qty.map(|quantity| quantity.0))),
    ("qtyIncr", ValueType::Number, |security| Some(FieldValue::Number(security.qty_incr))),
    ("minPrice", ValueType::Number, |security| number(security.min_price.map(|price| price.0))),
    ("maxPrice", ValueType::Number, |security| number(security.max_price.map(|price| price.0))),
    ("priceIncr", ValueType::Number, |security| Some(FieldValue::Number(security.price_incr))),
    ("minNotional", ValueType::Number, |security| number(security.min_notional.map(|amount| amount.0))),
    ("tradeable", ValueType::Flag, |security| Some(FieldValue::Flag(security.tradeable))),
    ("venueSymbols", ValueType::Text, |security| {
        let symbols = &security.venue_symbols;
        (!symbols.0.is_empty()).then_some(FieldValue::Symbols(symbols))
    }),
    ("baseCurrency", ValueType::Text, |security| pair(security).map(|(base, _)| FieldValue::Text(base.as_str()))),
    ("transactionCurrency", ValueType::Text, |security| {
        pair(security).map(|(_, other)| FieldValue::Text(other.as_str()))
    }),
    ("expiration", ValueType::Date, |security| match &security.kind {
        SecurityKind::Future { expiration, .. } | SecurityKind::Option { expiration, .. } => {
            Some(FieldValue::Date(*expiration))
        }
        _ => None,
    }),
    ("monthYear", ValueType::Text, |security| match &security.kind {
        SecurityKind::Future { month_year, .. } => Some(FieldValue::Text(month_year)),
        _ => None,
    }),
    ("firstNotice", ValueType::Date, |security| match &security.kind {
        SecurityKind::Future { first_notice, .. } => first_notice.map(FieldValue::Date),
        _ => None,
    }),
    ("strike", ValueType::Number, |security| match &security.kind {
        SecurityKind::Option { strike, .. } => Some(FieldValue::Number(strike.0)),
        _ => None,
    }),
    ("optionType", ValueType::Text, |security| match &security.kind {
        SecurityKind::Option { right, .. } => Some(FieldValue::Text(option_type(*right))),
        _ => None,
    }),
    ("maturity", ValueType::Date, |security| match &security.kind {
        SecurityKind::Bond { maturity, .. } => Some(FieldValue::Date(*maturity)),
        _ => None,
    }),
    ("coupon", ValueType::Number, |security| match &security.kind {
        SecurityKind::Bond { coupon, .. } => Some(FieldValue::Number(*coupon)),
        _ => None,
    }),
    ("couponFrequency", ValueType::Number, |security| match &security.kind {
        SecurityKind::Bond { coupon_frequency, .. } => id(Some((*coupon_frequency).into())),
        _ => None,
    }),
];

/// The texts that words without a field are searched in.
pub(super) fn free_texts(security: &Security) -> impl Iterator<Item = &str> {
    let others = [&security.description, &security.isin, &security.ric, &security.bbgid];
    std::iter::once(&*security.symbol).chain(others.into_iter().filter_map(|text| text.as_deref()))
}

fn text(text: Option<&str>) -> Option<FieldValue<'_>> {
    text.map(FieldValue::Text)
}

fn number(number: Option<Decimal>) -> Option<FieldValue<'static>> {
    number.map(FieldValue::Number)
}

fn id(id: Option<u64>) -> Option<FieldValue<'static>> {
    id.map(|id| FieldValue::Number(id.into()))
}

fn pair(security: &Security) -> Option<(&Currency, &Currency)> {
    match &security.kind {
        SecurityKind::Forex { base, transaction } => Some((base, transaction)),
        _ => None,
    }
}

/// A field and its condition.
#[derive(Debug, Clone)]
pub(super) struct FieldCondition {
    field: &'static str,
    get: FieldGetter,
    condition: Condition,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    /// `field:*`: any value.
    Something,
    Text(TextPattern),
    Number(SearchOperator, Decimal),
    Date(SearchOperator, Date),
    Flag(bool),
}

impl PartialEq for FieldCondition {
    fn eq(&self, other: &Self) -> bool {
        self.field == other.field && self.condition == other.condition
    }
}

impl Eq for FieldCondition {}

impl FieldCondition {
    pub(super) fn new(at: usize, name: &str, operator: SearchOperator, value: SearchValue) -> Result<Self, BadSearch> {
        let Some((field, kind, look)) = FIELDS.iter().find(|(field, ..)| field.eq_ignore_ascii_case(name)) else {
            return Err(BadSearch { at, reason: format!("a security has no field {name}; quotes make it a word") });
        };
        let at = value.at;
        let wanted = parse_condition(*kind, operator, value)
            .map_err(|what| BadSearch { at, reason: format!("{field} is compared with {what}") })?;
        Ok(Self { field, get: *look, condition: wanted })
    }

    /// A comparison with an absent value is false.
    pub(super) fn matches(&self, security: &Security) -> bool {
        let Some(held) = (self.get)(security) else { return false };
        match (&self.condition, held) {
            (Condition::Something, _) => true,
            (Condition::Text(pattern), FieldValue::Text(text)) => pattern.is(text),
            (Condition::Text(pattern), FieldValue::Symbols(symbols)) => {
                symbols.0.values().any(|symbol| pattern.is(symbol))
            }
            (Condition::Number(operator, wanted), FieldValue::Number(number)) => operator.accepts(number.cmp(wanted)),
            (Condition::Date(operator, wanted), FieldValue::Date(date)) => operator.accepts(date.cmp(wanted)),
            (Condition::Flag(wanted), FieldValue::Flag(flag)) => *wanted == flag,
            _ => false,
        }
    }
}

/// The condition, or the type that the value must have.
fn parse_condition(kind: ValueType, operator: SearchOperator, value: SearchValue) -> Result<Condition, &'static str> {
    if operator == SearchOperator::Is && value.pattern == TextPattern::Beginning(String::new()) {
        return Ok(Condition::Something);
    }
    match kind {
        ValueType::Text if operator == SearchOperator::Is => Ok(Condition::Text(value.pattern)),
        ValueType::Text => Err("a text, by : only"),
        ValueType::Number => {
            decimal(&value.text).map(|number| Condition::Number(operator, number)).map_err(|_| "a number")
        }
        ValueType::Date => {
            value.text.parse().map(|date| Condition::Date(operator, date)).map_err(|_| "a date YYYY-MM-DD")
        }
        ValueType::Flag => match (operator, value.text.as_str()) {
            (SearchOperator::Is, "true") => Ok(Condition::Flag(true)),
            (SearchOperator::Is, "false") => Ok(Condition::Flag(false)),
            _ => Err("true or false, by : only"),
        },
    }
}

impl SearchOperator {
    fn accepts(self, ordering: Ordering) -> bool {
        match self {
            Self::Is => ordering.is_eq(),
            Self::Below => ordering.is_lt(),
            Self::AtMost => ordering.is_le(),
            Self::Above => ordering.is_gt(),
            Self::AtLeast => ordering.is_ge(),
        }
    }
}
