//! Amounts of the venue: whole numbers of a hundred-millionth, the finest step that the venue's interfaces know.

use std::fmt;

use minicbor::{Decode, Encode};

/// Decimals of every amount on the wire.
const DECIMALS: usize = 8;
const ONE: i128 = 100_000_000;

/// A price, a quantity or an amount of an asset, in hundred-millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
#[cbor(transparent)]
pub(crate) struct Units(#[n(0)] pub(crate) i64);

/// Why a text is no amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitsError {
    Malformed,
    TooPrecise,
    Overflow,
}

impl Units {
    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const ONE: Self = Self(100_000_000);

    /// Plain decimal notation without a sign; the venue takes no exponents.
    pub(crate) fn parse(text: &str) -> Result<Self, UnitsError> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) || text.ends_with('.') {
            return Err(UnitsError::Malformed);
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > DECIMALS {
            return Err(UnitsError::TooPrecise);
        }
        let digits = format!("{whole}{fraction:0<DECIMALS$}");
        digits.parse().map(Self).map_err(|_| UnitsError::Overflow)
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_positive(self) -> bool {
        self.0 > 0
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// The product, rounded down to the finest step.
    pub(crate) fn times(self, other: Self) -> Option<Self> {
        narrow(i128::from(self.0) * i128::from(other.0) / ONE)
    }

    /// The quotient, rounded down to the finest step.
    pub(crate) fn over(self, other: Self) -> Option<Self> {
        narrow((i128::from(self.0) * ONE).checked_div(other.0.into())?)
    }

    /// Whole steps in the amount; none where it lies between two.
    pub(crate) fn steps(self, step: Self) -> Option<i64> {
        (self.0.checked_rem(step.0)? == 0).then(|| self.0 / step.0)
    }

    pub(crate) fn from_steps(steps: i64, step: Self) -> Option<Self> {
        steps.checked_mul(step.0).map(Self)
    }

    /// Decimals that a multiple of it needs.
    pub(crate) fn decimals(self) -> usize {
        let digits = format!("{:08}", self.0.unsigned_abs() % Self::ONE.0.unsigned_abs());
        digits.trim_end_matches('0').len()
    }
}

fn narrow(value: i128) -> Option<Units> {
    i64::try_from(value).ok().map(Units)
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, size) = (if self.0 < 0 { "-" } else { "" }, i128::from(self.0).abs());
        write!(f, "{sign}{}.{:08}", size / ONE, size % ONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_written_with_eight_decimals() {
        let written = |text: &str| Units::parse(text).unwrap().to_string();
        assert_eq!(written("1"), "1.00000000");
        assert_eq!(written("0.00000001"), "0.00000001");
        assert_eq!(written("007.5000000000"), "7.50000000");
        assert_eq!(Units(-150_000_000).to_string(), "-1.50000000");
    }

    #[test]
    fn what_is_no_amount_is_refused_by_its_kind() {
        let refused = |text: &str| Units::parse(text).unwrap_err();
        for text in ["", ".", "1.", "-1", "+1", "1e5", "0x1", "1,5", "١"] {
            assert_eq!(refused(text), UnitsError::Malformed, "{text}");
        }
        assert_eq!(refused("0.000000001"), UnitsError::TooPrecise);
        assert_eq!(refused("99999999999999"), UnitsError::Overflow);
    }

    #[test]
    fn products_and_quotients_are_rounded_down() {
        let [three, seven] = ["3", "7"].map(|text| Units::parse(text).unwrap());
        assert_eq!(three.over(seven).unwrap().to_string(), "0.42857142");
        assert_eq!(Units(1).times(Units(1)), Some(Units::ZERO));
        assert_eq!(Units(i64::MAX).times(Units::parse("2").unwrap()), None);
        assert_eq!(Units::ONE.over(Units::ZERO), None);
    }
}
