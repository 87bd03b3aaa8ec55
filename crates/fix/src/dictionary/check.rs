//! Dictionary checks, in QuickFIX's order. Of several errors the peer receives the one that QuickFIX would report:
//! first the order of sections, then the message type, then missing fields, then field by field (header, trailer, body;
//! in each by ascending tag). Values inside repeating groups are left to the application.

use super::tables::{Dictionary, FieldIndex, FieldSet, MessagePart, Section};
use crate::codec::{FixField, FixMessage, OutgoingMessage, parse_unsigned};
use crate::reject::{MessageFault, SessionRejectReason};
use crate::tag::{self, Tag};
use std::collections::BTreeSet;

/// Which checks are made; the names are those of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckRules {
    pub fields_out_of_order: bool,
    pub fields_have_values: bool,
    pub user_defined_fields: bool,
    pub allow_unknown_fields: bool,
    pub group_fields_out_of_order: bool,
}

impl Default for CheckRules {
    fn default() -> Self {
        Self {
            fields_out_of_order: true,
            fields_have_values: true,
            user_defined_fields: true,
            allow_unknown_fields: false,
            group_fields_out_of_order: true,
        }
    }
}

/// Checks one message after the other with the same memory.
#[derive(Debug, Default)]
pub struct DictionaryChecker {
    seen: FieldSet,
}

impl DictionaryChecker {
    pub fn check(
        &mut self,
        dictionary: &Dictionary,
        rules: CheckRules,
        message: &FixMessage<'_>,
    ) -> Result<(), MessageFault> {
        self.seen.clear();
        let unknown_type = Section::default();
        let body = dictionary.message(message.msg_type());
        let mut findings = Findings::new(dictionary, rules, body.unwrap_or(&unknown_type));
        findings.check_all(message, &mut self.seen);

        if let Some(tag) = findings.out_of_order.filter(|_| rules.fields_out_of_order) {
            return Err(MessageFault::at(SessionRejectReason::TagOutOfOrder, tag));
        }
        let Some(body) = body else { return Err(MessageFault::without_tag(SessionRejectReason::InvalidMsgType)) };
        let sections = [&dictionary.header, &dictionary.trailer, body];
        let missing = sections.iter().find_map(|section| self.missing_of(dictionary, section));
        if let Some(tag) = missing.or(findings.missing_in_group.map(|(_, member)| member)) {
            return Err(MessageFault::at(SessionRejectReason::RequiredTagMissing, tag));
        }
        findings.first.map_or(Ok(()), |(_, fault)| Err(fault))
    }

    fn missing_of(&self, dictionary: &Dictionary, section: &Section) -> Option<Tag> {
        let present = |tag: &Tag| dictionary.field_index(*tag).is_some_and(|slot| self.seen.contains(slot));
        section.required.iter().find(|tag| !present(tag)).copied()
    }
}

/// The position of an error in the order of checks.
type Rank = (MessagePart, Tag);

/// The result of one pass over a message.
struct Findings<'a> {
    dictionary: &'a Dictionary,
    rules: CheckRules,
    body: &'a Section,
    out_of_order: Option<Tag>,
    /// By the count of the group.
    missing_in_group: Option<(Tag, Tag)>,
    first: Option<(Rank, MessageFault)>,
}

impl<'a> Findings<'a> {
    fn new(dictionary: &'a Dictionary, rules: CheckRules, body: &'a Section) -> Self {
        Self { dictionary, rules, body, out_of_order: None, missing_in_group: None, first: None }
    }

    fn check_all(&mut self, message: &FixMessage<'_>, seen: &mut FieldSet) {
        let mut reached = MessagePart::Header;
        let mut at = 0;
        while at < message.field_count() {
            let field = message.field(at);
            let slot = self.dictionary.field_index(field.tag);
            let part = self.dictionary.part(slot, field.tag);
            let late = matches!(
                (part, reached),
                (MessagePart::Header, MessagePart::Body | MessagePart::Trailer)
                    | (MessagePart::Body, MessagePart::Trailer)
            );
            if late {
                self.out_of_order.get_or_insert(field.tag);
            }
            // A late header field does not change the current section.
            if part != MessagePart::Header {
                reached = part;
            }
            at = self.check_field(part, slot, field, message, at + 1, seen);
        }
    }

    /// Checks a field, with the group that it may count; returns the index of the next one.
    fn check_field(
        &mut self,
        part: MessagePart,
        slot: Option<FieldIndex>,
        field: FixField<'_>,
        message: &FixMessage<'_>,
        next: usize,
        seen: &mut FieldSet,
    ) -> usize {
        let repeated = slot.is_some_and(|slot| !seen.insert(slot));
        let section = match part {
            MessagePart::Header => &self.dictionary.header,
            MessagePart::Trailer => &self.dictionary.trailer,
            MessagePart::Body => self.body,
        };
        let walk = section.group(slot, field.tag).map(|group| group.scan(message, next));
        let count_is_wrong = walk.as_ref().is_some_and(|walk| Some(walk.entries) != parse_unsigned(field.value));
        let reason = match self.reason(part, slot, field, repeated) {
            None if count_is_wrong && part == MessagePart::Body => Some(SessionRejectReason::IncorrectGroupCount),
            reason => reason,
        };
        if let Some(reason) = reason {
            self.record_fault((part, header_first(field.tag)), MessageFault::at(reason, field.tag));
        }
        let Some(walk) = walk else { return next };
        let misplaced = walk.misplaced.filter(|_| self.rules.group_fields_out_of_order && part == MessagePart::Body);
        if let Some(member) = misplaced {
            // After errors of the count itself.
            self.record_fault(
                (part, header_first(field.tag)),
                MessageFault::at(SessionRejectReason::GroupOutOfOrder, member),
            );
        }
        if let Some(member) = walk.missing.filter(|_| self.missing_in_group.is_none_or(|(count, _)| field.tag < count))
        {
            self.missing_in_group = Some((field.tag, member));
        }
        walk.end
    }

    fn reason(
        &self,
        part: MessagePart,
        slot: Option<FieldIndex>,
        field: FixField<'_>,
        repeated: bool,
    ) -> Option<SessionRejectReason> {
        if repeated {
            return Some(SessionRejectReason::TagAppearsTwice);
        }
        if field.value.is_empty() && self.rules.fields_have_values {
            return Some(SessionRejectReason::TagWithoutValue);
        }
        let rule = slot.map(|slot| self.dictionary.rule(slot));
        if rule.is_some_and(|rule| !rule.has_format(field.value)) {
            return Some(SessionRejectReason::IncorrectDataFormat);
        }
        if rule.is_some_and(|rule| !rule.allows(field.value)) {
            return Some(SessionRejectReason::ValueIncorrect);
        }
        let free =
            self.rules.allow_unknown_fields || (field.tag >= tag::USER_DEFINED_MIN && !self.rules.user_defined_fields);
        match slot {
            _ if free => None,
            None => Some(SessionRejectReason::InvalidTagNumber),
            Some(slot) if part == MessagePart::Body && !self.body.fields.contains(slot) => {
                Some(SessionRejectReason::TagNotDefinedForMessage)
            }
            Some(_) => None,
        }
    }

    /// Of two errors of one rank the first on the wire is kept.
    fn record_fault(&mut self, rank: Rank, fault: MessageFault) {
        if self.first.as_ref().is_none_or(|(first, _)| rank < *first) {
            self.first = Some((rank, fault));
        }
    }
}

/// 8, 9 and 35 come before everything else in a header.
fn header_first(tag: Tag) -> Tag {
    match tag {
        tag::BEGIN_STRING => Tag::MIN,
        tag::BODY_LENGTH => Tag::MIN + 1,
        tag::MSG_TYPE => Tag::MIN + 2,
        _ => tag,
    }
}

impl Dictionary {
    /// The first repeated field that is in no group of the message: its value would be ambiguous. This includes fields
    /// that the message type does not have, because their meaning is unknown.
    pub fn repeated_field(&self, message: &FixMessage<'_>) -> Option<Tag> {
        let unknown_type = Section::default();
        let body = self.message(message.msg_type()).unwrap_or(&unknown_type);
        let (mut seen, mut seen_unknown) = (FieldSet::default(), BTreeSet::new());
        let mut at = 0;
        while at < message.field_count() {
            let tag = message.tag_at(at);
            at += 1;
            let slot = self.field_index(tag);
            if !slot.map_or_else(|| seen_unknown.insert(tag), |slot| seen.insert(slot)) {
                return Some(tag);
            }
            let section = if self.part(slot, tag) == MessagePart::Header { &self.header } else { body };
            at = section.group(slot, tag).map_or(at, |group| group.scan(message, at).end);
        }
        None
    }

    /// Copies the body of a message, so that it can be sent on: fields as they are, groups as blocks and in order.
    pub fn copy_body(&self, message: &FixMessage<'_>, out: &mut OutgoingMessage) {
        let unknown_type = Section::default();
        let body = self.message(message.msg_type()).unwrap_or(&unknown_type);
        let mut at = 0;
        while at < message.field_count() {
            let field = message.field(at);
            at += 1;
            let slot = self.field_index(field.tag);
            if self.part(slot, field.tag) == MessagePart::Header {
                at = self.header.group(slot, field.tag).map_or(at, |group| group.scan(message, at).end);
            } else if field.tag != tag::CHECK_SUM {
                out.field(field.tag, field.value);
                at = body.group(slot, field.tag).map_or(at, |group| group.copy(message, at, out));
            }
        }
    }
}
