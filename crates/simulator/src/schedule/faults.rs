//! What can go wrong.

use domain::SeededRng;

use crate::market::seed_traits::{OPERATOR, TRADERS, VENUE_COUNT};

/// How much a clock drifts, in parts of a million: from that of a quartz to that of a virtual machine that gets no time.
const DRIFT_PARTS: [i64; 2] = [50, 50_000];

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
    /// The power goes while a venue's ledger is written: 1 is within the write, which is torn then, 2 before the next operation, and
    /// what was not synced is lost.
    PowerCutAtLedger {
        operation: u32,
    },
    /// The process is killed at the n-th operation on the disk, from when a file of that kind gets its name where one is given.
    KillAtDisk {
        file: Option<NewFile>,
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
    /// The wall clock gains, or loses where it is negative, so many parts of a million.
    ClockDrifts {
        parts_per_million: i64,
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
    /// The connection between the FIX adapter and the lab.
    LabLine {
        fault: ConnectionFault,
        seconds: i64,
    },
    /// The lab does wrong, by a name of its catalogue, at the next occasion or for a while.
    Lab {
        fault: LabFault,
        seconds: i64,
    },
    /// The lab is killed, and is away for so long.
    LabKilled {
        seconds: i64,
    },
    /// A venue takes back a trade of an order that has ended, or corrects its price.
    TradeRevised {
        venue: usize,
        draw: u64,
        is_correction: bool,
    },
    /// The connection between a client and the platform.
    Link {
        client: usize,
        fault: LinkFault,
        seconds: i64,
    },
    /// The connection between the platform and one who uses HTTP otherwise than for orders.
    HttpLink {
        caller: HttpClientKind,
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
    /// Of a venue, when it is compacted.
    Ledger,
}

/// Who uses HTTP otherwise than for orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpClientKind {
    /// A trader that looks at positions and open orders.
    Reader,
    Administrator,
    /// A client that logs in.
    User(usize),
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

impl LinkFault {
    /// How late a request may arrive where the line is slow, in nanoseconds.
    pub(crate) const DELAY_MAX: i64 = 5_000_000_000;
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

/// Faults of the venue lab that its FIX sessions have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabFault {
    CancelOnly,
    EventsShuffled,
    FillAfterCancel,
    FillsReplayed,
    OddFills,
    Strangers,
    Contradiction,
    GapFlags,
    LogonBlocked,
    NumbersReset,
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
    /// Of a replace that cancels and places anew only the first half is done.
    HalfCanceled,
    /// Only the second.
    HalfPlaced,
    /// Neither.
    HalfNothing,
    /// One line of the session is down, and the session stays up: no request arrives, no report comes, or no price.
    NoTrading,
    NoPrivate,
    NoPrices,
}

impl Fault {
    /// Whether it waits for an operation of the disk, and so may never strike.
    pub(crate) fn waits_on_the_disk(&self) -> bool {
        matches!(
            self,
            Self::PowerCut { .. }
                | Self::PowerCutAtName { .. }
                | Self::PowerCutAtLedger { .. }
                | Self::KillAtDisk { .. }
                | Self::SyncFails
                | Self::WriteFails
        )
    }

    pub(super) fn draw_drift(rng: &mut SeededRng) -> Self {
        let parts = rng.between(DRIFT_PARTS[0], DRIFT_PARTS[1]);
        let parts_per_million = if rng.one_in(2) { parts } else { -parts };
        Self::ClockDrifts { parts_per_million, seconds: rng.between(10, 120) }
    }

    pub(super) fn draw_kill_at_disk(rng: &mut SeededRng) -> Self {
        match rng.below(4) {
            0 => Self::KillAtDisk { file: Some(NewFile::Segment), operation: operation(rng, 12) },
            1 => Self::KillAtDisk { file: Some(NewFile::Snapshot), operation: operation(rng, 6) },
            _ => Self::KillAtDisk { file: None, operation: operation(rng, 24) },
        }
    }

    /// Longer than those of other lines, because the operator does little.
    pub(super) fn draw_operator_line(rng: &mut SeededRng) -> Self {
        Self::Link { client: OPERATOR, fault: LinkFault::draw(rng), seconds: rng.between(10, 90) }
    }

    /// Longer than those of other lines, because each of these does little.
    pub(super) fn draw_http_line(rng: &mut SeededRng, callers: &[HttpClientKind]) -> Self {
        let caller = *rng.pick(callers).unwrap_or(&HttpClientKind::Reader);
        Self::HttpLink { caller, fault: LinkFault::draw(rng), seconds: rng.between(10, 60) }
    }

    pub(super) fn draw_revision(rng: &mut SeededRng) -> Self {
        let (venue, draw) = (pick(rng, VENUE_COUNT), rng.next_u64());
        Self::TradeRevised { venue, draw, is_correction: rng.one_in(2) }
    }

    pub(super) fn draw_late_requests(rng: &mut SeededRng) -> Self {
        let fault = if rng.one_in(2) { VenueLineFault::Lose } else { VenueLineFault::Late };
        Self::Venue { venue: pick(rng, VENUE_COUNT), fault, seconds: rng.between(5, 30) }
    }

    pub(super) fn draw_single_line(rng: &mut SeededRng) -> Self {
        let lines = [VenueLineFault::NoTrading, VenueLineFault::NoPrivate, VenueLineFault::NoPrices];
        let fault = *rng.pick(&lines).unwrap_or(&lines[0]);
        Self::Venue { venue: pick(rng, VENUE_COUNT), fault, seconds: rng.between(2, 30) }
    }

    pub(super) fn draw_lab(rng: &mut SeededRng) -> Self {
        let seconds = rng.between(1, 30);
        match rng.below(8) {
            0..=2 => Self::LabLine { fault: ConnectionFault::draw_fix(rng), seconds },
            3 => Self::LabKilled { seconds },
            _ => Self::Lab { fault: LabFault::draw(rng), seconds },
        }
    }

    pub(super) fn draw(rng: &mut SeededRng) -> Self {
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
pub(super) fn operation(rng: &mut SeededRng, last: i64) -> u32 {
    u32::try_from(rng.between(1, last)).unwrap_or(1)
}

fn pick(rng: &mut SeededRng, count: usize) -> usize {
    usize::try_from(rng.below(count as u64)).unwrap_or(0)
}

impl LabFault {
    /// Those that are drawn together; the reset of numbers is drawn by itself.
    const DRAWN: [Self; 9] = [
        Self::CancelOnly,
        Self::EventsShuffled,
        Self::FillAfterCancel,
        Self::FillsReplayed,
        Self::OddFills,
        Self::Strangers,
        Self::Contradiction,
        Self::GapFlags,
        Self::LogonBlocked,
    ];

    /// Whether it lasts for a while; others strike once.
    pub fn lasts(self) -> bool {
        self == Self::CancelOnly
    }

    fn draw(rng: &mut SeededRng) -> Self {
        *rng.pick(&Self::DRAWN).unwrap_or(&Self::CancelOnly)
    }
}

impl LinkFault {
    fn draw(rng: &mut SeededRng) -> Self {
        *rng.pick(&[Self::Slow, Self::LosesRequests, Self::LosesReplies, Self::Duplicates]).unwrap_or(&Self::Slow)
    }
}

impl ConnectionFault {
    pub(super) fn draw_fix(rng: &mut SeededRng) -> Self {
        *rng.pick(&[Self::Cut, Self::Cut, Self::HalfOpen, Self::Slow]).unwrap_or(&Self::Cut)
    }

    pub(super) fn draw_stomp(rng: &mut SeededRng) -> Self {
        *rng.pick(&[Self::Cut, Self::HalfOpen, Self::Slow, Self::NotRead]).unwrap_or(&Self::Cut)
    }
}

impl VenueLineFault {
    /// Without lost and late requests, which need venues that say how late a request may be.
    fn draw(rng: &mut SeededRng) -> Self {
        let all = [Self::Reject, Self::Delay, Self::Duplicate, Self::Drop, Self::Reorder, Self::Disconnect, Self::Mute];
        *rng.pick(&all).unwrap_or(&Self::Disconnect)
    }
}
