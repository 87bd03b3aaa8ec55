//! Simulator of the whole system: the real engine, live loop, gate, journal, snapshots, recovery, adapter and venue on one thread, in
//! simulated time, on a simulated disk, with seeded clients and faults. Everything follows from the seed. See docs/simulator.md.

mod client;
mod clock;
mod coverage;
mod disk;
mod error_codes;
mod failures;
mod faulty_lines;
mod fix_sessions;
mod http_clients;
mod invariants;
mod lab_venue;
mod machine;
mod market;
mod network;
mod pace;
mod platform;
mod read_model;
mod releases;
mod request_log;
pub mod schedule;
mod simulation;
mod stall_watch;
mod stomp_sessions;
mod strategies;
mod submissions;
mod trace;
mod users;

pub use coverage::Coverage;
pub use error_codes::UNLISTED_CODE;
pub use failures::{CheckedPlans, SearchLimit, ShortSchedule, shorten};
pub use invariants::broken_invariant::BrokenInvariant;
pub use simulation::{Plan, RunReport, run};

impl Plan {
    /// The plan of a seed: so much simulated time in which things go wrong.
    pub fn of_seed(seed: u64, minutes: u32) -> Self {
        let length = i64::from(minutes) * 60 * schedule::SECOND;
        let has_late_requests = market::seed_traits::SeedTraits::of_seed(seed).has_late_requests;
        Self {
            seed,
            steps: schedule::draw(seed, length),
            length,
            has_late_requests,
            is_checked_at_every_step: false,
            is_traced: false,
        }
    }
}
