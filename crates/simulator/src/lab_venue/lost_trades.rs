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
    /// The first number that was unsure when numbers began anew last.
    unsure_before: SeqNum,
}

impl LostTrades {
    /// The lab has begun its numbers anew: lost is what it had sent and the platform's journal did not have, by the platform's own file.
    pub(super) fn on_reset(&mut self, dropped: Vec<ReportedTrade>, confirmed: impl FnOnce() -> SeqNum) {
        if dropped.is_empty() {
            return;
        }
        let first_unsure = confirmed();
        let before = std::mem::replace(&mut self.unsure_before, first_unsure);
        // A file that is no lower than then may tell of the numbers of then: the platform has not heard of these.
        let first_sure = if first_unsure < before { 0 } else { before };
        let is_sure = |trade: &ReportedTrade| (first_sure..first_unsure).contains(&trade.number);
        // A trade may be reported several times.
        let (sure, unsure): (Vec<_>, Vec<_>) = dropped.into_iter().partition(is_sure);
        self.confirmed.extend(sure.into_iter().map(|trade| trade.exec_id));
        let lost = unsure.into_iter().map(|trade| trade.exec_id).filter(|exec_id| !self.confirmed.contains(exec_id));
        self.lost.extend(lost);
    }

    /// The platform has refused the message with this number, and does not ask for it again: lost is what it reported.
    pub(super) fn on_refused(&mut self, reported: Vec<ReportedTrade>, number: SeqNum) {
        let refused = reported.into_iter().filter(|trade| trade.number == number).map(|trade| trade.exec_id);
        let lost: Vec<_> = refused.filter(|exec_id| !self.confirmed.contains(exec_id)).collect();
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
    fn numbers_of_before_an_earlier_reset_confirm_nothing() {
        let mut reports = LostTrades::default();
        reports.on_reset(vec![trade(140, "A")], || 141);
        reports.on_reset(vec![trade(4, "B")], || 141);
        reports.on_reset(vec![trade(5, "C"), trade(9, "D")], || 7);
        assert_eq!(["A", "B", "C", "D"].map(|exec_id| reports.has(exec_id)), [false, true, false, true]);
    }

    #[test]
    fn a_report_that_the_platform_refused_is_lost() {
        let mut reports = LostTrades::default();
        reports.on_refused(vec![trade(4, "A"), trade(5, "B")], 5);
        assert_eq!(["A", "B"].map(|exec_id| reports.has(exec_id)), [false, true]);
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
