//! Thread of an adapter: sleeps until the venue, the engine or a deadline wakes it.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bus::outlet::INSTRUCTIONS_MAX;
use bus::{Closed, Inbox, Outlet};
use crossbeam_channel::{Receiver, Select, TryRecvError};
use domain::{AdapterName, Timestamp};

use crate::host::{Backoff, Host};
use crate::venue::Adapter;

/// The present time, with the configured offset.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Instructions that are sent before the venue's reports are delivered again.
pub const INSTRUCTIONS_PER_TURN_MAX: usize = 256;
/// The longest sleep: after it the clock is read again, because it may have been set.
pub const SLEEP_MAX_MILLIS: u64 = 1_000;

/// Connections of a hosted adapter.
pub struct Doors {
    pub inbox: Inbox,
    pub outlet: Outlet,
    pub clock: Clock,
    /// The adapter logs off and ends when this receives a message or is closed.
    pub stop: Receiver<()>,
}

/// Spawns the thread of an adapter. It ends on stop, or when the engine has stopped.
pub fn spawn<A: Adapter + 'static>(
    name: AdapterName,
    adapter: A,
    doors: Doors,
    backoff: Backoff,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_string()).spawn(move || {
        if run(name.clone(), adapter, &doors, backoff) == Err(Closed::Stopped) {
            tracing::info!(adapter = %name, "adapter stopped: the engine has stopped");
        }
    })
}

fn run<A: Adapter>(name: AdapterName, adapter: A, doors: &Doors, backoff: Backoff) -> Result<(), Closed> {
    let mut at = (doors.clock)();
    let mut host = Host::attach(name, adapter, doors.inbox.clone(), backoff)?;
    let served = serve(&mut host, doors, &mut at);
    let left = host.leave(at);
    served.and(left)
}

fn serve<A: Adapter>(host: &mut Host<A>, doors: &Doors, at: &mut Timestamp) -> Result<(), Closed> {
    let mut stops = false;
    while !stops {
        host.step(*at)?;
        sleep(host, doors, *at);
        stops = doors.stop.try_recv() != Err(TryRecvError::Empty);
        // A clock that is set back stands still here: for a venue, time never goes back.
        *at = (*at).max((doors.clock)());
        // On stop, all queued instructions are still sent.
        let count_max = if stops { INSTRUCTIONS_MAX } else { INSTRUCTIONS_PER_TURN_MAX };
        take_waiting(host, &doors.outlet, *at, count_max)?;
    }
    Ok(())
}

/// Until there is an instruction, a wake-up, a deadline of the host, or a stop.
fn sleep<A: Adapter>(host: &Host<A>, doors: &Doors, at: Timestamp) {
    let bell = host.bell();
    let mut wakers = Select::new();
    for waker in [&bell, &doors.stop] {
        wakers.recv(waker);
    }
    wakers.recv(&doors.outlet);
    // All of them are checked again, so a timeout needs no special case.
    let _ = wakers.ready_timeout(until(host.due(), at));
    let _ = bell.try_recv();
}

fn until(due: Option<Timestamp>, at: Timestamp) -> Duration {
    let longest = Duration::from_millis(SLEEP_MAX_MILLIS);
    let Some(due) = due else { return longest };
    let nanos = u64::try_from(due.nanos_since(at)).unwrap_or(0);
    Duration::from_nanos(nanos).min(longest)
}

fn take_waiting<A: Adapter>(
    host: &mut Host<A>,
    outlet: &Outlet,
    at: Timestamp,
    count_max: usize,
) -> Result<(), Closed> {
    for _ in 0..count_max {
        match outlet.try_recv() {
            Ok(instruction) => host.take(at, &instruction)?,
            Err(TryRecvError::Empty) => break,
            Err(TryRecvError::Disconnected) => return Err(Closed::Stopped),
        }
    }
    Ok(())
}
