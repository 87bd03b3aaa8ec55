//! No file contains paths or registries of one machine.

use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

/// Split in halves, because this file is checked too.
const FOLDERS_OF_A_MACHINE: [&str; 3] = [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/")];

/// The prefix of a package address in a lock file, and the public registry that may follow.
const REGISTRIES: [(&str, &str); 3] = [
    ("source = \"registry+", "https://github.com/rust-lang/crates.io-index"),
    ("source = \"sparse+", "https://index.crates.io/"),
    ("\"resolved\": \"", "https://registry.npmjs.org/"),
];

/// Files that configure the package source belong to a machine.
const SETTINGS_OF_A_MACHINE: [&str; 3] = [".cargo/config.toml", "pip.conf", ".netrc"];

pub fn no_file_names_a_machine(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.texts() {
        if SETTINGS_OF_A_MACHINE.iter().any(|name| file.path == *name || file.path.ends_with(&format!("/{name}"))) {
            violations.push(Violation::new(&file.path, 1, format!("`{}` belongs to a machine", file.name())));
        }
        for (number, line) in file.numbered_lines() {
            violations.extend(npm_registry(file, line).map(|what| violation_at(file, number, what)));
            violations.extend(folder(line).or(private_registry(line)).map(|what| violation_at(file, number, what)));
        }
    }
    violations
}

fn violation_at(file: &TextFile, number: usize, what: String) -> Violation {
    Violation::new(&file.path, number, what)
}

/// A folder of a machine begins a path; inside a longer path or an address the same name is allowed.
fn folder(line: &str) -> Option<String> {
    let begins_path = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-/}".contains(c));
    let found = FOLDERS_OF_A_MACHINE.iter().find(|folder| line.match_indices(**folder).any(|(at, _)| begins_path(at)));
    found.map(|folder| format!("`{folder}` is a folder of one machine"))
}

fn private_registry(line: &str) -> Option<String> {
    REGISTRIES.iter().find_map(|(before, public)| {
        let (_, address) = line.split_once(before)?;
        (!address.starts_with(public)).then(|| format!("`{before}` is not followed by {public}"))
    })
}

/// An `.npmrc` may configure lock files, but not a registry.
fn npm_registry(file: &TextFile, line: &str) -> Option<String> {
    (file.name() == ".npmrc" && line.contains("registry=")).then(|| "a registry belongs to a machine".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    fn check(path: &str, text: &str) -> String {
        report(no_file_names_a_machine(&Tree::from_texts(&[(path, text)])))
    }

    #[test]
    fn public_registries_and_ordinary_paths_are_fine() {
        let lock = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
        assert_eq!(check("Cargo.lock", lock), "");
        let folder = FOLDERS_OF_A_MACHINE[2];
        assert_eq!(check("a.md", &format!("see .github{folder}flow and target/release/rialto\n")), "");
    }

    #[test]
    fn a_folder_of_one_machine_is_named() {
        for folder in FOLDERS_OF_A_MACHINE {
            let complaint = check("a.md", &format!("first\nsee {folder}notes.md\n"));
            assert_eq!(complaint, format!("a.md:2: `{folder}` is a folder of one machine"));
        }
    }

    #[test]
    fn a_private_registry_is_named() {
        let complaint = check("Cargo.lock", "source = \"registry+https://mirror.example/index\"\n");
        let public = "https://github.com/rust-lang/crates.io-index";
        assert_eq!(complaint, format!("Cargo.lock:1: `source = \"registry+` is not followed by {public}"));
        assert_eq!(
            check("ui/.npmrc", "omit-lockfile-registry-resolved=true\nregistry=https://mirror.example/\n"),
            "ui/.npmrc:2: a registry belongs to a machine"
        );
        assert_eq!(check(".cargo/config.toml", ""), ".cargo/config.toml:1: `config.toml` belongs to a machine");
    }
}
