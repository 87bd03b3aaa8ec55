//! The turns of the lab, of the FIX adapter's sessions and of the network between them.

use super::{NEVER, SimulatedRun};
use crate::invariants::broken_invariant::{InvariantResult, broken};
use crate::schedule::{Fault, SECOND};

impl SimulatedRun {
    pub(super) fn lab_due(&self) -> i64 {
        self.lab.as_ref().map_or(NEVER, |lab| lab.due().max(self.now()))
    }

    /// The adapter may have sent something.
    pub(super) fn wake_lab(&mut self) {
        let now = self.now();
        if let Some(lab) = &mut self.lab {
            lab.wake(now);
        }
    }

    /// Bytes arrive, the adapter's sessions work, the lab works, bytes leave.
    pub(super) fn step_lab(&mut self) -> InvariantResult {
        let now = self.now();
        let Some(lab) = &mut self.lab else { return Ok(()) };
        let failed = |reason: String| broken("the lab failed", reason);
        lab.deliver(now).map_err(failed)?;
        let has_news = self.platform.as_mut().is_some_and(|platform| platform.step_adapter_sessions(now));
        lab.step(now).map_err(failed)?;
        if self.machine.disk.has_ended() {
            return self.end_at_disk();
        }
        if has_news {
            let at = now + self.delay();
            self.venue_at = self.venue_at.min(at);
        }
        Ok(())
    }

    pub(super) fn inject_into_lab(&mut self, fault: Fault) -> InvariantResult {
        let now = self.now();
        let Some(lab) = &mut self.lab else { return Ok(()) };
        match fault {
            Fault::LabLine { fault, seconds } => lab.set_line_fault(fault, now + seconds * SECOND),
            Fault::LabKilled { seconds } => lab.kill(now, seconds),
            Fault::Lab { fault, seconds } => {
                let seconds = fault.lasts().then(|| u32::try_from(seconds).unwrap_or(1));
                lab.arm(fault.name(), seconds).map_err(|reason| broken("the simulator failed", reason))?;
            }
            _ => {}
        }
        lab.wake(now);
        Ok(())
    }

    pub(super) fn end_lab_connection(&mut self, has_power: bool) {
        let now = self.now();
        if let Some(lab) = &mut self.lab {
            lab.end_of_process(now, has_power);
        }
    }

    pub(super) fn heal_lab(&mut self) {
        let now = self.now();
        if let Some(lab) = &mut self.lab {
            lab.heal(now);
        }
    }
}
