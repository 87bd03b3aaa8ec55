//! Trades whose reports the lab lost: the platform never hears of them by themselves, and may infer them.

use std::collections::BTreeSet;
use std::path::Path;

use fix::{SEQ_NUM_MAX, SeqNum};
use serde_json::Value;
use venue_lab::{ReportedTrade, SteppedLab};

/// By ExecID (17).
#[derive(Default)]
pub(super) struct LostTrades {
    /// Sent under numbers that have begun anew since, and in the platform's journal by then.
    confirmed: BTreeSet<String>,
    lost: BTreeSet<String>,
}

impl LostTrades {
    /// The lab has begun its numbers anew: lost is what it had sent and the platform's journal did not have, by the platform's own file.
    pub(super) fn on_reset(&mut self, dropped: Vec<ReportedTrade>, confirmed: impl FnOnce() -> SeqNum) {
        if dropped.is_empty() {
            return;
        }
        let first_unsure = confirmed();
        // A trade may be reported several times.
        let (sure, unsure): (Vec<_>, Vec<_>) = dropped.into_iter().partition(|trade| trade.number < first_unsure);
        self.confirmed.extend(sure.into_iter().map(|trade| trade.exec_id));
        let lost = unsure.into_iter().map(|trade| trade.exec_id).filter(|exec_id| !self.confirmed.contains(exec_id));
        self.lost.extend(lost);
    }

    /// The lab is killed: lost is what it has traded and never sent.
    pub(super) fn on_kill(&mut self, lab: &SteppedLab, ledger: &Value) {
        let kept: BTreeSet<String> = lab.reported_trades().into_iter().map(|trade| trade.exec_id).collect();
        let is_waiting = |exec_id: &String| !kept.contains(exec_id) && !self.confirmed.contains(exec_id);
        let lost: Vec<_> = traded_exec_ids(ledger).filter(is_waiting).collect();
        self.lost.extend(lost);
    }

    pub(super) fn has(&self, exec_id: &str) -> bool {
        self.lost.contains(exec_id)
    }
}

/// As its reports have them.
fn traded_exec_ids(ledger: &Value) -> impl Iterator<Item = String> {
    let rows = ledger["trades"].as_array().map_or(&[][..], Vec::as_slice);
    rows.iter().filter_map(|row| Some(format!("{}-{}", row["symbol"].as_str()?, row["executionId"].as_str()?)))
}

/// The first number that the platform's journal does not surely have: of the last line of its session's file. All is unsure where there is
/// none, and while the journal may not have it yet that numbers have begun anew.
pub(super) fn first_unconfirmed(file: &Path) -> SeqNum {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let last = text.lines().next_back().and_then(|line| line.split(' ').nth(2)?.parse().ok());
    last.filter(|number| *number < SEQ_NUM_MAX).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trade(number: SeqNum, exec_id: &str) -> ReportedTrade {
        ReportedTrade { number, exec_id: exec_id.to_owned() }
    }

    #[test]
    fn a_reset_loses_what_was_not_confirmed_under_any_number() {
        let mut reports = LostTrades::default();
        reports.on_reset(vec![trade(4, "A"), trade(6, "B"), trade(7, "A")], || 6);
        assert_eq!(["A", "B", "C"].map(|exec_id| reports.has(exec_id)), [false, true, false]);
        reports.on_reset(vec![trade(9, "A")], || 0);
        assert!(!reports.has("A"), "told once more, and confirmed before");
    }

    #[test]
    fn the_confirmed_number_is_that_of_the_last_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("numbers");
        assert_eq!(first_unconfirmed(&file), 0);
        std::fs::write(&file, "7 2 3\n7 5 8\n").unwrap();
        assert_eq!(first_unconfirmed(&file), 8);
        std::fs::write(&file, format!("7 5 {SEQ_NUM_MAX}\n")).unwrap();
        assert_eq!(first_unconfirmed(&file), 0, "numbers have begun anew");
    }
}
