//! Change log of securities: at which sequence each changed last, so that a client gets what changed since it last asked.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use minicbor::{Decode, Encode};

use crate::ids::SecurityId;

/// Removed securities that are remembered. A client that asks from before a forgotten one has to load the whole list again.
pub const SECURITY_REMOVALS_MAX: usize = 100_000;

/// The last change of each security. A security stands here once, however often it changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecurityChanges {
    /// By security, removed ones included.
    sequences: BTreeMap<SecurityId, u64>,
    /// The same by sequence.
    changed: BTreeSet<(u64, SecurityId)>,
    /// Those of `changed` that were removed.
    removed: BTreeSet<(u64, SecurityId)>,
    /// Some removals up to this sequence are forgotten.
    forgotten_through: u64,
}

impl SecurityChanges {
    /// A security was added or changed.
    pub fn on_changed(&mut self, sequence: u64, id: SecurityId) {
        self.forget(id);
        self.sequences.insert(id, sequence);
        self.changed.insert((sequence, id));
    }

    /// A security is not listed any more.
    pub fn on_removed(&mut self, sequence: u64, id: SecurityId) {
        self.on_changed(sequence, id);
        self.removed.insert((sequence, id));
        if self.removed.len() > SECURITY_REMOVALS_MAX
            && let Some((oldest, gone)) = self.removed.pop_first()
        {
            self.changed.remove(&(oldest, gone));
            self.sequences.remove(&gone);
            self.forgotten_through = oldest;
        }
    }

    fn forget(&mut self, id: SecurityId) {
        if let Some(sequence) = self.sequences.remove(&id) {
            self.changed.remove(&(sequence, id));
            self.removed.remove(&(sequence, id));
        }
    }

    /// The sequence of the last change; 0 where there was none.
    pub fn last(&self) -> u64 {
        self.changed.last().map_or(self.forgotten_through, |(sequence, _)| (*sequence).max(self.forgotten_through))
    }

    /// Whether all that changed after a sequence is known. A client that is ahead has its list from another journal.
    pub fn is_known_after(&self, sequence: u64) -> bool {
        (self.forgotten_through..=self.last()).contains(&sequence)
    }

    /// What changed after a sequence, oldest first; those of one sequence by id. Where `after` is absent, all.
    pub fn after(&self, after: Option<u64>) -> impl Iterator<Item = (u64, SecurityId)> {
        let start = after.map_or(Bound::Unbounded, |after| Bound::Excluded((after, SecurityId(u64::MAX))));
        self.changed.range((start, Bound::Unbounded)).copied()
    }
}

/// One security with its last change, as it is written.
#[derive(Encode, Decode)]
struct LoggedChange {
    #[n(0)]
    security: SecurityId,
    #[n(1)]
    sequence: u64,
    #[n(2)]
    is_removed: bool,
}

/// The form on disk, from which both directions follow.
#[derive(Encode, Decode)]
struct LoggedChanges {
    #[n(0)]
    changes: Vec<LoggedChange>,
    #[n(1)]
    forgotten_through: u64,
}

impl<C> Encode<C> for SecurityChanges {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut minicbor::Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        let change = |&(sequence, security): &(u64, SecurityId)| {
            let is_removed = self.removed.contains(&(sequence, security));
            LoggedChange { security, sequence, is_removed }
        };
        let changes = self.changed.iter().map(change).collect();
        LoggedChanges { changes, forgotten_through: self.forgotten_through }.encode(e, ctx)
    }
}

impl<'b, C> Decode<'b, C> for SecurityChanges {
    fn decode(d: &mut minicbor::Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        let logged = LoggedChanges::decode(d, ctx)?;
        let mut read = Self { forgotten_through: logged.forgotten_through, ..Self::default() };
        for LoggedChange { security, sequence, is_removed } in logged.changes {
            match is_removed {
                true => read.on_removed(sequence, security),
                false => read.on_changed(sequence, security),
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(changes: &SecurityChanges, sequence: u64) -> Vec<(u64, u64)> {
        changes.after(Some(sequence)).map(|(sequence, SecurityId(id))| (sequence, id)).collect()
    }

    #[test]
    fn a_security_stands_once_with_its_last_change() {
        let mut changes = SecurityChanges::default();
        for (sequence, id) in [(5, 1), (5, 2), (7, 3), (9, 1)] {
            changes.on_changed(sequence, SecurityId(id));
        }
        assert_eq!(after(&changes, 0), [(5, 2), (7, 3), (9, 1)]);
        assert_eq!((after(&changes, 5), after(&changes, 9)), (vec![(7, 3), (9, 1)], vec![]));
        assert_eq!(changes.last(), 9);
    }

    #[test]
    fn a_removal_is_a_change_until_the_security_is_listed_again() {
        let mut changes = SecurityChanges::default();
        changes.on_changed(5, SecurityId(1));
        changes.on_removed(6, SecurityId(1));
        assert_eq!((after(&changes, 5), changes.removed.len()), (vec![(6, 1)], 1));
        changes.on_changed(8, SecurityId(1));
        assert_eq!((after(&changes, 0), changes.removed.len()), (vec![(8, 1)], 0));
    }

    #[test]
    fn what_is_older_than_a_forgotten_removal_is_not_known() {
        let mut changes = SecurityChanges::default();
        changes.on_changed(1, SecurityId(1));
        let max = SECURITY_REMOVALS_MAX as u64;
        (0..=max).for_each(|place| changes.on_removed(10 + place, SecurityId(100 + place)));
        assert_eq!(changes.removed.len(), SECURITY_REMOVALS_MAX);
        let known = |sequence| changes.is_known_after(sequence);
        assert_eq!([0, 9, 10, 10 + max, 11 + max].map(known), [false, false, true, true, false]);
        assert_eq!((after(&changes, 0)[0], changes.last()), ((1, 1), 10 + max));
        assert!(SecurityChanges::default().is_known_after(0), "of an empty list");
        assert_eq!(minicbor::decode::<SecurityChanges>(&minicbor::to_vec(&changes).unwrap()).unwrap(), changes);
    }
}
