//! What a trader should know of a venue before the first order: where orders go, and what its adapter was proven against.

use std::fmt;

/// Where the orders of a venue go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderMode {
    /// To the venue itself; they may cost money.
    Live,
    /// To a simulated venue, at the prices of the real one.
    Paper,
    /// To a simulated venue with prices of its own.
    Simulated,
}

impl OrderMode {
    /// Its name in interfaces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "LIVE",
            Self::Paper => "PAPER",
            Self::Simulated => "SIMULATED",
        }
    }
}

/// What an adapter was proven against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VenueProof {
    /// The venue is part of the server.
    OwnVenue,
    /// Nothing: it follows the venue's documentation.
    Unproven,
    /// A program of others that speaks the venue's protocol.
    Program,
    /// The venue lab, which behaves as the venue's documentation says.
    Lab,
    /// The venue itself: a transcript of a first contact is replayed by the tests.
    Venue,
}

impl VenueProof {
    /// Its name in interfaces.
    pub fn name(self) -> &'static str {
        match self {
            Self::OwnVenue => "OWN_VENUE",
            Self::Unproven => "UNPROVEN",
            Self::Program => "PROGRAM",
            Self::Lab => "LAB",
            Self::Venue => "VENUE",
        }
    }
}

impl fmt::Display for VenueProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OwnVenue => "part of the server",
            Self::Unproven => "proven against nothing, it follows the venue's documentation",
            Self::Program => "proven against a program with the venue's protocol, not yet against the venue",
            Self::Lab => "proven against the lab, not yet against the venue",
            Self::Venue => "proven against the venue",
        })
    }
}

/// What is known of a venue from its configuration alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VenueFacts {
    /// Where orders go.
    pub orders: OrderMode,
    /// What its adapter was proven against.
    pub proof: VenueProof,
}

impl VenueFacts {
    /// Of an adapter that is not configured as a venue, such as one of a journal: what it says of itself is all there is.
    pub fn unconfigured(is_simulated: bool) -> Self {
        match is_simulated {
            true => Self { orders: OrderMode::Simulated, proof: VenueProof::OwnVenue },
            false => Self { orders: OrderMode::Live, proof: VenueProof::Lab },
        }
    }
}
