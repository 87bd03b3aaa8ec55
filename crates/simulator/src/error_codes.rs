//! The codes that the platform may answer with.

use std::collections::BTreeSet;

use crate::invariants::broken_invariant::{InvariantResult, broken, ensure};

/// The page that lists every code: the list of what could be reached.
const ERRORS: &str = include_str!("../../../docs/errors.md");

/// An answer that is not a refusal of the page: of another form, or with a code that is not there.
pub const UNLISTED_CODE: &str = "a code that no page lists";

/// A fault of the server itself, such as a panic that was caught on the way.
const INTERNAL: &str = "internal";
/// The platform itself does not know what became of a request.
pub(crate) const OUTCOME_UNKNOWN: &str = "outcome-unknown";
/// The journal's disk does not answer: a request is not tried, or its outcome is known later.
pub(crate) const JOURNAL_STALLED: &str = "journal-stalled";
/// The status of an answer that the platform cannot do it now.
pub(crate) const UNAVAILABLE: u16 = 503;
pub(crate) const TOO_MANY: u16 = 429;
/// The promise that an answer breaks which says neither what was asked for nor why not.
pub(crate) const UNEXPECTED_ANSWER: &str = "an answer that no client expects";

/// No client must live with a fault of the server, or with an answer that no page explains, whatever else it is told.
pub(crate) fn no_server_fault(code: &str, told: impl FnOnce() -> String) -> InvariantResult {
    match code {
        UNLISTED_CODE => Err(broken(UNEXPECTED_ANSWER, told())),
        INTERNAL => Err(broken("a fault of the server", told())),
        _ => Ok(()),
    }
}

/// Whether the journal's disk does not answer, or did not shortly before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StallSeen {
    pub(crate) is_recent: bool,
}

impl StallSeen {
    /// Only a disk that does not answer is a reason to say so.
    pub(crate) fn excuses(self, code: &str, told: impl FnOnce() -> String) -> InvariantResult {
        ensure(code != JOURNAL_STALLED || self.is_recent, "a stall was told of a disk that answers", told)
    }
}

/// Codes of the page's table: its second column.
pub(crate) fn listed_codes() -> BTreeSet<&'static str> {
    let code =
        |line: &'static str| line.strip_prefix("| ")?.split('|').nth(1)?.trim().strip_prefix('`')?.strip_suffix('`');
    ERRORS.lines().filter_map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_an_excuse_while_the_disk_does_not_answer_and_not_otherwise() {
        let told = |is_recent, code| StallSeen { is_recent }.excuses(code, || "a cancel".to_owned()).is_ok();
        assert_eq!([told(true, JOURNAL_STALLED), told(false, JOURNAL_STALLED)], [true, false]);
        assert!(told(false, "unknown-order"));
    }

    #[test]
    fn a_fault_of_the_server_breaks_a_promise_and_a_refusal_does_not() {
        let told = |code| no_server_fault(code, || "a cancel".to_owned()).map_err(|broken| broken.to_string());
        assert_eq!(told("internal"), Err("a fault of the server: a cancel".to_owned()));
        assert_eq!(told(UNLISTED_CODE), Err("an answer that no client expects: a cancel".to_owned()));
        assert_eq!((told("unknown-order"), told("")), (Ok(()), Ok(())));
        assert!(listed_codes().contains(INTERNAL));
    }
}
