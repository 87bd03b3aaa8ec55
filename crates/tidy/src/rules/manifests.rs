//! Every crate inherits the workspace's lints; every pure crate has a `clippy.toml` that bans clocks, files and
//! sockets; no crate that is released can switch planted bugs on.

use crate::manifest::entries;
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

/// Only crates of tests build the platform with planted bugs, and only where they are told to.
pub fn planted_bugs_are_not_released(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for name in tree.crates() {
        let path = format!("crates/{name}/Cargo.toml");
        let Some(file) = tree.text(&path) else { continue };
        let is_named = |line: &str| line.contains(BUG_FEATURE) && !BUGGY_ON_REQUEST.contains(&name);
        let is_default = |line: &str| line.starts_with("default") && line.contains(BUG_FEATURE);
        let wrong = file.numbered_lines().filter(|(_, line)| is_named(line) || is_default(line));
        violations.extend(wrong.map(|(line, _)| Violation::new(&path, line, "planted bugs are for tests alone")));
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
        let simulator = "[features]\ndefault = [\"planted-bugs\"]\nplanted-bugs = [\"domain/planted-bugs\"]\n";
        let tree = [("crates/server/Cargo.toml", server), ("crates/simulator/Cargo.toml", simulator)];
        assert_eq!(
            report(planted_bugs_are_not_released(&Tree::from_texts(&tree))),
            "crates/server/Cargo.toml:2: planted bugs are for tests alone\n\
             crates/simulator/Cargo.toml:2: planted bugs are for tests alone"
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
