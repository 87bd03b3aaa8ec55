//! No mark of unfinished work is left in code: open work is an issue, not a comment.

use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

/// Split in halves, because this file is checked too.
const MARKS: [&str; 7] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("db", "g!("),
    concat!("#[ig", "nore"),
];

const CODE: [&str; 12] = ["rs", "toml", "sh", "py", "ts", "js", "mjs", "svelte", "css", "html", "sql", "cpp"];
const CODE_WITHOUT_EXTENSION: [&str; 2] = ["Makefile", ".ci/run"];

pub fn no_mark_is_left_over(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.texts().filter(|file| is_code(file)) {
        for (number, line) in file.numbered_lines() {
            let found = MARKS.into_iter().filter(|mark| contains_word(line, mark));
            violations.extend(found.map(|mark| Violation::new(&file.path, number, format!("`{mark}` is left over"))));
        }
    }
    violations
}

fn is_code(file: &TextFile) -> bool {
    CODE.iter().any(|extension| file.has_extension(extension))
        || CODE_WITHOUT_EXTENSION.iter().any(|name| file.path.ends_with(name))
}

/// A mark is a whole word: the same letters inside a longer word are allowed.
fn contains_word(line: &str, mark: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(mark).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + mark.len()..].chars().next();
        let goes_on = mark.ends_with(is_word) && after.is_some_and(is_word);
        !(goes_on || before.is_some_and(is_word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    #[test]
    fn each_mark_is_found_in_code() {
        for mark in MARKS {
            let text = format!("first\n// {mark} later\n");
            let violations = no_mark_is_left_over(&Tree::from_texts(&[("a.rs", &text)]));
            assert_eq!(report(violations), format!("a.rs:2: `{mark}` is left over"));
        }
    }

    #[test]
    fn longer_words_and_prose_are_not_marks() {
        let words = format!("{}_SIZE {}list a{}", MARKS[2], MARKS[0], MARKS[5]);
        assert_eq!(no_mark_is_left_over(&Tree::from_texts(&[("a.rs", &words), ("a.md", MARKS[0])])), []);
    }
}
