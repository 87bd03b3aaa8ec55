//! Status of replication: what the rest of a leader may know of it, and the lease that follows from it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::standbys::{StandbyReport, StandbyState, Standbys};
use super::trimming::{SlowestFollower, TrimSettings};
use crate::journal::ReleaseGate;
use crate::replication::types::{CandidateId, Epoch, LogPosition, MemberId};

/// Shared by the replication thread and everybody who asks.
#[derive(Debug, Default)]
pub struct ReplicationStatus {
    state: Mutex<ReplicationState>,
    stopping: Condvar,
    standbys: Mutex<Standbys>,
    trim: Option<TrimSettings>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplicationState {
    /// The last entry that a majority has.
    pub accepted: LogPosition,
    /// When it was sent for the first time, by the monotonic clock of this machine.
    pub led_at: Option<Instant>,
    /// Why a frame waits, or the epoch record of a candidate, while one does.
    pub waiting: Option<String>,
    /// The first entry of the log, where the leader has trimmed it or looked; 0 before.
    pub begins: LogPosition,
    /// The follower for whose sake the log is longer than its limits.
    pub trim_held_by: Option<MemberId>,
    /// Why the log must not be used any more: its machines do not keep what they acknowledge.
    pub refused: Option<String>,
    /// Another process leads.
    pub is_fenced: bool,
    is_stopping: bool,
}

impl ReplicationStatus {
    /// Of a process that, as a leader, lets nothing count before so many other journals have it.
    pub fn with_standbys(required: usize) -> Self {
        Self { standbys: Mutex::new(Standbys::new(required)), ..Self::default() }
    }

    /// As a leader, it trims the log.
    pub fn with_trimming(self, trim: Option<TrimSettings>) -> Self {
        Self { trim, ..self }
    }

    pub(crate) fn trim_settings(&self) -> Option<TrimSettings> {
        self.trim.clone()
    }

    pub(crate) fn slowest_follower(&self, settings: &TrimSettings) -> SlowestFollower {
        self.standbys().slowest(settings, Instant::now())
    }

    pub(crate) fn set_beginning(&self, begins: LogPosition) {
        self.lock().begins = begins;
    }

    pub(crate) fn set_trim_holder(&self, holder: Option<MemberId>) {
        self.lock().trim_held_by = holder;
    }

    /// Takes what a follower says of itself. False where it does not follow this process in the epoch that it leads: then it proves
    /// nothing.
    pub fn confirm(&self, report: &StandbyReport) -> bool {
        self.standbys().confirm(report, Instant::now())
    }

    /// What standbys have, of a leader.
    pub fn standby_state(&self) -> StandbyState {
        self.standbys().state(Instant::now())
    }

    /// Ends the journal where its last records have waited for standbys for at least so long; they are not durable then. True where
    /// nothing waits for standbys any more.
    pub fn give_up_on_standbys(&self, after: Duration) -> bool {
        self.standbys().give_up(after)
    }

    /// Whether a leader holds back what standbys lack.
    pub(crate) fn needs_standbys(&self) -> bool {
        self.standbys().is_required()
    }

    /// From here on reports about this lead count.
    pub(crate) fn begin_lead(&self, epoch: Epoch, candidate: CandidateId, gate: Option<Arc<ReleaseGate>>) {
        self.standbys().begin_lead(epoch, candidate, gate);
    }

    pub fn state(&self) -> ReplicationState {
        self.lock().clone()
    }

    /// Whether this process certainly led less than `lease` ago: no other can have begun to trade, as long as it waits longer than the
    /// lease after the last entry that it has read, be it a frame or an epoch record.
    pub fn holds_lease(&self, now: Instant, lease: Duration) -> bool {
        let state = self.lock();
        !state.is_fenced && state.led_at.is_some_and(|led_at| now.saturating_duration_since(led_at) < lease)
    }

    /// The log must not be used any more: a leader releases nothing more, and ends.
    pub fn refuse(&self, reason: String) {
        tracing::error!(%reason, "the replicated log must not be used any more");
        self.lock().refused = Some(reason);
        self.stop();
    }

    /// Ends a wait for a majority. What waits is not durable then.
    pub fn stop(&self) {
        self.lock().is_stopping = true;
        self.stopping.notify_all();
    }

    /// Leadership begins, or an entry is accepted; `sent` is when its first copy left.
    pub(crate) fn accept(&self, position: LogPosition, sent: Instant) {
        let mut state = self.lock();
        (state.accepted, state.waiting) = (position, None);
        state.led_at = state.led_at.max(Some(sent));
    }

    pub(crate) fn wait_for(&self, reason: String) {
        let mut state = self.lock();
        if state.waiting.is_none() {
            tracing::warn!(%reason, "the replicated log does not take the next frame; nothing is acknowledged until it does");
        }
        state.waiting = Some(reason);
    }

    /// A candidate that another one beat waits for nothing more.
    pub(crate) fn end_wait(&self) {
        self.lock().waiting = None;
    }

    pub(crate) fn fence(&self) {
        self.lock().is_fenced = true;
    }

    /// Waits, and tells whether it shall stop.
    pub(crate) fn wait_stopped(&self, pause: Duration) -> bool {
        let state = self.lock();
        let waited = self.stopping.wait_timeout_while(state, pause, |state| !state.is_stopping);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_stopping
    }

    fn standbys(&self) -> MutexGuard<'_, Standbys> {
        self.standbys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, ReplicationState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(2);

    #[test]
    fn a_lease_counts_from_the_first_sending_of_the_last_accepted_entry() {
        let (status, begin) = (ReplicationStatus::default(), Instant::now());
        assert!(!status.holds_lease(begin, LEASE), "nothing was accepted yet");
        status.accept(LogPosition(1), begin);
        assert!(status.holds_lease(begin + Duration::from_millis(1_999), LEASE));
        assert!(!status.holds_lease(begin + LEASE, LEASE));
        status.accept(LogPosition(2), begin + LEASE);
        assert!(status.holds_lease(begin + LEASE, LEASE));
    }

    #[test]
    fn a_fenced_process_has_no_lease() {
        let (status, begin) = (ReplicationStatus::default(), Instant::now());
        status.accept(LogPosition(1), begin);
        status.fence();
        assert!(!status.holds_lease(begin, LEASE));
    }
}
