//! Timers of a strategy, fired by the driver when they are due.

use std::collections::BTreeSet;

use domain::{Text, Timestamp};

/// Timers of one strategy; one more replaces the latest.
pub const TIMERS_MAX: usize = 1_024;

/// A timer that has fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer {
    /// When it was due, which may be a little earlier than now.
    pub due: Timestamp,
    /// The name that the strategy gave it.
    pub name: Text,
}

/// By deadline; names are unique.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timers {
    by_time: BTreeSet<(Timestamp, Text)>,
}

impl Timers {
    pub(crate) fn set(&mut self, due: Timestamp, name: Text) {
        self.cancel(&name);
        if self.by_time.len() >= TIMERS_MAX {
            self.by_time.pop_last();
        }
        self.by_time.insert((due, name));
    }

    pub(crate) fn cancel(&mut self, name: &str) {
        self.by_time.retain(|(_, other)| &**other != name);
    }

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(due, _)| *due)
    }

    /// The earliest timer that is due.
    pub(crate) fn pop_due(&mut self, now: Timestamp) -> Option<Timer> {
        if self.next()? > now {
            return None;
        }
        self.by_time.pop_first().map(|(due, name)| Timer { due, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_in_the_order_of_their_deadlines_and_a_name_has_one() {
        let mut timers = Timers::default();
        for (due, name) in [(30, "late"), (10, "early"), (20, "moved"), (15, "moved"), (12, "dropped")] {
            timers.set(Timestamp(due), name.into());
        }
        timers.cancel("dropped");
        assert_eq!(timers.next(), Some(Timestamp(10)));
        let fired: Vec<_> = std::iter::from_fn(|| timers.pop_due(Timestamp(20))).map(|timer| timer.name).collect();
        assert_eq!(fired, ["early", "moved"].map(Text::from));
        assert_eq!(timers.next(), Some(Timestamp(30)));
    }
}
