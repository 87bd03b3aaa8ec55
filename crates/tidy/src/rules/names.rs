//! Names: one meaning in the whole workspace, and the field's words instead of metaphors.

use std::collections::BTreeMap;

use crate::rust_text::blanked;
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

/// What a module of any crate may call its own.
const USUAL_TYPES: [&str; 6] = ["Args", "Error", "Limits", "Metrics", "Settings", "State"];

/// So many type names may be defined more than once where they are private to their crate. The number only falls.
const SHARED_PRIVATE_TYPES_MAX: usize = 60;

/// Metaphors that once stood where the field has a word. Spelled as a word of an identifier, in small letters.
const METAPHORS: [&str; 23] = [
    "bell",
    "bystander",
    "chair",
    "clerk",
    "courier",
    "crew",
    "desk",
    "diary",
    "door",
    "doorman",
    "doors",
    "guest",
    "herald",
    "house",
    "knock",
    "meddler",
    "onlooker",
    "parcel",
    "seat",
    "seats",
    "sentry",
    "shelf",
    "witness",
];

/// Neither heads of files nor log lines speak of people: they name the client, the thread, the venue.
const PEOPLE: [&str; 4] = ["he", "nobody", "somebody", "whoever"];

const TYPE_KEYWORDS: [&str; 5] = ["enum", "struct", "trait", "type", "union"];
const OTHER_KEYWORDS: [&str; 4] = ["const", "fn", "mod", "static"];

/// A name that a file defines.
struct Definition {
    name: String,
    line: usize,
    is_type: bool,
    is_public: bool,
}

/// Two public types never share a name, and few private ones do.
pub fn type_names_are_unique(tree: &Tree) -> Vec<Violation> {
    let mut places: BTreeMap<String, Vec<(String, usize, bool)>> = BTreeMap::new();
    for file in production(tree) {
        let types = definitions(file).into_iter().filter(|definition| definition.is_type);
        for found in types.filter(|found| !USUAL_TYPES.contains(&found.name.as_str())) {
            places.entry(found.name).or_default().push((file.path.clone(), found.line, found.is_public));
        }
    }
    places.retain(|_, places| places.len() > 1);
    let mut violations: Vec<_> = places.iter().filter_map(|(name, places)| shared_publicly(name, places)).collect();
    if places.len() > SHARED_PRIVATE_TYPES_MAX {
        let names: Vec<_> = places.keys().map(String::as_str).collect();
        let what = format!("{} type names are defined more than once: {}", names.len(), names.join(" "));
        violations.push(Violation::new("crates", 1, what));
    }
    violations
}

fn shared_publicly(name: &str, places: &[(String, usize, bool)]) -> Option<Violation> {
    let mut public = places.iter().filter(|(_, _, is_public)| *is_public);
    let ((first, ..), (path, line, _)) = (public.next()?, public.next()?);
    Some(Violation::new(path, *line, format!("the public type `{name}` is defined in {first} too")))
}

/// Identifiers, heads of files and log lines use the field's words.
pub fn names_are_of_the_field(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.texts().filter(|file| file.path.starts_with("crates/") && file.has_extension("rs")) {
        let stem = file.name().trim_end_matches(".rs");
        violations
            .extend(metaphor(stem).map(|word| Violation::new(&file.path, 1, format!("a file named for a {word}"))));
        for found in definitions(file) {
            let what = metaphor(&found.name).map(|word| format!("`{}` is named for a {word}", found.name));
            violations.extend(what.map(|what| Violation::new(&file.path, found.line, what)));
        }
        violations.extend(prose(file));
    }
    violations
}

fn prose(file: &TextFile) -> impl Iterator<Item = Violation> + '_ {
    let is_checked = |line: &str| line.starts_with("//!") || is_log_line(line.trim_start());
    file.numbered_lines().filter(move |(_, line)| is_checked(line)).filter_map(|(number, line)| {
        let word = line.split(|c: char| !c.is_alphanumeric()).find(|word| is_out_of_place(word))?;
        Some(Violation::new(&file.path, number, format!("`{word}` says too little: name the part of the system")))
    })
}

fn is_log_line(line: &str) -> bool {
    ["tracing::", "error!(", "warn!(", "info!("].iter().any(|start| line.starts_with(start)) && line.contains('"')
}

fn is_out_of_place(word: &str) -> bool {
    let word = word.to_lowercase();
    METAPHORS.contains(&word.as_str()) || PEOPLE.contains(&word.as_str())
}

fn metaphor(name: &str) -> Option<&'static str> {
    let words = words(name);
    METAPHORS.into_iter().find(|metaphor| words.iter().any(|word| word == metaphor))
}

/// `OrderDesk`, `order_desk` and `ORDER_DESK` are two words each.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = c.is_lowercase();
        if let (true, Some(word)) = (c != '_', words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}

fn production(tree: &Tree) -> impl Iterator<Item = &TextFile> {
    let is_production = |path: &str| path.starts_with("crates/") && path.contains("/src/") && !path.contains("test");
    tree.texts().filter(move |file| is_production(&file.path) && file.has_extension("rs"))
}

/// Everything up to the tests of the file; a test's own helpers may be named as it likes.
fn definitions(file: &TextFile) -> Vec<Definition> {
    let code: String = blanked(&file.text).into_iter().collect();
    let tests = code.find("#[cfg(test)]\nmod ").unwrap_or(code.len());
    let lines = code[..tests].lines().enumerate();
    lines.filter_map(|(index, line)| definition(line, index + 1)).collect()
}

/// The name that a line defines. A `type` that stands indented belongs to an implementation.
fn definition(line: &str, number: usize) -> Option<Definition> {
    let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let keyword = words.find(|word| TYPE_KEYWORDS.contains(word) || OTHER_KEYWORDS.contains(word))?;
    let name = words.find(|word| *word != "mut" && *word != "fn")?.to_owned();
    let is_of_implementation = keyword == "type" && line.starts_with(' ');
    let is_type = TYPE_KEYWORDS.contains(&keyword) && !is_of_implementation && name.starts_with(char::is_uppercase);
    Some(Definition { name, line: number, is_type, is_public: line.trim_start().starts_with("pub ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    #[test]
    fn a_public_type_is_defined_once() {
        let tree = Tree::from_texts(&[
            (
                "crates/a/src/lib.rs",
                "pub struct Session;\npub enum Error {}\n#[cfg(test)]\nmod tests { pub struct Line; }",
            ),
            ("crates/b/src/lib.rs", "struct Session;\npub enum Error {}\npub trait Line {}"),
            ("crates/c/src/lib.rs", "//! Lines.\npub(crate) struct Line;\npub struct Session<T>(T);"),
        ]);
        let expected = "crates/c/src/lib.rs:3: the public type `Session` is defined in crates/a/src/lib.rs too";
        assert_eq!(report(type_names_are_unique(&tree)), expected);
    }

    #[test]
    fn a_type_of_an_implementation_is_no_definition() {
        let text = "impl Iterator for A {\n    type Item = u8;\n}\nimpl Iterator for B {\n    type Item = u8;\n}";
        assert_eq!(type_names_are_unique(&Tree::from_texts(&[("crates/a/src/lib.rs", text)])), []);
    }

    #[test]
    fn metaphors_are_found_in_names_heads_and_log_lines() {
        let text = "//! For whoever asks.\nfn open_desk() {\n    tracing::warn!(\"Desk is away\");\n}\n";
        let violations = report(names_are_of_the_field(&Tree::from_texts(&[("crates/a/src/lib.rs", text)])));
        let expected = [
            "crates/a/src/lib.rs:1: `whoever` says too little: name the part of the system",
            "crates/a/src/lib.rs:2: `open_desk` is named for a desk",
            "crates/a/src/lib.rs:3: `Desk` says too little: name the part of the system",
        ];
        assert_eq!(violations, expected.join("\n"));
    }
}
