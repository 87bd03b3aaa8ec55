//! What a session acts on: its account, the exchange, and its own inbox.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
}

impl SessionScope {
    /// ExecID (17) of a reject.
    pub(crate) fn next_reject_id(&self) -> String {
        format!("R{}", self.rejects.fetch_add(1, Ordering::Relaxed))
    }
}
