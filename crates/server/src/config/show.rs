//! Printed configuration: parameters, table, sample file.

use std::collections::BTreeMap;
use std::fmt::Write;

use adapters::venue_type::{COMMON_SETTINGS, SettingForm, VenueSetting};

use super::effective::ConfigLine;
use super::keys::{Config, all_keys};
use crate::config::keys::key::Key;
use crate::config::sources::profile::PROFILES;
use crate::config::values::setting::{BETWEEN_ITEMS, Literal};
use crate::venues::venue_types;

pub const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Config {
    /// Every effective parameter, for `/config-params`.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        let lines = self.effective.lines.iter().map(|line| (line.name.clone(), line.shown().to_owned()));
        let fixed = [("product.version".to_owned(), VERSION.to_owned()), ("profiles".to_owned(), self.profiles())];
        lines.chain(fixed).collect()
    }

    fn profiles(&self) -> String {
        self.effective.profiles.iter().map(|profile| profile.name).collect::<Vec<_>>().join(",")
    }

    /// Every key with its value, origin and description, for `rialto check-config`.
    pub fn table(&self) -> String {
        self.effective.lines.iter().map(described).collect()
    }
}

/// `key = value  (origin)` and the description below it; lists have a line for each item.
fn described(line: &ConfigLine) -> String {
    let items: Vec<&str> = if line.is_list { line.shown().split(BETWEEN_ITEMS).collect() } else { vec![line.shown()] };
    let value = match items[..] {
        [""] => "not set".to_owned(),
        [single] => single.to_owned(),
        _ => items.iter().map(|item| format!("\n    {item}")).collect(),
    };
    let mut text = format!("{} = {value}  ({})\n", line.name, line.origin);
    for row in wrapped(line.doc.iter().copied(), WIDTH - INDENT.len()) {
        writeln!(text, "{INDENT}{row}").expect("a string takes every text");
    }
    text
}

/// Columns of `rialto check-config`: a terminal's width.
const WIDTH: usize = 100;
const INDENT: &str = "      ";

fn wrapped<'a>(lines: impl Iterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in lines.flat_map(str::split_whitespace) {
        match rows.last_mut() {
            Some(row) if row.len() + 1 + word.len() <= width => *row += &format!(" {word}"),
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}

/// A commented file with every key at its default.
pub fn sample() -> String {
    let mut sample = HEADING.to_owned();
    for profile in PROFILES {
        sample.push_str(&format!("#   {:12} {}\n", profile.name, profile.doc));
    }
    let mut section = "";
    for key in all_keys() {
        let (table, name) = key.name.split_once('.').unwrap_or(("", key.name));
        if table != section {
            sample.push_str(&format!("\n[{table}]\n"));
            section = table;
        }
        sample.push_str(&entry(key, name));
    }
    sample + &venues_sample()
}

/// A commented `[[venues]]` with the settings that all types have, and those of each type.
fn venues_sample() -> String {
    let mut sample = VENUES_HEADING.to_owned();
    sample.extend(COMMON_SETTINGS.iter().map(setting));
    for kind in venue_types::all() {
        sample.push_str(&format!("#\n# Type {}: {}.\n", kind.name(), kind.description()));
        sample.extend(kind.settings().iter().copied().flatten().map(setting));
    }
    sample
}

const VENUES_HEADING: &str = "
# Venues, one [[venues]] for each. A setting can also be given by a flag (--set venues.MAIN.latencyMicros=100) or by the
# environment (RIALTO_VENUES_MAIN_LATENCY_MICROS=100).
#
# [[venues]]
";

/// Columns of a line of the sample.
const SAMPLE_WIDTH: usize = 118;

fn setting(setting: &VenueSetting) -> String {
    let doc = wrapped([setting.doc].into_iter(), SAMPLE_WIDTH - "#   # ".len());
    let doc: String = doc.iter().map(|line| format!("#   # {line}\n")).collect();
    let blank = if setting.is_required { "" } else { ", or blank for none" };
    let blank = if setting.default.is_empty() { blank } else { "" };
    let shape = capitalised(&setting.form.to_string());
    format!("#\n{doc}#   # {shape}{blank}.\n#   {} = {}\n", setting.key, setting_literal(setting))
}

fn setting_literal(setting: &VenueSetting) -> String {
    let is_bare = matches!(setting.form, SettingForm::Switch | SettingForm::Whole(..) | SettingForm::Decimal(..));
    match setting.form {
        SettingForm::List(_) => list(setting.default),
        _ if is_bare && !setting.default.is_empty() => setting.default.to_owned(),
        _ => format!("\"{}\"", setting.default),
    }
}

fn list(text: &str) -> String {
    let items = text.split(BETWEEN_ITEMS).filter(|item| !item.is_empty());
    format!("[{}]", items.map(|item| format!("\"{item}\"")).collect::<Vec<_>>().join(", "))
}

const HEADING: &str = "\
# Every key of Rialto with its default. Take away the # before the ones you change.
#
#   rialto serve --config FILE
#
# Each key can also be given by a flag (--set http.port=0) or by the environment (RIALTO_HTTP_PORT=0). A flag wins over
# the environment, the environment over this file, this file over profiles. A blank text means: not set.
#
# With --config no profile is active unless --profile names it:
";

fn entry(key: &Key, name: &str) -> String {
    let doc: String = key.doc().map(|line| format!("# {line}\n")).collect();
    format!("\n{doc}# {}.\n#{name} = {}\n", capitalised(&key.shape()), literal(key))
}

/// The default in TOML; a blank text means "not set" for every key.
fn literal(key: &Key) -> String {
    match key.literal {
        Literal::List => list(key.default),
        Literal::Bare if !key.default.is_empty() => key.default.to_owned(),
        Literal::Bare | Literal::Quoted => format!("\"{}\"", key.default),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
