//! Modules of a crate: no file cycles, one style of modules, one layout of tests.

use crate::module_graph::ModuleGraph;
use crate::rust_paths::used_paths;
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

/// Modules for tests alone: the tests of their parent, and sample values that many tests share.
const TEST_MODULES: [&str; 2] = ["tests", "samples"];

/// A file uses what is below it: no two files of a crate use each other, not even by way of others.
pub fn files_have_no_cycles(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for name in tree.crates() {
        let graph = ModuleGraph::read(tree, name);
        for cycle in graph.cycles() {
            let folder = format!("crates/{name}/src/");
            let files: Vec<_> = cycle.iter().map(|file| file.strip_prefix(&folder).unwrap_or(file)).collect();
            violations.push(Violation::new(cycle[0], 1, format!("file cycle: {}", files.join(" > "))));
        }
    }
    violations
}

/// A module with files of its own is a folder with a `mod.rs`; an integration test with more than one file is a folder
/// with a `main.rs`.
pub fn modules_have_one_style(tree: &Tree) -> Vec<Violation> {
    let of_crates = |file: &&TextFile| file.path.starts_with("crates/") && file.has_extension("rs");
    let beside_folder = |file: &TextFile| {
        let folder = file.path.strip_suffix(".rs")?;
        let has_files = tree.texts().any(|other| is_inside(&other.path, folder) && other.has_extension("rs"));
        let is_test = folder.rsplit('/').nth(1) == Some("tests") && !folder.contains("/src/");
        let name = if is_test { "main.rs" } else { "mod.rs" };
        has_files
            .then(|| Violation::new(&file.path, 1, format!("the module has a folder: name this file {folder}/{name}")))
    };
    tree.texts().filter(of_crates).filter_map(beside_folder).collect()
}

fn is_inside(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Unit tests stand in `mod tests`, in the file or beside it; there are no other modules for tests but samples.
pub fn unit_tests_have_one_place(tree: &Tree) -> Vec<Violation> {
    let in_sources =
        |file: &&TextFile| file.path.starts_with("crates/") && file.path.contains("/src/") && file.has_extension("rs");
    let misplaced = |file: &TextFile| {
        let modules = used_paths(&file.text).1;
        let others = modules.into_iter().filter(|name| !TEST_MODULES.contains(&name.as_str()));
        let what =
            |name: String| Violation::new(&file.path, 1, format!("tests stand in `mod tests`, not in `mod {name}`"));
        others.map(what).collect::<Vec<_>>()
    };
    tree.texts().filter(in_sources).flat_map(misplaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    fn cycles(files: &[(&str, &str)]) -> String {
        let named: Vec<_> = files.iter().map(|(file, text)| (format!("crates/a/src/{file}"), *text)).collect();
        let mut all: Vec<(&str, &str)> = named.iter().map(|(file, text)| (file.as_str(), *text)).collect();
        all.push(("crates/a/Cargo.toml", ""));
        report(files_have_no_cycles(&Tree::from_texts(&all)))
    }

    #[test]
    fn files_that_use_each_other_are_named_with_the_way_round() {
        let found = cycles(&[
            ("lib.rs", "mod order;\nmod risk;\nmod route;"),
            ("order.rs", "use crate::risk::Gate;"),
            ("risk.rs", "use crate::route::Route;\npub struct Gate;"),
            ("route.rs", "fn place() { super::order::place() }"),
        ]);
        assert_eq!(found, "crates/a/src/order.rs:1: file cycle: order.rs > risk.rs > route.rs > order.rs");
    }

    #[test]
    fn a_name_is_followed_to_the_file_that_defines_it() {
        let found = cycles(&[
            ("lib.rs", "mod engine;\npub use engine::Order;"),
            ("engine/mod.rs", "mod order;\nmod gate;\npub use order::Order;\nuse gate::check;"),
            ("engine/order.rs", "pub struct Order;"),
            ("engine/gate.rs", "use crate::Order;\nuse super::order;"),
        ]);
        assert_eq!(found, "", "neither the root nor the folder defines the order");
    }

    #[test]
    fn a_child_that_uses_its_parent_which_uses_it_is_a_cycle_and_a_test_is_not() {
        let parent = ("a/mod.rs", "mod child;\n#[cfg(test)]\nmod tests;\nfn f() { child::g() }\nconst N: u8 = 1;");
        let found = cycles(&[
            ("lib.rs", "mod a;"),
            parent,
            ("a/child.rs", "use super::N;\n#[cfg(test)]\nmod tests { use super::super::*; }"),
            ("a/tests.rs", "use super::*;"),
        ]);
        assert_eq!(found, "crates/a/src/a/mod.rs:1: file cycle: a/mod.rs > a/child.rs > a/mod.rs");
    }

    #[test]
    fn a_module_with_files_is_a_folder() {
        let tree = Tree::from_texts(&[
            ("crates/a/src/b.rs", ""),
            ("crates/a/src/b/c.rs", ""),
            ("crates/a/src/d/mod.rs", ""),
            ("crates/a/tests/e.rs", ""),
            ("crates/a/tests/e/f.rs", ""),
            ("crates/a/tests/g.rs", ""),
        ]);
        assert_eq!(
            report(modules_have_one_style(&tree)),
            "crates/a/src/b.rs:1: the module has a folder: name this file crates/a/src/b/mod.rs\n\
             crates/a/tests/e.rs:1: the module has a folder: name this file crates/a/tests/e/main.rs"
        );
    }

    #[test]
    fn unit_tests_are_called_tests() {
        let text = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod stories;\n#[cfg(test)]\nmod samples;";
        let tree = Tree::from_texts(&[("crates/a/src/lib.rs", text)]);
        let expected = "crates/a/src/lib.rs:1: tests stand in `mod tests`, not in `mod stories`";
        assert_eq!(report(unit_tests_have_one_place(&tree)), expected);
    }
}
