//! Bound of all amounts.

use domain::Decimal;

/// 10^18. No quantity, cost, P/L, balance or value exceeds it, so all sums fit.
pub(super) const AMOUNT_MAX: Decimal = Decimal::from_parts(0xa764_0000, 0x0de0_b6b3, 0, false, 0);

/// Whether an amount is at most [`AMOUNT_MAX`]. One with no more digits is within, wherever its point is.
pub(super) fn is_within_bound(amount: Decimal) -> bool {
    amount.mantissa().unsigned_abs() <= AMOUNT_MAX.mantissa().unsigned_abs() || amount.abs() <= AMOUNT_MAX
}
