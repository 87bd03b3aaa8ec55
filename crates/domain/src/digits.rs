//! Sums, products and comparisons of decimals. The decimal type takes every amount that fits 96 bits; nearly all amounts fit 64,
//! and on those whole numbers are quicker.

use std::cmp::Ordering;

use rust_decimal::Decimal;

use crate::amount::Overflow;

#[inline]
pub(crate) fn compare(left: Decimal, right: Decimal) -> Ordering {
    match aligned(left, right) {
        Some((left, right, _)) => left.cmp(&right),
        None => left.cmp(&right),
    }
}

/// The decimal type drops digits that do not fit; a sum or product that lost some is refused instead.
pub(crate) fn add(left: Decimal, right: Decimal) -> Result<Decimal, Overflow> {
    if right.is_zero() {
        return Ok(left);
    }
    if left.is_zero() {
        return Ok(right);
    }
    if let Some((digits, others, scale)) = aligned(left, right)
        && let Some(sum) = digits.checked_add(others)
    {
        return Ok(Decimal::new(sum, scale));
    }
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
        return Ok(Decimal::new(product, left.scale() + right.scale()));
    }
    let product = left.checked_mul(right).ok_or(Overflow)?;
    if product.scale() >= left.scale() + right.scale() {
        return Ok(product);
    }
    let (left, right) = (left.normalize(), right.normalize());
    let product = left.checked_mul(right).ok_or(Overflow)?;
    if product.scale() >= left.scale() + right.scale() { Ok(product) } else { Err(Overflow) }
}

/// The digits of a decimal where they fit 64 bits.
#[inline]
fn short(decimal: Decimal) -> Option<i64> {
    let parts = decimal.unpack();
    let digits = i64::try_from(u64::from(parts.mid) << 32 | u64::from(parts.lo)).ok()?;
    (parts.hi == 0).then_some(if parts.negative { -digits } else { digits })
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
    fn short_decimals_add_multiply_and_compare_like_any_other() {
        let texts = "0 0.00 -0.0 1 -1 1.00 0.5 -0.25 100000 1.00001 99999.99999 9223372036854775807 -9223372036854775807 \
                     9223372036854775808 18446744073709551616 0.0000000000000000001 1000000000.0000000001";
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
            }
        }
    }
}
