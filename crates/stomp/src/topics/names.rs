//! Interned topic segments.

use std::collections::BTreeMap;

/// A segment of at least one pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameId(u32);

#[derive(Debug)]
struct Name {
    id: NameId,
    /// Number of tree edges with this segment.
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

    /// One more edge uses this segment.
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

    /// One edge less uses it; the last one removes it.
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
