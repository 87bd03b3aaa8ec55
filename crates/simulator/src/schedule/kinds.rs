//! Kinds of faults, for the coverage.

use super::faults::{ConnectionFault, Fault, LabFault, LinkFault, NewFile, VenueLineFault};
use crate::market::seed_traits::OPERATOR;

impl Fault {
    /// A run that begins with a folder of an earlier release.
    pub const UPGRADE: &'static str = "upgrade of an earlier release's folder";
    /// A midnight that comes while the platform runs.
    pub const DAY_END: &'static str = "a day ends while the platform runs";

    /// Every kind, for the coverage.
    pub const KINDS: [&'static str; 72] = [
        Self::UPGRADE,
        Self::DAY_END,
        "kill",
        "power cut",
        "power cut at a new segment",
        "power cut at a new snapshot",
        "power cut at a compacted ledger",
        "power cut while a ledger is written",
        "kill at an operation of the disk",
        "orderly stop",
        "days pass",
        "sync fails",
        "write fails",
        "disk full",
        "slow disk",
        "hanging disk",
        "clock set",
        "clock drifts",
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
        "venue cancels only, for a replace",
        "venue places only, for a replace",
        "venue does neither half of a replace",
        "venue takes no requests",
        "venue tells no reports",
        "venue tells no prices",
        "venue busts a trade",
        "venue corrects a trade",
        "link is slow",
        "link loses requests",
        "link loses replies",
        "link duplicates",
        "operator's link is slow",
        "operator's link loses requests",
        "operator's link loses replies",
        "operator's link duplicates",
        "HTTP line is slow",
        "HTTP line loses requests",
        "HTTP line loses replies",
        "HTTP line duplicates",
        "bit flip",
        "FIX connection is cut",
        "FIX connection is half-open",
        "FIX connection is slow",
        "STOMP connection is cut",
        "STOMP connection is half-open",
        "STOMP connection is slow",
        "STOMP client reads nothing",
        "STOMP port hangs",
        "line to the lab is cut",
        "line to the lab is half-open",
        "line to the lab is slow",
        "lab is killed",
        "lab: cancel-only",
        "lab: events-shuffled",
        "lab: fill-after-cancel",
        "lab: fills-replayed",
        "lab: odd-fills",
        "lab: strangers",
        "lab: fix-contradiction",
        "lab: fix-gap-flags",
        "lab: fix-logon-blocked",
        "lab: fix-numbers-reset",
    ];

    pub fn kind(&self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::PowerCut { .. } => "power cut",
            Self::PowerCutAtName { file: NewFile::Segment, .. } => "power cut at a new segment",
            Self::PowerCutAtName { file: NewFile::Snapshot, .. } => "power cut at a new snapshot",
            Self::PowerCutAtName { file: NewFile::Ledger, .. } => "power cut at a compacted ledger",
            Self::PowerCutAtLedger { .. } => "power cut while a ledger is written",
            Self::KillAtDisk { .. } => "kill at an operation of the disk",
            Self::OrderlyStop => "orderly stop",
            Self::DaysPass { .. } => "days pass",
            Self::SyncFails => "sync fails",
            Self::WriteFails => "write fails",
            Self::DiskFull { .. } => "disk full",
            Self::SlowDisk { .. } => "slow disk",
            Self::HangingDisk { .. } => "hanging disk",
            Self::ClockSet { .. } => "clock set",
            Self::ClockDrifts { .. } => "clock drifts",
            Self::ReadModelRolledBack { .. } => "read model rolled back",
            Self::ReadModelBadRow { .. } => "bad row of the read model",
            Self::Venue { fault, .. } => fault.kind(),
            Self::LabLine { fault: ConnectionFault::Cut, .. } => "line to the lab is cut",
            Self::LabLine { fault: ConnectionFault::HalfOpen, .. } => "line to the lab is half-open",
            Self::LabLine { .. } => "line to the lab is slow",
            Self::LabKilled { .. } => "lab is killed",
            Self::Lab { fault, .. } => fault.kind(),
            Self::TradeRevised { is_correction: false, .. } => "venue busts a trade",
            Self::TradeRevised { is_correction: true, .. } => "venue corrects a trade",
            Self::Link { client: OPERATOR, fault, .. } => fault.kind_of_operator(),
            Self::Link { fault, .. } => fault.kind(),
            Self::HttpLink { fault, .. } => fault.kind_over_http(),
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
}

impl LabFault {
    /// As the lab calls it.
    pub fn name(self) -> &'static str {
        self.kind().trim_start_matches("lab: ")
    }

    fn kind(self) -> &'static str {
        match self {
            Self::CancelOnly => "lab: cancel-only",
            Self::EventsShuffled => "lab: events-shuffled",
            Self::FillAfterCancel => "lab: fill-after-cancel",
            Self::FillsReplayed => "lab: fills-replayed",
            Self::OddFills => "lab: odd-fills",
            Self::Strangers => "lab: strangers",
            Self::Contradiction => "lab: fix-contradiction",
            Self::GapFlags => "lab: fix-gap-flags",
            Self::LogonBlocked => "lab: fix-logon-blocked",
            Self::NumbersReset => "lab: fix-numbers-reset",
        }
    }
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

    fn kind_over_http(self) -> &'static str {
        match self {
            Self::Slow => "HTTP line is slow",
            Self::LosesRequests => "HTTP line loses requests",
            Self::LosesReplies => "HTTP line loses replies",
            Self::Duplicates => "HTTP line duplicates",
        }
    }

    fn kind_of_operator(self) -> &'static str {
        match self {
            Self::Slow => "operator's link is slow",
            Self::LosesRequests => "operator's link loses requests",
            Self::LosesReplies => "operator's link loses replies",
            Self::Duplicates => "operator's link duplicates",
        }
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
            Self::HalfCanceled => "venue cancels only, for a replace",
            Self::HalfPlaced => "venue places only, for a replace",
            Self::HalfNothing => "venue does neither half of a replace",
            Self::NoTrading => "venue takes no requests",
            Self::NoPrivate => "venue tells no reports",
            Self::NoPrices => "venue tells no prices",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::schedule::{SECOND, StepKind, draw};

    const SEEDS: u64 = 300;
    const LENGTH: i64 = 600 * SECOND;

    #[test]
    fn every_kind_that_is_drawn_is_listed_and_every_kind_that_is_listed_is_drawn() {
        let steps = (1..=SEEDS).flat_map(|seed| draw(seed, LENGTH));
        let drawn = steps.filter_map(|step| match step.what {
            StepKind::Fault(fault) => Some(fault.kind()),
            _ => None,
        });
        // These are no steps of a schedule: a run begins with the one, and meets the other when its clock comes to midnight.
        let drawn: BTreeSet<_> = drawn.chain([Fault::UPGRADE, Fault::DAY_END]).collect();
        assert_eq!(drawn, Fault::KINDS.into_iter().collect());
    }
}
