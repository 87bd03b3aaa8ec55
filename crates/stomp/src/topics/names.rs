//! Segments of patterns, each kept once.

use std::collections::BTreeMap;

/// A segment that some pattern has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameId(u32);

#[derive(Debug)]
struct Name {
    id: NameId,
    /// How many ways of the tree have it.
    uses: u32,
}

/// All segments by their text.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: BTreeMap<Box<str>, Name>,
    free: Vec<NameId>,
    next: u32,
}

impl Names {
    pub(super) fn find(&self, segment: &str) -> Option<NameId> {
        self.known.get(segment).map(|name| name.id)
    }

    /// One more way has this segment.
    pub(super) fn take(&mut self, segment: &str) -> NameId {
        if let Some(name) = self.known.get_mut(segment) {
            name.uses += 1;
            return name.id;
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            NameId(self.next)
        });
        self.known.insert(segment.into(), Name { id, uses: 1 });
        id
    }

    /// One way less has it; with the last one it is forgotten.
    pub(super) fn give_back(&mut self, segment: &str) -> Option<NameId> {
        let name = self.known.get_mut(segment)?;
        name.uses -= 1;
        let (id, is_unused) = (name.id, name.uses == 0);
        if is_unused {
            self.known.remove(segment);
            self.free.push(id);
        }
        if self.known.is_empty() {
            (self.free, self.next) = (Vec::new(), 0);
        }
        Some(id)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }
}
