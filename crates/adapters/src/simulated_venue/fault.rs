//! Faults of a simulated venue, as they are configured; and the line that is cut and joined again on purpose, while everything
//! else goes on.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use domain::report::LineKind;
use venue_sim::{Faults, ReplaceHalf};

use crate::simulated::VenueControls;
use crate::thread::VenueThread;

/// A fault of a venue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VenueFault {
    /// Every n-th new order is rejected.
    Reject(u32),
    /// Every report is late by this many milliseconds.
    Delay(u32),
    /// One report in n is sent twice.
    Duplicate(u32),
    /// One report in n is lost.
    Drop(u32),
    /// One report in n is overtaken by later ones.
    Reorder(u32),
    /// The venue can't be reached.
    Disconnect,
    /// The connection is cut after so many milliseconds and restored after as many, over and over.
    Cut(u32),
    /// Requests are executed, but no report is sent.
    Mute,
    /// One request in n never arrives, though the connection stands.
    Lose(u32),
    /// One request in n arrives up to five seconds late.
    Late(u32),
    /// This line is down while the session stays up.
    LineDown(LineKind),
    /// After every n-th new order somebody else places the same on the account.
    Strangers(u32),
    /// Only this much of every cancel-replace is carried out.
    Half(ReplaceHalf),
}

impl VenueFault {
    /// The forms of a fault.
    pub const SHAPE: &'static str = "reject=n, delay=<ms>, duplicate=n, drop=n, reorder=n, lose=n, late=n, strangers=n, disconnect, cut=<ms>, mute, noTrading, \
         noPrivate, noPrices, halfCanceled, halfPlaced or halfNothing";
}

fn line_fault(line: LineKind) -> &'static str {
    match line {
        LineKind::Trading => "noTrading",
        LineKind::Private => "noPrivate",
        LineKind::Prices => "noPrices",
    }
}

const HALVES: [ReplaceHalf; 3] = [ReplaceHalf::Canceled, ReplaceHalf::Placed, ReplaceHalf::Neither];

fn half_fault(half: ReplaceHalf) -> &'static str {
    match half {
        ReplaceHalf::Canceled => "halfCanceled",
        ReplaceHalf::Placed => "halfPlaced",
        ReplaceHalf::Neither => "halfNothing",
    }
}

/// The text is no fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownFault;

impl FromStr for VenueFault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let (name, number) = match text.split_once('=') {
            Some((name, number)) => (name, number.parse().ok().filter(|number| *number > 0)),
            None => (text, None),
        };
        Ok(match (name, number) {
            ("reject", Some(nth)) => Self::Reject(nth),
            ("delay", Some(millis)) => Self::Delay(millis),
            ("duplicate", Some(odds)) => Self::Duplicate(odds),
            ("drop", Some(odds)) => Self::Drop(odds),
            ("reorder", Some(odds)) => Self::Reorder(odds),
            ("lose", Some(odds)) => Self::Lose(odds),
            ("late", Some(odds)) => Self::Late(odds),
            ("strangers", Some(nth)) => Self::Strangers(nth),
            ("cut", Some(millis)) => Self::Cut(millis),
            ("disconnect", None) if text == "disconnect" => Self::Disconnect,
            ("mute", None) if text == "mute" => Self::Mute,
            _ => match HALVES.into_iter().find(|half| half_fault(*half) == text) {
                Some(half) => Self::Half(half),
                None => {
                    let line = LineKind::ALL.into_iter().find(|line| line_fault(*line) == text);
                    Self::LineDown(line.ok_or(UnknownFault)?)
                }
            },
        })
    }
}

impl fmt::Display for VenueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reject(nth) => write!(f, "reject={nth}"),
            Self::Delay(millis) => write!(f, "delay={millis}"),
            Self::Duplicate(odds) => write!(f, "duplicate={odds}"),
            Self::Drop(odds) => write!(f, "drop={odds}"),
            Self::Reorder(odds) => write!(f, "reorder={odds}"),
            Self::Disconnect => f.write_str("disconnect"),
            Self::Cut(millis) => write!(f, "cut={millis}"),
            Self::Mute => f.write_str("mute"),
            Self::Lose(odds) => write!(f, "lose={odds}"),
            Self::Late(odds) => write!(f, "late={odds}"),
            Self::LineDown(line) => f.write_str(line_fault(*line)),
            Self::Strangers(nth) => write!(f, "strangers={nth}"),
            Self::Half(half) => f.write_str(half_fault(*half)),
        }
    }
}

impl fmt::Display for UnknownFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not one of {}", VenueFault::SHAPE)
    }
}

impl std::error::Error for UnknownFault {}

/// The other faults of the venue stay as they are.
pub(super) fn start(controls: VenueControls, period: Duration) -> std::io::Result<VenueThread> {
    let (stop, stopped) = bounded(1);
    let thread = std::thread::Builder::new().name("line-cuts".into());
    Ok(VenueThread::new(stop, thread.spawn(move || cycle_connection(&controls, period, &stopped))?))
}

fn cycle_connection(controls: &VenueControls, period: Duration, stopped: &Receiver<()>) {
    while stopped.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
        let faults = controls.faults();
        controls.set_faults(Faults { disconnected: !faults.disconnected, ..faults });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_shown_as_it_was_written() {
        let counted = ["reject=10", "delay=50", "duplicate=3", "drop=4", "reorder=5", "cut=6000", "lose=3", "late=2"];
        let halves = ["halfCanceled", "halfPlaced", "halfNothing"];
        for text in
            [&counted[..], &halves, &["mute", "disconnect", "noTrading", "noPrivate", "noPrices", "strangers=1"]]
                .concat()
        {
            assert_eq!(text.parse::<VenueFault>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_fault_is_refused() {
        for text in ["reject", "reject=0", "cut", "mute=1", "explode", "", "drop=-1"] {
            assert_eq!(text.parse::<VenueFault>(), Err(UnknownFault), "{text}");
        }
    }
}
