//! Inferred fills: what a venue has filled of an order and never reported, booked by its total (CumQty) and average price (AvgPx). An
//! execution that is reported after all is part of it, and not booked again; then the venue is asked for its total once more.

use domain::amount::divide;
use domain::order::{Fill, Order};
use domain::report::{FilledTotal, VenueFill};
use domain::{Amount, Decimal, Price, Quantity, Text, Timestamp};

use super::executions::{BookedExecution, Costs, ExecutionId, Inferred};
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

/// An id of an execution that begins so is ours, not the venue's.
pub(crate) const INFERRED_PREFIX: &str = "INFERRED-";
const DESCRIPTION: &str = "inferred from what the venue has filled in all";
/// Digits of an average price that count: behind them is the noise of a venue that computes in floating point.
const AVERAGE_DIGITS_MAX: u32 = 10;
/// An average with no more digits than prices have is exact, so many digits beyond them.
const EXACT_DIGITS: u32 = 2;

/// What is kept of a fill that was inferred.
pub(super) fn inferred(fill: &Fill) -> Option<Inferred> {
    fill.ext_id.starts_with(INFERRED_PREFIX).then_some(Inferred { until: fill.ext_at, left: fill.quantity })
}

/// Whether an execution can be part of what was inferred: by the venue's clock it is not later, and it is not more than what was not
/// reported. One without a time is none.
fn covers(part: &Inferred, fill: &VenueFill) -> bool {
    let is_in_time = part.until.zip(fill.at).is_some_and(|(until, at)| at <= until);
    is_in_time && fill.quantity <= part.left
}

/// What a transaction says of it.
pub(super) fn description(exec_id: &Text) -> Option<Text> {
    exec_id.starts_with(INFERRED_PREFIX).then(|| DESCRIPTION.into())
}

/// The `number`th of the order.
fn inferred_id(order: &Order, number: usize) -> String {
    format!("{INFERRED_PREFIX}{}-{number}", order.id)
}

pub(crate) fn inferred_fill(
    order: &Order,
    number: usize,
    (quantity, price): (Quantity, Price),
    at: Option<Timestamp>,
) -> VenueFill {
    VenueFill {
        order: order.id,
        exec_id: inferred_id(order, number).into(),
        quantity,
        price,
        at,
        fee: None,
        charges: vec![],
        ext_order: None,
        liquidity: None,
    }
}

/// What prices of an order look like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PriceGrid {
    /// Zero where it is not known.
    pub(crate) tick: Decimal,
    /// The most digits of the tick and of what the venue reported.
    pub(crate) digits: u32,
    /// The most digits of a price that is not on the grid: with more, what is computed from it would not fit.
    pub(crate) digits_max: u32,
}

/// Quantity and price of what is not booked: total and booked fills give its value. Venues round their average, so it is the price on the
/// tick grid where that gives the same average, else the exact quotient. None where that is not above zero.
///
/// How many digits the venue rounds to is not known: many drop zeros at the end, and so does the journal. An average with more digits than
/// prices have is rounded at its last one; any other one is exact.
pub(crate) fn inferred_price(
    (filled, turnover): (Quantity, Amount),
    told: FilledTotal,
    grid: PriceGrid,
) -> Option<(Quantity, Price)> {
    let (total, average) = (told.quantity.0, told.average_price.0.normalize());
    let missing = total.checked_sub(filled.0)?;
    let value = total.checked_mul(average)?.checked_sub(turnover.0)?;
    let exact = divide(value, missing).ok()?;
    let digits = if average.scale() > grid.digits { average.scale() } else { grid.digits + EXACT_DIGITS };
    let half_a_unit = Decimal::new(5, digits.min(AVERAGE_DIGITS_MAX) + 1);
    let gives_average = |price: &Decimal| {
        let value = price.checked_mul(missing).and_then(|value| value.checked_add(turnover.0));
        let shown = value.and_then(|value| divide(value, total).ok());
        shown.and_then(|shown| shown.checked_sub(average)).is_some_and(|off| off.abs() <= half_a_unit)
    };
    let on_grid = exact.checked_div(grid.tick).and_then(|ticks| ticks.round().checked_mul(grid.tick));
    let price = on_grid.filter(gives_average).unwrap_or_else(|| exact.round_dp(grid.digits_max));
    Some((Quantity(missing), Price(price.normalize()))).filter(|(_, price)| price.is_positive())
}

impl Trading {
    /// Whether an execution that comes late is part of what was inferred. Where that is mistaken either way, the totals differ: the venue is
    /// asked for its own.
    pub(super) fn is_inferred_before(
        &mut self,
        moment: Moment,
        id: &ExecutionId<'_>,
        fill: &VenueFill,
        out: &mut Outbox,
    ) -> bool {
        if !self.orders.executions.has_inferred() || id.exec_id.starts_with(INFERRED_PREFIX) {
            return false;
        }
        let Some(order) = self.orders.get(fill.order).cloned() else { return false };
        if !self.inferred_of(&order, id).any(|(_, part)| part.left.is_positive()) {
            return false;
        }
        self.ask_for_total(moment, order.id);
        let Some(name) = self.take_part(&order, id, fill) else { return false };
        let text = format!(
            "order {}: execution {}, {} @ {}, is part of {name}; it is not booked again",
            order.int_id, fill.exec_id, fill.quantity, fill.price
        );
        out.warn("fill-inferred-before", text);
        // Reported once more, it is known.
        let part = BookedExecution {
            order: fill.order,
            quantity: fill.quantity,
            price: fill.price,
            busted: true,
            costs: Costs::default(),
            charges: vec![],
            ext_order: id.ext_order.cloned(),
            inferred: Some(Inferred { until: fill.at, left: Quantity::ZERO }),
            replaced_by: None,
        };
        self.orders.executions.insert(id, part);
        true
    }

    /// The inferred fill that the execution is part of, with so much less left.
    fn take_part(&mut self, order: &Order, id: &ExecutionId<'_>, fill: &VenueFill) -> Option<String> {
        let (name, _) = self.inferred_of(order, id).find(|(_, part)| covers(part, fill))?;
        let inferred = ExecutionId::new(id.adapter, id.account, id.order, None, &name);
        let part = self.orders.executions.get_mut(&inferred)?.inferred.as_mut()?;
        part.left = part.left.minus(fill.quantity).unwrap_or(Quantity::ZERO);
        Some(name)
    }

    /// The first fill of the order that was inferred.
    pub(super) fn first_inferred(&self, order: &Order, id: &ExecutionId<'_>) -> Option<String> {
        self.inferred_of(order, id).next().map(|(name, _)| name)
    }

    fn inferred_of(&self, order: &Order, id: &ExecutionId<'_>) -> impl Iterator<Item = (String, Inferred)> {
        (1..).map_while(|number| {
            let name = inferred_id(order, number);
            let inferred = ExecutionId::new(id.adapter, id.account, id.order, None, &name);
            let part = self.orders.executions.get(&inferred)?.inferred?;
            Some((name, part))
        })
    }
}

#[cfg(test)]
mod tests {
    use domain::amount::DIVISION_DECIMALS;

    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::from_str_exact(text).unwrap()
    }

    /// `40 @ 10.5` is booked of a total such as `100 @ 10`.
    fn inferred_of(booked: &str, total: &str, tick: &str) -> String {
        let numbers = |text: &str| text.split_once(" @ ").map(|(quantity, price)| (decimal(quantity), decimal(price)));
        let ((filled, price), (quantity, average)) = (numbers(booked).unwrap(), numbers(total).unwrap());
        let told = FilledTotal { quantity: Quantity(quantity), average_price: Price(average), at: None };
        let tick = decimal(tick);
        let digits = tick.normalize().scale().max(price.normalize().scale());
        let grid = PriceGrid { tick, digits, digits_max: DIVISION_DECIMALS };
        match inferred_price((Quantity(filled), Amount(filled.saturating_mul(price))), told, grid) {
            Some((quantity, price)) => format!("{quantity} @ {price}"),
            None => "nothing".to_owned(),
        }
    }

    #[test]
    fn a_price_is_on_the_tick_grid_where_that_gives_the_venue_s_average_else_it_is_the_exact_quotient() {
        for (booked, total, tick, expected) in [
            ("40 @ 10.5", "100 @ 10.44", "0.01", "60 @ 10.4"),
            // Zeros at the end were dropped: no average of two digits is meant.
            ("40 @ 10.5", "100 @ 10", "0.01", "60 @ 9.666666666667"),
            ("40 @ 10.5", "100 @ 10.0000", "0.01", "60 @ 9.666666666667"),
            // 33 @ 10.41 give 10.459315…, which venues round to 3 to 8 digits.
            ("40 @ 10.5", "73 @ 10.459", "0.01", "33 @ 10.41"),
            ("40 @ 10.5", "73 @ 10.4593", "0.01", "33 @ 10.41"),
            ("40 @ 10.5", "73 @ 10.45931507", "0.01", "33 @ 10.41"),
            // Rounded to the digits of a price, several prices give it: the value is the venue's.
            ("40 @ 10.5", "73 @ 10.46", "0.01", "33 @ 10.411515151515"),
            // A venue that computes in floating point.
            ("40 @ 10.5", "73 @ 10.459315068493152", "0.01", "33 @ 10.41"),
            ("40 @ 10.5", "100 @ 10.439999999999999", "0.01", "60 @ 10.4"),
            // Two executions at two prices.
            ("0 @ 0", "3 @ 10.003333", "0.01", "3 @ 10.003333"),
            // Without a tick there is no grid, and a tick need not be a power of ten.
            ("40 @ 10.5", "73 @ 10.4593", "0", "33 @ 10.409966666667"),
            ("4 @ 4500.25", "6 @ 4500.333333", "0.25", "2 @ 4500.5"),
            ("4 @ 4500.25", "6 @ 4500.25", "0.25", "2 @ 4500.25"),
            ("40 @ 10.5", "100 @ 4", "0.01", "nothing"),
            ("100 @ 10.5", "100 @ 10.5", "0.01", "nothing"),
        ] {
            assert_eq!(inferred_of(booked, total, tick), expected, "{booked} of {total}, tick {tick}");
        }
    }

    #[test]
    fn any_digits_of_a_venue_give_a_price_or_none() {
        let (largest, smallest) = (Decimal::MAX, Decimal::new(1, 28));
        let numbers = [Decimal::ONE, decimal("7.9228162514264337593543950335"), largest, smallest, decimal("0.5")];
        for average in numbers {
            for quantity in numbers {
                for (filled, turnover) in
                    [(Decimal::ZERO, Decimal::ZERO), (decimal("0.1"), largest), (quantity, average)]
                {
                    for tick in [Decimal::ZERO, smallest, Decimal::new(1, 2), largest, Decimal::NEGATIVE_ONE] {
                        let told =
                            FilledTotal { quantity: Quantity(quantity), average_price: Price(average), at: None };
                        let grid = PriceGrid { tick, digits: tick.scale(), digits_max: DIVISION_DECIMALS };
                        let found = inferred_price((Quantity(filled), Amount(turnover)), told, grid);
                        assert!(found.is_none_or(|(_, price)| price.is_positive()));
                    }
                }
            }
        }
    }
}
