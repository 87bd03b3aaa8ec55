//! A venue with a true book, and a line on which differences get lost, come twice or late.

use std::collections::BTreeMap;

use adapter_binance::protocol::market_answers::{DepthSnapshot, WireLevel};
use adapter_binance::protocol::market_events::DepthDifference;
use adapter_binance::protocol::wire_values::WireInteger;
use domain::Decimal;

/// Prices are whole: bids below the middle, asks above. The middle moves.
const SPREAD_MAX: u64 = 40;

/// SplitMix64: small, and the same on every machine.
pub(crate) struct Seeded(pub(crate) u64);

impl Seeded {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[derive(Default)]
pub(crate) struct TrueBook {
    pub(crate) bids: BTreeMap<i64, i64>,
    pub(crate) asks: BTreeMap<i64, i64>,
    pub(crate) update: i64,
}

impl TrueBook {
    /// A few changes, as one difference.
    pub(crate) fn change(&mut self, random: &mut Seeded) -> DepthDifference {
        let first = self.update + 1;
        let (mut bids, mut asks) = (BTreeMap::new(), BTreeMap::new());
        for _ in 0..=random.below(3) {
            self.update += 1;
            self.change_level(random, &mut bids, &mut asks);
        }
        let (bids, asks) = (levels(bids.iter().rev(), usize::MAX), levels(asks.iter(), usize::MAX));
        DepthDifference { symbol: "X".to_owned(), at: WireInteger(0), first, last: self.update, bids, asks }
    }

    /// An order that would cross takes what it meets, as in a real book.
    fn change_level(&mut self, random: &mut Seeded, bids: &mut BTreeMap<i64, i64>, asks: &mut BTreeMap<i64, i64>) {
        let is_bid = random.below(2) == 0;
        let quantity = i64::try_from(random.below(6)).unwrap();
        let offset = i64::try_from(random.below(SPREAD_MAX)).unwrap();
        let middle = self.middle();
        let price = if is_bid { middle + 3 - offset } else { middle - 3 + offset };
        let (own, own_changes, other, other_changes) = if is_bid {
            (&mut self.bids, bids, &mut self.asks, asks)
        } else {
            (&mut self.asks, asks, &mut self.bids, bids)
        };
        set(own, own_changes, price, quantity);
        let is_met = |met: i64| if is_bid { met <= price } else { met >= price };
        let met: Vec<_> = other.keys().copied().filter(|met| quantity > 0 && is_met(*met)).collect();
        met.into_iter().for_each(|met| set(other, other_changes, met, 0));
    }

    fn middle(&self) -> i64 {
        let bid = self.bids.last_key_value().map(|(price, _)| *price);
        let ask = self.asks.first_key_value().map(|(price, _)| *price);
        bid.or(ask).unwrap_or(10_000)
    }

    pub(crate) fn snapshot(&self, limit: usize) -> DepthSnapshot {
        DepthSnapshot {
            last_update: WireInteger(self.update),
            bids: levels(self.bids.iter().rev(), limit),
            asks: levels(self.asks.iter(), limit),
        }
    }
}

fn set(side: &mut BTreeMap<i64, i64>, changes: &mut BTreeMap<i64, i64>, price: i64, quantity: i64) {
    if quantity == 0 {
        side.remove(&price);
    } else {
        side.insert(price, quantity);
    }
    changes.insert(price, quantity);
}

fn levels<'a>(side: impl Iterator<Item = (&'a i64, &'a i64)>, limit: usize) -> Vec<WireLevel> {
    let level = |(price, quantity): (&i64, &i64)| WireLevel {
        price: Decimal::from(*price),
        quantity: Decimal::from(*quantity),
    };
    side.take(limit).map(level).collect()
}
