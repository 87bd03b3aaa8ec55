//! Settings file as written: sections of `Name=value` lines.

use std::fmt;

#[derive(Debug, Default)]
pub(super) struct RawSettings {
    pub default: RawSection,
    pub sessions: Vec<RawSection>,
}

#[derive(Debug, Default)]
pub(super) struct RawSection {
    /// Line of its `[…]`.
    pub line: usize,
    pub entries: Vec<RawEntry>,
}

#[derive(Debug)]
pub(super) struct RawEntry {
    pub line: usize,
    pub name: String,
    pub value: String,
}

/// Comments begin with `#`; the last value in a section wins, as in QuickFIX.
pub(super) fn read(text: &str) -> Result<RawSettings, Vec<SettingsError>> {
    let mut settings = RawSettings::default();
    let mut errors = Vec::new();
    let mut in_section = false;
    for (line, content) in text.lines().map(str::trim).enumerate().map(|(at, line)| (at + 1, line)) {
        match content {
            _ if content.is_empty() || content.starts_with('#') => {}
            _ if content.eq_ignore_ascii_case("[DEFAULT]") => in_section = begin_default(&mut settings),
            _ if content.eq_ignore_ascii_case("[SESSION]") => {
                settings.sessions.push(RawSection { line, entries: Vec::new() });
                in_section = true;
            }
            _ => match content.split_once('=').filter(|_| in_section) {
                Some((name, value)) => {
                    let entry = RawEntry { line, name: name.trim().to_owned(), value: value.trim().to_owned() };
                    settings.sessions.last_mut().unwrap_or(&mut settings.default).entries.push(entry);
                }
                None => errors
                    .push(SettingsError::new(line, format!("`{content}` is no [DEFAULT], [SESSION] or Name=value"))),
            },
        }
    }
    if errors.is_empty() { Ok(settings) } else { Err(errors) }
}

/// A second `[DEFAULT]` after sessions would be read into the last of them; it must come first.
fn begin_default(settings: &mut RawSettings) -> bool {
    settings.sessions.is_empty()
}

/// An error, and its line in the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SettingsError {
    pub line: usize,
    pub reason: String,
}

impl SettingsError {
    pub(super) fn new(line: usize, reason: String) -> Self {
        Self { line, reason }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for SettingsError {}
