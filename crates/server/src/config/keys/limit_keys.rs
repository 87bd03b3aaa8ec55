//! Keys of the platform's risk limits. They follow from the table of limits.

use std::collections::BTreeSet;

use domain::risk::{BurstLimit, SelfTradePrevention};
use domain::{Amount, Quantity, RiskLimits, SecurityId};

use super::key::Key;
use crate::config::effective::ConfigReader;
use crate::config::values::setting::{SecurityNumber, Setting};

/// How a limit is written in the configuration.
trait ConfiguredLimit: Sized {
    type Written: Setting;

    fn from_written(written: Self::Written) -> Option<Self>;
}

/// A blank value is no limit.
macro_rules! may_be_blank {
    ($($type:ty),+) => { $(
        impl ConfiguredLimit for $type {
            type Written = Option<Self>;

            fn from_written(written: Option<Self>) -> Option<Self> {
                written
            }
        }
    )+ };
}

may_be_blank!(Quantity, Amount, u32, BurstLimit);

/// There is always a value.
macro_rules! always_set {
    ($($type:ty),+) => { $(
        impl ConfiguredLimit for $type {
            type Written = Self;

            fn from_written(written: Self) -> Option<Self> {
                Some(written)
            }
        }
    )+ };
}

always_set!(bool, SelfTradePrevention);

impl ConfiguredLimit for BTreeSet<SecurityId> {
    type Written = Vec<SecurityNumber>;

    fn from_written(written: Vec<SecurityNumber>) -> Option<Self> {
        let listed: Self = written.iter().map(|number| number.0).collect();
        (!listed.is_empty()).then_some(listed)
    }
}

macro_rules! limit_keys {
    ($(
        $(#[doc = $doc:literal])+
        $number:tt $name:ident $field:ident $key:ident: $type:ty, $scopes:ident, $default:literal;
    )+) => {
        pub(crate) const KEYS: &[Key] = &[$(
            Key::of::<<$type as ConfiguredLimit>::Written>(concat!("risk.", stringify!($key)), $default, &[$($doc),+])
        ),+];

        /// The limits of the platform; none where one of them cannot be read.
        pub(crate) fn read(reading: &mut ConfigReader) -> Option<RiskLimits> {
            $( let $field = reading.value(concat!("risk.", stringify!($key))); )+
            Some(RiskLimits { $( $field: <$type as ConfiguredLimit>::from_written($field?), )+ })
        }
    };
}

domain::risk_limits!(limit_keys);
