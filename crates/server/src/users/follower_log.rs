//! Records of administration on a follower of a cluster: they come from the log, and are made at the leader.

use std::sync::Arc;

use access::{AdminLog, AdminLogError};
use domain::admin::{AdminChange, AdminRecord, AdminState};
use storage::JournalLedger;

pub(crate) struct FollowerAdminLog(pub(crate) Arc<JournalLedger>);

impl AdminLog for FollowerAdminLog {
    fn state(&self) -> Arc<AdminState> {
        self.0.admin()
    }

    /// Who logs on here, and what is refused here, is in the log of this program: the audit is in the journal, which is the leader's.
    fn append(&self, record: AdminRecord) -> Result<u64, AdminLogError> {
        let is_audit = |change: &AdminChange| {
            matches!(change, AdminChange::Audit(_) | AdminChange::CountAudit { .. } | AdminChange::Begun)
        };
        if !record.changes.iter().all(is_audit) {
            return Err(AdminLogError(
                "this server follows: users, tokens and settings are changed at the leader".into(),
            ));
        }
        for change in &record.changes {
            if let AdminChange::Audit(row) = change {
                tracing::info!(target: "audit", ?row, "on a follower");
            }
        }
        Ok(self.state().last_sequence)
    }

    fn keeps_audit(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use bus::inbox::inbox_with;
    use bus::lanes::LaneLimits;
    use bus::quotas::InFlightLimits;

    use super::*;

    #[test]
    fn a_follower_takes_rows_of_the_audit_and_no_change() {
        let (inbox, _lanes) = inbox_with(LaneLimits::default(), InFlightLimits::default());
        let log = FollowerAdminLog(Arc::new(JournalLedger::new(inbox)));
        let append = |changes| log.append(AdminRecord { changes }).map_err(|error| error.0);
        assert_eq!(append(vec![AdminChange::Begun]), Ok(0));
        let refused = "this server follows: users, tokens and settings are changed at the leader".to_owned();
        assert_eq!(append(vec![AdminChange::Begun, AdminChange::RemoveUser("trader".into())]), Err(refused));
        assert_eq!(*log.state(), AdminState::default());
    }
}
