//! The crate table of ARCHITECTURE.md is correct: every crate has a row, every row a crate, and no crate has a
//! dependency that its row does not list.

use std::collections::{BTreeMap, BTreeSet};

use crate::manifest::dependencies;
use crate::markdown::{names, table};
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const ARCHITECTURE_PAGE: &str = "ARCHITECTURE.md";
const HEADER: [&str; 3] = ["Crate", "May use of ours", "Outside"];

/// The dependencies that a row of the table allows.
struct CrateRow<'a> {
    line: usize,
    ours: BTreeSet<&'a str>,
    outside: BTreeSet<&'a str>,
}

pub fn crate_table_is_true(tree: &Tree) -> Vec<Violation> {
    let Some(rows) = tree.text(ARCHITECTURE_PAGE).and_then(rows) else {
        return vec![Violation::new(
            ARCHITECTURE_PAGE,
            1,
            format!("has no table with the columns {}", HEADER.join(", ")),
        )];
    };
    let crates: BTreeSet<&str> = tree.crates().collect();
    let mut violations = rows_without_crate(&rows, &crates);
    for name in &crates {
        match rows.get(name) {
            Some(row) => violations.extend(uses_beyond(tree, name, row, &crates)),
            None => violations.push(Violation::new(
                ARCHITECTURE_PAGE,
                1,
                format!("the crate table has no row for `{name}`"),
            )),
        }
    }
    violations
}

fn rows(map: &TextFile) -> Option<BTreeMap<&str, CrateRow<'_>>> {
    let mut rows = BTreeMap::new();
    for (line, cells) in table(map, &HEADER)? {
        let [crates, ours, outside] = cells[..] else {
            continue;
        };
        for name in names(crates) {
            rows.insert(name, CrateRow { line, ours: names(ours).collect(), outside: names(outside).collect() });
        }
    }
    Some(rows)
}

fn rows_without_crate(rows: &BTreeMap<&str, CrateRow<'_>>, crates: &BTreeSet<&str>) -> Vec<Violation> {
    let strays = rows.iter().filter(|(name, _)| !crates.contains(*name));
    strays
        .map(|(name, row)| Violation::new(ARCHITECTURE_PAGE, row.line, format!("there is no crate `{name}`")))
        .collect()
}

fn uses_beyond(tree: &Tree, name: &str, row: &CrateRow<'_>, crates: &BTreeSet<&str>) -> Vec<Violation> {
    let path = format!("crates/{name}/Cargo.toml");
    let Some(manifest) = tree.text(&path) else {
        return Vec::new();
    };
    let mut violations = Vec::new();
    for (line, used) in dependencies(manifest) {
        let (column, allowed) = if crates.contains(used) { (HEADER[1], &row.ours) } else { (HEADER[2], &row.outside) };
        if !allowed.contains(used) {
            let what = format!("`{name}` uses `{used}`, which {ARCHITECTURE_PAGE} does not list under \"{column}\"");
            violations.push(Violation::new(&path, line, what));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    fn check(table_rows: &str, manifests: &[(&str, &str)]) -> String {
        let map = format!("| Crate | May use of ours | Outside |\n|---|---|---|\n{table_rows}");
        let mut files = vec![(ARCHITECTURE_PAGE, map.as_str())];
        files.extend(manifests);
        report(crate_table_is_true(&Tree::from_texts(&files)))
    }

    #[test]
    fn a_crate_within_its_row_is_fine() {
        let manifests = [
            ("crates/bus/Cargo.toml", "[dependencies]\ndomain.workspace = true\ntokio = \"1\"\n"),
            ("crates/domain/Cargo.toml", "[dev-dependencies]\nproptest = \"1\"\n"),
        ];
        assert_eq!(check("| domain | – | – |\n| bus | domain | tokio |\n", &manifests), "");
    }

    #[test]
    fn a_dependency_that_is_not_listed_is_a_violation() {
        let manifests = [
            ("crates/engine/Cargo.toml", ""),
            ("crates/web/Cargo.toml", "[dependencies]\nengine.workspace = true\nserde = \"1\"\n"),
        ];
        assert_eq!(
            check("| engine, web | – | – |\n", &manifests),
            "crates/web/Cargo.toml:2: `web` uses `engine`, which ARCHITECTURE.md does not list under \"May use of ours\"\n\
             crates/web/Cargo.toml:3: `web` uses `serde`, which ARCHITECTURE.md does not list under \"Outside\""
        );
    }

    #[test]
    fn a_crate_without_row_and_a_row_without_crate_are_named() {
        assert_eq!(
            check("| ghost | – | – |\n", &[("crates/new/Cargo.toml", "")]),
            "ARCHITECTURE.md:1: the crate table has no row for `new`\nARCHITECTURE.md:3: there is no crate `ghost`"
        );
    }

    #[test]
    fn a_map_without_the_table_is_no_map() {
        let violations = crate_table_is_true(&Tree::from_texts(&[(ARCHITECTURE_PAGE, "# Rialto\n")]));
        assert_eq!(
            report(violations),
            "ARCHITECTURE.md:1: has no table with the columns Crate, May use of ours, Outside"
        );
    }
}
