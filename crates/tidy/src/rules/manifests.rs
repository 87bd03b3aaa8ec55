//! Every crate inherits the workspace's lints; every pure crate has a `clippy.toml` that bans clocks, files and
//! sockets; no manifest switches planted bugs on.

use crate::manifest::{entries, value_lines};
use crate::tree::Tree;
use crate::violation::Violation;

/// Crates without clock, randomness, file and socket (ARCHITECTURE.md, invariant 2).
const PURE: [&str; 6] = ["domain", "engine", "venue-sim", "strategy", "fix", "stomp"];

/// The minimum that the `clippy.toml` of a pure crate bans.
const BANNED: [&str; 4] =
    ["std::time::SystemTime::now", "std::time::Instant::now", "std::collections::HashMap", "std::fs::File"];

pub fn crates_inherit_lints(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for name in tree.crates() {
        violations.extend(own_lints(tree, name));
        if PURE.contains(&name) {
            violations.extend(impure(tree, name));
        }
    }
    violations
}

/// Crates that may name the feature with the planted bugs.
const BUGGY_ON_REQUEST: [&str; 3] = ["domain", "simulator", "replication-contract"];
const BUG_FEATURE: &str = "planted-bugs";

/// Only crates of tests build the platform with planted bugs, and only where they are told to: no manifest names the feature, but for its
/// own definition in these crates. So no dependency, no default and no other feature switches it on.
pub fn planted_bugs_are_not_released(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.texts().filter(|file| file.name() == "Cargo.toml") {
        let name = file.path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml"));
        let is_buggy_on_request = name.is_some_and(|name| BUGGY_ON_REQUEST.contains(&name));
        let wrong = value_lines(file).into_iter().filter(|entry| {
            let is_named = entry.key.contains(BUG_FEATURE) || entry.value.contains(BUG_FEATURE);
            let is_definition = (entry.section, entry.key) == ("features", BUG_FEATURE);
            is_named && !(is_buggy_on_request && is_definition)
        });
        violations
            .extend(wrong.map(|entry| Violation::new(&file.path, entry.line, "planted bugs are for tests alone")));
    }
    violations
}

fn own_lints(tree: &Tree, name: &str) -> Option<Violation> {
    let path = format!("crates/{name}/Cargo.toml");
    let found = entries(tree.text(&path)?)
        .iter()
        .any(|entry| (entry.section, entry.key, entry.value) == ("lints", "workspace", "true"));
    (!found).then(|| Violation::new(&path, 1, "`[lints] workspace = true` is missing"))
}

fn impure(tree: &Tree, name: &str) -> Vec<Violation> {
    let path = format!("crates/{name}/clippy.toml");
    let Some(file) = tree.text(&path) else {
        return vec![Violation::new(&path, 1, format!("the pure crate `{name}` needs a clippy.toml"))];
    };
    let missing = BANNED.iter().filter(|banned| !file.text.contains(&format!("\"{banned}\"")));
    missing.map(|banned| Violation::new(&path, 1, format!("does not ban `{banned}`"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    const OBEDIENT: &str = "[lints]\nworkspace = true\n";

    fn check(files: &[(&str, &str)]) -> String {
        report(crates_inherit_lints(&Tree::from_texts(files)))
    }

    fn check_bugs(path: &str, manifest: &str) -> String {
        report(planted_bugs_are_not_released(&Tree::from_texts(&[(path, manifest)])))
    }

    #[test]
    fn an_edge_needs_only_the_lints() {
        assert_eq!(check(&[("crates/web/Cargo.toml", OBEDIENT)]), "");
        assert_eq!(
            check(&[("crates/web/Cargo.toml", "[package]\nworkspace = true\n")]),
            "crates/web/Cargo.toml:1: `[lints] workspace = true` is missing"
        );
    }

    #[test]
    fn no_released_crate_names_the_planted_bugs() {
        let server = "[dependencies]\ndomain = { workspace = true, features = [\"planted-bugs\"] }\n";
        assert_eq!(
            check_bugs("crates/server/Cargo.toml", server),
            "crates/server/Cargo.toml:2: planted bugs are for tests alone"
        );
    }

    #[test]
    fn the_workspace_gives_the_planted_bugs_to_no_crate() {
        let root = "[workspace.dependencies]\nbus = { path = \"crates/bus\" }\n\
                    domain = { path = \"crates/domain\", features = [\n  \"planted-bugs\",\n] }\n";
        assert_eq!(check_bugs("Cargo.toml", root), "Cargo.toml:4: planted bugs are for tests alone");
    }

    #[test]
    fn a_crate_of_tests_has_the_planted_bugs_only_where_they_are_asked_for() {
        let simulator = "[features]\n\
                         # Without planted-bugs.\n\
                         planted-bugs = [\n  \"domain/planted-bugs\", # and no others\n]\n\
                         default = [\n  \"fast\",\n  \"planted-bugs\",\n]\n\
                         fast = [\"planted-bugs\"]\n\
                         [dependencies]\n\
                         domain = { workspace = true, features = [\"planted-bugs\"] }\n";
        assert_eq!(
            check_bugs("crates/simulator/Cargo.toml", simulator),
            "crates/simulator/Cargo.toml:8: planted bugs are for tests alone\n\
             crates/simulator/Cargo.toml:10: planted bugs are for tests alone\n\
             crates/simulator/Cargo.toml:12: planted bugs are for tests alone"
        );
    }

    #[test]
    fn a_pure_crate_bans_the_outer_world() {
        let bans = BANNED.map(|banned| format!("{{ path = \"{banned}\" }}\n")).concat();
        let engine = ("crates/engine/Cargo.toml", OBEDIENT);
        assert_eq!(check(&[engine, ("crates/engine/clippy.toml", &bans)]), "");
        assert_eq!(check(&[engine]), "crates/engine/clippy.toml:1: the pure crate `engine` needs a clippy.toml");
        assert_eq!(
            check(&[engine, ("crates/engine/clippy.toml", &bans.replace("fs::File", "fs::Fife"))]),
            "crates/engine/clippy.toml:1: does not ban `std::fs::File`"
        );
    }
}
