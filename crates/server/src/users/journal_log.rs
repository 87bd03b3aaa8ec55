//! Records of administration of a running server: they take their turn among all other inputs.

use std::sync::Arc;
use std::time::Duration;

use access::{AdminLog, AdminLogError};
use bus::{InboxError, JournalStatus};
use domain::admin::{AdminRecord, AdminState};
use storage::JournalLedger;

/// How long a record waits before it asks again for a place among the requests.
const BUSY_WAIT: Duration = Duration::from_millis(1);

pub(crate) struct JournalAdminLog {
    pub(crate) ledger: Arc<JournalLedger>,
    pub(crate) journal: Arc<dyn JournalStatus>,
}

impl AdminLog for JournalAdminLog {
    fn state(&self) -> Arc<AdminState> {
        self.ledger.admin()
    }

    fn append(&self, record: AdminRecord) -> Result<u64, AdminLogError> {
        let stopped = || AdminLogError("the engine has stopped".to_owned());
        let ticket = loop {
            match self.ledger.append_admin(record.clone()) {
                Ok(ticket) => break ticket,
                Err(InboxError::Busy) => std::thread::sleep(BUSY_WAIT),
                Err(InboxError::Stopped) => return Err(stopped()),
            }
        };
        let reply = ticket.recv_blocking().map_err(|_| stopped())?;
        reply.outcome.map(|_| reply.sequence).map_err(|refusal| AdminLogError(refusal.to_string()))
    }

    fn is_stalled(&self) -> bool {
        self.journal.is_stalled()
    }
}
