//! Subscriptions of a strategy: prices and generic events. All strategies get the same two streams; the selection
//! filters them, and reports when a new security must be subscribed at the server.

use std::collections::BTreeSet;

use domain::{BarSize, SecurityId, SecurityMap, Text};

/// A kind of prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceKind {
    /// Bid, ask and last price.
    Ticks,
    /// Trades of the market.
    Trades,
    /// Order books.
    Books,
    /// Closed bars of a size.
    Bars(BarSize),
}

impl PriceKind {
    fn bit(self) -> u16 {
        match self {
            Self::Ticks => 1,
            Self::Trades => 1 << 1,
            Self::Books => 1 << 2,
            Self::Bars(size) => 1 << (3 + size as u16),
        }
    }
}

/// The subscriptions of one strategy.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    kinds: SecurityMap<u16>,
    /// The same securities, in order.
    securities: BTreeSet<SecurityId>,
    generic: BTreeSet<Text>,
    /// Whether there are new bar sizes since it was last read.
    has_new_bars: bool,
}

impl Selection {
    /// Returns whether the security is new, so that it must be subscribed at the server.
    pub fn add(&mut self, security: SecurityId, prices: PriceKind) -> bool {
        self.has_new_bars |= matches!(prices, PriceKind::Bars(_)) && !self.wants(security, prices);
        let kinds = self.kinds.get(security).unwrap_or_default();
        self.kinds.insert(security, kinds | prices.bit());
        self.securities.insert(security)
    }

    /// Returns whether the security was subscribed at all.
    pub fn remove(&mut self, security: SecurityId) -> bool {
        self.kinds.remove(security);
        self.securities.remove(&security)
    }

    /// Adds generic events of a name.
    pub fn add_event(&mut self, name: Text) {
        self.generic.insert(name);
    }

    /// Whether any prices of a security are wanted.
    pub fn contains(&self, security: SecurityId) -> bool {
        self.kinds.get(security).is_some()
    }

    /// Whether prices of a security and a kind are wanted.
    pub fn wants(&self, security: SecurityId, prices: PriceKind) -> bool {
        self.kinds.get(security).is_some_and(|kinds| kinds & prices.bit() != 0)
    }

    #[inline]
    pub(crate) fn has_new_bar_sizes(&self) -> bool {
        self.has_new_bars
    }

    pub(crate) fn take_new_bar_sizes(&mut self) -> bool {
        std::mem::take(&mut self.has_new_bars)
    }

    /// Whether ticks of a security are subscribed; none where the security is not subscribed at all.
    #[inline]
    pub(crate) fn wants_ticks(&self, security: SecurityId) -> Option<bool> {
        self.kinds.get(security).map(|kinds| kinds & PriceKind::Ticks.bit() != 0)
    }

    /// Whether generic events of a name are wanted.
    pub fn has_event(&self, name: &str) -> bool {
        self.generic.contains(name)
    }

    /// All securities of which prices are wanted, in order.
    pub fn securities(&self) -> impl Iterator<Item = SecurityId> {
        self.securities.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_security_is_subscribed_once_at_the_server_for_all_kinds_of_prices() {
        let mut selection = Selection::default();
        let security = SecurityId(7);
        assert!(selection.add(security, PriceKind::Ticks));
        assert!(!selection.add(security, PriceKind::Bars(BarSize::Min1)));
        let wanted = [
            PriceKind::Ticks,
            PriceKind::Trades,
            PriceKind::Books,
            PriceKind::Bars(BarSize::Min1),
            PriceKind::Bars(BarSize::Sec1),
        ]
        .map(|prices| selection.wants(security, prices));
        assert_eq!(wanted, [true, false, false, true, false]);
        assert!(selection.remove(security));
        assert!(!selection.remove(security));
        assert!(!selection.contains(security));
    }
}
