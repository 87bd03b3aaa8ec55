//! One market order towards a wanted position.

use domain::{Quantity, SecurityId, Side};

use crate::{Desk, order};

/// Whether nothing is left to do: false while an order is on its way, which would be counted neither as position nor as
/// absent.
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
