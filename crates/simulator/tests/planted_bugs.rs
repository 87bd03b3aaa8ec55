//! Every planted bug is found by its recorded seed. Needs the feature `planted-bugs`.

#![cfg(feature = "planted-bugs")]

use domain::PlantedBug;
use domain::planted_bugs::plant;
use simulator::schedule::StepKind;
use simulator::{CheckedPlans, Plan, SearchLimit, ShortSchedule, run, shorten};
use storage::StorageError;
use storage::journal::{FOLDER, InstanceId, Journal, JournalBatch, JournalOptions, JournalRecord};
use storage::lock::DataDirLock;

/// Simulated minutes in which things go wrong.
const MINUTES: u32 = 5;
/// More than any of these searches takes.
const SHORTENING_RUNS_MAX: usize = 1_500;

/// What the seed finds of the bug; the switch is off again afterwards.
fn found(bug: Option<PlantedBug>, seed: u64) -> Option<&'static str> {
    plant(bug);
    let report = run(&Plan::of_seed(seed, MINUTES)).expect("a temporary folder can be written");
    plant(None);
    report.violation.map(|violation| violation.invariant)
}

macro_rules! recorded {
    ($($name:ident: $bug:ident, $seed:literal, $promise:literal;)*) => {
        /// Names of the bugs that have a recorded seed.
        const RECORDED: &[&str] = &[$(stringify!($bug)),*];
        $(
        #[test]
        fn $name() {
            assert_eq!(found(Some(PlantedBug::$bug), $seed), Some($promise));
            assert_eq!(found(None, $seed), None, "the same seed without the bug");
        }
        )*
    };
}

// `AcceptTornEnd`: nothing in a torn end was acknowledged, and the simulator reads the journal by the same reader. What shows is that a FIX
// session does not get on any more, whose records seem to be the damaged ones.
recorded! {
    acknowledge_before_sync: AcknowledgeBeforeSync, 1, "the platform does not start";
    head_before_sync: HeadBeforeSync, 15, "the platform does not start";
    accept_torn_end: AcceptTornEnd, 13, "a FIX client is not logged on";
    unsynced_segment_header: UnsyncedSegmentHeader, 1, "the platform does not start";
    release_at_wrong_sequence: ReleaseAtWrongSequence, 9, "topics are not in order";
    drop_refusal: DropRefusal, 1, "an answer was dropped";
    snapshot_ahead_of_journal: SnapshotAheadOfJournal, 1, "the platform does not start";
    forget_fill: ForgetFill, 1, "a fill is missing";
    book_repeated_fill: BookRepeatedFill, 1, "an ExecID was given twice";
    reuse_order_number: ReuseOrderNumber, 1, "the platform panicked";
    skip_reconciled_fills: SkipReconciledFills, 13, "a fill is missing";
    unsynced_venue_ledger: UnsyncedVenueLedger, 1, "a fill that the venue does not have";
    skip_rewrite: SkipRewrite, 15, "the platform does not start";
    trust_snapshot: TrustSnapshot, 44, "the digest differs";
    snapshot_at_wrong_sequence: SnapshotAtWrongSequence, 1, "a snapshot differs from the journal";
    answer_with_wrong_sequence: AnswerWithWrongSequence, 1, "acknowledged and lost";
    publish_twice: PublishTwice, 1, "replay differs";
    accept_repeated_order_id: AcceptRepeatedOrderId, 1, "an id was given twice";
    forget_commission: ForgetCommission, 1, "cash is not the sum of transactions";
    lose_event: LoseEvent, 1, "replay differs";
    drop_answer: DropAnswer, 3, "the strategy stopped";
    digest_skips_input: DigestSkipsInput, 1, "the digest differs";
    flip_position: FlipPosition, 1, "positions are not the sum of fills";
    book_wrong_price: BookWrongPrice, 1, "a fill that the venue does not have";
    book_wrong_side: BookWrongSide, 1, "a fill is not booked as its order says";
    cancel_locally: CancelLocally, 1, "an order stays in the market";
    forget_in_doubt: ForgetInDoubt, 3, "an unknown outcome is not marked";
    submit_again: SubmitAgain, 1, "sent to the venue twice";
    send_before_stored: SendBeforeStored, 6, "FIX numbers are not gapless";
    forget_report: ForgetReport, 1, "FIX reports are incomplete";
    repeat_report: RepeatReport, 1, "an ExecID was given twice";
    leave_out_at_resume: LeaveOutAtResume, 1, "topics are not in order";
    repeat_at_resume: RepeatAtResume, 1, "topics are not in order";
    ask_without_pause: AskWithoutPause, 1, "a storm";
    forget_users: ForgetUsers, 5, "users differ from the journal";
    sample_before_costs: SampleBeforeCosts, 6, "a value sample is not the sum of bookings";
    forget_retired_id: ForgetRetiredId, 2, "an id was given twice";
    forget_earlier_executions: ForgetEarlierExecutions, 14, "replay differs";
    keep_day_orders: KeepDayOrders, 38, "an order outlives its day";
    forget_bust: ForgetBust, 4, "a bust is not booked";
    repeat_bust: RepeatBust, 4, "a fill was booked twice";
    keep_corrected_fill: KeepCorrectedFill, 4, "a bust is not booked";
    rename_repeated_fill: RenameRepeatedFill, 12, "a fill that the venue does not have";
    confirm_undelivered: ConfirmUndelivered, 198, "a fill is inferred and was not lost";
    keep_revoked_token: KeepRevokedToken, 5, "let in without a right";
    keep_old_password: KeepOldPassword, 5, "let in without a right";
    keep_session: KeepSession, 5, "let in without a right";
    skip_role_check: SkipRoleCheck, 5, "rights are not those of the newest role";
    forget_refusal: ForgetRefusal, 5, "the audit has not what was answered, once";
    lose_http_answer: LoseHttpAnswer, 5, "an answer was dropped";
    tell_stall: TellStall, 8, "a stall was told of a disk that answers";
    swallow_cancel: SwallowCancel, 1, "an answer is not what became of its request";
    credit_twice: CreditTwice, 1, "a booking that nobody asked for";
    refuse_logons: RefuseLogons, 1, "a FIX client is not logged on";
}

/// The source of the switches: a variant that no list has is in it all the same.
const SWITCHES: &str = include_str!("../../domain/src/planted_bugs.rs");
const PAGE: &str = include_str!("../../../docs/simulator-bugs.md");

fn sorted<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_unstable();
    names
}

/// Switches that tests of their own find.
const NOT_OF_THE_SIMULATOR: [&str; 2] = ["IgnoreHead", "IgnoreLease"];

/// All other switches of the enum.
fn switches() -> impl Iterator<Item = &'static str> {
    let declared =
        SWITCHES.lines().skip_while(|line| !line.starts_with("pub enum")).skip(1).take_while(|line| *line != "}");
    declared.filter_map(|line| line.trim().strip_suffix(',')).filter(|name| !NOT_OF_THE_SIMULATOR.contains(name))
}

#[test]
fn every_planted_bug_is_searched_and_has_a_recorded_seed_and_a_row_on_the_page() {
    let all = PlantedBug::ALL.map(|bug| format!("{bug:?}"));
    let all = sorted(all.iter().map(String::as_str));
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(sorted(switches()), all, "searched");
    assert_eq!(sorted(RECORDED.iter().copied()), all, "recorded");
    assert_eq!(sorted(rows), all, "on the page");
}

/// A journal of two records, of which the last one has vanished from the disk after its sync. How many a start finds.
fn records_of_a_journal_that_lost_its_end() -> Result<u64, StorageError> {
    let folder = tempfile::tempdir().unwrap();
    let options = JournalOptions::new(InstanceId([7; 16]));
    let mut journal = Journal::open(&DataDirLock::acquire(folder.path()).unwrap(), &options, &mut |_| {})?.1;
    for sequence in 1..=2 {
        let record = JournalRecord { sequence, kind: 1, payload: b"buy 100 of 1 at 10.01".to_vec() };
        journal.append(JournalBatch { time: 1, records: vec![record] }).unwrap();
        while journal.durable() < sequence {
            std::thread::yield_now();
        }
    }
    drop(journal);
    let segment = folder.path().join(FOLDER).join("00000000000000000001.journal");
    let mut bytes = std::fs::read(&segment).unwrap();
    let last_frame = bytes.windows(4).rposition(|word| word == b"RBLK").unwrap();
    bytes[last_frame..].fill(0);
    std::fs::write(&segment, bytes).unwrap();
    let (found, _) = Journal::open(&DataDirLock::acquire(folder.path()).unwrap(), &options, &mut |_| {})?;
    Ok(found.last_sequence)
}

#[test]
fn ignore_head() {
    plant(Some(PlantedBug::IgnoreHead));
    assert_eq!(records_of_a_journal_that_lost_its_end().unwrap(), 1, "an acknowledged record is gone in silence");
    plant(None);
    let refused = records_of_a_journal_that_lost_its_end();
    assert!(matches!(refused, Err(StorageError::Lost(_))), "{refused:?}");
}

/// The shortest schedule by which the seed finds the bug, and the promise that it breaks.
fn shortest(bug: PlantedBug, seed: u64) -> (ShortSchedule, &'static str) {
    plant(Some(bug));
    let plan = Plan::of_seed(seed, MINUTES);
    let found = shorten(&plan, run(&plan).unwrap(), SearchLimit::of_runs(SHORTENING_RUNS_MAX)).unwrap();
    plant(None);
    let broken = found.report.violation.as_ref().expect("the shortest schedule breaks the promise, too").invariant;
    (found, broken)
}

#[test]
fn the_schedule_of_a_failure_is_made_short() {
    let (found, broken) = shortest(PlantedBug::DropRefusal, 1);
    assert_eq!(broken, "an answer was dropped");
    let steps = &found.plan.steps;
    assert!(steps.len() <= 2, "a request is enough, with the fault that makes it refused: {steps:?}");
}

#[test]
fn without_any_single_step_of_a_short_schedule_the_promise_is_kept() {
    let (found, broken) = shortest(PlantedBug::ForgetFill, 1);
    assert!(found.is_minimal);
    plant(Some(PlantedBug::ForgetFill));
    for left_out in 0..found.plan.steps.len() {
        let mut plan = found.plan.clone();
        let step = plan.steps.remove(left_out);
        let still = run(&plan).unwrap().violation.filter(|violation| violation.invariant == broken);
        assert_eq!(still, None, "{step} is not needed");
    }
    plant(None);
}

#[test]
fn of_several_failures_all_are_told_and_the_first_with_its_schedule() {
    plant(Some(PlantedBug::DropRefusal));
    let checked = CheckedPlans::run([1, 2].map(|seed| Plan::of_seed(seed, MINUTES))).unwrap();
    plant(None);
    let told: Vec<_> = checked.failures.iter().map(|failure| failure.split("  its last lines:").next()).collect();
    let first = "seed 1: BROKEN an answer was dropped: trader 2 is told T2-1: sell 12 of security 3, MarketOrder DAY: no answer, \
                 the outcome is unknown\n  \
                 a schedule of 2 steps that breaks it, each of which is needed: BROKEN an answer was dropped: \
                 trader 2 is told T2-1: sell 12 of security 3, MarketOrder DAY: no answer, the outcome is unknown\n    \
                 8.013 trader 2 asks: T2-1: sell 12 of security 3, MarketOrder DAY\n    \
                 11.514 trader 2 asks: T2-1: sell 12 of security 3, MarketOrder DAY\n";
    let second = "seed 2: BROKEN an answer was dropped: trader 2 is told T2-2: sell 5 of security 2, StopOrder GTC: no answer, \
                  the outcome is unknown";
    assert_eq!(told, [Some(first), Some(second)]);
}

#[test]
fn the_digest_of_a_platform_that_runs_is_compared_without_any_restart() {
    let mut plan = Plan::of_seed(1, MINUTES);
    plan.steps.retain(|step| !matches!(step.what, StepKind::Fault(_)));
    plant(Some(PlantedBug::DigestSkipsInput));
    let report = run(&plan).unwrap();
    plant(None);
    assert_eq!(report.violation.map(|violation| violation.invariant), Some("the digest differs"));
    assert!(report.simulated < plan.length, "found at the end alone, by the start behind the orderly stop");
}
