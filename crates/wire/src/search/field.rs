//! Searchable fields: the keys of a `SecurityVO`, each with its type.

use std::cmp::Ordering;

use domain::{Currency, Date, Decimal, Security, SecurityKind};

use super::parser::Value;
use super::token::Operator;
use super::{BadSearch, Pattern};
use crate::number::decimal;
use crate::security::{object_type, option_type};

/// The value of a field.
enum Held<'a> {
    Text(&'a str),
    Number(Decimal),
    Date(Date),
    Flag(bool),
}

/// Reads a field; `None` where this security does not have it.
type Look = fn(&Security) -> Option<Held<'_>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Text,
    Number,
    Date,
    Flag,
}

const FIELDS: &[(&str, Type, Look)] = &[
    ("id", Type::Number, |security| id(Some(security.id.0))),
    ("objectType", Type::Text, |security| Some(Held::Text(object_type(&security.kind)))),
    ("symbol", Type::Text, |security| Some(Held::Text(&security.symbol))),
    ("description", Type::Text, |security| text(security.description.as_deref())),
    ("isin", Type::Text, |security| text(security.isin.as_deref())),
    ("bbgid", Type::Text, |security| text(security.bbgid.as_deref())),
    ("ric", Type::Text, |security| text(security.ric.as_deref())),
    ("conid", Type::Text, |security| text(security.conid.as_deref())),
    ("adapterTicker", Type::Text, |security| text(security.adapter_ticker.as_deref())),
    ("underlyingId", Type::Number, |security| id(security.underlying.map(|id| id.0))),
    ("securityFamilyId", Type::Number, |security| id(security.family.map(|id| id.0))),
    ("exchangeId", Type::Number, |security| id(Some(security.exchange.0))),
    ("currency", Type::Text, |security| Some(Held::Text(security.currency.as_str()))),
    ("contractSize", Type::Number, |security| Some(Held::Number(security.contract_size))),
    ("minQty", Type::Number, |security| number(security.min_qty.map(|quantity| quantity.0))),
    ("maxQty", Type::Number, |security| number(security.max_qty.map(|quantity| quantity.0))),
    ("qtyIncr", Type::Number, |security| Some(Held::Number(security.qty_incr))),
    ("minPrice", Type::Number, |security| number(security.min_price.map(|price| price.0))),
    ("maxPrice", Type::Number, |security| number(security.max_price.map(|price| price.0))),
    ("priceIncr", Type::Number, |security| Some(Held::Number(security.price_incr))),
    ("minNotional", Type::Number, |security| number(security.min_notional.map(|amount| amount.0))),
    ("tradeable", Type::Flag, |security| Some(Held::Flag(security.tradeable))),
    ("baseCurrency", Type::Text, |security| pair(security).map(|(base, _)| Held::Text(base.as_str()))),
    ("transactionCurrency", Type::Text, |security| pair(security).map(|(_, other)| Held::Text(other.as_str()))),
    ("expiration", Type::Date, |security| match &security.kind {
        SecurityKind::Future { expiration, .. } | SecurityKind::Option { expiration, .. } => {
            Some(Held::Date(*expiration))
        }
        _ => None,
    }),
    ("monthYear", Type::Text, |security| match &security.kind {
        SecurityKind::Future { month_year, .. } => Some(Held::Text(month_year)),
        _ => None,
    }),
    ("firstNotice", Type::Date, |security| match &security.kind {
        SecurityKind::Future { first_notice, .. } => first_notice.map(Held::Date),
        _ => None,
    }),
    ("strike", Type::Number, |security| match &security.kind {
        SecurityKind::Option { strike, .. } => Some(Held::Number(strike.0)),
        _ => None,
    }),
    ("optionType", Type::Text, |security| match &security.kind {
        SecurityKind::Option { right, .. } => Some(Held::Text(option_type(*right))),
        _ => None,
    }),
    ("maturity", Type::Date, |security| match &security.kind {
        SecurityKind::Bond { maturity, .. } => Some(Held::Date(*maturity)),
        _ => None,
    }),
    ("coupon", Type::Number, |security| match &security.kind {
        SecurityKind::Bond { coupon, .. } => Some(Held::Number(*coupon)),
        _ => None,
    }),
    ("couponFrequency", Type::Number, |security| match &security.kind {
        SecurityKind::Bond { coupon_frequency, .. } => id(Some((*coupon_frequency).into())),
        _ => None,
    }),
];

/// The texts that words without a field are searched in.
pub(super) fn free_texts(security: &Security) -> impl Iterator<Item = &str> {
    let others = [&security.description, &security.isin, &security.ric, &security.bbgid];
    std::iter::once(&*security.symbol).chain(others.into_iter().filter_map(|text| text.as_deref()))
}

fn text(text: Option<&str>) -> Option<Held<'_>> {
    text.map(Held::Text)
}

fn number(number: Option<Decimal>) -> Option<Held<'static>> {
    number.map(Held::Number)
}

fn id(id: Option<u64>) -> Option<Held<'static>> {
    id.map(|id| Held::Number(id.into()))
}

fn pair(security: &Security) -> Option<(&Currency, &Currency)> {
    match &security.kind {
        SecurityKind::Forex { base, transaction } => Some((base, transaction)),
        _ => None,
    }
}

/// A field and its condition.
#[derive(Debug, Clone)]
pub(super) struct Question {
    field: &'static str,
    look: Look,
    wanted: Wanted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    /// `field:*`: any value.
    Something,
    Text(Pattern),
    Number(Operator, Decimal),
    Date(Operator, Date),
    Flag(bool),
}

impl PartialEq for Question {
    fn eq(&self, other: &Self) -> bool {
        self.field == other.field && self.wanted == other.wanted
    }
}

impl Eq for Question {}

impl Question {
    pub(super) fn new(at: usize, name: &str, operator: Operator, value: Value) -> Result<Self, BadSearch> {
        let Some((field, kind, look)) = FIELDS.iter().find(|(field, ..)| field.eq_ignore_ascii_case(name)) else {
            return Err(BadSearch { at, reason: format!("a security has no field {name}; quotes make it a word") });
        };
        let at = value.at;
        let wanted = wanted(*kind, operator, value)
            .map_err(|what| BadSearch { at, reason: format!("{field} is compared with {what}") })?;
        Ok(Self { field, look: *look, wanted })
    }

    /// A comparison with an absent value is false.
    pub(super) fn holds(&self, security: &Security) -> bool {
        let Some(held) = (self.look)(security) else { return false };
        match (&self.wanted, held) {
            (Wanted::Something, _) => true,
            (Wanted::Text(pattern), Held::Text(text)) => pattern.is(text),
            (Wanted::Number(operator, wanted), Held::Number(number)) => operator.admits(number.cmp(wanted)),
            (Wanted::Date(operator, wanted), Held::Date(date)) => operator.admits(date.cmp(wanted)),
            (Wanted::Flag(wanted), Held::Flag(flag)) => *wanted == flag,
            _ => false,
        }
    }
}

/// The condition, or the type that the value must have.
fn wanted(kind: Type, operator: Operator, value: Value) -> Result<Wanted, &'static str> {
    if operator == Operator::Is && value.pattern == Pattern::Beginning(String::new()) {
        return Ok(Wanted::Something);
    }
    match kind {
        Type::Text if operator == Operator::Is => Ok(Wanted::Text(value.pattern)),
        Type::Text => Err("a text, by : only"),
        Type::Number => decimal(&value.text).map(|number| Wanted::Number(operator, number)).map_err(|_| "a number"),
        Type::Date => value.text.parse().map(|date| Wanted::Date(operator, date)).map_err(|_| "a date YYYY-MM-DD"),
        Type::Flag => match (operator, value.text.as_str()) {
            (Operator::Is, "true") => Ok(Wanted::Flag(true)),
            (Operator::Is, "false") => Ok(Wanted::Flag(false)),
            _ => Err("true or false, by : only"),
        },
    }
}

impl Operator {
    fn admits(self, ordering: Ordering) -> bool {
        match self {
            Self::Is => ordering.is_eq(),
            Self::Below => ordering.is_lt(),
            Self::AtMost => ordering.is_le(),
            Self::Above => ordering.is_gt(),
            Self::AtLeast => ordering.is_ge(),
        }
    }
}
