//! What a session acts on: its account, the exchange, and its own inbox.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::inbox::SessionInbox;
use super::reports::ReportScope;
use crate::exchange::AccountIndex;
use crate::faults::LabFaults;
use crate::sequencer::ExchangeHandle;

pub(crate) struct SessionScope {
    pub(crate) report: ReportScope,
    pub(crate) account: AccountIndex,
    pub(crate) exchange: ExchangeHandle,
    pub(crate) faults: Arc<LabFaults>,
    pub(crate) inbox: Arc<SessionInbox>,
    /// Every symbol and its market.
    pub(crate) markets: Arc<BTreeMap<String, usize>>,
    /// Numbers of rejects, shared by all sessions of the face.
    pub(crate) rejects: Arc<AtomicU64>,
    /// Reports from while the client was away are sent after its next Logon.
    pub(crate) keeps_reports: bool,
    /// Commands of the session that the exchange has not executed.
    pub(crate) pending: Arc<AtomicUsize>,
}

/// Commands of a session that wait for the exchange; the session is not read while there are so many.
pub(crate) const PENDING_MAX: usize = 1_000;

/// A command on its way; dropping it ends that.
pub(crate) struct PendingCommand(Arc<AtomicUsize>);

impl Drop for PendingCommand {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl SessionScope {
    /// It must end before the session is told of the command's result, which wakes it to read on.
    pub(crate) fn begin_command(&self) -> PendingCommand {
        self.pending.fetch_add(1, Ordering::AcqRel);
        PendingCommand(self.pending.clone())
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.pending.load(Ordering::Acquire) < PENDING_MAX
    }

    /// ExecID (17) of a reject.
    pub(crate) fn next_reject_id(&self) -> String {
        format!("R{}", self.next_reject_number())
    }

    pub(crate) fn next_reject_number(&self) -> u64 {
        self.rejects.fetch_add(1, Ordering::Relaxed)
    }
}
