//! The codes that the platform may answer with.

use std::collections::BTreeSet;

/// The page that lists every code: the list of what could be reached.
const ERRORS: &str = include_str!("../../../docs/errors.md");

/// An answer that is not a refusal of the page: of another form, or with a code that is not there.
pub const UNLISTED_CODE: &str = "a code that no page lists";

/// Codes of the page's table: its second column.
pub(crate) fn listed_codes() -> BTreeSet<&'static str> {
    let code =
        |line: &'static str| line.strip_prefix("| ")?.split('|').nth(1)?.trim().strip_prefix('`')?.strip_suffix('`');
    ERRORS.lines().filter_map(code).collect()
}
