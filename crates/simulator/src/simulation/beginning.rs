//! The beginning of a run that is not on an empty folder.

use super::SimulatedRun;
use crate::invariants::broken_invariant::InvariantResult;
use crate::schedule::Fault;

impl SimulatedRun {
    /// This build is installed over an earlier release.
    pub(super) fn begin_upgrade(&mut self) -> InvariantResult {
        let Some(earlier) = &self.machine.earlier else { return Ok(()) };
        self.coverage.fault(Fault::UPGRADE);
        self.trace.line(format_args!("the data folder is of release {}", earlier.release()));
        earlier.check()
    }
}
