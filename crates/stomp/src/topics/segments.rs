//! Interned topic segments.

use std::collections::BTreeMap;

/// A segment of at least one pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SegmentId(u32);

#[derive(Debug)]
struct SegmentName {
    id: SegmentId,
    /// Number of tree edges with this segment.
    uses: u32,
}

/// All segments by their text.
#[derive(Debug, Default)]
pub(super) struct SegmentNames {
    known: BTreeMap<Box<str>, SegmentName>,
    free: Vec<SegmentId>,
    next: u32,
}

impl SegmentNames {
    pub(super) fn find(&self, segment: &str) -> Option<SegmentId> {
        self.known.get(segment).map(|name| name.id)
    }

    /// One more edge uses this segment.
    pub(super) fn acquire(&mut self, segment: &str) -> SegmentId {
        if let Some(name) = self.known.get_mut(segment) {
            name.uses += 1;
            return name.id;
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            SegmentId(self.next)
        });
        self.known.insert(segment.into(), SegmentName { id, uses: 1 });
        id
    }

    /// One edge less uses it; the last one removes it.
    pub(super) fn release(&mut self, segment: &str) -> Option<SegmentId> {
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
