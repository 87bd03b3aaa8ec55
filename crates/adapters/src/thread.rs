//! Thread of an adapter: sleeps until the venue, the engine or a deadline wakes it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::Duration;

use bus::instruction_queue::INSTRUCTIONS_MAX;
use bus::{Inbox, InboxError, InstructionQueue};
use crossbeam_channel::{Receiver, Select, Sender, TryRecvError};
use domain::{AdapterName, Timestamp};

use crate::host::{AdapterHost, VenueBackoff};
use crate::overlap_record::OverlapRecord;
use crate::send_lease::SendLease;
use crate::venue::Adapter;

/// The present time, with the configured offset.
pub type AdapterClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Instructions that are sent before the venue's reports are delivered again.
pub const INSTRUCTIONS_PER_CYCLE_MAX: usize = 256;
/// The longest sleep: after it the clock is read again, because it may have been set.
pub const SLEEP_MAX_MILLIS: u64 = 1_000;

/// Connections of a hosted adapter.
pub struct AdapterIo {
    /// Where reports go.
    pub inbox: Inbox,
    /// Where instructions come from.
    pub instructions: InstructionQueue,
    /// The time of reports.
    pub clock: AdapterClock,
    /// The adapter logs off and ends when this receives a message or is closed.
    pub stop: Receiver<()>,
    /// None where no other process could trade.
    pub lease: Option<SendLease>,
    /// For how long requests of another process may still come in.
    pub overlap: OverlapRecord,
    /// Set when the venue could not be logged on to, or a session was lost.
    pub log_on_failed: Arc<AtomicBool>,
}

/// A thread of a venue, and what ends it.
pub struct VenueThread {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl VenueThread {
    /// A thread that ends when the other end of this channel is closed.
    pub fn new(stop: Sender<()>, thread: JoinHandle<()>) -> Self {
        Self { stop, thread }
    }

    /// Ends all of them and waits; all are told first, so that none waits for another.
    pub fn stop_all(threads: Vec<Self>) {
        let told: Vec<_> = threads.into_iter().map(|Self { stop, thread }| (drop(stop), thread)).collect();
        for ((), thread) in told {
            // A thread that panicked has said so in the log.
            drop(thread.join());
        }
    }
}

/// Spawns the thread of an adapter. It ends on stop, or when the engine has stopped.
pub fn spawn(
    name: AdapterName,
    adapter: Box<dyn Adapter>,
    io: AdapterIo,
    backoff: VenueBackoff,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_string()).spawn(move || {
        if run(name.clone(), adapter, io, backoff) == Err(InboxError::Stopped) {
            tracing::info!(adapter = %name, "adapter stopped: the engine has stopped");
        }
    })
}

fn run(
    name: AdapterName,
    adapter: Box<dyn Adapter>,
    mut io: AdapterIo,
    backoff: VenueBackoff,
) -> Result<(), InboxError> {
    let mut at = (io.clock)();
    let host = AdapterHost::attach(name, adapter, io.inbox.clone(), backoff)?;
    let host = host.with_lease(io.lease.clone()).with_overlap(std::mem::take(&mut io.overlap));
    let mut host = host.with_failure_flag(io.log_on_failed.clone());
    let served = serve(&mut host, &io, &mut at);
    let left = host.disconnect(at);
    served.and(left)
}

fn serve(host: &mut AdapterHost, io: &AdapterIo, at: &mut Timestamp) -> Result<(), InboxError> {
    let mut stops = false;
    while !stops {
        host.step(*at)?;
        sleep(host, io, *at);
        stops = io.stop.try_recv() != Err(TryRecvError::Empty);
        // A clock that is set back stands still here: for a venue, time never goes back.
        *at = (*at).max((io.clock)());
        // On stop, all queued instructions are still sent.
        let count_max = if stops { INSTRUCTIONS_MAX } else { INSTRUCTIONS_PER_CYCLE_MAX };
        drain_instructions(host, &io.instructions, *at, count_max)?;
    }
    Ok(())
}

/// Until there is an instruction, a wake-up, a deadline of the host, or a stop.
fn sleep(host: &AdapterHost, io: &AdapterIo, at: Timestamp) {
    let bell = host.waker();
    let mut wakers = Select::new();
    for waker in [&bell, &io.stop] {
        wakers.recv(waker);
    }
    wakers.recv(&io.instructions);
    // All of them are checked again, so a timeout needs no special case.
    let _ = wakers.ready_timeout(until(host.next_due(), at));
    let _ = bell.try_recv();
}

fn until(due: Option<Timestamp>, at: Timestamp) -> Duration {
    let longest = Duration::from_millis(SLEEP_MAX_MILLIS);
    let Some(due) = due else { return longest };
    let nanos = u64::try_from(due.nanos_since(at)).unwrap_or(0);
    Duration::from_nanos(nanos).min(longest)
}

fn drain_instructions(
    host: &mut AdapterHost,
    outlet: &InstructionQueue,
    at: Timestamp,
    count_max: usize,
) -> Result<(), InboxError> {
    for _ in 0..count_max {
        match outlet.try_recv() {
            Ok(instruction) => host.handle(at, &instruction)?,
            Err(TryRecvError::Empty) => break,
            Err(TryRecvError::Disconnected) => return Err(InboxError::Stopped),
        }
    }
    Ok(())
}
