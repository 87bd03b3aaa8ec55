//! Cargo manifests, as far as the rules need them: sections of `key = value` lines.

use crate::tree::TextFile;

/// One line of a manifest with its section.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ManifestEntry<'a> {
    pub(crate) line: usize,
    pub(crate) section: &'a str,
    pub(crate) key: &'a str,
    pub(crate) value: &'a str,
}

/// Every `key = value` line, in order; an array over several lines gives only its first line.
pub(crate) fn entries(manifest: &TextFile) -> Vec<ManifestEntry<'_>> {
    let mut section = "";
    let mut found = Vec::new();
    for (line, text) in manifest.numbered_lines() {
        if let Some(name) = section_name(text) {
            section = name;
        } else if let Some((key, value)) = text.split_once('=').filter(|_| !text.starts_with([' ', '#'])) {
            found.push(ManifestEntry { line, section, key: key.trim(), value: value.trim() });
        }
    }
    found
}

/// Every line of every value, with the key that the value belongs to and without comments: arrays and tables are read whole.
pub(crate) fn value_lines(manifest: &TextFile) -> Vec<ManifestEntry<'_>> {
    let (mut section, mut key, mut open) = ("", "", 0);
    let mut found = Vec::new();
    for (line, text) in manifest.numbered_lines() {
        let (text, opened) = without_comment(text);
        let value = if open > 0 {
            text
        } else if let Some(name) = section_name(text) {
            section = name;
            continue;
        } else if let Some((name, value)) = text.split_once('=') {
            key = name.trim();
            value
        } else {
            continue;
        };
        open += opened;
        found.push(ManifestEntry { line, section, key, value: value.trim() });
    }
    found
}

/// The line up to its comment, and how many more brackets are open behind it.
fn without_comment(line: &str) -> (&str, i32) {
    let (mut quote, mut open) = (None, 0);
    for (place, sign) in line.char_indices() {
        match (quote, sign) {
            (Some(end), _) => quote = Some(end).filter(|end| *end != sign),
            (None, '"' | '\'') => quote = Some(sign),
            (None, '#') => return (&line[..place], open),
            (None, '[' | '{') => open += 1,
            (None, ']' | '}') => open -= 1,
            (None, _) => {}
        }
    }
    (line, open)
}

/// Dependencies of the crate: names and lines of `[dependencies]` and `[build-dependencies]`, also those for one target
/// only. Dependencies of tests are not part of the crate table.
pub(crate) fn dependencies(manifest: &TextFile) -> Vec<(usize, &str)> {
    let mut found: Vec<(usize, &str)> = entries(manifest)
        .into_iter()
        .filter(|entry| is_dependency_section(entry.section))
        .map(|entry| (entry.line, entry.key.split('.').next().unwrap_or(entry.key)))
        .collect();
    let tables = manifest.numbered_lines().filter_map(|(line, text)| {
        let (section, name) = section_name(text)?.rsplit_once('.')?;
        (is_dependency_section(section)).then_some((line, name))
    });
    found.extend(tables);
    found
}

fn section_name(line: &str) -> Option<&str> {
    line.trim().strip_prefix('[')?.strip_suffix(']')
}

fn is_dependency_section(section: &str) -> bool {
    let last = section.rsplit('.').next().unwrap_or(section);
    matches!(last, "dependencies" | "build-dependencies") && !section.starts_with("workspace")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_found_in_every_spelling() {
        let manifest = TextFile {
            path: "Cargo.toml".to_owned(),
            text: "[dependencies]\ndomain.workspace = true\n# serde = \"1\"\ntokio = { workspace = true }\n\
                   [dependencies.csv]\nversion = \"1\"\n\
                   [target.'cfg(unix)'.dependencies]\nrustix = \"1\"\n\
                   [dev-dependencies]\nproptest = \"1\"\n"
                .to_owned(),
        };
        let mut found: Vec<&str> = dependencies(&manifest).into_iter().map(|(_, name)| name).collect();
        found.sort_unstable();
        assert_eq!(found, ["csv", "domain", "rustix", "tokio"]);
    }

    #[test]
    fn a_value_is_read_up_to_its_end() {
        let manifest = TextFile {
            path: "Cargo.toml".to_owned(),
            text:
                "[features] # of tests\n# fast = []\ndefault = [\n  \"fast#1\", # and [\n  \"slow]\",\n]\nfast = []\n\
                   [dependencies]\ncsv = { features = [\n'a'] }\n"
                    .to_owned(),
        };
        let read = value_lines(&manifest);
        let read: Vec<_> = read.iter().map(|entry| (entry.line, entry.section, entry.key, entry.value)).collect();
        assert_eq!(
            read,
            [
                (3, "features", "default", "["),
                (4, "features", "default", "\"fast#1\","),
                (5, "features", "default", "\"slow]\","),
                (6, "features", "default", "]"),
                (7, "features", "fast", "[]"),
                (9, "dependencies", "csv", "{ features = ["),
                (10, "dependencies", "csv", "'a'] }"),
            ]
        );
    }
}
