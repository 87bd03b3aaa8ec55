//! Risk limits, in both directions. Keys, values and schemas follow from the table of limits.

use std::collections::BTreeSet;

use domain::risk::{BurstLimit, RiskLimitName, RiskLimits, RiskLimitsChange, RiskScope, SelfTradePrevention};
use domain::{Amount, Decimal, Quantity, SecurityId};
use serde_json::Value;

use crate::bodies::fields::{BadBody, FieldError, Fields, count_of, decimal_of, ids_of};
use crate::json::{AsText, ExactDecimal, exact};
use crate::object_schema::names::SELF_TRADES;
use crate::object_schema::{RequestType, SchemaField, SchemaType, optional, required};
use crate::trading::risk::scope;
use crate::value_object::{Described, value_object};

/// Securities of one restricted list.
pub const RESTRICTED_SECURITIES_MAX: usize = 10_000;

/// A limit in answers and in bodies.
trait LimitJson: Sized {
    /// Its value in answers.
    type Shown: Described + serde::Serialize;
    /// The schema of its value in bodies.
    const SENT: SchemaType;

    fn shown(&self) -> Option<Self::Shown>;

    fn read(field: &'static str, value: Value) -> Result<Self, FieldError>;
}

macro_rules! positive_limits {
    ($($type:ident),+) => { $(
        impl LimitJson for $type {
            type Shown = ExactDecimal;
            const SENT: SchemaType = SchemaType::Sent(RequestType::Positive);

            fn shown(&self) -> Option<ExactDecimal> {
                exact(Some(*self))
            }

            fn read(field: &'static str, value: Value) -> Result<Self, FieldError> {
                positive(field, value).map(Self)
            }
        }
    )+ };
}

positive_limits!(Quantity, Amount);

impl LimitJson for u32 {
    type Shown = Self;
    const SENT: SchemaType = SchemaType::Sent(RequestType::Count);

    fn shown(&self) -> Option<Self> {
        Some(*self)
    }

    fn read(field: &'static str, value: Value) -> Result<Self, FieldError> {
        from_zero(field, value)
    }
}

impl LimitJson for bool {
    type Shown = Self;
    const SENT: SchemaType = SchemaType::Flag;

    fn shown(&self) -> Option<Self> {
        Some(*self)
    }

    fn read(field: &'static str, value: Value) -> Result<Self, FieldError> {
        value.as_bool().ok_or_else(|| FieldError::malformed(field, "must be true or false"))
    }
}

value_object! {
    /// So many in so many milliseconds.
    pub(crate) struct BurstVO ("Burst")
    from (burst: BurstLimit) {
        count: u32 = burst.count,
        millis: u32 = burst.millis,
    }
}

impl LimitJson for BurstLimit {
    type Shown = BurstVO;
    const SENT: SchemaType = SchemaType::Shape("NewBurst");

    fn shown(&self) -> Option<BurstVO> {
        Some(BurstVO::from_domain(*self))
    }

    fn read(field: &'static str, value: Value) -> Result<Self, FieldError> {
        burst_of(field, value)
    }
}

/// A policy for self-trades by its name.
#[derive(Debug, serde::Serialize)]
#[serde(transparent)]
pub(crate) struct SelfTradeName(&'static str);

impl Described for SelfTradeName {
    const SCHEMA: SchemaType = SchemaType::OneOf(SELF_TRADES);
}

impl LimitJson for SelfTradePrevention {
    type Shown = SelfTradeName;
    const SENT: SchemaType = SelfTradeName::SCHEMA;

    fn shown(&self) -> Option<SelfTradeName> {
        let policies = SELF_TRADES.iter().zip(SELF_TRADE_POLICIES);
        policies.into_iter().find(|(_, policy)| policy == self).map(|(name, _)| SelfTradeName(name))
    }

    fn read(field: &'static str, value: Value) -> Result<Self, FieldError> {
        let mut policies = SELF_TRADES.iter().zip(SELF_TRADE_POLICIES);
        let named = policies.find(|(name, _)| value.as_str() == Some(name)).map(|(_, policy)| policy);
        named.ok_or_else(|| FieldError::malformed(field, format!("must be one of {}", SELF_TRADES.join(", "))))
    }
}

/// In the order of their names.
const SELF_TRADE_POLICIES: [SelfTradePrevention; SELF_TRADES.len()] = [
    SelfTradePrevention::RejectNewest,
    SelfTradePrevention::CancelResting,
    SelfTradePrevention::CancelBoth,
    SelfTradePrevention::Allow,
];

impl LimitJson for BTreeSet<SecurityId> {
    type Shown = Vec<u64>;
    const SENT: SchemaType = SchemaType::List(&SchemaType::Sent(RequestType::Id));

    fn shown(&self) -> Option<Vec<u64>> {
        Some(self.iter().map(|id| id.0).collect())
    }

    fn read(field: &'static str, value: Value) -> Result<Self, FieldError> {
        Ok(ids_of(field, value, RESTRICTED_SECURITIES_MAX)?.into_iter().map(SecurityId).collect())
    }
}

macro_rules! limits_json {
    ($(
        $(#[doc = $doc:literal])+
        $number:tt $name:ident $field:ident $key:ident: $type:ty, $scopes:ident, $default:literal;
    )+) => {
        value_object! {
            /// The limits of a scope; null does not bind.
            pub struct LimitsVO ("LimitsVO", golden)
            from (scope: RiskScope, limits: &RiskLimits) {
                scope: AsText<RiskScope> = AsText(scope),
                $( $key: Option<<$type as LimitJson>::Shown> = limits.$field.as_ref().and_then(LimitJson::shown), )+
            }
        }

        /// The schema of a body that changes limits.
        pub(crate) const BODY: &[SchemaField] = &[
            required("scope", SchemaType::Scope),
            $( optional(stringify!($key), SchemaType::Maybe(&<$type as LimitJson>::SENT)), )+
        ];

        fn read_limits(fields: &mut Fields, scope: Option<RiskScope>) -> RiskLimits {
            RiskLimits { $( $field: read_limit(fields, RiskLimitName::$name, scope), )+ }
        }
    };
}

domain::risk_limits!(limits_json);

/// Changes of the limits of a scope; `null` removes one, and an absent one is kept. The values obey the rules of the
/// configuration.
pub fn parse_limits(body: &[u8]) -> Result<(RiskScope, RiskLimitsChange), BadBody> {
    let mut fields = Fields::parse(body)?;
    let named = RiskLimitName::ALL.iter().copied().filter(|name| fields.contains(name.key())).collect();
    let scope = scope(&mut fields);
    let limits = read_limits(&mut fields, scope);
    let scope = fields.require("scope", scope);
    fields.finish_strict(scope.map(|scope| (scope, RiskLimitsChange { limits, named })))
}

/// Not every scope can have every limit.
fn read_limit<T: LimitJson>(fields: &mut Fields, name: RiskLimitName, scope: Option<RiskScope>) -> Option<T> {
    let against = scope.and_then(|scope| name.scopes().reason_against(scope));
    fields.read(name.key(), |field, value| match against {
        Some(reason) => Err(FieldError::unexpected(field, reason)),
        None => T::read(field, value),
    })
}

fn positive(field: &'static str, value: Value) -> Result<Decimal, FieldError> {
    let number = decimal_of(field, value)?;
    let is_positive = number > Decimal::ZERO;
    is_positive.then_some(number).ok_or_else(|| FieldError::new(field, "not-positive", "must be more than zero"))
}

fn from_zero(field: &'static str, value: Value) -> Result<u32, FieldError> {
    let is_below = decimal_of(field, value.clone())? < Decimal::ZERO;
    if is_below { Err(FieldError::new(field, "too-small", "must not be below zero")) } else { count_of(field, value) }
}

/// A number in a time span: both keys are required and no others, and the number is greater than zero.
fn burst_of(field: &'static str, value: Value) -> Result<BurstLimit, FieldError> {
    let malformed = || FieldError::malformed(field, "must be an object with whole numbers count and millis");
    let Value::Object(parts) = value else { return Err(malformed()) };
    let part = |key: &str| parts.get(key).and_then(|part| from_zero(field, part.clone()).ok());
    match (part("count"), part("millis"), parts.len()) {
        (Some(count @ 1..), Some(millis @ 1..), 2) => Ok(BurstLimit { count, millis }),
        (Some(_), Some(_), 2) => Err(FieldError::new(field, "not-positive", "count and millis must be more than zero")),
        _ => Err(malformed()),
    }
}
