//! The line to a simulated venue that is cut and joined again on purpose, while everything else goes on.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use venue_sim::Faults;

use crate::simulated::VenueControls;
use crate::thread::VenueThread;

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
