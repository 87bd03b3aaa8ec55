//! What has been before the strategy began: the bars that it asked for in INIT, as many as there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{Bar, BarSize, SecurityId};

/// Bars that a strategy may ask for of one security and size.
pub const BARS_MAX: usize = 10_000;

#[derive(Debug, Clone, Default)]
pub struct Past {
    bars: BTreeMap<(SecurityId, BarSize), Vec<Arc<Bar>>>,
}

/// What a strategy would like to know of the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    pub security: SecurityId,
    pub size: BarSize,
    pub bars: usize,
}

impl Past {
    /// Closed bars, oldest first; empty where there are none.
    pub fn bars(&self, security: SecurityId, size: BarSize) -> &[Arc<Bar>] {
        self.bars.get(&(security, size)).map_or(&[], Vec::as_slice)
    }

    /// All of it, by security and size, oldest first.
    pub fn all_bars(&self) -> impl Iterator<Item = &Arc<Bar>> {
        self.bars.values().flatten()
    }

    /// Keeps the newest bars that the wish asks for.
    pub fn fulfil(&mut self, wish: &Wish, mut bars: Vec<Arc<Bar>>) {
        bars.sort_by_key(|bar| bar.at);
        let surplus = bars.len().saturating_sub(wish.bars);
        bars.drain(..surplus);
        self.bars.insert((wish.security, wish.size), bars);
    }
}

impl FromIterator<Bar> for Past {
    fn from_iter<I: IntoIterator<Item = Bar>>(bars: I) -> Self {
        let mut past = Self::default();
        for bar in bars {
            past.bars.entry((bar.security, bar.size)).or_default().push(Arc::new(bar));
        }
        past
    }
}
