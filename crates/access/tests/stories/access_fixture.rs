//! Test fixture with a file and a clock of its own.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use access::{
    Access, AccessChannel, AccessCredentials, AccessEnvironment, AccessRequest, AccessSettings, Actor, NewToken,
    Password, PrincipalName, Secret, UserRole, UserStore, UserStoreError,
};
use domain::Timestamp;
use tempfile::TempDir;

use crate::recording_log::RecordingLog;

pub(crate) const HERE: &str = "127.0.0.1";
pub(crate) const ELSEWHERE: &str = "192.168.1.5";
pub(crate) const RIGHT: &str = "correct horse";

pub(crate) struct AccessFixture {
    folder: TempDir,
    nanos: Arc<AtomicI64>,
    pub(crate) log: Arc<RecordingLog>,
    pub(crate) access: Access,
}

impl AccessFixture {
    pub(crate) fn open() -> Self {
        Self::with_settings(AccessSettings::default())
    }

    pub(crate) fn with_settings(settings: AccessSettings) -> Self {
        Self::with_environment(settings, None)
    }

    /// With an environment of its own, where there is one.
    pub(crate) fn with_environment(settings: AccessSettings, environment: Option<Arc<dyn AccessEnvironment>>) -> Self {
        let (folder, nanos) = (tempfile::tempdir().unwrap(), Arc::new(AtomicI64::new(0)));
        let clock = {
            let nanos = nanos.clone();
            Arc::new(move || Timestamp(nanos.load(Ordering::Relaxed)))
        };
        let log = RecordingLog::new();
        let users = log.store(folder.path());
        let users = match environment {
            Some(environment) => users.with_environment(environment),
            None => users,
        };
        let access = Access::open(Arc::new(users), settings, clock).unwrap();
        Self { folder, nanos, log, access }
    }

    /// With one user, `anna`, a trader.
    pub(crate) fn with_anna() -> Self {
        let fixture = Self::open();
        fixture.add("anna", UserRole::Trader, RIGHT).unwrap();
        fixture
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The store of a process that has only the journal.
    pub(crate) fn restarted(&self) -> (TempDir, UserStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = self.log.replayed().store(folder.path());
        (folder, store)
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.nanos.fetch_add(seconds * 1_000_000_000, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, user: &str, role: UserRole, password: &str) -> Result<(), UserStoreError> {
        self.put(user, role, password, false)
    }

    pub(crate) fn replace(&self, user: &str, role: UserRole, password: &str) -> Result<(), UserStoreError> {
        self.put(user, role, password, true)
    }

    fn put(&self, user: &str, role: UserRole, password: &str, replace: bool) -> Result<(), UserStoreError> {
        let password = Password::new(password.into()).unwrap();
        let register = self.access.user_store();
        register.add_user((&name(user), &role, &password), replace, &actor("user add"), self.access.now())
    }

    pub(crate) fn remove(&self, user: &str) -> Result<(), UserStoreError> {
        self.access.user_store().remove_user(&name(user), &actor("user remove"), self.access.now())
    }

    pub(crate) fn new_token(&self, wanted: &str, role: UserRole, days: u32) -> Result<Secret, UserStoreError> {
        let wanted = NewToken { name: name(wanted), role, days };
        let made = self.access.user_store().new_token(wanted, &actor("token new"), self.access.now());
        made.map(|(_, secret)| secret)
    }

    pub(crate) fn revoke(&self, token: &str) -> Result<(), UserStoreError> {
        self.access.user_store().revoke_token(&name(token), &actor("token revoke"), self.access.now())
    }

    /// The identity, as `name role`, or the code of the refusal.
    pub(crate) async fn attempt(&self, credentials: AccessCredentials, peer: &str) -> String {
        match self.access.authenticate(credentials, &request(peer)).await {
            Ok(identity) => format!("{} {}", identity.name.as_deref().unwrap_or("-"), identity.role),
            Err(denied) => denied.code().to_owned(),
        }
    }

    pub(crate) async fn login(&self, user: &str, password: &str) -> String {
        self.attempt(AccessCredentials::login(user, password.into()), HERE).await
    }

    pub(crate) fn audit(&self) -> String {
        audit_of(self.access.user_store())
    }
}

/// Every row: what a reader of the audit sees, one line each.
pub(crate) fn audit_of(store: &UserStore) -> String {
    let line = |row: access::AuditRow| {
        let (user, peer) = (row.user.unwrap_or("-".into()), row.peer.unwrap_or("-".into()));
        let (id, at, last) = (row.id, row.at.millis() / 1_000, row.last_at.millis() / 1_000);
        let (door, action, outcome, detail, times) = (row.door, row.action, row.outcome, row.detail, row.times);
        format!("{id} at {at}s {user} {door} {peer} [{action}] {outcome}: {detail} ({times}x, last {last}s)\n")
    };
    store.audit(0, 1_000).unwrap().into_iter().map(line).collect()
}

pub(crate) fn name(text: &str) -> PrincipalName {
    text.parse().unwrap()
}

pub(crate) fn request(peer: &str) -> AccessRequest {
    let peer: IpAddr = peer.parse().unwrap();
    AccessRequest { channel: AccessChannel::Rest, peer: Some(peer), action: "GET /rest/account".into() }
}

pub(crate) fn actor(action: &str) -> Actor {
    Actor {
        user: None,
        request: AccessRequest { channel: AccessChannel::CommandLine, peer: None, action: action.to_owned().into() },
    }
}
