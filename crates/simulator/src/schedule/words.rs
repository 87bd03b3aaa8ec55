//! The schedule for people: who acts, and what goes wrong.

use std::fmt;

use super::faults::{ConnectionFault, Fault, HttpClientKind, LinkFault, NewFile, VenueLineFault};
use super::{MILLI, OPERATOR, SECOND, Step, StepKind};

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.time(), self.what)
    }
}

impl Step {
    /// Seconds since the beginning.
    pub fn time(&self) -> String {
        format!("{}.{:03}", self.at / SECOND, self.at % SECOND / MILLI)
    }
}

impl fmt::Display for StepKind {
    /// What a client does follows from what it knows then, too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client { client: OPERATOR, .. } => f.write_str("the operator acts"),
            Self::Client { client, .. } => write!(f, "trader {} acts", client + 1),
            Self::FixClient { client, .. } => write!(f, "FIX client {} acts", client + 1),
            Self::StompClient { client, .. } => write!(f, "STOMP client {} acts", client + 1),
            Self::Strategy { .. } => f.write_str("the strategy acts"),
            Self::Administrator { .. } => f.write_str("the administrator acts"),
            Self::UserClient { client, .. } => write!(f, "user client {} acts", client + 1),
            Self::HttpRead { .. } => f.write_str("a trader reads over HTTP"),
            Self::Fault(fault) => write!(f, "{fault}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill => f.write_str("the process is killed"),
            Self::PowerCut { operation } => write!(f, "the power goes at operation {operation} of the disk"),
            Self::PowerCutAtName { file, operation } => {
                write!(f, "the power goes at operation {operation} from the moment on when {file} gets its name")
            }
            Self::PowerCutAtLedger { operation } => {
                write!(f, "the power goes at operation {operation} from the next write of a venue's ledger on")
            }
            Self::KillAtDisk { file: None, operation } => {
                write!(f, "the process is killed at operation {operation} of the disk")
            }
            Self::KillAtDisk { file: Some(file), operation } => {
                write!(f, "the process is killed at operation {operation} from the moment on when {file} gets its name")
            }
            Self::OrderlyStop => f.write_str("the process is stopped in order"),
            Self::DaysPass { days } => write!(f, "the process is stopped, and starts {days} days later"),
            Self::SyncFails => f.write_str("the next sync fails"),
            Self::WriteFails => f.write_str("the next write fails"),
            Self::DiskFull { seconds } => write!(f, "the disk is full for {seconds} s"),
            Self::SlowDisk { seconds } => write!(f, "the disk is slow for {seconds} s"),
            Self::HangingDisk { seconds } => write!(f, "the disk hangs for {seconds} s"),
            Self::ClockSet { seconds } => write!(f, "the wall clock is set by {seconds:+} s"),
            Self::ClockDrifts { parts_per_million, seconds } => {
                write!(f, "the wall clock drifts by {parts_per_million:+} ppm for {seconds} s")
            }
            Self::ReadModelRolledBack { draw: 0 } => f.write_str("the process is killed, and the read model is lost"),
            Self::ReadModelRolledBack { draw } => {
                write!(f, "the process is killed, and the read model keeps {draw} quarters of what it has")
            }
            Self::ReadModelBadRow { seconds, .. } => {
                write!(f, "the process is killed, and a row of the read model is bad; it is deleted after {seconds} s")
            }
            Self::Venue { venue, fault, seconds } => write!(f, "venue {} {fault} for {seconds} s", venue + 1),
            Self::LabLine { fault, seconds } => {
                write!(f, "the line to the lab {fault}")?;
                fault.write_length(f, *seconds)
            }
            Self::Lab { fault, seconds } if fault.lasts() => write!(f, "the lab does {} for {seconds} s", fault.name()),
            Self::Lab { fault, .. } => write!(f, "the lab does {} at the next occasion", fault.name()),
            Self::LabKilled { seconds } => write!(f, "the lab is killed, and away for {seconds} s"),
            Self::TradeRevised { venue, is_correction: true, .. } => write!(f, "venue {} corrects a trade", venue + 1),
            Self::TradeRevised { venue, .. } => write!(f, "venue {} busts a trade", venue + 1),
            Self::Link { client: OPERATOR, fault, seconds } => {
                write!(f, "the connection of the operator {fault} for {seconds} s")
            }
            Self::Link { client, fault, seconds } => {
                write!(f, "the connection of trader {} {fault} for {seconds} s", client + 1)
            }
            Self::HttpLink { caller, fault, seconds } => {
                write!(f, "the HTTP connection of {caller} {fault} for {seconds} s")
            }
            Self::FixLink { client, fault, seconds } => {
                write!(f, "the connection of FIX client {} {fault}", client + 1)?;
                fault.write_length(f, *seconds)
            }
            Self::StompLink { client, fault, seconds } => {
                write!(f, "the connection of STOMP client {} {fault}", client + 1)?;
                fault.write_length(f, *seconds)
            }
            Self::StompPortHangs { seconds } => write!(f, "the STOMP port hangs for {seconds} s"),
            Self::BitFlip { is_read_model_lost, .. } => {
                f.write_str("the process is killed, and a bit of its files flips")?;
                f.write_str(if *is_read_model_lost { "; the read model is lost" } else { "" })
            }
        }
    }
}

impl ConnectionFault {
    /// A connection that is cut or half-open is gone, and its client opens another as soon as it knows.
    fn write_length(self, f: &mut fmt::Formatter<'_>, seconds: i64) -> fmt::Result {
        match self {
            Self::Cut | Self::HalfOpen => Ok(()),
            Self::Slow | Self::NotRead => write!(f, " for {seconds} s"),
        }
    }
}

impl fmt::Display for NewFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Segment => "a new segment",
            Self::Snapshot => "a new snapshot",
            Self::Ledger => "a compacted ledger of a venue",
        })
    }
}

impl fmt::Display for HttpClientKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reader => f.write_str("the reader"),
            Self::Administrator => f.write_str("the administrator"),
            Self::User(client) => write!(f, "user client {}", client + 1),
        }
    }
}

impl fmt::Display for LinkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Slow => "is slow",
            Self::LosesRequests => "loses requests",
            Self::LosesReplies => "loses replies",
            Self::Duplicates => "delivers every request twice",
        })
    }
}

impl fmt::Display for ConnectionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cut => "is cut",
            Self::HalfOpen => "is half-open",
            Self::Slow => "is slow",
            Self::NotRead => "is not read",
        })
    }
}

impl fmt::Display for VenueLineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reject => "rejects",
            Self::Delay => "reports late",
            Self::Duplicate => "reports twice",
            Self::Drop => "does not report all",
            Self::Reorder => "reports out of order",
            Self::Disconnect => "is disconnected",
            Self::Mute => "is mute",
            Self::Lose => "loses requests",
            Self::Late => "gets requests late",
            Self::HalfCanceled => "cancels only, for a replace,",
            Self::HalfPlaced => "places only, for a replace,",
            Self::HalfNothing => "does neither half of a replace",
            Self::NoTrading => "takes no requests",
            Self::NoPrivate => "tells no reports",
            Self::NoPrices => "tells no prices",
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::{ConnectionFault, Fault, LinkFault, OPERATOR, Step, StepKind};

    #[test]
    fn a_step_is_told_with_its_time_and_in_words() {
        let told = |what| Step { at: 61_250_000_000, what }.to_string();
        assert_eq!(told(StepKind::Client { client: 0, draw: 9 }), "61.250 trader 1 acts");
        assert_eq!(told(StepKind::Fault(Fault::ClockSet { seconds: -90 })), "61.250 the wall clock is set by -90 s");
        let cut = Fault::FixLink { client: 1, fault: ConnectionFault::Cut, seconds: 3 };
        assert_eq!(told(StepKind::Fault(cut)), "61.250 the connection of FIX client 2 is cut");
        let slow = Fault::StompLink { client: 0, fault: ConnectionFault::Slow, seconds: 3 };
        assert_eq!(told(StepKind::Fault(slow)), "61.250 the connection of STOMP client 1 is slow for 3 s");
        let operator = Fault::Link { client: OPERATOR, fault: LinkFault::LosesReplies, seconds: 3 };
        let told_operator = "61.250 the connection of the operator loses replies for 3 s";
        assert_eq!(told(StepKind::Fault(operator)), told_operator);
        let line = Fault::LabLine { fault: ConnectionFault::HalfOpen, seconds: 3 };
        assert_eq!(told(StepKind::Fault(line)), "61.250 the line to the lab is half-open");
    }
}
