//! All breaks, open and settled.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::Timestamp;
use domain::breaks::{Break, BreakEvidence, BreakId, BreakKind, BreakState, Difference};
use domain::lookup_map::fingerprint;
use minicbor::{Decode, Decoder, Encode, Encoder};

/// Breaks that are kept; of more the oldest settled one is forgotten, and where all are open no further one is recorded.
pub(crate) const BREAKS_KEPT_MAX: usize = 10_000;

#[derive(Debug, Clone, Default)]
pub(crate) struct Breaks {
    breaks: BTreeMap<BreakId, Arc<Break>>,
    last: u64,
    /// Found in the current report; empty between two inputs.
    pub(super) found: Vec<FoundDifference>,
    /// Derived: the newest break of each subject.
    by_subject: BTreeMap<u128, BreakId>,
    /// Derived: those that nobody has settled.
    open: BTreeSet<BreakId>,
}

/// A difference on its way to a break.
#[derive(Debug, Clone)]
pub(super) struct FoundDifference {
    pub(super) difference: Difference,
    /// What the venue said.
    pub(super) told: String,
    /// The venue's side is taken over already, because it has the venue's id.
    pub(super) is_taken_over: bool,
}

/// What became of a difference that was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    New(BreakId),
    /// The values of an open break changed.
    Changed(BreakId),
    /// It is known with the same values.
    Known,
    /// There are too many open ones.
    Refused,
}

impl Breaks {
    pub(crate) fn get(&self, id: BreakId) -> Option<&Arc<Break>> {
        self.breaks.get(&id)
    }

    /// By id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Break>> {
        self.breaks.values()
    }

    pub(crate) fn open(&self) -> impl Iterator<Item = &Arc<Break>> {
        self.open.iter().filter_map(|id| self.breaks.get(id))
    }

    pub(super) fn open_of_kind(&self, kind: BreakKind) -> impl Iterator<Item = &Arc<Break>> {
        self.open().filter(move |found| found.difference.kind == kind)
    }

    fn newest_about(&self, difference: &Difference) -> Option<&Arc<Break>> {
        self.by_subject.get(&subject(difference)).and_then(|id| self.breaks.get(id))
    }

    /// Whether a break with the same values is open, or a person has settled it.
    pub(super) fn is_known(&self, difference: &Difference) -> bool {
        self.newest_about(difference).is_some_and(|before| {
            let is_told = before.state == BreakState::Open || is_by_person(before);
            is_told && has_same_values(&before.difference, difference)
        })
    }

    /// A break that somebody knows, and whose values are the same, is no news.
    pub(super) fn record(&mut self, difference: Difference, evidence: BreakEvidence, at: Timestamp) -> Recorded {
        if self.is_known(&difference) {
            return Recorded::Known;
        }
        let before = self.newest_about(&difference).filter(|before| before.state == BreakState::Open);
        if let Some(id) = before.map(|before| before.id) {
            self.change(id, |found| {
                (found.difference, found.evidence, found.changed_at) = (difference, evidence, at);
            });
            return Recorded::Changed(id);
        }
        if !self.make_room() {
            return Recorded::Refused;
        }
        self.last += 1;
        let id = BreakId(self.last);
        self.insert(Break {
            id,
            state: BreakState::Open,
            difference,
            evidence,
            since: at,
            changed_at: at,
            changed_by: None,
            comment: None,
        });
        Recorded::New(id)
    }

    pub(super) fn change(&mut self, id: BreakId, edit: impl FnOnce(&mut Break)) -> Option<Arc<Break>> {
        edit(Arc::make_mut(self.breaks.get_mut(&id)?));
        let changed = self.breaks.get(&id).cloned()?;
        if changed.state != BreakState::Open {
            self.open.remove(&id);
        }
        Some(changed)
    }

    /// Settled ones are forgotten with the orders of their time.
    pub(crate) fn retire(&mut self, kept_since: Timestamp) {
        let by_subject = std::mem::take(&mut self.by_subject);
        // The next statement has a difference of balances that somebody accepted again.
        let is_needed = |found: &Break| {
            let is_newest = by_subject.get(&subject(&found.difference)) == Some(&found.id);
            is_balance(found.difference.kind) && is_newest && is_by_person(found)
        };
        self.breaks
            .retain(|_, found| found.state == BreakState::Open || found.changed_at >= kept_since || is_needed(found));
        self.by_subject = newest_by_subject(&self.breaks);
    }

    fn make_room(&mut self) -> bool {
        if self.breaks.len() < BREAKS_KEPT_MAX {
            return true;
        }
        let oldest = self.breaks.values().find(|found| found.state != BreakState::Open).map(|found| found.id);
        oldest.is_some_and(|id| self.breaks.remove(&id).is_some())
    }

    fn insert(&mut self, found: Break) {
        self.by_subject.insert(subject(&found.difference), found.id);
        self.open.insert(found.id);
        self.breaks.insert(found.id, Arc::new(found));
    }
}

fn newest_by_subject(breaks: &BTreeMap<BreakId, Arc<Break>>) -> BTreeMap<u128, BreakId> {
    breaks.values().map(|found| (subject(&found.difference), found.id)).collect()
}

/// Explained or accepted; what agreed by itself has no person.
fn is_by_person(found: &Break) -> bool {
    match found.state {
        BreakState::Accepted => true,
        BreakState::Explained => found.changed_by.is_some(),
        BreakState::Open | BreakState::Repaired => false,
    }
}

fn is_balance(kind: BreakKind) -> bool {
    matches!(kind, BreakKind::Cash | BreakKind::Position)
}

/// Balances go on changing on both sides; what counts is by how much they differ.
fn has_same_values(one: &Difference, other: &Difference) -> bool {
    if is_balance(one.kind) {
        return one.amount == other.amount;
    }
    (&one.ours, &one.theirs) == (&other.ours, &other.theirs)
}

/// What a break is about, whatever its values.
fn subject(of: &Difference) -> u128 {
    let number = |id: Option<u64>| {
        id.map_or([0; 9], |id| {
            let mut bytes = [1; 9];
            bytes[1..].copy_from_slice(&id.to_le_bytes());
            bytes
        })
    };
    fingerprint(&[
        of.kind.name().as_bytes(),
        of.adapter.0.as_bytes(),
        &number(of.account.map(|id| id.0)),
        &number(of.security.map(|id| id.0)),
        &number(of.order.map(|id| id.0)),
        of.exec_id.as_deref().unwrap_or_default().as_bytes(),
        of.currency.as_ref().map_or("", |currency| currency.as_str()).as_bytes(),
    ])
}

/// Written only where there was a break, so that the state of other engines is what earlier builds wrote.
impl<C> Encode<C> for Breaks {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.array(2)?.u64(self.last)?;
        crate::codec::encode_shared(self.breaks.values(), e, ctx)
    }

    fn is_nil(&self) -> bool {
        self.last == 0
    }
}

impl<'b, C> Decode<'b, C> for Breaks {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        d.array()?;
        let last = d.u64()?;
        let breaks: BTreeMap<BreakId, Arc<Break>> = crate::codec::decode_by_key(d, ctx, |found: &Break| found.id)?;
        let by_subject = newest_by_subject(&breaks);
        let open = breaks.values().filter(|found| found.state == BreakState::Open).map(|found| found.id).collect();
        Ok(Self { breaks, last, by_subject, open, ..Self::default() })
    }
}
