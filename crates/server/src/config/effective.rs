//! Effective configuration: the winning entry of each key, with its origin.

use std::collections::BTreeMap;

use super::entry::{ConfigEntry, ConfigOrigin, RawConfig};
use super::key::Key;
use super::profile::ConfigProfile;
use super::setting::Setting;
use crate::input_problem::Problems;
use crate::nearest::hint;

/// Every key with its value as text, in the order of the table.
#[derive(Debug, Clone)]
pub struct Effective {
    pub lines: Vec<ConfigLine>,
    pub profiles: Vec<&'static ConfigProfile>,
    /// Entries that have no effect and do no harm.
    pub notices: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct ConfigLine {
    pub key: &'static Key,
    text: String,
    pub origin: ConfigOrigin,
}

impl ConfigLine {
    pub fn shown(&self) -> &str {
        if self.key.secret && !self.text.is_empty() { "***" } else { &self.text }
    }
}

/// Reads texts as values: every key is read once, every problem is collected.
pub(super) struct ConfigReader {
    keys: &'static [Key],
    winners: BTreeMap<String, ConfigEntry>,
    done: Effective,
    problems: Problems,
}

impl ConfigReader {
    pub(super) fn from_raw(raw: RawConfig, keys: &'static [Key]) -> Self {
        let (mut winners, mut problems) = (BTreeMap::new(), raw.problems);
        for written in raw.written {
            if keys.iter().any(|key| key.name == written.name) {
                winners.insert(written.name.clone(), written);
            } else {
                let hint = hint(&written.name, keys.iter().map(|key| key.name));
                problems.add(&written.origin, format!("unknown key '{}'{hint}", written.name));
            }
        }
        let done = Effective { lines: Vec::new(), profiles: raw.profiles, notices: raw.notices };
        Self { keys, winners, done, problems }
    }

    /// The value of a key, or `None` and a problem.
    pub(super) fn value<T: Setting>(&mut self, name: &str) -> Option<T> {
        let key = self.keys.iter().find(|key| key.name == name)?;
        let default =
            || ConfigEntry { name: name.to_owned(), text: key.default.to_owned(), origin: ConfigOrigin::Default };
        let ConfigEntry { text, origin, .. } = self.winners.remove(name).unwrap_or_else(default);
        match T::parse(&text) {
            Ok(value) => {
                self.done.lines.push(ConfigLine { key, text: value.show(), origin });
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
    use super::super::setting::Literal;
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
        let line = |text: &str| ConfigLine { key: &PASSWORD, text: text.to_owned(), origin: ConfigOrigin::Default };
        assert_eq!(line("open sesame").shown(), "***");
        assert_eq!(line("").shown(), "");
    }
}
