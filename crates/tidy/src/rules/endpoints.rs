//! Every endpoint is complete: it has an entry in the OpenAPI description, a row in the table of roles, and a line in
//! the scenarios. The compiler checks that the handler exists.

use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const TABLE: &str = "crates/web/src/endpoints.rs";
const DESCRIPTION: &str = "crates/web/src/openapi/operations.rs";
const ROLES: &str = "docs/roles.md";
const SCENARIOS: &str = "crates/scenarios/tests/scenarios/endpoints.rs";

/// A row of the table, with its line.
struct EndpointRow<'a> {
    line: usize,
    method: &'a str,
    path: &'a str,
    handler: &'a str,
}

pub fn endpoints_are_whole(tree: &Tree) -> Vec<Violation> {
    let texts = [TABLE, DESCRIPTION, ROLES, SCENARIOS].map(|path| tree.text(path));
    let [Some(table), Some(description), Some(roles), Some(scenarios)] = texts else {
        return vec![Violation::new(TABLE, 1, format!("needs {DESCRIPTION}, {ROLES} and {SCENARIOS} beside it"))];
    };
    let rows: Vec<_> = table.numbered_lines().filter_map(row).collect();
    if rows.is_empty() {
        return vec![Violation::new(TABLE, 1, "has no row of the form METHOD \"path\" … handler;")];
    }
    let lacks = |row: &EndpointRow<'_>| {
        let checks = [
            (description.text.contains(&format!("operation_row(\"{}\"", row.handler)), DESCRIPTION),
            (roles.text.contains(&format!("| `{} {}` |", row.method, row.path)), ROLES),
            (is_called(scenarios, row), SCENARIOS),
        ];
        let missing = checks.into_iter().filter(|(is_there, _)| !is_there);
        let complain = |(_, place): (bool, &str)| {
            Violation::new(TABLE, row.line, format!("{} {} is not in {place}", row.method, row.path))
        };
        missing.map(complain).collect::<Vec<_>>()
    };
    rows.iter().flat_map(lacks).collect()
}

/// `GET "/rest/account" Viewer [] account::list;`
fn row((line, text): (usize, &str)) -> Option<EndpointRow<'_>> {
    let (method, rest) = text.trim().split_once(' ')?;
    let (path, rest) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    let handler = rest.strip_suffix(';')?.split_whitespace().last()?;
    let is_method = ["GET", "POST", "PUT", "DELETE"].contains(&method);
    is_method.then_some(EndpointRow { line, method, path, handler })
}

/// Whether a line of the scenarios calls it.
fn is_called(scenarios: &TextFile, row: &EndpointRow<'_>) -> bool {
    scenarios.text.lines().any(|line| {
        let mut words = line.split(' ');
        let is_method = words.next() == Some(row.method);
        is_method && line.contains(" => ") && words.next().is_some_and(|path| fits(path, row.path))
    })
}

/// `/rest/account/ALPHA?x=y` is a call of `/rest/account/{name}`.
fn fits(called: &str, path: &str) -> bool {
    let called = called.split('?').next().unwrap_or_default();
    let (called, path): (Vec<_>, Vec<_>) = (called.split('/').collect(), path.split('/').collect());
    let same = |(called, part): (&&str, &&str)| part.starts_with('{') || called == part;
    called.len() == path.len() && called.iter().zip(&path).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    const WHOLE: [(&str, &str); 4] = [
        (TABLE, "    GET \"/rest/account/{name}\" Viewer [] account::one;\n    POST \"/rest/x\" Admin [] x::x;\n"),
        (DESCRIPTION, "operation_row(\"account::one\", …)\noperation_row(\"x::x\", …)"),
        (ROLES, "| `GET /rest/account/{name}` | 401 |\n| `POST /rest/x` | 401 |"),
        (SCENARIOS, "GET /rest/account/ALPHA?colour=red => 400 unknown-parameter\nPOST /rest/x {} => 200 -"),
    ];

    fn violations(change: usize, text: &'static str) -> String {
        let mut files = WHOLE;
        files[change].1 = text;
        report(endpoints_are_whole(&Tree::from_texts(&files)))
    }

    #[test]
    fn a_whole_table_is_fine() {
        assert_eq!(report(endpoints_are_whole(&Tree::from_texts(&WHOLE))), "");
    }

    #[test]
    fn what_a_row_lacks_is_named() {
        let row = |what: &str| format!("{TABLE}:2: POST /rest/x is not in {what}");
        assert_eq!(violations(1, "operation_row(\"account::one\", …)"), row(DESCRIPTION));
        assert_eq!(violations(2, "| `GET /rest/account/{name}` | 401 |"), row(ROLES));
        assert_eq!(violations(3, "GET /rest/account/ALPHA => 200 -\nPUT /rest/x => 200 -"), row(SCENARIOS));
    }

    #[test]
    fn a_table_that_cannot_be_read_is_no_table() {
        assert!(violations(0, "").contains("has no row"));
        assert!(report(endpoints_are_whole(&Tree::from_texts(&WHOLE[..3]))).contains("beside it"));
    }
}
