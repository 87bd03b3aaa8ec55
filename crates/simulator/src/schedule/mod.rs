//! The schedule of a run: who does what when, and what goes wrong. It follows from the seed alone, and it can be shortened.

mod faults;
mod kinds;
mod words;

use domain::SeededRng;

pub use crate::market::seed_traits::{OPERATOR, TRADERS};
use crate::market::seed_traits::{SeedTraits, USERS_ONE_IN};
use faults::operation;
pub use faults::{ConnectionFault, Fault, HttpClientKind, LabFault, LinkFault, NewFile, VenueLineFault};

pub const SECOND: i64 = 1_000_000_000;
pub const MILLI: i64 = 1_000_000;
/// A day of the clock; days begin at midnight UTC.
pub const DAY: i64 = 86_400 * SECOND;
/// Nothing goes wrong before: the platform starts and the venue logs on.
const QUIET_START: i64 = 5 * SECOND;
/// On average a client acts so often.
const ACTION_EVERY: i64 = 4 * SECOND;
/// On average something goes wrong so often.
const FAULT_EVERY: i64 = 45 * SECOND;

/// On average the connection of a FIX client fails so often.
const FIX_FAULT_EVERY: i64 = 90 * SECOND;
/// Kills at an operation of the disk, beside those between two steps.
const KILL_AT_DISK_EVERY: i64 = 240 * SECOND;

/// On average something is wrong with the operator's line so often.
const OPERATOR_LINE_FAULT_EVERY: i64 = 120 * SECOND;

/// FIX clients, each with a session of its own.
pub const FIX_CLIENTS: usize = 2;

/// STOMP clients: two follow what happened, one looks at orders as they are.
pub const STOMP_CLIENTS: usize = 3;
/// On average a STOMP client does something else than listen so often, and its connection fails so often.
const STOMP_ACTION_EVERY: i64 = 20 * SECOND;
const STOMP_FAULT_EVERY: i64 = 60 * SECOND;
/// On average the STOMP port hangs so often.
const STOMP_HANG_EVERY: i64 = 300 * SECOND;

/// On average a row of the read model goes bad so often. Each makes the next start replay the whole journal, so there are no more than
/// so many in a long run.
const BAD_ROW_EVERY: i64 = 240 * SECOND;
const BAD_ROWS_OF_LONG_RUNS: i64 = 6;
/// On average the strategy does something so often.
const STRATEGY_ACTION_EVERY: i64 = 6 * SECOND;

/// Clients that log in over HTTP, in runs with users; on average each does something so often.
pub(crate) const USER_CLIENTS: usize = 2;
const USER_ACTION_EVERY: i64 = 5 * SECOND;
/// In runs with users their administrator changes something so often on average.
const ADMINISTRATOR_ACTION_EVERY: i64 = 8 * SECOND;

/// On average a venue that cancels and places anew for a replace does one half of it only, or none, so often.
const HALF_EVERY: i64 = 50 * SECOND;
/// On average the power goes while a venue's ledger is written so often, in runs that have such power cuts.
const LEDGER_CUT_EVERY: i64 = 100 * SECOND;
/// On average a venue busts or corrects a trade so often, in runs in which they do.
const REVISION_EVERY: i64 = 25 * SECOND;
/// On average requests to a simulated venue begin to be lost or late so often, in runs in which they are.
const LATE_REQUESTS_EVERY: i64 = 40 * SECOND;
/// On average one line of a simulated venue fails so often, in runs in which they do.
const SINGLE_LINE_EVERY: i64 = 60 * SECOND;
/// On average the lab or its line does wrong so often, in runs that have it.
const LAB_FAULT_EVERY: i64 = 20 * SECOND;
/// On average the lab begins its sequence numbers anew so often, with the next order.
const LAB_RESET_EVERY: i64 = 60 * SECOND;
/// On average the wall clock begins to drift so often, in runs in which it does.
const DRIFT_EVERY: i64 = 90 * SECOND;
/// On average a trader reads over HTTP so often, in runs in which one uses it.
const HTTP_READ_EVERY: i64 = 10 * SECOND;

/// On average the line of one who uses HTTP otherwise than for orders fails so often, in runs that have any.
const HTTP_LINE_FAULT_EVERY: i64 = 60 * SECOND;

/// How long the machine is switched off: ended orders are kept for a day after their own.
const DAYS_OFF: [i64; 2] = [2, 4];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Simulated time since the beginning.
    pub at: i64,
    pub what: StepKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepKind {
    /// The client acts; what it does follows from the draw and from what it knows.
    Client {
        client: usize,
        draw: u64,
    },
    /// The same for a FIX client.
    FixClient {
        client: usize,
        draw: u64,
    },
    /// The same for a STOMP client.
    StompClient {
        client: usize,
        draw: u64,
    },
    /// The same for the strategy.
    Strategy {
        draw: u64,
    },
    /// The same for the administrator of users.
    Administrator {
        draw: u64,
    },
    /// The same for a client that logs in.
    UserClient {
        client: usize,
        draw: u64,
    },
    /// A trader reads over HTTP what it could trade on.
    HttpRead {
        draw: u64,
    },
    Fault(Fault),
}

/// The schedule of a seed, in order of time.
pub fn draw(seed: u64, length: i64) -> Vec<Step> {
    let mut steps = Vec::new();
    for client in 0..=OPERATOR {
        let mut rng = SeededRng::new(seed, 100 + client as u64);
        let every = if client == OPERATOR { 15 * ACTION_EVERY } else { ACTION_EVERY };
        let acts = |rng: &mut SeededRng| StepKind::Client { client, draw: rng.next_u64() };
        fill(&mut steps, &mut rng, every, length, acts);
    }
    let mut rng = SeededRng::new(seed, 1);
    fill(&mut steps, &mut rng, FAULT_EVERY, length, |rng| StepKind::Fault(Fault::draw(rng)));
    for client in 0..FIX_CLIENTS {
        let mut rng = SeededRng::new(seed, 200 + client as u64);
        let acts = |rng: &mut SeededRng| StepKind::FixClient { client, draw: rng.next_u64() };
        fill(&mut steps, &mut rng, ACTION_EVERY, length, acts);
        let fails = |rng: &mut SeededRng| {
            StepKind::Fault(Fault::FixLink {
                client,
                fault: ConnectionFault::draw_fix(rng),
                seconds: rng.between(1, 30),
            })
        };
        let mut rng = SeededRng::new(seed, 300 + client as u64);
        fill(&mut steps, &mut rng, FIX_FAULT_EVERY, length, fails);
    }
    draw_stomp(seed, length, &mut steps);
    let acts = |rng: &mut SeededRng| StepKind::Strategy { draw: rng.next_u64() };
    fill(&mut steps, &mut SeededRng::new(seed, 700), STRATEGY_ACTION_EVERY, length, acts);
    let damages = |rng: &mut SeededRng| {
        StepKind::Fault(Fault::ReadModelBadRow { draw: rng.next_u64(), seconds: rng.between(5, 30) })
    };
    let every = BAD_ROW_EVERY.max(length / BAD_ROWS_OF_LONG_RUNS);
    fill(&mut steps, &mut SeededRng::new(seed, 800), every, length, damages);
    draw_users(seed, length, &mut steps);
    draw_days_off(seed, length, &mut steps);
    draw_upgrade(seed, &mut steps);
    draw_halves(seed, length, &mut steps);
    draw_ledger_cuts(seed, length, &mut steps);
    draw_http_reads(seed, length, &mut steps);
    draw_http_lines(seed, length, &mut steps);
    draw_revisions(seed, length, &mut steps);
    draw_late_requests(seed, length, &mut steps);
    draw_single_lines(seed, length, &mut steps);
    draw_lab_faults(seed, length, &mut steps);
    draw_drift(seed, length, &mut steps);
    let kills = |rng: &mut SeededRng| StepKind::Fault(Fault::draw_kill_at_disk(rng));
    fill(&mut steps, &mut SeededRng::new(seed, 986), KILL_AT_DISK_EVERY, length, kills);
    let fails = |rng: &mut SeededRng| StepKind::Fault(Fault::draw_operator_line(rng));
    fill(&mut steps, &mut SeededRng::new(seed, 987), OPERATOR_LINE_FAULT_EVERY, length, fails);
    steps.sort_by_key(|step| step.at);
    steps
}

/// In the second quarter of the run, so that there are orders before and behind it.
fn draw_days_off(seed: u64, length: i64, steps: &mut Vec<Step>) {
    if SeedTraits::of_seed(seed).has_days_off {
        let mut rng = SeededRng::new(seed, 913);
        let at = rng.between(length / 4, length / 2).max(QUIET_START);
        steps.push(Step { at, what: StepKind::Fault(Fault::DaysPass { days: rng.between(DAYS_OFF[0], DAYS_OFF[1]) }) });
    }
}

/// Some upgrades are interrupted: the power goes while the folder is opened for the first time.
fn draw_upgrade(seed: u64, steps: &mut Vec<Step>) {
    let power_cut = SeedTraits::of_seed(seed).upgrade.and_then(|upgrade| upgrade.power_cut);
    steps.extend(power_cut.map(|operation| Step { at: 0, what: StepKind::Fault(Fault::PowerCut { operation }) }));
}

/// Replaces of which one half fails, where a venue cancels and places anew.
fn draw_halves(seed: u64, length: i64, steps: &mut Vec<Step>) {
    let Some(venue) = SeedTraits::of_seed(seed).replacing_venue() else { return };
    let halves = [VenueLineFault::HalfCanceled, VenueLineFault::HalfPlaced, VenueLineFault::HalfNothing];
    let fails = |rng: &mut SeededRng| {
        let (fault, seconds) = (*rng.pick(&halves).unwrap_or(&halves[0]), rng.between(5, 30));
        StepKind::Fault(Fault::Venue { venue, fault, seconds })
    };
    fill(steps, &mut SeededRng::new(seed, 940), HALF_EVERY, length, fails);
}

fn draw_ledger_cuts(seed: u64, length: i64, steps: &mut Vec<Step>) {
    if !SeedTraits::of_seed(seed).has_ledger_cuts {
        return;
    }
    let cuts = |rng: &mut SeededRng| {
        StepKind::Fault(if rng.one_in(3) {
            Fault::PowerCutAtName { file: NewFile::Ledger, operation: operation(rng, 4) }
        } else {
            Fault::PowerCutAtLedger { operation: operation(rng, 3) }
        })
    };
    fill(steps, &mut SeededRng::new(seed, 941), LEDGER_CUT_EVERY, length, cuts);
}

fn draw_http_reads(seed: u64, length: i64, steps: &mut Vec<Step>) {
    if SeedTraits::of_seed(seed).http_trader.is_some() {
        let reads = |rng: &mut SeededRng| StepKind::HttpRead { draw: rng.next_u64() };
        fill(steps, &mut SeededRng::new(seed, 943), HTTP_READ_EVERY, length, reads);
    }
}

fn draw_http_lines(seed: u64, length: i64, steps: &mut Vec<Step>) {
    let traits = SeedTraits::of_seed(seed);
    let mut callers = Vec::new();
    callers.extend(traits.http_trader.map(|_| HttpClientKind::Reader));
    if traits.has_users {
        callers.push(HttpClientKind::Administrator);
        callers.extend((0..USER_CLIENTS).map(HttpClientKind::User));
    }
    if !callers.is_empty() {
        let fails = |rng: &mut SeededRng| StepKind::Fault(Fault::draw_http_line(rng, &callers));
        fill(steps, &mut SeededRng::new(seed, 988), HTTP_LINE_FAULT_EVERY, length, fails);
    }
}

fn draw_revisions(seed: u64, length: i64, steps: &mut Vec<Step>) {
    if SeedTraits::of_seed(seed).has_revisions {
        let revises = |rng: &mut SeededRng| StepKind::Fault(Fault::draw_revision(rng));
        fill(steps, &mut SeededRng::new(seed, 945), REVISION_EVERY, length, revises);
    }
}

/// Requests that never arrive, and such that arrive late, while the line is up.
fn draw_late_requests(seed: u64, length: i64, steps: &mut Vec<Step>) {
    if SeedTraits::of_seed(seed).has_late_requests {
        let fails = |rng: &mut SeededRng| StepKind::Fault(Fault::draw_late_requests(rng));
        fill(steps, &mut SeededRng::new(seed, 971), LATE_REQUESTS_EVERY, length, fails);
    }
}

/// Lines of a session that fail by themselves.
fn draw_single_lines(seed: u64, length: i64, steps: &mut Vec<Step>) {
    if SeedTraits::of_seed(seed).has_single_lines {
        let fails = |rng: &mut SeededRng| StepKind::Fault(Fault::draw_single_line(rng));
        fill(steps, &mut SeededRng::new(seed, 1_602), SINGLE_LINE_EVERY, length, fails);
    }
}

fn draw_drift(seed: u64, length: i64, steps: &mut Vec<Step>) {
    if SeedTraits::of_seed(seed).has_drift {
        let drifts = |rng: &mut SeededRng| StepKind::Fault(Fault::draw_drift(rng));
        fill(steps, &mut SeededRng::new(seed, 985), DRIFT_EVERY, length, drifts);
    }
}

/// Of the lab, its line and its machine. It has no simulated faults.
fn draw_lab_faults(seed: u64, length: i64, steps: &mut Vec<Step>) {
    let traits = SeedTraits::of_seed(seed);
    let Some(lab) = traits.lab_venue else { return };
    steps.retain(|step| !matches!(step.what, StepKind::Fault(Fault::Venue { venue, .. }) if venue == lab));
    let fails = |rng: &mut SeededRng| StepKind::Fault(Fault::draw_lab(rng));
    fill(steps, &mut SeededRng::new(seed, 982), LAB_FAULT_EVERY, length, fails);
    if traits.has_number_resets {
        let reset = Fault::Lab { fault: LabFault::NumbersReset, seconds: 1 };
        fill(steps, &mut SeededRng::new(seed, 983), LAB_RESET_EVERY, length, |_| StepKind::Fault(reset));
    }
}

/// The first draw of the stream tells whether there are users: see [`SeedTraits`].
fn draw_users(seed: u64, length: i64, steps: &mut Vec<Step>) {
    let mut rng = SeededRng::new(seed, 903);
    if !rng.one_in(USERS_ONE_IN) {
        return;
    }
    let acts = |rng: &mut SeededRng| StepKind::Administrator { draw: rng.next_u64() };
    fill(steps, &mut rng, ADMINISTRATOR_ACTION_EVERY, length, acts);
    for client in 0..USER_CLIENTS {
        let acts = |rng: &mut SeededRng| StepKind::UserClient { client, draw: rng.next_u64() };
        fill(steps, &mut SeededRng::new(seed, 951 + client as u64), USER_ACTION_EVERY, length, acts);
    }
}

fn draw_stomp(seed: u64, length: i64, steps: &mut Vec<Step>) {
    for client in 0..STOMP_CLIENTS {
        let mut rng = SeededRng::new(seed, 400 + client as u64);
        let acts = |rng: &mut SeededRng| StepKind::StompClient { client, draw: rng.next_u64() };
        fill(steps, &mut rng, STOMP_ACTION_EVERY, length, acts);
        let mut rng = SeededRng::new(seed, 500 + client as u64);
        let fails = |rng: &mut SeededRng| {
            let (fault, seconds) = (ConnectionFault::draw_stomp(rng), rng.between(1, 30));
            StepKind::Fault(Fault::StompLink { client, fault, seconds })
        };
        fill(steps, &mut rng, STOMP_FAULT_EVERY, length, fails);
    }
    let hangs = |rng: &mut SeededRng| StepKind::Fault(Fault::StompPortHangs { seconds: rng.between(1, 20) });
    fill(steps, &mut SeededRng::new(seed, 600), STOMP_HANG_EVERY, length, hangs);
}

fn fill(
    steps: &mut Vec<Step>,
    rng: &mut SeededRng,
    every: i64,
    length: i64,
    draw: impl Fn(&mut SeededRng) -> StepKind,
) {
    let mut at = QUIET_START;
    loop {
        at += rng.between(1, 2 * every);
        if at >= length {
            return;
        }
        steps.push(Step { at, what: draw(rng) });
    }
}
