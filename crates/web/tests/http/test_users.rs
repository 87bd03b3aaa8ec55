//! Users and tokens, with a clock that the test moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use access::{
    Access, AccessChannel, AccessRequest, AccessSettings, Actor, AuditRow, NewToken, Password, UserRole, UserStore,
};
use domain::Timestamp;
use tempfile::TempDir;

/// The password of all users.
pub(crate) const PASSWORD: &str = "correct horse";

/// When tests begin.
const BEGIN: Timestamp = Timestamp(1_794_839_400_000_000_000);

pub(crate) struct TestUsers {
    nanos: Arc<AtomicI64>,
    access: Arc<Access>,
    _folder: TempDir,
}

impl Default for TestUsers {
    fn default() -> Self {
        let (folder, nanos) = (tempfile::tempdir().unwrap(), Arc::new(AtomicI64::new(BEGIN.0)));
        let clock = {
            let nanos = nanos.clone();
            Arc::new(move || Timestamp(nanos.load(Ordering::Relaxed)))
        };
        let access = Arc::new(
            Access::open(Arc::new(UserStore::in_memory(folder.path()).unwrap()), AccessSettings::default(), clock)
                .unwrap(),
        );
        Self { nanos, access, _folder: folder }
    }
}

impl TestUsers {
    pub(crate) fn access(&self) -> Arc<Access> {
        self.access.clone()
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.nanos.fetch_add(seconds * 1_000_000_000, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, name: &str, role: UserRole) {
        let password = Password::new(PASSWORD.into()).unwrap();
        let user = (&name.parse().unwrap(), &role, &password);
        self.access.user_store().add_user(user, true, &operator(), self.access.now()).unwrap();
    }

    /// The header with a new token.
    pub(crate) fn bearer(&self, name: &str, role: UserRole) -> String {
        let wanted = NewToken { name: name.parse().unwrap(), role, days: 1 };
        let (_, secret) = self.access.user_store().new_token(wanted, &operator(), self.access.now()).unwrap();
        format!("Authorization: Bearer {}\r\n", secret.text())
    }

    /// Audit entries, one line each.
    pub(crate) fn audit(&self) -> String {
        let rows = self.access.user_store().audit(0, 1_000).unwrap();
        rows.into_iter().filter(|row| row.door != "CLI").map(line).collect()
    }
}

fn line(row: AuditRow) -> String {
    let (user, peer, door) = (row.user.unwrap_or("-".into()), row.peer.unwrap_or("-".into()), row.door);
    let (action, outcome, detail, times) = (row.action, row.outcome, row.detail, row.times);
    format!("{user} {door} {peer} [{action}] {outcome}: {detail} ({times}x)\n")
}

/// The header of a user with the common password.
pub(crate) fn basic(user: &str) -> String {
    basic_with(user, PASSWORD)
}

pub(crate) fn basic_with(user: &str, password: &str) -> String {
    use base64ct::Encoding;
    let pair = base64ct::Base64::encode_string(format!("{user}:{password}").as_bytes());
    format!("Authorization: Basic {pair}\r\n")
}

fn operator() -> Actor {
    Actor {
        user: None,
        request: AccessRequest { channel: AccessChannel::CommandLine, peer: None, action: "story".into() },
    }
}
