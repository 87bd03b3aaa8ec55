//! The schedule of a run: who does what when, and what goes wrong. It follows from the seed alone, and it can be shortened.

use domain::SeededRng;
use std::fmt;

pub use crate::market::seed_traits::TRADERS;
use crate::market::seed_traits::{SeedTraits, VENUE_COUNT};

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

/// In one of so many runs there is an administrator, who on average changes something so often.
const ADMINISTRATOR_ONE_IN: u32 = 3;
const ADMINISTRATOR_ACTION_EVERY: i64 = 8 * SECOND;

/// How long the machine is switched off: ended orders are kept for a day after their own.
const DAYS_OFF: [i64; 2] = [2, 4];

/// The client behind the traders.
pub const OPERATOR: usize = TRADERS;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Simulated time since the beginning.
    pub at: i64,
    pub what: Happening,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
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
    Fault(Fault),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process is killed; what was written stays.
    Kill,
    /// The power goes at the n-th operation on the disk; unsynced sectors are lost or not.
    PowerCut {
        operation: u32,
    },
    /// The power goes while a file of this kind gets its name, or a few operations later.
    PowerCutAtName {
        file: NewFile,
        operation: u32,
    },
    OrderlyStop,
    /// The process is stopped in order, and started again days later.
    DaysPass {
        days: i64,
    },
    SyncFails,
    WriteFails,
    DiskFull {
        seconds: i64,
    },
    SlowDisk {
        seconds: i64,
    },
    HangingDisk {
        seconds: i64,
    },
    /// The wall clock is set.
    ClockSet {
        seconds: i64,
    },
    /// The read model forgets part of what it had; all of it where the draw is 0.
    ReadModelRolledBack {
        draw: u64,
    },
    /// The process is killed, and a row of the read model cannot be read any more; the operator deletes the read model later.
    ReadModelBadRow {
        draw: u64,
        seconds: i64,
    },
    Venue {
        venue: usize,
        fault: VenueLineFault,
        seconds: i64,
    },
    /// The connection between a client and the platform.
    Link {
        client: usize,
        fault: LinkFault,
        seconds: i64,
    },
    /// The connection between a FIX client and the platform.
    FixLink {
        client: usize,
        fault: ConnectionFault,
        seconds: i64,
    },
    /// The connection between a STOMP client and the platform.
    StompLink {
        client: usize,
        fault: ConnectionFault,
        seconds: i64,
    },
    /// The threads of the STOMP port get no time: events wait, or are too many for it.
    StompPortHangs {
        seconds: i64,
    },
    /// The process is killed, and a bit of a file of the journal or of a snapshot flips before it starts again. Where the read model is
    /// lost too, the journal's own files alone can tell.
    BitFlip {
        file: u64,
        place: u64,
        is_read_model_lost: bool,
    },
}

/// A file that is written under another name first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewFile {
    Segment,
    Snapshot,
}

/// What goes wrong between a client and the platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkFault {
    /// Requests arrive up to seconds later, in any order.
    Slow,
    /// Half-open: the client sends into a line that is gone.
    LosesRequests,
    /// Cut after the request: it arrives, and its answer does not.
    LosesReplies,
    /// Each request arrives twice.
    Duplicates,
}

/// What goes wrong with the connection of a FIX or STOMP client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionFault {
    /// Both ends see that it is gone.
    Cut,
    /// Neither end sees it, and nothing arrives any more.
    HalfOpen,
    /// Bytes take up to seconds.
    Slow,
    /// The client reads nothing for a while.
    NotRead,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VenueLineFault {
    Reject,
    Delay,
    Duplicate,
    Drop,
    Reorder,
    Disconnect,
    Mute,
    /// Requests never arrive, though the line is up.
    Lose,
    /// Requests arrive late.
    Late,
}

impl Fault {
    /// A run that begins with a folder of an earlier release.
    pub const UPGRADE: &'static str = "upgrade of an earlier release's folder";
    /// A midnight that comes while the platform runs.
    pub const DAY_END: &'static str = "a day ends while the platform runs";

    /// Every kind, for the coverage.
    pub const KINDS: [&'static str; 38] = [
        Self::UPGRADE,
        Self::DAY_END,
        "kill",
        "power cut",
        "power cut at a new segment",
        "power cut at a new snapshot",
        "orderly stop",
        "days pass",
        "sync fails",
        "write fails",
        "disk full",
        "slow disk",
        "hanging disk",
        "clock set",
        "read model rolled back",
        "bad row of the read model",
        "venue rejects",
        "venue delays",
        "venue duplicates",
        "venue drops",
        "venue reorders",
        "venue disconnects",
        "venue is mute",
        "venue loses requests",
        "venue gets requests late",
        "link is slow",
        "link loses requests",
        "link loses replies",
        "link duplicates",
        "bit flip",
        "FIX connection is cut",
        "FIX connection is half-open",
        "FIX connection is slow",
        "STOMP connection is cut",
        "STOMP connection is half-open",
        "STOMP connection is slow",
        "STOMP client reads nothing",
        "STOMP port hangs",
    ];

    pub fn kind(&self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::PowerCut { .. } => "power cut",
            Self::PowerCutAtName { file: NewFile::Segment, .. } => "power cut at a new segment",
            Self::PowerCutAtName { file: NewFile::Snapshot, .. } => "power cut at a new snapshot",
            Self::OrderlyStop => "orderly stop",
            Self::DaysPass { .. } => "days pass",
            Self::SyncFails => "sync fails",
            Self::WriteFails => "write fails",
            Self::DiskFull { .. } => "disk full",
            Self::SlowDisk { .. } => "slow disk",
            Self::HangingDisk { .. } => "hanging disk",
            Self::ClockSet { .. } => "clock set",
            Self::ReadModelRolledBack { .. } => "read model rolled back",
            Self::ReadModelBadRow { .. } => "bad row of the read model",
            Self::Venue { fault, .. } => fault.kind(),
            Self::Link { fault, .. } => fault.kind(),
            Self::BitFlip { .. } => "bit flip",
            Self::FixLink { fault: ConnectionFault::Cut, .. } => "FIX connection is cut",
            Self::FixLink { fault: ConnectionFault::HalfOpen, .. } => "FIX connection is half-open",
            Self::FixLink { .. } => "FIX connection is slow",
            Self::StompLink { fault: ConnectionFault::Cut, .. } => "STOMP connection is cut",
            Self::StompLink { fault: ConnectionFault::HalfOpen, .. } => "STOMP connection is half-open",
            Self::StompLink { fault: ConnectionFault::Slow, .. } => "STOMP connection is slow",
            Self::StompLink { fault: ConnectionFault::NotRead, .. } => "STOMP client reads nothing",
            Self::StompPortHangs { .. } => "STOMP port hangs",
        }
    }

    fn draw(rng: &mut SeededRng) -> Self {
        let seconds = rng.between(1, 30);
        match rng.below(30) {
            0..=2 => Self::Kill,
            3..=6 => Self::PowerCut { operation: operation(rng, 24) },
            7 => Self::OrderlyStop,
            8 => Self::SyncFails,
            9 => Self::WriteFails,
            10 => Self::DiskFull { seconds },
            11 => Self::SlowDisk { seconds },
            12 => Self::HangingDisk { seconds },
            13 => Self::ClockSet { seconds: rng.between(-7_200, 7_200) },
            14 => Self::ReadModelRolledBack { draw: rng.below(4) },
            15..=19 => Self::Venue { venue: pick(rng, VENUE_COUNT), fault: VenueLineFault::draw(rng), seconds },
            20..=22 => Self::Link { client: pick(rng, TRADERS), fault: LinkFault::draw(rng), seconds },
            23..=25 => Self::BitFlip { file: rng.next_u64(), place: rng.next_u64(), is_read_model_lost: rng.one_in(3) },
            26..=27 => Self::PowerCutAtName { file: NewFile::Segment, operation: operation(rng, 12) },
            _ => Self::PowerCutAtName { file: NewFile::Snapshot, operation: operation(rng, 6) },
        }
    }
}

/// Which of the next operations of the disk, 1 being the first.
fn operation(rng: &mut SeededRng, last: i64) -> u32 {
    u32::try_from(rng.between(1, last)).unwrap_or(1)
}

fn pick(rng: &mut SeededRng, count: usize) -> usize {
    usize::try_from(rng.below(count as u64)).unwrap_or(0)
}

impl LinkFault {
    fn kind(self) -> &'static str {
        match self {
            Self::Slow => "link is slow",
            Self::LosesRequests => "link loses requests",
            Self::LosesReplies => "link loses replies",
            Self::Duplicates => "link duplicates",
        }
    }

    fn draw(rng: &mut SeededRng) -> Self {
        *rng.pick(&[Self::Slow, Self::LosesRequests, Self::LosesReplies, Self::Duplicates]).unwrap_or(&Self::Slow)
    }
}

impl ConnectionFault {
    fn draw_fix(rng: &mut SeededRng) -> Self {
        *rng.pick(&[Self::Cut, Self::Cut, Self::HalfOpen, Self::Slow]).unwrap_or(&Self::Cut)
    }

    fn draw_stomp(rng: &mut SeededRng) -> Self {
        *rng.pick(&[Self::Cut, Self::HalfOpen, Self::Slow, Self::NotRead]).unwrap_or(&Self::Cut)
    }
}

impl VenueLineFault {
    fn kind(self) -> &'static str {
        match self {
            Self::Reject => "venue rejects",
            Self::Delay => "venue delays",
            Self::Duplicate => "venue duplicates",
            Self::Drop => "venue drops",
            Self::Reorder => "venue reorders",
            Self::Disconnect => "venue disconnects",
            Self::Mute => "venue is mute",
            Self::Lose => "venue loses requests",
            Self::Late => "venue gets requests late",
        }
    }

    /// Without lost and late requests, which have a test of their own.
    fn draw(rng: &mut SeededRng) -> Self {
        let all = [Self::Reject, Self::Delay, Self::Duplicate, Self::Drop, Self::Reorder, Self::Disconnect, Self::Mute];
        *rng.pick(&all).unwrap_or(&Self::Disconnect)
    }
}

/// The schedule of a seed, in order of time.
pub fn draw(seed: u64, length: i64) -> Vec<Step> {
    let mut steps = Vec::new();
    for client in 0..=OPERATOR {
        let mut rng = SeededRng::new(seed, 100 + client as u64);
        let every = if client == OPERATOR { 15 * ACTION_EVERY } else { ACTION_EVERY };
        let acts = |rng: &mut SeededRng| Happening::Client { client, draw: rng.next_u64() };
        fill(&mut steps, &mut rng, every, length, acts);
    }
    let mut rng = SeededRng::new(seed, 1);
    fill(&mut steps, &mut rng, FAULT_EVERY, length, |rng| Happening::Fault(Fault::draw(rng)));
    for client in 0..FIX_CLIENTS {
        let mut rng = SeededRng::new(seed, 200 + client as u64);
        let acts = |rng: &mut SeededRng| Happening::FixClient { client, draw: rng.next_u64() };
        fill(&mut steps, &mut rng, ACTION_EVERY, length, acts);
        let fails = |rng: &mut SeededRng| {
            Happening::Fault(Fault::FixLink {
                client,
                fault: ConnectionFault::draw_fix(rng),
                seconds: rng.between(1, 30),
            })
        };
        let mut rng = SeededRng::new(seed, 300 + client as u64);
        fill(&mut steps, &mut rng, FIX_FAULT_EVERY, length, fails);
    }
    draw_stomp(seed, length, &mut steps);
    let acts = |rng: &mut SeededRng| Happening::Strategy { draw: rng.next_u64() };
    fill(&mut steps, &mut SeededRng::new(seed, 700), STRATEGY_ACTION_EVERY, length, acts);
    let damages = |rng: &mut SeededRng| {
        Happening::Fault(Fault::ReadModelBadRow { draw: rng.next_u64(), seconds: rng.between(5, 30) })
    };
    let every = BAD_ROW_EVERY.max(length / BAD_ROWS_OF_LONG_RUNS);
    fill(&mut steps, &mut SeededRng::new(seed, 800), every, length, damages);
    draw_administrator(seed, length, &mut steps);
    draw_days_off(seed, length, &mut steps);
    draw_upgrade(seed, &mut steps);
    steps.sort_by_key(|step| step.at);
    steps
}

/// In the second quarter of the run, so that there are orders before and behind it.
fn draw_days_off(seed: u64, length: i64, steps: &mut Vec<Step>) {
    if SeedTraits::of_seed(seed).has_days_off {
        let mut rng = SeededRng::new(seed, 913);
        let at = rng.between(length / 4, length / 2).max(QUIET_START);
        steps
            .push(Step { at, what: Happening::Fault(Fault::DaysPass { days: rng.between(DAYS_OFF[0], DAYS_OFF[1]) }) });
    }
}

/// Some upgrades are interrupted: the power goes while the folder is opened for the first time.
fn draw_upgrade(seed: u64, steps: &mut Vec<Step>) {
    let power_cut = SeedTraits::of_seed(seed).upgrade.and_then(|upgrade| upgrade.power_cut);
    steps.extend(power_cut.map(|operation| Step { at: 0, what: Happening::Fault(Fault::PowerCut { operation }) }));
}

fn draw_administrator(seed: u64, length: i64, steps: &mut Vec<Step>) {
    let mut rng = SeededRng::new(seed, 903);
    if rng.one_in(ADMINISTRATOR_ONE_IN) {
        let acts = |rng: &mut SeededRng| Happening::Administrator { draw: rng.next_u64() };
        fill(steps, &mut rng, ADMINISTRATOR_ACTION_EVERY, length, acts);
    }
}

fn draw_stomp(seed: u64, length: i64, steps: &mut Vec<Step>) {
    for client in 0..STOMP_CLIENTS {
        let mut rng = SeededRng::new(seed, 400 + client as u64);
        let acts = |rng: &mut SeededRng| Happening::StompClient { client, draw: rng.next_u64() };
        fill(steps, &mut rng, STOMP_ACTION_EVERY, length, acts);
        let mut rng = SeededRng::new(seed, 500 + client as u64);
        let fails = |rng: &mut SeededRng| {
            let (fault, seconds) = (ConnectionFault::draw_stomp(rng), rng.between(1, 30));
            Happening::Fault(Fault::StompLink { client, fault, seconds })
        };
        fill(steps, &mut rng, STOMP_FAULT_EVERY, length, fails);
    }
    let hangs = |rng: &mut SeededRng| Happening::Fault(Fault::StompPortHangs { seconds: rng.between(1, 20) });
    fill(steps, &mut SeededRng::new(seed, 600), STOMP_HANG_EVERY, length, hangs);
}

fn fill(
    steps: &mut Vec<Step>,
    rng: &mut SeededRng,
    every: i64,
    length: i64,
    draw: impl Fn(&mut SeededRng) -> Happening,
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

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.at / SECOND, self.at % SECOND / MILLI);
        match &self.what {
            Happening::Client { client: OPERATOR, draw } => write!(f, "{seconds}.{millis:03} operator (draw {draw})"),
            Happening::Client { client, draw } => {
                write!(f, "{seconds}.{millis:03} trader {} (draw {draw})", client + 1)
            }
            Happening::FixClient { client, draw } => {
                write!(f, "{seconds}.{millis:03} FIX client {} (draw {draw})", client + 1)
            }
            Happening::StompClient { client, draw } => {
                write!(f, "{seconds}.{millis:03} STOMP client {} (draw {draw})", client + 1)
            }
            Happening::Administrator { draw } => write!(f, "{seconds}.{millis:03} administrator (draw {draw})"),
            Happening::Strategy { draw } => write!(f, "{seconds}.{millis:03} strategy (draw {draw})"),
            Happening::Fault(fault) => write!(f, "{seconds}.{millis:03} {fault:?}"),
        }
    }
}
