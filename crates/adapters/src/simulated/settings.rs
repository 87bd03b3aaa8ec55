//! Settings of a simulated venue.

use std::path::PathBuf;

use venue_sim::VenueConfig;

/// A ledger is compacted when it is longer, and later when it has doubled.
pub const LEDGER_COMPACT_BYTES: u64 = 64 << 20;

/// Settings of one simulated venue.
#[derive(Debug, Clone)]
pub struct SimulatedVenueSettings {
    /// The venue's ledger file; it is created where it is missing.
    pub ledger: PathBuf,
    /// The venue itself.
    pub venue: VenueConfig,
    /// The ledger is compacted when it is longer: [`LEDGER_COMPACT_BYTES`].
    pub compact_at_bytes: u64,
}
