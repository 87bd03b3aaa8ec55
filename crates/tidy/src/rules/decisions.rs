//! Decisions are numbered without gaps and listed in the folder's README.

use crate::markdown::links;
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const FOLDER: &str = "docs/decisions/";
const LIST: &str = "docs/decisions/README.md";

pub fn decisions_are_numbered_and_listed(tree: &Tree) -> Vec<Violation> {
    let listed: Vec<String> = tree.text(LIST).map(links).into_iter().flatten().map(|link| link.target).collect();
    let mut violations = Vec::new();
    for (index, file) in decisions(tree).enumerate() {
        let expected = index + 1;
        if number(file.name()) != Some(expected) {
            violations.push(Violation::new(&file.path, 1, format!("should be number {expected:04}")));
        }
        if !listed.iter().any(|target| target == file.name()) {
            violations.push(Violation::new(LIST, 1, format!("does not list {}", file.name())));
        }
    }
    violations
}

/// The decision files, in the order of their names and so of their numbers.
fn decisions(tree: &Tree) -> impl Iterator<Item = &TextFile> {
    tree.texts().filter(|file| file.path.starts_with(FOLDER) && file.path != LIST && file.has_extension("md"))
}

/// `0007` of `0007-an-unknown-id.md`.
fn number(name: &str) -> Option<usize> {
    let (digits, _) = name.split_once('-')?;
    if digits.len() == 4 { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    fn check(list: &str, names: &[&str]) -> String {
        let paths: Vec<String> = names.iter().map(|name| format!("{FOLDER}{name}")).collect();
        let mut files = vec![(LIST, list)];
        files.extend(paths.iter().map(|path| (path.as_str(), "")));
        report(decisions_are_numbered_and_listed(&Tree::from_texts(&files)))
    }

    #[test]
    fn a_list_without_gaps_is_fine() {
        assert_eq!(check("[1](0001-a.md) [2](0002-b.md)", &["0001-a.md", "0002-b.md"]), "");
    }

    #[test]
    fn gaps_and_unlisted_decisions_are_named() {
        assert_eq!(
            check("[1](0001-a.md)", &["0001-a.md", "0003-c.md", "fourth.md"]),
            "docs/decisions/0003-c.md:1: should be number 0002\n\
             docs/decisions/README.md:1: does not list 0003-c.md\n\
             docs/decisions/README.md:1: does not list fourth.md\n\
             docs/decisions/fourth.md:1: should be number 0003"
        );
    }
}
