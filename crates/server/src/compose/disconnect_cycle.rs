//! The line to a simulated venue that is cut and joined again on purpose, while everything else goes on.

use std::thread::JoinHandle;
use std::time::Duration;

use adapters::simulated::VenueControls;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use venue_sim::Faults;

/// What a thread is ended by, and waited for with.
pub(super) type VenueThread = (Sender<()>, JoinHandle<()>);

/// The other faults of the venue stay as they are.
pub(super) fn start(controls: VenueControls, period: Duration) -> std::io::Result<VenueThread> {
    let (stop, stopped) = bounded(1);
    let thread = std::thread::Builder::new().name("line-cuts".into());
    Ok((stop, thread.spawn(move || cycle_connection(&controls, period, &stopped))?))
}

fn cycle_connection(controls: &VenueControls, period: Duration, stopped: &Receiver<()>) {
    while stopped.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
        let faults = controls.faults();
        controls.set_faults(Faults { disconnected: !faults.disconnected, ..faults });
    }
}
