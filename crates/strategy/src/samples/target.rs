//! Moves a position to a target with one market order.

use domain::{Quantity, SecurityId, Side};

use crate::{Desk, order};

/// Returns whether the target is reached: false while an order is pending, which counts neither as position nor as
/// missing.
pub(super) fn reach(desk: &mut Desk<'_>, security: SecurityId, target: Quantity) -> bool {
    if desk.is_working(security) {
        return false;
    }
    if let Ok(missing) = target.minus(desk.position(security))
        && !missing.is_zero()
    {
        let side = if missing.is_positive() { Side::Buy } else { Side::Sell };
        desk.place(order::market(security, side, missing.abs()));
    }
    true
}
