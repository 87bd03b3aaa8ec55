//! Users, tokens and audit of a running server, from its journal.

use std::path::Path;
use std::sync::Arc;

use access::{Access, AuditView, OldFileSummary, UserStore};
use bus::JournalStatus;
use storage::JournalLedger;
use tracing::{info, warn};

use crate::bind_policy;
use crate::compose::engine_thread::EngineThread;
use crate::compose::startup::recovered_core::Core;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::exit_failure::ExitFailure;
use crate::users::audit_view;
use crate::users::follower_log::FollowerAdminLog;
use crate::users::journal_log::JournalAdminLog;

pub(super) struct Administration {
    pub(super) access: Arc<Access>,
    audit: Arc<AuditView>,
    ledger: Arc<JournalLedger>,
    journal: Arc<dyn JournalStatus>,
}

/// What can be refused before the journal is opened, and the users that an older version left.
pub(super) fn check(config: &Config, folder: &Path) -> Result<OldFileSummary, ExitFailure> {
    bind_policy::check_ports(config)?;
    Ok(access::look_at_old_file(folder)?)
}

/// The audit, as far as the journal has it. Before the engine runs, and only where the server may listen.
pub(super) fn open_audit(config: &Config, core: &Core, old: OldFileSummary) -> Result<Arc<AuditView>, ExitFailure> {
    bind_policy::check_exposure(config, old.has_users || !core.ledger.admin().users.is_empty())?;
    // One that was too slow lacks rows.
    if let Some(audit) = core.audit.as_ref().filter(|audit| !audit.has_failed()) {
        return Ok(audit.clone());
    }
    audit_view::open(&core.folder, &core.ledger, core.recovered.last_sequence)
}

/// Users and audit as the log has them so far. They are changed at the leader.
pub(super) fn of_follower(
    config: &Config,
    (data_dir, old): (&DataDir, OldFileSummary),
    ledger: &Arc<JournalLedger>,
    audit: Arc<AuditView>,
) -> Result<Arc<Access>, ExitFailure> {
    bind_policy::check_exposure(config, old.has_users || !ledger.admin().users.is_empty())?;
    let users = Arc::new(UserStore::new(Arc::new(FollowerAdminLog(ledger.clone())), Some(audit)));
    Ok(Arc::new(Access::open(users, bind_policy::settings(config), data_dir.clock.shared())?))
}

impl Administration {
    /// Users of an older version are brought into the journal first.
    pub(super) fn open(
        config: &Config,
        data_dir: &DataDir,
        engine: &EngineThread,
        audit: Arc<AuditView>,
    ) -> Result<Self, ExitFailure> {
        let (ledger, journal) = (engine.ledger.clone(), engine.bus.journal.clone());
        let log = Arc::new(JournalAdminLog { ledger: ledger.clone(), journal: journal.clone() });
        if let Some(imported) = access::import_old_file(data_dir.lock.folder(), &*log)? {
            let aside = imported.aside.display();
            info!(records = imported.changes, %aside, "users and audit are in the journal now; the old file is kept aside");
        }
        let users = Arc::new(UserStore::new(log, Some(audit.clone())));
        let access = Arc::new(Access::open(users, bind_policy::settings(config), data_dir.clock.shared())?);
        Ok(Self { access, audit, ledger, journal })
    }

    /// What is counted is journalled while the engine still runs; the audit is complete when it has stopped.
    pub(super) fn stop_around(
        self,
        is_running: bool,
        stop: impl FnOnce() -> Result<(), ExitFailure>,
    ) -> Result<(), ExitFailure> {
        if is_running && let Err(error) = self.access.user_store().record_counts() {
            warn!(%error, "counts of repeated refusals are not in the journal");
        }
        stop()?;
        audit_view::close(&self.audit, &self.ledger, &*self.journal);
        Ok(())
    }
}
