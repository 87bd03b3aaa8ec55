//! Credential watch: logs a client out when its token, user or password is no longer valid.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use access::{Access, AccessGrant};
use fix_net::SessionHandle;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::limits::CREDENTIAL_CHECK_SECONDS;

/// Text (58) of the Logout after the credentials were revoked.
pub(crate) const CREDENTIALS_REVOKED: &str = "forbidden: what you logged on with is no longer valid";

/// Checks periodically until it is dropped.
pub(crate) struct CredentialWatch {
    is_revoked: Arc<AtomicBool>,
    /// Dropped with it.
    _task: JoinSet<()>,
}

impl CredentialWatch {
    pub(crate) fn start(access: Arc<Access>, pass: AccessGrant, handle: SessionHandle) -> Self {
        let is_revoked = Arc::new(AtomicBool::new(false));
        let mut round = JoinSet::new();
        round.spawn(terminate(access, pass, handle, is_revoked.clone()));
        Self { is_revoked, _task: round }
    }

    /// From now on nothing is executed for this client, also while its answer to the Logout is awaited.
    pub(crate) fn is_revoked(&self) -> bool {
        self.is_revoked.load(Ordering::Acquire)
    }
}

async fn terminate(access: Arc<Access>, pass: AccessGrant, handle: SessionHandle, is_over: Arc<AtomicBool>) {
    wait_until_revoked(&access, &pass).await;
    is_over.store(true, Ordering::Release);
    // A full session queue has room again when the session has handled it.
    while handle.log_out(Some(CREDENTIALS_REVOKED.into())).is_err() {
        sleep(Duration::from_secs(CREDENTIAL_CHECK_SECONDS)).await;
    }
}

async fn wait_until_revoked(access: &Access, pass: &AccessGrant) {
    while is_still_valid(access, pass) {
        sleep(Duration::from_secs(CREDENTIAL_CHECK_SECONDS)).await;
    }
}

/// Where the users file is not readable no new client is accepted, and logged-on clients stay.
fn is_still_valid(access: &Access, pass: &AccessGrant) -> bool {
    access.is_valid(pass).unwrap_or_else(|error| {
        tracing::error!(%error, "cannot check credentials of a FIX client: users file not readable; it stays logged on");
        true
    })
}

#[cfg(test)]
mod tests {
    use access::{AccessChannel, AccessRequest, Actor, NewToken, UserRole};
    use domain::Timestamp;
    use fix_net::session_queue;
    use tokio::time::timeout;

    use super::super::logon::{LogonAttempt, LogonCredentials};
    use super::*;

    fn operator() -> Actor {
        Actor {
            user: None,
            request: AccessRequest { channel: AccessChannel::CommandLine, peer: None, action: "token".into() },
        }
    }

    fn desk(folder: &std::path::Path) -> (Arc<Access>, access::Secret) {
        let clock: access::AccessClock = Arc::new(|| Timestamp(0));
        let access = Access::open(
            Arc::new(access::UserStore::in_memory(folder).unwrap()),
            access::AccessSettings::default(),
            clock,
        )
        .unwrap();
        let wanted = NewToken { name: "robot".parse().unwrap(), role: UserRole::Trader, days: 1 };
        let (_, secret) = access.user_store().new_token(wanted, &operator(), Timestamp(0)).unwrap();
        (Arc::new(access), secret)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_whose_token_is_revoked_is_shown_out_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let (access, secret) = desk(folder.path());
        let attempt = LogonAttempt {
            access: access.clone(),
            session: "S".into(),
            peer: None,
            expected: None,
            is_read_only: false,
        };
        let principal = attempt.authenticate(LogonCredentials::new(Some("robot"), Some(secret.text()))).await.unwrap();
        let pass = principal.pass.expect("a token gives a pass");
        let sentry = CredentialWatch::start(access.clone(), pass.clone(), session_queue().0);
        assert!(timeout(Duration::from_secs(60), wait_until_revoked(&access, &pass)).await.is_err());
        assert!(!sentry.is_revoked());
        access.user_store().revoke_token(&"robot".parse().unwrap(), &operator(), Timestamp(0)).unwrap();
        wait_until_revoked(&access, &pass).await;
        sleep(Duration::from_secs(2 * CREDENTIAL_CHECK_SECONDS)).await;
        assert!(sentry.is_revoked());
    }
}
