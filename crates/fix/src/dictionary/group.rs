//! Repeating groups. On the wire a group is a count and then fields, and only the dictionary defines which of them
//! belong to it; an entry begins with the group's first member, or where a member is repeated. Members of an entry must
//! be in the order of the dictionary, because readers that rely on the order would misread others.

use super::spec::Item;
use crate::codec::{FixMessage, OutgoingMessage};
use crate::tag::Tag;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    /// The tag with the number of entries.
    pub count: Tag,
    /// In the order of the dictionary; the first begins an entry.
    members: Vec<Tag>,
    /// Ascending.
    required: Vec<Tag>,
    nested: Vec<Group>,
}

/// The result of parsing a group on the wire.
#[derive(Debug, Default)]
pub(super) struct GroupScan {
    pub entries: u64,
    /// The first member that an entry lacks.
    pub missing: Option<Tag>,
    /// The first member out of order; also one that begins an entry instead of the first.
    pub misplaced: Option<Tag>,
    /// The index of the first field after the group.
    pub end: usize,
}

impl Group {
    pub(super) fn from_item(item: &Item) -> Option<Self> {
        let members = item.members.as_ref()?;
        let mut required: Vec<_> = members.iter().filter(|member| member.required).map(|member| member.tag).collect();
        required.sort_unstable();
        Some(Self {
            count: item.tag,
            members: members.iter().map(|member| member.tag).collect(),
            required,
            nested: members.iter().filter_map(Self::from_item).collect(),
        })
    }

    /// Members of groups within it included.
    pub(super) fn all_members(&self) -> Vec<Tag> {
        self.members.iter().copied().chain(self.nested.iter().flat_map(Self::all_members)).collect()
    }

    /// Parses the entries from the field after the count on.
    pub(super) fn scan(&self, message: &FixMessage<'_>, start: usize) -> GroupScan {
        let mut walk = GroupScan { end: start, ..GroupScan::default() };
        while let Some(entry) = self.entry(message, walk.end, &mut walk) {
            walk.entries += 1;
            walk.missing = walk.missing.or_else(|| self.missing_member(message, &entry));
            walk.end = entry.end;
        }
        walk
    }

    /// The fields of the entry that begins here, nested groups included; `None` where the group has ended.
    fn entry(&self, message: &FixMessage<'_>, start: usize, found: &mut GroupScan) -> Option<Range<usize>> {
        let (mut at, mut due) = (start, 0);
        while at < message.field_count() {
            let tag = message.tag_at(at);
            let begins_next = at > start && (self.members.first() == Some(&tag) || has(message, start..at, tag));
            let Some(place) = self.members.iter().position(|member| *member == tag).filter(|_| !begins_next) else {
                break;
            };
            if place < due || (at == start && place > 0) {
                found.misplaced.get_or_insert(tag);
            }
            due = place + 1;
            at += 1;
            if let Some(nested) = self.nested(tag) {
                let walk = nested.scan(message, at);
                found.missing = found.missing.or(walk.missing);
                found.misplaced = found.misplaced.or(walk.misplaced);
                at = walk.end;
            }
        }
        (at > start).then_some(start..at)
    }

    fn missing_member(&self, message: &FixMessage<'_>, entry: &Range<usize>) -> Option<Tag> {
        self.required.iter().copied().find(|tag| !has(message, entry.clone(), *tag))
    }

    fn nested(&self, count: Tag) -> Option<&Self> {
        self.nested.iter().find(|group| group.count == count)
    }

    /// Copies the entries after a count, the members of each in the order of the dictionary; returns where they end.
    pub(super) fn copy(&self, message: &FixMessage<'_>, start: usize, out: &mut OutgoingMessage) -> usize {
        let mut at = start;
        while let Some(entry) = self.entry(message, at, &mut GroupScan::default()) {
            for tag in &self.members {
                if let Some(place) = entry.clone().find(|place| message.tag_at(*place) == *tag) {
                    out.member(*tag, message.field(place).value);
                    self.nested(*tag).map(|nested| nested.copy(message, place + 1, out));
                }
            }
            at = entry.end;
        }
        at
    }
}

fn has(message: &FixMessage<'_>, mut fields: Range<usize>, tag: Tag) -> bool {
    fields.any(|at| message.tag_at(at) == tag)
}
