//! Credential watch: logs a client out when its token, user or password is no longer valid.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use access::{Access, Pass};
use fix_net::SessionHandle;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::limits::ADMISSION_CHECK_SECONDS;

/// Text (58) of the Logout after the credentials were revoked.
pub(crate) const NO_LONGER_ADMITTED: &str = "forbidden: what you logged on with is no longer valid";

/// Checks periodically until it is dropped.
pub(crate) struct Sentry {
    is_over: Arc<AtomicBool>,
    /// Dropped with it.
    _round: JoinSet<()>,
}

impl Sentry {
    pub(crate) fn post(access: Arc<Access>, pass: Pass, handle: SessionHandle) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut round = JoinSet::new();
        round.spawn(show_out(access, pass, handle, is_over.clone()));
        Self { is_over, _round: round }
    }

    /// From now on nothing is executed for this client, also while its answer to the Logout is awaited.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}

async fn show_out(access: Arc<Access>, pass: Pass, handle: SessionHandle, is_over: Arc<AtomicBool>) {
    until_it_falls(&access, &pass).await;
    is_over.store(true, Ordering::Release);
    // A full session queue has room again when the session has handled it.
    while handle.log_out(Some(NO_LONGER_ADMITTED.into())).is_err() {
        sleep(Duration::from_secs(ADMISSION_CHECK_SECONDS)).await;
    }
}

async fn until_it_falls(access: &Access, pass: &Pass) {
    while stands(access, pass) {
        sleep(Duration::from_secs(ADMISSION_CHECK_SECONDS)).await;
    }
}

/// Where the users file is not readable no new client is accepted, and logged-on clients stay.
fn stands(access: &Access, pass: &Pass) -> bool {
    access.stands(pass).unwrap_or_else(|error| {
        tracing::error!(%error, "cannot check credentials of a FIX client: users file not readable; it stays logged on");
        true
    })
}

#[cfg(test)]
mod tests {
    use access::{Actor, Door, NewToken, Role, Visit};
    use domain::Timestamp;
    use fix_net::mailbox;
    use tokio::time::timeout;

    use super::super::admission::{Claim, Knock};
    use super::*;

    fn operator() -> Actor {
        Actor { user: None, visit: Visit { door: Door::CommandLine, peer: None, action: "token".into() } }
    }

    fn desk(folder: &std::path::Path) -> (Arc<Access>, access::Secret) {
        let clock: access::Clock = Arc::new(|| Timestamp(0));
        let access = Access::open(folder, access::Settings::default(), clock).unwrap();
        let wanted = NewToken { name: "robot".parse().unwrap(), role: Role::Trader, days: 1 };
        let (_, secret) = access.register().new_token(wanted, &operator(), Timestamp(0)).unwrap();
        access.look_again().unwrap();
        (Arc::new(access), secret)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_whose_token_is_revoked_is_shown_out_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let (access, secret) = desk(folder.path());
        let knock = Knock { access: access.clone(), session: "S".into(), peer: None, expected: None };
        let guest = knock.admit(Claim::new(Some("robot"), Some(secret.text()))).await.unwrap();
        let pass = guest.pass.expect("a token gives a pass");
        let sentry = Sentry::post(access.clone(), pass.clone(), mailbox().0);
        assert!(timeout(Duration::from_secs(60), until_it_falls(&access, &pass)).await.is_err());
        assert!(!sentry.is_over());
        access.register().revoke_token(&"robot".parse().unwrap(), &operator(), Timestamp(0)).unwrap();
        access.look_again().unwrap();
        until_it_falls(&access, &pass).await;
        sleep(Duration::from_secs(2 * ADMISSION_CHECK_SECONDS)).await;
        assert!(sentry.is_over());
    }
}
