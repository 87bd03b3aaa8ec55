//! Decimal arithmetic with a fast path: amounts that fit 64 bits are computed as integers, the rest by the decimal
//! library.

use std::cmp::Ordering;

use rust_decimal::Decimal;

/// A result that does not fit into 28 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow;

#[inline]
pub(crate) fn compare(left: Decimal, right: Decimal) -> Ordering {
    match aligned(left, right) {
        Some((left, right, _)) => left.cmp(&right),
        None => left.cmp(&right),
    }
}

/// The decimal type drops digits that do not fit; a sum or product that lost some is refused instead.
#[inline]
pub(crate) fn add(left: Decimal, right: Decimal) -> Result<Decimal, Overflow> {
    // Half of all sums are such: charges of zero, missing parts.
    if right.is_zero() {
        return Ok(left);
    }
    if left.is_zero() {
        return Ok(right);
    }
    add_short(left, right)
}

fn add_short(left: Decimal, right: Decimal) -> Result<Decimal, Overflow> {
    if let Some((digits, others, scale)) = aligned(left, right)
        && let Some(sum) = digits.checked_add(others)
    {
        return Ok(decimal(sum, scale));
    }
    add_long(left, right)
}

#[cold]
fn add_long(left: Decimal, right: Decimal) -> Result<Decimal, Overflow> {
    let sum = left.checked_add(right).ok_or(Overflow)?;
    if sum.scale() >= left.scale().max(right.scale()) {
        return Ok(sum);
    }
    let (left, right) = (left.normalize(), right.normalize());
    let sum = left.checked_add(right).ok_or(Overflow)?;
    if sum.scale() >= left.scale().max(right.scale()) { Ok(sum) } else { Err(Overflow) }
}

pub(crate) fn multiply(left: Decimal, right: Decimal) -> Result<Decimal, Overflow> {
    if left.is_zero() || right.is_zero() {
        return Ok(Decimal::ZERO);
    }
    if let (Some(digits), Some(others)) = (short(left), short(right))
        && let Some(product) = digits.checked_mul(others)
        && left.scale() + right.scale() <= Decimal::MAX_SCALE
    {
        return Ok(decimal(product, left.scale() + right.scale()));
    }
    multiply_long(left, right)
}

#[cold]
fn multiply_long(left: Decimal, right: Decimal) -> Result<Decimal, Overflow> {
    let product = left.checked_mul(right).ok_or(Overflow)?;
    if product.scale() >= left.scale() + right.scale() {
        return Ok(product);
    }
    let (left, right) = (left.normalize(), right.normalize());
    let product = left.checked_mul(right).ok_or(Overflow)?;
    if product.scale() >= left.scale() + right.scale() { Ok(product) } else { Err(Overflow) }
}

/// The quotient where both are short and it has few digits: a turnover by its quantity, a half, a quarter.
pub(crate) fn divide_evenly(dividend: Decimal, divisor: Decimal) -> Option<Decimal> {
    let (digits, others) = (short(dividend)?, short(divisor)?);
    let scale = dividend.scale().checked_sub(divisor.scale())?;
    let even = |digits: i64| digits.checked_rem(others)?.eq(&0).then(|| digits / others);
    let whole = || Some(decimal(even(digits)?, scale));
    whole().or_else(|| Decimal::try_new(even(digits.checked_mul(1_000)?)?, scale + 3).ok())
}

/// Whether a short decimal is a whole number of short steps; `None` where one of them is long.
pub(crate) fn is_multiple(decimal: Decimal, step: Decimal) -> Option<bool> {
    let (digits, steps, _) = aligned(decimal, step)?;
    digits.checked_rem(steps).map(|rest| rest == 0)
}

/// The digits of a decimal where they fit 64 bits.
#[inline]
fn short(decimal: Decimal) -> Option<i64> {
    let parts = decimal.unpack();
    let digits = i64::try_from(u64::from(parts.mid) << 32 | u64::from(parts.lo)).ok()?;
    (parts.hi == 0).then_some(if parts.negative { -digits } else { digits })
}

/// A decimal of these digits; the scale must be valid.
#[inline]
#[allow(clippy::cast_possible_truncation)] // both halves count
fn decimal(digits: i64, scale: u32) -> Decimal {
    let size = digits.unsigned_abs();
    Decimal::from_parts(size as u32, (size >> 32) as u32, 0, digits < 0, scale)
}

/// The digits of both at the larger of their scales.
#[inline]
fn aligned(left: Decimal, right: Decimal) -> Option<(i64, i64, u32)> {
    let (digits, others) = (short(left)?, short(right)?);
    let (scale, other) = (left.scale(), right.scale());
    if scale == other {
        return Some((digits, others, scale));
    }
    let power = *POWERS.get(scale.abs_diff(other) as usize)?;
    if scale < other {
        Some((digits.checked_mul(power)?, others, other))
    } else {
        Some((digits, others.checked_mul(power)?, scale))
    }
}

/// Powers of ten that fit 64 bits.
const POWERS: [i64; 19] = {
    let mut powers = [1; 19];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = powers[exponent - 1] * 10;
        exponent += 1;
    }
    powers
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_decimals_reckon_like_any_other() {
        let texts = "0 0.00 -0.0 1 -1 1.00 0.5 -0.25 100000 1.00001 99999.99999 9223372036854775807 -9223372036854775807 \
                     9223372036854775808 18446744073709551616 0.0000000000000000001 0.0000000000000000000000000001 1000000000.0000000001";
        let decimals: Vec<Decimal> =
            texts.split_whitespace().map(|text| Decimal::from_str_exact(text).unwrap()).collect();
        for left in &decimals {
            for right in &decimals {
                assert_eq!(compare(*left, *right), left.cmp(right), "{left} and {right}");
                if let Ok(sum) = add(*left, *right) {
                    assert_eq!(sum, *left + *right, "{left} + {right}");
                }
                if let Ok(product) = multiply(*left, *right) {
                    assert_eq!(product, *left * *right, "{left} x {right}");
                }
                if let Some(quotient) = divide_evenly(*left, *right) {
                    assert_eq!(quotient * *right, *left, "{left} / {right}");
                }
                if let Some(is_multiple) = is_multiple(*left, *right) {
                    assert_eq!(is_multiple, (*left % *right).is_zero(), "{left} of {right}");
                }
            }
        }
    }
}
