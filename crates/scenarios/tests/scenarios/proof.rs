//! `docs/proof.md`: every command on it names a test or a target that is there.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The texts of all Rust files below a folder, with their paths, so that a filter may name a module.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            text += &sources(&entry);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            text += &format!("mod {}\n", entry.display().to_string().replace(['/', '.'], "::"));
            text += &fs::read_to_string(&entry).unwrap();
        }
    }
    text
}

/// A filter of names: part of a function's name, or modules.
fn is_there(sources: &str, filter: &str) -> bool {
    let names = filter.trim_end_matches("::");
    let is_function = sources.lines().any(|line| line.trim_start().starts_with("fn ") && line.contains(names));
    let is_module = sources.lines().any(|line| line.starts_with("mod ") && line.contains(&format!("::{names}")));
    is_function || is_module
}

#[test]
fn every_command_of_the_page_of_proofs_names_a_test() {
    let page = fs::read_to_string(root().join("docs/proof.md")).unwrap();
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let commands: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    let mut seen = 0;
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            ["make", target] => assert!(makefile.contains(&format!("\n{target}:")), "{command}"),
            ["cargo", "test", "-p", "scenarios", "NAME"] => {}
            ["cargo", "test", "-p", crate_name, ref rest @ ..] => {
                let sources = sources(&root().join("crates").join(crate_name));
                let file = rest.iter().position(|word| *word == "--test").map(|at| rest[at + 1]);
                assert!(file.is_none_or(|file| is_there(&sources, file)), "{command}");
                let filter = if file.is_some() { rest.get(2) } else { rest.first() };
                assert!(filter.is_none_or(|filter| is_there(&sources, filter)), "{command}");
                seen += 1;
            }
            _ => {}
        }
    }
    assert!(seen > 40, "{seen}");
}
