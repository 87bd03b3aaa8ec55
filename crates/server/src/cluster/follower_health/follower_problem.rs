//! Why a follower cannot do its part.

use storage::replication::ReplicationState;

/// It cannot read the log, or, as a candidate, cannot learn whether it leads.
pub(in crate::cluster) fn follower_problem(
    cannot_read: Option<&String>,
    replication: &ReplicationState,
) -> Option<String> {
    let candidate = |reason: &String| format!("it tries to lead, and the log does not say whether it does: {reason}");
    cannot_read.cloned().or_else(|| replication.waiting.as_ref().map(candidate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_that_hears_nothing_of_its_lead_says_so() {
        let mut replication = ReplicationState::default();
        assert_eq!(follower_problem(None, &replication), None);
        replication.waiting = Some("no answer came in time".to_owned());
        let expected = "it tries to lead, and the log does not say whether it does: no answer came in time";
        assert_eq!(follower_problem(None, &replication).as_deref(), Some(expected));
        let cannot_read = "the log does not answer".to_owned();
        assert_eq!(follower_problem(Some(&cannot_read), &replication), Some(cannot_read));
    }
}
