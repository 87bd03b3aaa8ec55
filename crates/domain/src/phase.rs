//! The run of a strategy: its mode, its phases, and the failure that ends it.

use minicbor::{Decode, Encode};

use crate::ids::Text;

/// The phases of a strategy run, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum StrategyPhase {
    /// It reads its parameters and subscribes.
    #[n(0)]
    Init,
    /// It gets the history that it asked for.
    #[n(1)]
    Prefeed,
    /// It is about to run and may place first orders.
    #[n(2)]
    Start,
    /// It gets events as they happen.
    #[n(3)]
    Run,
    /// It has ended, by itself or stopped by the platform.
    #[n(4)]
    Exit,
}

impl StrategyPhase {
    /// All phases, in their order.
    pub const ALL: [Self; 5] = [Self::Init, Self::Prefeed, Self::Start, Self::Run, Self::Exit];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Init => "INIT",
            Self::Prefeed => "PREFEED",
            Self::Start => "START",
            Self::Run => "RUN",
            Self::Exit => "EXIT",
        }
    }
}

/// How a strategy runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum Mode {
    /// On live prices and orders.
    #[n(0)]
    RealTime,
    /// On recorded prices, in the time of the recording.
    #[n(1)]
    Simulation,
}

/// Why the platform stopped a strategy.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct StrategyFailure {
    /// What kind of failure it was.
    #[n(0)]
    pub kind: StrategyFailureKind,
    /// What it did, as the end of a sentence about it.
    #[n(1)]
    pub text: Text,
}

/// How a strategy failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum StrategyFailureKind {
    /// Its code panicked.
    #[n(0)]
    Panicked,
    /// A callback did not return.
    #[n(1)]
    Hung,
    /// It sent more commands than can be checked, or the risk gate refuses its orders for their rate.
    #[n(2)]
    Flooded,
    /// The connection to its process is lost.
    #[n(3)]
    Disconnected,
}

impl StrategyFailureKind {
    /// As clients see it, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Panicked => "panicked",
            Self::Hung => "hung",
            Self::Flooded => "flooded",
            Self::Disconnected => "lost",
        }
    }
}
