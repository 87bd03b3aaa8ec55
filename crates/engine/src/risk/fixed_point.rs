//! Fixed-point sums with 12 decimals.

use std::ops::{Add, Sub};

use domain::{Decimal, Overflow};

/// Finer amounts are rounded.
const DECIMALS: u32 = 12;
const ONE: i128 = 1_000_000_000_000;

/// The factor for an amount of each scale.
const SCALE_FACTORS: [i64; DECIMALS as usize + 1] = {
    let mut finer = [1; DECIMALS as usize + 1];
    let mut scale = DECIMALS as usize;
    while scale > 0 {
        finer[scale - 1] = finer[scale] * 10;
        scale -= 1;
    }
    finer
};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FixedPoint(i128);

impl FixedPoint {
    /// 10^18: a hundred million of these add up without overflow.
    pub(crate) const MAX: Self = Self(1_000_000_000_000_000_000 * ONE);

    /// Larger amounts are clamped.
    pub(crate) fn from_decimal(amount: Decimal) -> Self {
        // Half of all amounts, such as the fees of most positions.
        if amount.is_zero() {
            return Self::default();
        }
        let amount = if amount.scale() > DECIMALS { amount.round_dp(DECIMALS) } else { amount };
        let finer = SCALE_FACTORS[amount.scale() as usize];
        let mantissa = amount.mantissa();
        // The product of two 64-bit numbers fits and costs one instruction.
        let units = match i64::try_from(mantissa) {
            Ok(short) => Some(i128::from(short) * i128::from(finer)),
            Err(_) => mantissa.checked_mul(finer.into()),
        };
        units.map_or(Self::MAX, |units| Self(units).min(Self::MAX))
    }

    pub(crate) fn to_decimal(self) -> Result<Decimal, Overflow> {
        Decimal::try_from_i128_with_scale(self.0, DECIMALS)
            // So large that only whole units fit.
            .or_else(|_| Decimal::try_from_i128_with_scale(self.0 / ONE, 0))
            .map_err(|_| Overflow)
    }
}

impl Add for FixedPoint {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for FixedPoint {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> FixedPoint {
        FixedPoint::from_decimal(text.parse().unwrap())
    }

    fn told(sum: FixedPoint) -> String {
        sum.to_decimal().map_or("too large".into(), |decimal| decimal.normalize().to_string())
    }

    #[test]
    fn sums_come_back_as_the_decimals_they_were_made_of() {
        assert_eq!(told(exact("0.1") + exact("0.2")), "0.3");
        assert_eq!(told(exact("99.95") + exact("0.000000000001") - exact("99.95")), "0.000000000001");
        assert_eq!(told(exact("0.0000000000005")), "0");
    }

    #[test]
    fn what_is_too_large_counts_as_the_largest() {
        assert_eq!(told(exact("79228162514264337593543950335")), "1000000000000000000");
        assert_eq!(told(exact("1000000000000000001")), "1000000000000000000");
    }

    #[test]
    fn a_hundred_million_of_the_largest_can_be_added() {
        let sum = FixedPoint(FixedPoint::MAX.0 * 100_000_000);
        assert_eq!(told(sum), "100000000000000000000000000");
    }
}
