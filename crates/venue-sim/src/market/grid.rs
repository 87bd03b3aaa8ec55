//! Conversion between decimals and ticks or lots.

use domain::{Decimal, Price, Quantity, Security};

/// The step of a security without one: fine enough for every price and quantity in use.
const FREE_STEP_DECIMALS: u32 = 8;

/// The price and quantity steps of one security.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    tick: Decimal,
    lot: Decimal,
}

impl Grid {
    /// Refuses, by the name of the field, steps of which not every multiple is a decimal.
    pub(crate) fn new(security: &Security) -> Result<Self, &'static str> {
        let tick = step(security.price_incr, Decimal::from(i64::MAX)).ok_or("priceIncr")?;
        let lot = step(security.qty_incr, Decimal::from(u64::MAX)).ok_or("qtyIncr")?;
        Ok(Self { tick, lot })
    }

    /// None where the price lies between two ticks or is out of range.
    pub(crate) fn ticks(&self, price: Price) -> Option<i64> {
        i64::try_from(whole_steps(price.0, self.tick)?).ok()
    }

    /// None where the quantity is not a whole number of lots or out of range.
    pub(crate) fn lots(&self, quantity: Quantity) -> Option<u64> {
        u64::try_from(whole_steps(quantity.0, self.lot)?).ok()
    }

    /// The highest tick that is not above the price; none where it is out of range.
    pub(crate) fn ticks_down(&self, price: Price) -> Option<i64> {
        let rest = price.0.checked_rem(self.tick)?;
        let whole = self.ticks(Price(price.0.checked_sub(rest)?))?;
        if rest.is_sign_negative() && !rest.is_zero() { whole.checked_sub(1) } else { Some(whole) }
    }

    /// The lowest tick that is not below the price; none where it is out of range.
    pub(crate) fn ticks_up(&self, price: Price) -> Option<i64> {
        let down = self.ticks_down(price)?;
        if self.price(down) == price { Some(down) } else { down.checked_add(1) }
    }

    /// How many lots the quantity has; what is left over, or out of range, counts as nothing.
    pub(crate) fn whole_lots(&self, quantity: Quantity) -> u64 {
        let rest = quantity.0.checked_rem(self.lot);
        let whole = rest.and_then(|rest| quantity.0.checked_sub(rest));
        whole.and_then(|whole| self.lots(Quantity(whole))).unwrap_or(0)
    }

    pub(crate) fn price(&self, ticks: i64) -> Price {
        Price(Decimal::from(ticks).checked_mul(self.tick).expect("the grid was checked up to the largest number"))
    }

    pub(crate) fn quantity(&self, lots: u64) -> Quantity {
        Quantity(Decimal::from(lots).checked_mul(self.lot).expect("the grid was checked up to the largest number"))
    }
}

fn step(step: Decimal, largest: Decimal) -> Option<Decimal> {
    let step = if step.is_zero() { Decimal::new(1, FREE_STEP_DECIMALS) } else { step.normalize() };
    let largest = largest.mantissa().checked_mul(step.mantissa());
    largest.is_some_and(|largest| (0..1 << 96).contains(&largest)).then_some(step)
}

fn whole_steps(value: Decimal, step: Decimal) -> Option<Decimal> {
    let rest = value.checked_rem(step)?;
    if rest.is_zero() { value.checked_div(step) } else { None }
}
