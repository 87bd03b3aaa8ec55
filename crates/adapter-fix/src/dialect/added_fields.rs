//! Fields and repeating groups that a venue wants besides those of the platform: `[[fields]]` and `[[groups]]` of a dialect file.

use fix::OutgoingMessage;
use fix::tag::{self, Tag};

use super::logon_rules::is_address;
use super::section::{Problems, Section, TAG_MAX};

/// Message types that we send.
const REQUESTS: [&str; 10] = ["D", "F", "G", "H", "AF", "AD", "AN", "V", "x", "e"];
/// Those that are about no order.
const OTHER_REQUESTS: [&str; 6] = ["AF", "AD", "AN", "V", "x", "e"];
/// Messages that have a field where the file does not say which.
const USUAL_REQUESTS: [&str; 2] = ["D", "G"];

/// Fields of requests that follow from the order.
const ORDER_FIELDS: [Tag; 18] = [11, 37, 38, 40, 41, 44, 54, 55, 59, 60, 99, 126, 432, 584, 585, 790, 9, 10];

/// A field that the venue wants besides ours, or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraField {
    /// Message types that have it.
    pub messages: Vec<String>,
    pub tag: Tag,
    /// Of a group the number of its entries.
    pub value: FieldValue,
    /// Fields of the entries of a group, in their order; a single field has none.
    pub members: Vec<(Tag, FieldValue)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    Constant(String),
    /// The account's name at the venue.
    Account,
    /// The currency of the security.
    Currency,
    /// The code of the order's exchange.
    Exchange,
    /// The ISIN of the security.
    Isin,
    /// The platform's id of the order.
    OrderId,
    /// The client's id of the order, where it came over FIX; else the platform's.
    ClOrdId,
}

/// The same where no value depends on an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextField {
    pub tag: Tag,
    pub value: String,
    pub members: Vec<(Tag, String)>,
}

impl ExtraField {
    pub fn is_on(&self, msg_type: &str) -> bool {
        self.messages.iter().any(|message| message == msg_type)
    }

    /// Its own, and those of its members.
    pub fn tags(&self) -> impl Iterator<Item = Tag> {
        std::iter::once(self.tag).chain(self.members.iter().map(|(tag, _)| *tag))
    }

    /// Every value as text; `value_of` knows what stands for a placeholder.
    pub(crate) fn filled<E>(&self, value_of: impl Fn(Tag, &FieldValue) -> Result<String, E>) -> Result<TextField, E> {
        let member = |(tag, value): &(Tag, FieldValue)| Ok((*tag, value_of(*tag, value)?));
        Ok(TextField {
            tag: self.tag,
            value: value_of(self.tag, &self.value)?,
            members: self.members.iter().map(member).collect::<Result<_, E>>()?,
        })
    }
}

impl TextField {
    pub(crate) fn write(&self, message: &mut OutgoingMessage) {
        message.field(self.tag, &self.value);
        for (tag, value) in &self.members {
            message.member(*tag, value);
        }
    }
}

/// What is added to a message that is about no order. The reader refuses placeholders there.
pub(super) fn texts_on(msg_type: &str, added: &[ExtraField]) -> Vec<TextField> {
    let text = |_: Tag, value: &FieldValue| match value {
        FieldValue::Constant(text) => Ok(text.clone()),
        _ => Err(()),
    };
    added.iter().filter(|field| field.is_on(msg_type)).filter_map(|field| field.filled(text).ok()).collect()
}

pub(super) fn fields(root: &Section<'_>, problems: &mut Problems<'_>) -> Vec<ExtraField> {
    let sections = root.sections("fields", problems);
    sections.iter().filter_map(|section| single_field(section, problems)).collect()
}

fn single_field(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<ExtraField> {
    section.check_keys(&["messages", "tag", "value"], problems);
    let tag = free_tag(section, problems);
    let messages = usual_or_named(section, problems);
    let value = value(section, &messages, problems)?;
    Some(ExtraField { messages, tag: tag?, value, members: Vec::new() })
}

pub(super) fn groups(root: &Section<'_>, problems: &mut Problems<'_>) -> Vec<ExtraField> {
    let sections = root.sections("groups", problems);
    sections.iter().filter_map(|section| group(section, problems)).collect()
}

fn group(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<ExtraField> {
    section.check_keys(&["messages", "tag", "entries"], problems);
    let tag = free_body_tag(section, problems);
    let messages = usual_or_named(section, problems);
    let lists = section.section_lists("entries", problems)?;
    let mut entry = |members: &Vec<Section<'_>>| -> Vec<Option<(Tag, FieldValue)>> {
        members.iter().map(|member| group_member(member, &messages, problems)).collect()
    };
    let entries: Vec<_> = lists.iter().map(&mut entry).collect();
    // Of a member that cannot be read the problem is noted already.
    let entries = entries.into_iter().map(|entry| entry.into_iter().collect()).collect::<Option<Vec<Vec<_>>>>()?;
    check_entries(section, &entries, problems);
    let count = FieldValue::Constant(entries.len().to_string());
    Some(ExtraField { messages, tag: tag?, value: count, members: entries.concat() })
}

fn group_member(section: &Section<'_>, messages: &[String], problems: &mut Problems<'_>) -> Option<(Tag, FieldValue)> {
    section.check_keys(&["tag", "value"], problems);
    let tag = free_body_tag(section, problems);
    let value = value(section, messages, problems);
    tag.zip(value)
}

/// Who reads a group finds where an entry begins by its first tag.
fn check_entries(section: &Section<'_>, entries: &[Vec<(Tag, FieldValue)>], problems: &mut Problems<'_>) {
    let Some(first) = entries.first() else {
        section.refuse::<()>("entries", "has no entry", problems);
        return;
    };
    for (place, entry) in entries.iter().enumerate().map(|(place, entry)| (place + 1, entry)) {
        let reason = match (first.first(), entry.first()) {
            (_, None) => format!("entry {place} has no field"),
            (Some((first, _)), Some((begin, _))) if first != begin => {
                format!("entry {place} begins with {begin} and the first one with {first}")
            }
            (_, Some((begin, _))) if entry[1..].iter().any(|(tag, _)| tag == begin) => {
                format!("entry {place} begins with {begin} and has it again")
            }
            _ => continue,
        };
        section.refuse::<()>("entries", &reason, problems);
    }
}

/// One that the platform does not set on any message.
fn free_tag(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<Tag> {
    let tag = section.required_whole("tag", 1..=TAG_MAX, problems)?;
    if is_set_by_platform(tag) {
        return section.refuse("tag", &format!("{tag} is set by the platform"), problems);
    }
    Some(tag)
}

/// The same, of the body.
fn free_body_tag(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<Tag> {
    let tag = free_tag(section, problems)?;
    if tag::is_header(tag) {
        return section.refuse("tag", &format!("{tag} is a field of the header, and stands in no group"), problems);
    }
    Some(tag)
}

fn is_set_by_platform(tag: Tag) -> bool {
    tag::is_header(tag) && !is_address(tag) || tag::is_trailer(tag) || ORDER_FIELDS.contains(&tag)
}

/// A client's field takes no place of these, nor of others of the header.
pub(super) fn is_never_passed(tag: Tag) -> bool {
    tag::is_header(tag) || is_set_by_platform(tag)
}

fn value(section: &Section<'_>, messages: &[String], problems: &mut Problems<'_>) -> Option<FieldValue> {
    let value = section.required_text("value", problems)?;
    let value = match value.as_str() {
        "{account}" => FieldValue::Account,
        "{currency}" => FieldValue::Currency,
        "{exchange}" => FieldValue::Exchange,
        "{isin}" => FieldValue::Isin,
        "{order}" => FieldValue::OrderId,
        "{clOrdId}" => FieldValue::ClOrdId,
        other if other.contains(['{', '}']) => {
            let known = "is no placeholder (known: {account}, {clOrdId}, {currency}, {exchange}, {isin}, {order})";
            return section.refuse("value", &format!("{other} {known}"), problems);
        }
        _ => FieldValue::Constant(value),
    };
    let is_of_no_order = messages.iter().any(|message| OTHER_REQUESTS.contains(&message.as_str()));
    if is_of_no_order && !matches!(value, FieldValue::Constant(_)) {
        section.refuse::<()>("value", "AF, AD, AN, V, x and e are about no order: the value is a text", problems);
    }
    Some(value)
}

fn usual_or_named(section: &Section<'_>, problems: &mut Problems<'_>) -> Vec<String> {
    messages(section, problems).unwrap_or_else(|| USUAL_REQUESTS.map(str::to_owned).to_vec())
}

/// Those of requests.
pub(super) fn messages(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<Vec<String>> {
    let messages = section.texts("messages", problems)?;
    for message in messages.iter().filter(|message| !REQUESTS.contains(&message.as_str())) {
        let reason = format!("{message} is no message that is sent (known: {})", REQUESTS.join(", "));
        section.refuse::<()>("messages", &reason, problems);
    }
    Some(messages)
}
