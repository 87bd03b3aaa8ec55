//! Trial of a dialect: one of each message that it sends is written and checked against the dictionary of its version. What the file can never
//! send is told when the file is read, and not order by order.

mod trial_messages;

use fix::SessionRejectReason;
use fix::tag::Tag;

use crate::dialect::{Dialect, DialectError, ExtraField};
use crate::message_check::{CheckFault, MessageCheck};
use trial_messages::{TrialMessage, trial_messages};

/// Reads a dialect file and tries its messages.
pub fn read_dialect(text: &str) -> Result<Dialect, DialectError> {
    let dialect = Dialect::parse(text)?;
    let found = faults_of(&dialect);
    if found.is_empty() {
        return Ok(dialect);
    }
    let version = dialect.version.name();
    let told = |fault: &TrialFault| {
        let mut messages = fault.messages.clone();
        messages.sort();
        let messages = messages.join(", ");
        (fault.key.clone(), format!("{version} does not allow {messages}: {}", fault.reason))
    };
    Err(DialectError::at_keys(text, &found.iter().map(told).collect::<Vec<_>>()))
}

/// What the dictionary does not allow.
struct TrialFault {
    /// Of the file.
    key: String,
    reason: String,
    /// Types of the messages that show it.
    messages: Vec<String>,
}

/// A message shows one fault, so what is wrong with it is left out, and the rest tried again.
fn faults_of(dialect: &Dialect) -> Vec<TrialFault> {
    let mut trial = DialectTrial { file: dialect, tried: dialect.clone(), found: Vec::new(), left_out: Vec::new() };
    while trial.run() {}
    trial.found
}

struct DialectTrial<'a> {
    file: &'a Dialect,
    /// The same without what was wrong.
    tried: Dialect,
    found: Vec<TrialFault>,
    /// Tags, and the types of the messages that they were on.
    left_out: Vec<(Tag, String)>,
}

impl DialectTrial<'_> {
    /// Whether something was left out that was not before.
    fn run(&mut self) -> bool {
        let (mut check, known) = (MessageCheck::new(&self.tried), self.left_out.len());
        for tried in trial_messages(&self.tried) {
            if let Err(fault) = check.find_fault(&tried.message) {
                self.note(&tried, fault);
            }
        }
        for (tag, msg_type) in &self.left_out[known..] {
            let added = self.tried.fields.iter_mut().chain(&mut self.tried.groups);
            added.filter(|field| field.tag == *tag).for_each(|field| field.messages.retain(|on| on != msg_type));
        }
        self.left_out.len() > known
    }

    fn note(&mut self, tried: &TrialMessage, fault: CheckFault) {
        let msg_type = String::from_utf8_lossy(tried.message.msg_type()).into_owned();
        let (reason, tag) = match fault {
            CheckFault::Garbled(_) => (None, None),
            CheckFault::Dictionary(fault) => (Some(fault.reason), fault.tag),
        };
        let added = tag.and_then(|tag| find_added(self.file, tag, &msg_type));
        if let Some((_, field)) = &added {
            let left_out = (field.tag, msg_type.clone());
            if self.left_out.contains(&left_out) {
                return;
            }
            self.left_out.push(left_out);
        }
        let code = || tried.codes.iter().find(|(coded, _)| Some(*coded) == tag).map(|(_, key)| key.clone());
        let key = added.as_ref().map(|(key, field)| key_of(key, field, reason, tag));
        let key = key.or_else(code).unwrap_or_else(|| "fields".to_owned());
        let reason = reason_of(fault, added.as_ref().map(|(_, field)| *field));
        match self.found.iter_mut().find(|known| known.key == key && known.reason == reason) {
            Some(known) if known.messages.contains(&msg_type) => {}
            Some(known) => known.messages.push(msg_type),
            None => self.found.push(TrialFault { key, reason, messages: vec![msg_type] }),
        }
    }
}

/// What the file adds to that message with this tag: its place in the file, and the field or group.
fn find_added<'a>(dialect: &'a Dialect, tag: Tag, msg_type: &str) -> Option<(String, &'a ExtraField)> {
    let find = |key: &str, added: &'a [ExtraField]| {
        let has_tag = |field: &ExtraField| field.is_on(msg_type) && field.tags().any(|known| known == tag);
        let place = added.iter().position(has_tag)?;
        Some((format!("{key}[{}]", place + 1), &added[place]))
    };
    find("fields", &dialect.fields).or_else(|| find("groups", &dialect.groups))
}

fn key_of(place: &str, field: &ExtraField, reason: Option<SessionRejectReason>, tag: Option<Tag>) -> String {
    let is_value =
        matches!(reason, Some(SessionRejectReason::ValueIncorrect | SessionRejectReason::IncorrectDataFormat));
    let key = match field.members.is_empty() {
        true if is_value => "value",
        false if tag != Some(field.tag) => "entries",
        _ => "tag",
    };
    format!("{place}.{key}")
}

fn reason_of(fault: CheckFault, added: Option<&ExtraField>) -> String {
    let CheckFault::Dictionary(in_message) = fault else { return fault.to_string() };
    let tag = in_message.tag.map_or_else(String::new, |tag| tag.to_string());
    match (in_message.reason, added) {
        // Of tags that the version has on the message, members of groups alone are none of its fields.
        (SessionRejectReason::TagNotDefinedForMessage, Some(field)) if field.members.is_empty() => {
            format!("{tag} stands in a repeating group alone: [[groups]]")
        }
        (SessionRejectReason::TagNotDefinedForMessage, Some(field)) => {
            format!("{tag} does not belong to the group {}", field.tag)
        }
        (SessionRejectReason::IncorrectGroupCount, Some(field)) if field.members.is_empty() => {
            format!("{tag} counts a repeating group: [[groups]]")
        }
        (SessionRejectReason::IncorrectGroupCount, Some(_)) => {
            format!("the entries of {tag} do not begin with its first field, or have one that does not belong there")
        }
        (SessionRejectReason::RequiredTagMissing, None) => format!("{tag} is missing"),
        _ => fault.to_string(),
    }
}
