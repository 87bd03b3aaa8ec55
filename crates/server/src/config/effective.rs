//! Effective configuration: the winning entry of each key, with its origin.

use std::collections::BTreeMap;

use adapters::venue_type::{SettingForm, VenueSetting};

use crate::config::keys::key::Key;
use crate::config::sources::entry::{ConfigEntry, ConfigOrigin, RawConfig};
use crate::config::sources::profile::ConfigProfile;
use crate::config::values::setting::{Literal, Setting};
use crate::input_problem::Problems;
use wire::nearest::hint;

/// Entries that begin with this are settings of venues.
pub(super) const VENUE_PREFIX: &str = "venues.";

/// Every key with its value as text, in the order of the table.
#[derive(Debug, Clone)]
pub struct Effective {
    pub lines: Vec<ConfigLine>,
    pub profiles: Vec<&'static ConfigProfile>,
    /// Entries that have no effect and do no harm.
    pub notices: Vec<String>,
}

/// A key, or a setting of a venue, with its value.
#[derive(Debug, Clone)]
pub struct ConfigLine {
    pub name: String,
    /// What it does, in lines.
    pub doc: Vec<&'static str>,
    pub is_list: bool,
    is_secret: bool,
    text: String,
    pub origin: ConfigOrigin,
}

impl ConfigLine {
    fn of_key(key: &'static Key, text: String, origin: ConfigOrigin) -> Self {
        let (is_list, is_secret) = (key.literal == Literal::List, key.secret);
        Self { name: key.name.to_owned(), doc: key.doc().collect(), is_list, is_secret, text, origin }
    }

    /// No setting of a venue is a secret: those have files of their own.
    pub(super) fn of_venue(venue: &str, setting: &VenueSetting, text: String, origin: ConfigOrigin) -> Self {
        let is_list = matches!(setting.form, SettingForm::List(_));
        let name = format!("venues.{venue}.{}", setting.key);
        Self { name, doc: vec![setting.doc], is_list, is_secret: false, text, origin }
    }

    pub fn shown(&self) -> &str {
        if self.is_secret && !self.text.is_empty() { "***" } else { &self.text }
    }
}

/// Reads texts as values: every key is read once, every problem is collected.
pub(crate) struct ConfigReader {
    keys: Vec<&'static Key>,
    winners: BTreeMap<String, ConfigEntry>,
    /// Settings of venues, unchecked.
    venue_entries: Vec<ConfigEntry>,
    done: Effective,
    pub(super) problems: Problems,
}

impl ConfigReader {
    pub(super) fn from_raw(raw: RawConfig, keys: Vec<&'static Key>) -> Self {
        let (mut winners, mut problems) = (BTreeMap::new(), raw.problems);
        let (venue_entries, written): (Vec<_>, _) =
            raw.written.into_iter().partition(|written| written.name.starts_with(VENUE_PREFIX));
        for written in written {
            if keys.iter().any(|key| key.name == written.name) {
                winners.insert(written.name.clone(), written);
            } else {
                let hint = hint(&written.name, keys.iter().map(|key| key.name));
                problems.add(&written.origin, format!("unknown key '{}'{hint}", written.name));
            }
        }
        let done = Effective { lines: Vec::new(), profiles: raw.profiles, notices: raw.notices };
        Self { keys, winners, venue_entries, done, problems }
    }

    pub(super) fn take_venue_entries(&mut self) -> Vec<ConfigEntry> {
        std::mem::take(&mut self.venue_entries)
    }

    pub(super) fn add_problem(&mut self, origin: &ConfigOrigin, reason: String) {
        self.problems.add(origin, reason);
    }

    pub(super) fn add_lines(&mut self, lines: impl IntoIterator<Item = ConfigLine>) {
        self.done.lines.extend(lines);
    }

    /// The text and origin of a key that was read.
    pub(super) fn line(&self, name: &str) -> Option<(&str, &ConfigOrigin)> {
        self.done.lines.iter().find(|line| line.name == name).map(|line| (line.text.as_str(), &line.origin))
    }

    /// The value of a key, or `None` and a problem.
    pub(super) fn value<T: Setting>(&mut self, name: &str) -> Option<T> {
        let key = *self.keys.iter().find(|key| key.name == name)?;
        let default =
            || ConfigEntry { name: name.to_owned(), text: key.default.to_owned(), origin: ConfigOrigin::Default };
        let ConfigEntry { text, origin, .. } = self.winners.remove(name).unwrap_or_else(default);
        match T::parse(&text) {
            Ok(value) => {
                self.done.lines.push(ConfigLine::of_key(key, value.show(), origin));
                Some(value)
            }
            Err(reason) => {
                self.problems.add(origin, format!("{name}: {reason}"));
                None
            }
        }
    }

    pub(super) fn finish(self) -> Result<Effective, Problems> {
        self.problems.none_or(self.done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Password(String);

    impl Setting for Password {
        const LITERAL: Literal = Literal::Quoted;
        const SECRET: bool = true;

        fn shape() -> String {
            "a password".to_owned()
        }

        fn parse(text: &str) -> Result<Self, String> {
            Ok(Self(text.to_owned()))
        }

        fn show(&self) -> String {
            self.0.clone()
        }
    }

    #[test]
    fn a_secret_is_never_shown() {
        static PASSWORD: Key = Key::of::<Option<Password>>("venue.password", "", &[" Password at the venue."]);
        let line = |text: &str| ConfigLine::of_key(&PASSWORD, text.to_owned(), ConfigOrigin::Default);
        assert_eq!(line("open sesame").shown(), "***");
        assert_eq!(line("").shown(), "");
    }
}
