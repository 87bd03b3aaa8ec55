//! Orphaned strategies: a crash left them in a phase and no process has taken them over; they have a grace period.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use domain::{StrategyId, Text};

#[derive(Default)]
pub(super) struct OrphanedStrategies {
    names: BTreeMap<StrategyId, Text>,
    /// End of the grace period.
    until: Option<Instant>,
}

impl OrphanedStrategies {
    pub(super) fn new(names: BTreeMap<StrategyId, Text>, patience: Duration) -> Self {
        Self { names, until: Instant::now().checked_add(patience) }
    }

    /// No longer orphaned: it came back, or it is stopped.
    pub(super) fn remove(&mut self, strategy: StrategyId) -> Option<Text> {
        self.names.remove(&strategy)
    }

    pub(super) fn by_name(&self, name: &str) -> Option<StrategyId> {
        self.names.iter().find(|(_, known)| &***known == name).map(|(id, _)| *id)
    }

    /// Those whose grace period is over.
    pub(super) fn overdue(&self) -> BTreeMap<StrategyId, Text> {
        let is_over = self.until.is_some_and(|until| until <= Instant::now());
        if is_over { self.names.clone() } else { BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> BTreeMap<StrategyId, Text> {
        BTreeMap::from([(StrategyId(2), "ONE".into()), (StrategyId(3), "TWO".into())])
    }

    #[test]
    fn one_that_came_back_is_waited_for_no_longer() {
        let mut absent = OrphanedStrategies::new(two(), Duration::ZERO);
        assert_eq!((absent.by_name("ONE"), absent.overdue()), (Some(StrategyId(2)), two()));
        assert_eq!(absent.remove(StrategyId(2)).as_deref(), Some("ONE"));
        let left = BTreeMap::from([(StrategyId(3), "TWO".into())]);
        assert_eq!((absent.by_name("ONE"), absent.overdue()), (None, left));
    }

    #[test]
    fn no_strategy_is_overdue_before_its_grace_period_is_over() {
        assert_eq!(OrphanedStrategies::new(two(), Duration::from_secs(600)).overdue(), BTreeMap::new());
    }
}
