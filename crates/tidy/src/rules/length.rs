//! Functions, files and folders stay short: 70 lines, 500 lines and a dozen files, with a reason beside each exception.

use std::collections::BTreeMap;

use crate::rust_text::{Function, functions};
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 500;
/// Beside the root of the module or crate.
const FOLDER_FILES_MAX: usize = 12;

/// The list of exceptions: one a line, `path: reason` for a file and `path fn name: reason` for a function.
const ALLOW_LIST: &str = "crates/tidy/allow.txt";
/// With more exceptions than this, the rule itself needs a review.
const EXCEPTIONS_MAX: usize = 10;

pub fn functions_and_files_are_short(tree: &Tree) -> Vec<Violation> {
    let exceptions = tree.text(ALLOW_LIST).map(exceptions).unwrap_or_default();
    let mut offenders = Vec::new();
    for file in tree.texts().filter(|file| file.has_extension("rs")) {
        offenders.extend(long_file(file));
        offenders.extend(functions(&file.text).iter().filter_map(|function| long_function(file, function)));
    }
    offenders.extend(full_folders(tree));
    let mut violations = invalid_exceptions(&exceptions, &offenders);
    offenders.retain(|(subject, _)| !exceptions.contains_key(subject));
    violations.extend(offenders.into_iter().map(|(_, complaint)| complaint));
    violations
}

/// The subject of an exception, with its line and its reason.
fn exceptions(list: &TextFile) -> BTreeMap<String, (usize, String)> {
    let entries = list.numbered_lines().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let parse = |(number, line): (usize, &str)| {
        let (subject, reason) = line.split_once(':').unwrap_or((line, ""));
        (subject.trim().to_owned(), (number, reason.trim().to_owned()))
    };
    entries.map(parse).collect()
}

fn long_file(file: &TextFile) -> Option<(String, Violation)> {
    let lines = file.text.lines().count();
    let what = format!("the file has {lines} lines, more than {FILE_LINES_MAX}");
    (lines > FILE_LINES_MAX).then(|| (file.path.clone(), Violation::new(&file.path, 1, what)))
}

/// Folders of sources with too many files to read as one subject.
fn full_folders(tree: &Tree) -> impl Iterator<Item = (String, Violation)> {
    let mut folders = BTreeMap::<&str, usize>::new();
    for file in tree.texts().filter(|file| file.has_extension("rs") && file.path.contains("/src/")) {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or_default();
        let is_root = ["lib.rs", "main.rs", "mod.rs"].contains(&name);
        *folders.entry(folder).or_default() += usize::from(!is_root);
    }
    folders.into_iter().filter(|(_, files)| *files > FOLDER_FILES_MAX).map(|(folder, files)| {
        let what = format!("the folder has {files} files, more than {FOLDER_FILES_MAX}");
        (folder.to_owned(), Violation::new(folder, 1, what))
    })
}

fn long_function(file: &TextFile, function: &Function) -> Option<(String, Violation)> {
    let Function { name, first_line, .. } = function;
    let what = format!("`{name}` has {} lines, more than {FUNCTION_LINES_MAX}", function.lines());
    let subject = format!("{} fn {name}", file.path);
    (function.lines() > FUNCTION_LINES_MAX).then(|| (subject, Violation::new(&file.path, *first_line, what)))
}

/// Exceptions without a reason, that are no longer needed, or that are too many.
fn invalid_exceptions(
    exceptions: &BTreeMap<String, (usize, String)>,
    offenders: &[(String, Violation)],
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (subject, (line, reason)) in exceptions {
        if reason.is_empty() {
            violations.push(Violation::new(ALLOW_LIST, *line, format!("`{subject}` gives no reason")));
        }
        if !offenders.iter().any(|(offender, _)| offender == subject) {
            violations.push(Violation::new(ALLOW_LIST, *line, format!("`{subject}` is short enough: strike it out")));
        }
    }
    if exceptions.len() > EXCEPTIONS_MAX {
        let what = format!("{} exceptions, more than {EXCEPTIONS_MAX}", exceptions.len());
        violations.push(Violation::new(ALLOW_LIST, 1, what));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    fn function_of(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    fn check(files: &[(&str, &str)]) -> String {
        report(functions_and_files_are_short(&Tree::from_texts(files)))
    }

    #[test]
    fn seventy_lines_pass_and_seventy_one_do_not() {
        assert_eq!(check(&[("a.rs", &function_of(70))]), "");
        assert_eq!(check(&[("a.rs", &function_of(71))]), "a.rs:1: `long` has 71 lines, more than 70");
    }

    #[test]
    fn a_file_over_five_hundred_lines_is_named() {
        assert_eq!(check(&[("a.rs", &"// a\n".repeat(500))]), "");
        assert_eq!(check(&[("a.rs", &"// a\n".repeat(501))]), "a.rs:1: the file has 501 lines, more than 500");
    }

    #[test]
    fn a_folder_of_a_dozen_files_beside_its_root_passes_and_one_more_does_not() {
        let folder = |files: usize| -> Vec<String> {
            (0..files).map(|number| format!("a/src/b/{number}.rs")).chain(["a/src/b/mod.rs".to_owned()]).collect()
        };
        let check_folder = |files| check(&folder(files).iter().map(|path| (path.as_str(), "")).collect::<Vec<_>>());
        assert_eq!(check_folder(12), "");
        assert_eq!(check_folder(13), "a/src/b:1: the folder has 13 files, more than 12");
    }

    #[test]
    fn an_exception_needs_a_reason() {
        let long = function_of(80);
        assert_eq!(check(&[("a.rs", &long), (ALLOW_LIST, "a.rs fn long: one table\n")]), "");
        let unexplained = check(&[("a.rs", &long), (ALLOW_LIST, "a.rs fn long:\n")]);
        assert_eq!(unexplained, "crates/tidy/allow.txt:1: `a.rs fn long` gives no reason");
    }

    #[test]
    fn an_exception_that_is_not_needed_is_a_violation() {
        let complaint = check(&[("a.rs", "fn a() {}\n"), (ALLOW_LIST, "# heading\na.rs: it was long\n")]);
        assert_eq!(complaint, "crates/tidy/allow.txt:2: `a.rs` is short enough: strike it out");
    }
}
