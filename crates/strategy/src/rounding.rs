//! Conversion between exact decimals and `f64`, and rounding to tick size and lot size. Indicators compute with `f64`;
//! orders need exact decimals on the grid of their security.

use domain::{Decimal, Price, Quantity, Security, Tick};

/// Powers of ten for the scale of a decimal.
const POWERS: [f64; 29] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28,
];

/// The nearest floating-point number: fast, since it is called on every tick.
pub fn to_f64(decimal: Decimal) -> f64 {
    let parts = decimal.unpack();
    let power = POWERS[parts.scale as usize];
    // Prices fit 63 bits, and those convert in one instruction.
    let small = u64::from(parts.mid) << 32 | u64::from(parts.lo);
    match i64::try_from(small) {
        Ok(small) if parts.hi == 0 => (if parts.negative { -small } else { small }) as f64 / power,
        _ => decimal.mantissa() as f64 / power,
    }
}

/// The mid of the quote, else the last trade.
pub fn mid(tick: &Tick) -> Option<f64> {
    match (tick.bid, tick.ask) {
        (Some(bid), Some(ask)) => Some((to_f64(bid.0) + to_f64(ask.0)) * 0.5),
        _ => tick.last.map(|last| to_f64(last.0)),
    }
}

/// The nearest price on the security's grid; none where there is no such price.
pub fn round_price(security: &Security, wanted: f64) -> Option<Price> {
    round_to_step(wanted, security.price_incr, f64::round).map(Price)
}

/// The highest price on the grid that is not above.
pub fn floor_price(security: &Security, wanted: f64) -> Option<Price> {
    round_to_step(wanted, security.price_incr, f64::floor).map(Price)
}

/// The lowest price on the grid that is not below.
pub fn ceil_price(security: &Security, wanted: f64) -> Option<Price> {
    round_to_step(wanted, security.price_incr, f64::ceil).map(Price)
}

/// The largest quantity in whole lots that is not larger.
pub fn floor_quantity(security: &Security, wanted: f64) -> Option<Quantity> {
    round_to_step(wanted, security.qty_incr, f64::floor).map(Quantity)
}

fn round_to_step(wanted: f64, step: Decimal, round: fn(f64) -> f64) -> Option<Decimal> {
    if step.is_zero() {
        return Decimal::from_f64_retain(wanted).map(|exact| exact.round_dp(domain::amount::DIVISION_DECIMALS));
    }
    // A price on the grid must stay there, although division is not exact.
    let steps = wanted / to_f64(step);
    let steps = if (steps - steps.round()).abs() < 1e-6 { steps.round() } else { round(steps) };
    Decimal::from_f64_retain(steps)?.round().checked_mul(step)
}
