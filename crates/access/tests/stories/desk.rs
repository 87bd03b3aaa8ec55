//! Test fixture with a file and a clock of its own.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use access::{Access, Actor, Credentials, Door, Name, NewToken, Password, Refused, Role, Secret, Settings, Visit};
use domain::Timestamp;
use tempfile::TempDir;

pub(crate) const HERE: &str = "127.0.0.1";
pub(crate) const ELSEWHERE: &str = "192.168.1.5";
pub(crate) const RIGHT: &str = "correct horse";

pub(crate) struct Desk {
    folder: TempDir,
    nanos: Arc<AtomicI64>,
    pub(crate) access: Access,
}

impl Desk {
    pub(crate) fn open() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let (folder, nanos) = (tempfile::tempdir().unwrap(), Arc::new(AtomicI64::new(0)));
        let clock = {
            let nanos = nanos.clone();
            Arc::new(move || Timestamp(nanos.load(Ordering::Relaxed)))
        };
        let access = Access::open(folder.path(), settings, clock).unwrap();
        Self { folder, nanos, access }
    }

    /// With one user, `anna`, a trader.
    pub(crate) fn with_anna() -> Self {
        let desk = Self::open();
        desk.add("anna", Role::Trader, RIGHT).unwrap();
        desk
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.nanos.fetch_add(seconds * 1_000_000_000, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, user: &str, role: Role, password: &str) -> Result<(), Refused> {
        self.put(user, role, password, false)
    }

    pub(crate) fn replace(&self, user: &str, role: Role, password: &str) -> Result<(), Refused> {
        self.put(user, role, password, true)
    }

    fn put(&self, user: &str, role: Role, password: &str, replace: bool) -> Result<(), Refused> {
        let password = Password::new(password.into()).unwrap();
        let register = self.access.register();
        let outcome =
            register.add_user((&name(user), &role, &password), replace, &actor("user add"), self.access.now());
        self.access.look_again().unwrap();
        outcome
    }

    pub(crate) fn remove(&self, user: &str) -> Result<(), Refused> {
        let outcome = self.access.register().remove_user(&name(user), &actor("user remove"), self.access.now());
        self.access.look_again().unwrap();
        outcome
    }

    pub(crate) fn new_token(&self, wanted: &str, role: Role, days: u32) -> Result<Secret, Refused> {
        let wanted = NewToken { name: name(wanted), role, days };
        let made = self.access.register().new_token(wanted, &actor("token new"), self.access.now());
        self.access.look_again().unwrap();
        made.map(|(_, secret)| secret)
    }

    pub(crate) fn revoke(&self, token: &str) -> Result<(), Refused> {
        let outcome = self.access.register().revoke_token(&name(token), &actor("token revoke"), self.access.now());
        self.access.look_again().unwrap();
        outcome
    }

    /// The identity, as `name role`, or the code of the refusal.
    pub(crate) async fn knock(&self, credentials: Credentials, peer: &str) -> String {
        match self.access.authenticate(credentials, &visit(peer)).await {
            Ok(identity) => format!("{} {}", identity.name.as_deref().unwrap_or("-"), identity.role),
            Err(denied) => denied.code().to_owned(),
        }
    }

    pub(crate) async fn login(&self, user: &str, password: &str) -> String {
        self.knock(Credentials::login(user, password.into()), HERE).await
    }

    /// Every row: what a reader of the audit sees, one line each.
    pub(crate) fn audit(&self) -> String {
        let rows = self.access.register().audit(0, 1_000).unwrap();
        let line = |row: access::Recorded| {
            let (user, peer) = (row.user.unwrap_or("-".into()), row.peer.unwrap_or("-".into()));
            let (id, at, last) = (row.id, row.at.millis() / 1_000, row.last_at.millis() / 1_000);
            let (door, action, outcome, detail, times) = (row.door, row.action, row.outcome, row.detail, row.times);
            format!("{id} at {at}s {user} {door} {peer} [{action}] {outcome}: {detail} ({times}x, last {last}s)\n")
        };
        rows.into_iter().map(line).collect()
    }
}

pub(crate) fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub(crate) fn visit(peer: &str) -> Visit {
    let peer: IpAddr = peer.parse().unwrap();
    Visit { door: Door::Rest, peer: Some(peer), action: "GET /rest/account".into() }
}

pub(crate) fn actor(action: &str) -> Actor {
    Actor { user: None, visit: Visit { door: Door::CommandLine, peer: None, action: action.to_owned().into() } }
}
