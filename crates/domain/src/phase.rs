//! Phases of a strategy run.

use minicbor::{Decode, Encode};

/// The phases of a strategy run, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum StrategyPhase {
    #[n(0)]
    Init,
    #[n(1)]
    Prefeed,
    #[n(2)]
    Start,
    #[n(3)]
    Run,
    #[n(4)]
    Exit,
}

impl StrategyPhase {
    pub const ALL: [Self; 5] = [Self::Init, Self::Prefeed, Self::Start, Self::Run, Self::Exit];

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
