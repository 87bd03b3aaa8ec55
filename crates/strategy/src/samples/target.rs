//! Moves a position to a target with one market order.

use domain::{Quantity, SecurityId, Side};

use crate::{Context, order};

/// Returns whether the target is reached: false while an order is pending, which counts neither as position nor as
/// missing.
pub(super) fn move_to_target(context: &mut Context<'_>, security: SecurityId, target: Quantity) -> bool {
    if context.is_working(security) {
        return false;
    }
    if let Ok(missing) = target.minus(context.position(security))
        && !missing.is_zero()
    {
        let side = if missing.is_positive() { Side::Buy } else { Side::Sell };
        context.place(order::market(security, side, missing.abs()));
    }
    true
}
