//! A dictionary flattened into tables, so that the check of a message takes look-ups only.

use super::group::Group;
use super::spec::{DictionarySpec, FieldSpec, Item};
use super::xml::DictionaryError;
use super::{builtin, xml};
use crate::dictionary::spec::FieldType;
use crate::tag::{self, Tag};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// Tags below this are looked up in an array, others in a tree.
const NEAR_TAGS: usize = 10_000;

/// Which fields there are, what each message may and must have, and how its groups are built.
#[derive(Debug, Clone, PartialEq)]
pub struct Dictionary {
    version: String,
    fields: Vec<FieldRule>,
    near: Vec<u16>,
    far: BTreeMap<Tag, u16>,
    pub(super) header: Section,
    pub(super) trailer: Section,
    messages: BTreeMap<Vec<u8>, Section>,
}

/// Index of a field in the table of fields and in a [`FieldSet`].
pub(super) type FieldIndex = u16;

const NO_FIELD_INDEX: FieldIndex = FieldIndex::MAX;

/// Sections in the order in which their fields are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MessagePart {
    Header,
    Trailer,
    Body,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct FieldRule {
    pub part: MessagePart,
    kind: FieldType,
    /// Sorted; empty where any value is allowed.
    values: Vec<Vec<u8>>,
}

impl MessagePart {
    /// By the standard alone.
    pub(super) fn of(tag: Tag) -> Self {
        match tag {
            _ if tag::is_header(tag) => Self::Header,
            _ if tag::is_trailer(tag) => Self::Trailer,
            _ => Self::Body,
        }
    }
}

impl FieldRule {
    pub(super) fn has_format(&self, value: &[u8]) -> bool {
        self.kind.accepts(value)
    }

    pub(super) fn allows(&self, value: &[u8]) -> bool {
        let known = |value: &[u8]| self.values.binary_search_by(|known| known.as_slice().cmp(value)).is_ok();
        match self.kind {
            _ if self.values.is_empty() => true,
            FieldType::MultipleValue => value.split(|byte| *byte == b' ').all(known),
            _ => known(value),
        }
    }
}

/// The fields of a header, a trailer or the body of one message type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Section {
    pub fields: FieldSet,
    /// Ascending.
    pub required: Vec<Tag>,
    /// Fields that count a group.
    counts: FieldSet,
    groups: Vec<Group>,
}

impl Section {
    pub(super) fn group(&self, slot: Option<FieldIndex>, count: Tag) -> Option<&Group> {
        self.counts.contains(slot?).then(|| self.groups.iter().find(|group| group.count == count))?
    }
}

/// A set of fields, one bit each.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FieldSet {
    words: Vec<u64>,
}

impl FieldSet {
    /// Returns whether it was new.
    pub(super) fn insert(&mut self, slot: FieldIndex) -> bool {
        let (word, bit) = (usize::from(slot / 64), 1 << (slot % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    pub(super) fn contains(&self, slot: FieldIndex) -> bool {
        self.words.get(usize::from(slot / 64)).is_some_and(|word| word & (1 << (slot % 64)) != 0)
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }
}

impl Dictionary {
    /// FIX 4.4 as QuickFIX ships it.
    pub fn fix44() -> Self {
        Self::flatten(builtin::fix44())
    }

    /// FIX 4.2 as QuickFIX ships it.
    pub fn fix42() -> Self {
        Self::flatten(builtin::fix42())
    }

    /// FIX 5.0SP2 over FIXT 1.1, as QuickFIX ships both.
    pub fn fix50sp2() -> Self {
        Self::flatten(builtin::fix50sp2())
    }

    /// FIX 4.4 with the platform's own tags 7001 to 7003 on New Order Single.
    pub fn fix44_with_extensions() -> Self {
        Self::flatten(builtin::fix44_with_extensions())
    }

    /// The same, made once for all that use it: to make it takes longer than to open a port.
    pub fn shared_fix44_with_extensions() -> Arc<Self> {
        static SHARED: LazyLock<Arc<Dictionary>> = LazyLock::new(|| Arc::new(Dictionary::fix44_with_extensions()));
        SHARED.clone()
    }

    /// A dictionary file in QuickFIX's XML format.
    pub fn from_quickfix_xml(text: &str) -> Result<Self, DictionaryError> {
        xml::read(text).map(Self::flatten)
    }

    /// The same with these tags on orders and replaces (D, G), as text where they are not known.
    #[must_use]
    pub fn with_order_tags(&self, tags: &[Tag]) -> Self {
        let mut extended = self.clone();
        for tag in tags {
            if extended.field_index(*tag).is_none() {
                extended.add(FieldSpec { tag: *tag, kind: FieldType::Text, values: Vec::new() });
            }
            let Some(slot) = extended.field_index(*tag) else { continue };
            for msg_type in [b"D", b"G"] {
                if let Some(section) = extended.messages.get_mut(&msg_type[..]) {
                    section.fields.insert(slot);
                }
            }
        }
        extended
    }

    /// Such as `FIX.4.4`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The known message types.
    pub fn msg_types(&self) -> impl Iterator<Item = &[u8]> {
        self.messages.keys().map(Vec::as_slice)
    }

    /// Every field that the body of a message can have, members of groups included; ascending.
    pub fn fields_of(&self, msg_type: &[u8]) -> Vec<Tag> {
        let Some(section) = self.message(msg_type) else { return Vec::new() };
        let listed = self.tags().filter(|(_, slot)| section.fields.contains(*slot)).map(|(tag, _)| tag);
        let mut tags: Vec<Tag> = listed.chain(section.groups.iter().flat_map(Group::all_members)).collect();
        tags.sort_unstable();
        tags
    }

    /// Everything that is checked of a message's body, as text, to compare two dictionaries.
    pub fn describe_message(&self, msg_type: &[u8]) -> Option<String> {
        let section = self.message(msg_type)?;
        let fields = self.fields_of(msg_type);
        let rules: Vec<_> = fields.iter().filter_map(|tag| Some((tag, self.rule(self.field_index(*tag)?)))).collect();
        Some(format!("{:?}\n{:?}\n{rules:?}", section.required, section.groups))
    }

    fn tags(&self) -> impl Iterator<Item = (Tag, FieldIndex)> + '_ {
        let near = self.near.iter().enumerate().filter(|(_, slot)| **slot != NO_FIELD_INDEX);
        let near = near.filter_map(|(tag, slot)| Some((Tag::try_from(tag).ok()?, *slot)));
        near.chain(self.far.iter().map(|(tag, slot)| (*tag, *slot)))
    }

    pub(super) fn field_index(&self, tag: Tag) -> Option<FieldIndex> {
        let slot = match usize::try_from(tag).ok().and_then(|tag| self.near.get(tag)) {
            Some(slot) => *slot,
            None => *self.far.get(&tag)?,
        };
        (slot != NO_FIELD_INDEX).then_some(slot)
    }

    pub(super) fn part(&self, slot: Option<FieldIndex>, tag: Tag) -> MessagePart {
        slot.map_or_else(|| MessagePart::of(tag), |slot| self.rule(slot).part)
    }

    pub(super) fn rule(&self, slot: FieldIndex) -> &FieldRule {
        &self.fields[usize::from(slot)]
    }

    pub(super) fn message(&self, msg_type: &[u8]) -> Option<&Section> {
        self.messages.get(msg_type)
    }

    fn flatten(spec: DictionarySpec) -> Self {
        let mut dictionary = Self {
            version: spec.version,
            fields: Vec::new(),
            near: vec![NO_FIELD_INDEX; NEAR_TAGS],
            far: BTreeMap::new(),
            header: Section::default(),
            trailer: Section::default(),
            messages: BTreeMap::new(),
        };
        for field in spec.fields {
            dictionary.add(field);
        }
        dictionary.header = dictionary.section(&spec.header);
        dictionary.trailer = dictionary.section(&spec.trailer);
        dictionary.assign_part(&spec.header, MessagePart::Header);
        dictionary.assign_part(&spec.trailer, MessagePart::Trailer);
        for message in &spec.messages {
            let section = dictionary.section(&message.items);
            dictionary.messages.insert(message.msg_type.as_bytes().to_vec(), section);
        }
        dictionary
    }

    /// Fields beyond the number of slots stay unknown.
    fn add(&mut self, field: FieldSpec) {
        let Some(slot) = FieldIndex::try_from(self.fields.len()).ok().filter(|slot| *slot != NO_FIELD_INDEX) else {
            return;
        };
        match usize::try_from(field.tag).ok().and_then(|tag| self.near.get_mut(tag)) {
            Some(place) => *place = slot,
            None => drop(self.far.insert(field.tag, slot)),
        }
        let mut values: Vec<_> = field.values.into_iter().map(String::into_bytes).collect();
        values.sort();
        self.fields.push(FieldRule { part: MessagePart::of(field.tag), kind: field.kind, values });
    }

    fn assign_part(&mut self, items: &[Item], part: MessagePart) {
        for item in items {
            if let Some(slot) = self.field_index(item.tag) {
                self.fields[usize::from(slot)].part = part;
            }
        }
    }

    fn section(&self, items: &[Item]) -> Section {
        let mut section = Section::default();
        for item in items {
            if let Some(slot) = self.field_index(item.tag) {
                section.fields.insert(slot);
                if item.members.is_some() {
                    section.counts.insert(slot);
                }
            }
            section.required.extend(item.required.then_some(item.tag));
            section.groups.extend(Group::from_item(item));
        }
        section.required.sort_unstable();
        section
    }
}
