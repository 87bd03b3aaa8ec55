//! Tags that the platform sets on a message: what a dialect adds, or passes on from a client, never takes their place, and no tag stands on a
//! message twice.

use fix::tag::Tag;

use super::added_fields::{ExtraField, is_never_passed};
use super::model::Dialect;
use super::section::{Problems, Section};

/// Account (1) follows from the order too, where the dialect has it.
const ACCOUNT: Tag = 1;

/// A message would be refused, each time, before it is sent.
pub(super) fn check_added(dialect: &Dialect, root: &Section<'_>, problems: &mut Problems<'_>) {
    let mut seen = Vec::new();
    for (key, added) in [("fields", &dialect.fields), ("groups", &dialect.groups)] {
        // Those that cannot be read were told before, and the others cannot be found by their place then.
        let sections = root.sections(key, &mut Problems::new(""));
        for (field, section) in added.iter().zip(&sections).filter(|_| added.len() == sections.len()) {
            check_field(dialect, field, section, &mut seen, problems);
        }
    }
}

/// `seen` has what stands on each message so far.
fn check_field(
    dialect: &Dialect,
    field: &ExtraField,
    section: &Section<'_>,
    seen: &mut Vec<(String, Tag)>,
    problems: &mut Problems<'_>,
) {
    let mut tags: Vec<Tag> = field.tags().collect();
    tags.sort_unstable();
    tags.dedup();
    for tag in tags {
        let key = if tag == field.tag { "tag" } else { "entries" };
        if let Some(message) = field.messages.iter().find(|message| tags_on(dialect, message).contains(&tag)) {
            section.refuse::<()>(key, &format!("{tag} is set by the platform on {message}"), problems);
        }
        let is_known = |message: &&String| seen.iter().any(|(on, known)| on == *message && *known == tag);
        if let Some(message) = field.messages.iter().find(is_known) {
            section.refuse::<()>(key, &format!("{tag} stands on {message} twice"), problems);
        }
        seen.extend(field.messages.iter().map(|message| (message.clone(), tag)));
    }
}

/// Besides those that are its own on every message.
fn tags_on(dialect: &Dialect, msg_type: &str) -> Vec<Tag> {
    let account = dialect.orders.account.then_some(ACCOUNT);
    match msg_type {
        "D" | "G" => account.into_iter().chain(dialect.orders.properties.tags()).collect(),
        "F" => account.into_iter().collect(),
        "AF" => dialect.recovery.ended_orders_tag.into_iter().collect(),
        "AD" => [568, 569, 580, 75].into_iter().chain(dialect.recovery.fills_limit_tag).collect(),
        "AN" => vec![ACCOUNT, 581, 710, 715, 724],
        "V" => vec![146, 262, 263, 264, 265, 266, 267, 269],
        "x" => vec![263, 320, 559],
        "e" => vec![263, 324],
        _ => Vec::new(),
    }
}

/// What a client sends never takes the place of what the platform sets.
pub(super) fn check_pass_through(dialect: &Dialect, section: &Section<'_>, problems: &mut Problems<'_>) {
    let mut seen = Vec::new();
    let mut own: Vec<Tag> = dialect.orders.properties.tags().collect();
    own.push(ACCOUNT);
    own.extend(dialect.added().flat_map(ExtraField::tags));
    for tag in &dialect.orders.pass_through {
        if is_never_passed(*tag) || own.contains(tag) {
            section.refuse::<()>("passThrough", &format!("{tag} is set by the platform"), problems);
        }
        if seen.contains(tag) {
            section.refuse::<()>("passThrough", &format!("{tag} stands here twice"), problems);
        }
        seen.push(*tag);
    }
}
