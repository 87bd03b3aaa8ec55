//! Bar under construction: prices, trades and shorter bars are added in their order until its span is over.

use rust_decimal::Decimal;

use crate::amount::decimal_math::{add, multiply};
use crate::amount::{Price, Quantity, divide};
use crate::ids::{SecurityId, Text};
use crate::market::{Bar, BarSize};
use crate::time::Timestamp;

/// A bar whose span is not over. Nothing is booked from a bar, so a volume that would overflow stays as it is.
#[derive(Debug, Clone)]
pub struct OpenBar {
    feed: Text,
    size: BarSize,
    start: Timestamp,
    end: Timestamp,
    open: Price,
    high: Price,
    low: Price,
    close: Price,
    vol: Quantity,
    /// Price × quantity of all trades; absent once a part of it is unknown, so that no average price is made up.
    turnover: Option<Decimal>,
}

impl OpenBar {
    /// The bar of this size that the instant lies in, with its first price.
    pub fn new(price: Price, feed: Text, size: BarSize, at: Timestamp) -> Self {
        let start = size.start_of(at);
        Self {
            feed,
            size,
            start,
            end: start.plus_seconds(size.seconds()),
            open: price,
            high: price,
            low: price,
            close: price,
            vol: Quantity::ZERO,
            turnover: Some(Decimal::ZERO),
        }
    }

    /// A longer bar that begins with this one.
    #[must_use]
    pub fn lengthened(&self, size: BarSize) -> Self {
        let start = size.start_of(self.start);
        Self { size, start, end: start.plus_seconds(size.seconds()), ..self.clone() }
    }

    /// The end of its span: a price of this instant belongs to the next bar.
    #[inline]
    pub fn end(&self) -> Timestamp {
        self.end
    }

    /// Adds a price without a volume.
    #[inline]
    pub fn add_price(&mut self, price: Price) {
        if price > self.high {
            self.high = price;
        } else if price < self.low {
            self.low = price;
        }
        self.close = price;
    }

    /// Adds the volume of a trade, whose price was added before.
    #[inline]
    pub fn add_volume(&mut self, price: Price, quantity: Quantity) {
        self.add_turnover(quantity, product(price, quantity));
    }

    /// Adds a later bar of the same span.
    pub fn merge(&mut self, later: &Self) {
        self.add_price(later.high);
        self.add_price(later.low);
        self.close = later.close;
        self.add_turnover(later.vol, later.turnover);
    }

    #[inline]
    fn add_turnover(&mut self, quantity: Quantity, value: Option<Decimal>) {
        self.vol = self.vol.plus(quantity).unwrap_or(self.vol);
        self.turnover = self.turnover.zip(value).and_then(|(so_far, more)| sum(so_far, more));
    }

    /// The closed bar.
    pub fn into_bar(self, security: SecurityId) -> Bar {
        let turnover = self.turnover.filter(|_| !self.vol.is_zero());
        let vwap = turnover.and_then(|turnover| divide(turnover, self.vol.0).ok()).map(Price);
        let Self { feed, size, start: at, open, high, low, close, vol, .. } = self;
        Bar { security, feed, at, size, open, high, low, close, vol, vwap }
    }
}

impl From<&Bar> for OpenBar {
    /// A closed bar as the part of a longer one.
    fn from(bar: &Bar) -> Self {
        let turnover = match bar.vwap {
            Some(vwap) => product(vwap, bar.vol),
            None => bar.vol.is_zero().then_some(Decimal::ZERO),
        };
        let &Bar { ref feed, size, at: start, open, high, low, close, vol, .. } = bar;
        Self {
            feed: feed.clone(),
            size,
            start,
            end: start.plus_seconds(size.seconds()),
            open,
            high,
            low,
            close,
            vol,
            turnover,
        }
    }
}

/// Exact where it can be; digits beyond the 28th do not matter to an average.
fn product(price: Price, quantity: Quantity) -> Option<Decimal> {
    multiply(price.0, quantity.0).ok().or_else(|| price.0.checked_mul(quantity.0))
}

fn sum(one: Decimal, other: Decimal) -> Option<Decimal> {
    add(one, other).ok().or_else(|| one.checked_add(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bar: OpenBar) -> String {
        let Bar { at, size, open, high, low, close, vol, vwap, .. } = bar.into_bar(SecurityId(1));
        let vwap = vwap.map_or("-".to_owned(), |price| price.to_string());
        format!("{} {} {open} {high} {low} {close} {vol} {vwap}", size.name(), at.0 / 1_000_000_000)
    }

    fn second(number: i64, trades: &[(i64, i64)]) -> OpenBar {
        let (first, _) = trades[0];
        let at = Timestamp(0).plus_seconds(number).plus_millis(250);
        let mut bar = OpenBar::new(first.into(), "F".into(), BarSize::Sec1, at);
        for (price, quantity) in trades {
            bar.add_price((*price).into());
            bar.add_volume((*price).into(), (*quantity).into());
        }
        bar
    }

    #[test]
    fn a_bar_has_the_first_the_extreme_and_the_last_price_and_the_average_by_volume() {
        assert_eq!(shown(second(61, &[(10, 1), (14, 2), (8, 1), (9, 4)])), "SEC_1 61 10 14 8 9 8 10.25");
    }

    #[test]
    fn prices_without_a_volume_have_no_average() {
        let mut quotes = OpenBar::new(10.into(), "F".into(), BarSize::Sec1, Timestamp(0));
        quotes.add_price(12.into());
        assert_eq!(shown(quotes), "SEC_1 0 10 12 10 12 0 -");
    }

    #[test]
    fn a_minute_of_seconds_is_the_same_from_open_and_from_closed_bars() {
        let parts = [second(61, &[(10, 1), (14, 2)]), second(70, &[(8, 1)]), second(119, &[(9, 4)])];
        let mut by_open = parts[0].lengthened(BarSize::Min1);
        let closed = parts.clone().map(|part| part.into_bar(SecurityId(1)));
        let mut by_closed = OpenBar::from(&closed[0]).lengthened(BarSize::Min1);
        for place in [1, 2] {
            by_open.merge(&parts[place]);
            by_closed.merge(&OpenBar::from(&closed[place]));
        }
        assert_eq!(by_open.end(), Timestamp(0).plus_seconds(120));
        assert_eq!([shown(by_open), shown(by_closed)], ["MIN_1 60 10 14 8 9 8 10.25"; 2]);
    }

    #[test]
    fn an_average_that_one_part_does_not_have_is_not_made_up_and_a_part_without_trades_changes_none() {
        let bar = |vol: i64, vwap: Option<i64>| Bar {
            vol: vol.into(),
            vwap: vwap.map(Price::from),
            ..second(0, &[(10, 1)]).into_bar(SecurityId(1))
        };
        let both = |one: &Bar, other: &Bar| {
            let mut sum = OpenBar::from(one);
            sum.merge(&OpenBar::from(other));
            sum.into_bar(SecurityId(1)).vwap
        };
        assert_eq!(both(&bar(2, Some(10)), &bar(3, None)), None);
        assert_eq!(both(&bar(2, Some(10)), &bar(0, None)), Some(10.into()));
    }

    #[test]
    fn a_volume_that_does_not_fit_stays_and_the_average_is_not_wrong() {
        let mut bar = second(0, &[(10, 5)]);
        bar.add_volume(Price::from(10), Quantity(Decimal::MAX));
        assert_eq!(shown(bar), "SEC_1 0 10 10 10 10 5 -");
    }
}
