//! Authentication for all interfaces: the same password cost, throttling and audit everywhere.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use domain::{Text, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use crate::audit::{Actor, DONE, Entry, Visit};
use crate::error::AccessError;
use crate::identity::{Credentials, Denied, Identity};
use crate::name::Name;
use crate::pass::{self, Admitted, Ground, Pass};
use crate::password::{PASSWORD_BYTES_MAX, is_right};
use crate::picture::{Gallery, Picture};
use crate::proven::{Mark, Proven};
use crate::recorder::Recorder;
use crate::refusals::Refusals;
use crate::register::{Register, User};
use crate::role::Role;
use crate::secret::{self, Secret};
use crate::sessions::Sessions;
use crate::slowdown::Slowdown;
use crate::turns::Turns;

/// Where the time comes from.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    pub anonymous: Anonymous,
    /// A live adapter is configured: orders are real.
    pub live_adapter: bool,
}

/// Role of a caller from this machine without credentials.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Anonymous {
    /// Without users: admin while no adapter is live, viewer once one is. With users: none.
    #[default]
    ByRule,
    Nothing,
    As(Role),
}

impl Settings {
    fn anonymous_role(&self, has_users: bool) -> Option<Role> {
        match (&self.anonymous, has_users, self.live_adapter) {
            (Anonymous::As(role), _, _) => Some(role.clone()),
            (Anonymous::Nothing, _, _) | (Anonymous::ByRule, true, _) => None,
            (Anonymous::ByRule, false, true) => Some(Role::Viewer),
            (Anonymous::ByRule, false, false) => Some(Role::Admin),
        }
    }
}

pub struct Access {
    settings: Settings,
    clock: Clock,
    register: Arc<Register>,
    gallery: Gallery,
    proven: Proven,
    turns: Turns,
    slowdown: Slowdown,
    /// Passwords that are hashed at once: at most half of the cores, because trading needs the rest.
    hashing: Arc<Semaphore>,
    sessions: Sessions,
    recorder: Recorder,
    refusals: Refusals,
}

impl Access {
    pub fn open(folder: &Path, settings: Settings, clock: Clock) -> Result<Self, AccessError> {
        let register = Arc::new(Register::open(folder)?);
        let recorder = Recorder::start(register.clone()).map_err(AccessError::system)?;
        let half_of_the_machine = available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1));
        Ok(Self {
            gallery: Gallery::open(register.clone(), clock())?,
            proven: Proven::new().map_err(AccessError::system)?,
            turns: Turns::default(),
            slowdown: Slowdown::default(),
            hashing: Arc::new(Semaphore::new(half_of_the_machine)),
            sessions: Sessions::default(),
            settings,
            clock,
            register,
            recorder,
            refusals: Refusals::default(),
        })
    }

    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// For lists and changes; after a change call [`Access::look_again`].
    pub fn register(&self) -> &Arc<Register> {
        &self.register
    }

    /// Applies changes of the user store at once.
    pub fn look_again(&self) -> Result<(), AccessError> {
        self.gallery.compare()
    }

    pub fn has_users(&self) -> Result<bool, AccessError> {
        self.gallery.picture(self.now()).map(|picture| !picture.users.is_empty())
    }

    /// The identity, or why access is denied; a refusal is in the audit before it is returned.
    pub async fn authenticate(&self, credentials: Credentials, visit: &Visit) -> Result<Identity, Denied> {
        self.admit(credentials, visit).await.map(|(identity, _)| identity)
    }

    /// As [`Access::authenticate`], for a long-lived connection: with the grant to be checked again.
    pub async fn admit(&self, credentials: Credentials, visit: &Visit) -> Result<(Identity, Pass), Denied> {
        let claimed = match &credentials {
            Credentials::Password { user, .. } => user.parse().ok().map(|name: Name| name.text().clone()),
            _ => None,
        };
        match self.recognise(credentials, visit.peer).await {
            Ok(admitted) => Ok(admitted),
            Err(denied) => {
                let actor = Actor { user: claimed, visit: visit.clone() };
                self.refused(&actor, denied.code(), &denied.to_string()).await;
                Err(denied)
            }
        }
    }

    /// Whether a grant is still valid: not where the token was revoked or has expired, the user was changed or removed,
    /// the session has ended, or anonymous access was switched off.
    pub fn stands(&self, pass: &Pass) -> Result<bool, AccessError> {
        let picture = self.gallery.picture(self.now())?;
        Ok(match &pass.0 {
            Ground::Open { peer, role } => self.anonymous_role(&picture, *peer).as_ref() == Some(role),
            Ground::Token { prefix, digest } => {
                picture.tokens.get(prefix).is_some_and(|token| token.digest == *digest && self.now() < token.expires)
            }
            Ground::Password(proven) => unchanged(&picture, proven).is_some(),
            Ground::Session { key, of } => self.sessions.lasts(key, self.now()) && unchanged(&picture, of).is_some(),
        })
    }

    async fn recognise(&self, credentials: Credentials, peer: Option<IpAddr>) -> Result<Admitted, Denied> {
        let picture = self.picture()?;
        match credentials {
            Credentials::Anonymous => self.anonymous(&picture, peer).ok_or(Denied::LoginNeeded),
            Credentials::Token(token) => self.holder(&picture, token.expose_secret()),
            Credentials::Session(secret) => self.of_session(&picture, secret.expose_secret(), peer),
            Credentials::Password { user, password } => self.of_password(&picture, user, password, peer).await,
            Credentials::Unreadable(reason) => Err(Denied::Unreadable(reason)),
        }
    }

    fn picture(&self) -> Result<Arc<Picture>, Denied> {
        self.gallery.picture(self.now()).map_err(|error| {
            tracing::error!(%error, "user store cannot be read; logins are refused");
            Denied::Unavailable
        })
    }

    fn anonymous(&self, picture: &Picture, peer: Option<IpAddr>) -> Option<Admitted> {
        self.anonymous_role(picture, peer).map(|role| pass::of_nobody(role, peer))
    }

    /// Only on this machine: a remote caller needs credentials.
    fn anonymous_role(&self, picture: &Picture, peer: Option<IpAddr>) -> Option<Role> {
        let is_here = peer.is_some_and(|peer| peer.to_canonical().is_loopback());
        self.settings.anonymous_role(!picture.users.is_empty()).filter(|_| is_here)
    }

    fn holder(&self, picture: &Picture, shown: &str) -> Result<Admitted, Denied> {
        let known = secret::prefix(shown).and_then(|prefix| picture.tokens.get(prefix));
        let valid = known.filter(|token| token.digest == secret::digest(shown) && self.now() < token.expires);
        valid.map(|token| pass::of_token(token)).ok_or(Denied::WrongCredentials)
    }

    /// The cookie of an ended session counts as no credentials.
    fn of_session(&self, picture: &Picture, shown: &str, peer: Option<IpAddr>) -> Result<Admitted, Denied> {
        let user = self.sessions.user_of(shown, self.now()).and_then(|known| unchanged(picture, &known));
        let admitted = user.map(|user| pass::of_session(user, Sessions::key(shown)));
        admitted.or_else(|| self.anonymous(picture, peer)).ok_or(Denied::SessionEnded)
    }

    async fn of_password(
        &self,
        picture: &Picture,
        name: String,
        password: SecretString,
        peer: Option<IpAddr>,
    ) -> Result<Admitted, Denied> {
        if password.expose_secret().len() > PASSWORD_BYTES_MAX {
            return Err(Denied::WrongCredentials);
        }
        let mark = self.proven.mark(&name, &password);
        if let Some(user) = self.recall(picture, mark) {
            return Ok(pass::of_user(user));
        }
        let _turn = self.turns.wait(mark).await;
        if let Some(user) = self.recall(picture, mark) {
            return Ok(pass::of_user(user));
        }
        let user = self.check(&name, password, peer).await?;
        self.proven.remember(mark, user.name.text(), user.revision, self.now());
        Ok(pass::of_user(&user))
    }

    fn recall<'a>(&self, picture: &'a Picture, mark: Mark) -> Option<&'a User> {
        self.proven.recall(mark, self.now()).and_then(|known| unchanged(picture, &known))
    }

    /// Checks a secret that is kept elsewhere, such as a session's own password, by the same rules: failed attempts are
    /// throttled, and a refusal is in the audit before it is returned.
    pub async fn compare(&self, account: &str, visit: &Visit, is_right: impl FnOnce() -> bool) -> Result<(), Denied> {
        let outcome = self.compare_slowly(account, visit.peer, is_right).await;
        if let Err(denied) = &outcome {
            let actor = Actor { user: None, visit: visit.clone() };
            self.refused(&actor, denied.code(), &denied.to_string()).await;
        }
        outcome
    }

    async fn compare_slowly(
        &self,
        account: &str,
        peer: Option<IpAddr>,
        is_right: impl FnOnce() -> bool,
    ) -> Result<(), Denied> {
        let peer = peer.unwrap_or(IpAddr::from([0; 4]));
        let attempt = self.slowdown.begin(account, peer, self.now()).map_err(|_| Denied::TooManyAttempts)?;
        hold(attempt.delay).await;
        if is_right() {
            attempt.succeeded(self.now());
            return Ok(());
        }
        attempt.failed(self.now());
        Err(Denied::WrongCredentials)
    }

    /// The slow path: throttled, then hashed beside few others.
    async fn check(&self, name: &str, password: SecretString, peer: Option<IpAddr>) -> Result<Arc<User>, Denied> {
        let peer = peer.unwrap_or(IpAddr::from([0; 4]));
        // Invalid names share one account.
        let account = name.parse::<Name>().map(|name| name.to_string()).unwrap_or_default();
        let attempt = self.slowdown.begin(&account, peer, self.now()).map_err(|_| Denied::TooManyAttempts)?;
        hold(attempt.delay).await;
        let user = self.picture()?.users.get(name).cloned();
        let hash = user.as_ref().map(|user| user.password.clone());
        match (user, self.hash_and_compare(password, hash).await) {
            (Some(user), Ok(true)) => {
                attempt.succeeded(self.now());
                Ok(user)
            }
            (_, Ok(_)) => {
                attempt.failed(self.now());
                Err(Denied::WrongCredentials)
            }
            (_, Err(denied)) => Err(denied),
        }
    }

    /// The permit is held until the hash is done, also when the caller is gone.
    async fn hash_and_compare(&self, password: SecretString, hash: Option<String>) -> Result<bool, Denied> {
        let slot = self.hashing.clone().acquire_owned().await.map_err(|_| Denied::Unavailable)?;
        let work = move || {
            let _slot = slot;
            is_right(&password, hash.as_deref())
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| Denied::Unavailable)
    }

    /// A session for a user that has just logged in; tokens and anonymous callers have none.
    pub fn begin_session(&self, identity: &Identity) -> Result<Secret, Denied> {
        let picture = self.picture()?;
        let user = identity.name.as_ref().and_then(|name| picture.users.get(name)).ok_or(Denied::WrongCredentials)?;
        self.sessions.begin(user.name.text(), user.revision, self.now()).map_err(|error| {
            tracing::error!(%error, "no random bytes from the operating system; session not created");
            Denied::Unavailable
        })
    }

    /// The user of a session, while it is active.
    pub fn user_of_session(&self, secret: &SecretString) -> Option<Text> {
        self.sessions.user_of(secret.expose_secret(), self.now()).map(|(user, _)| user)
    }

    pub fn end_session(&self, secret: &SecretString) {
        self.sessions.end(secret.expose_secret());
    }

    /// Audits a refused action. If the audit cannot be written, the action is refused as well.
    pub async fn refused(&self, actor: &Actor, code: &str, detail: &str) {
        self.refusals.note(code);
        let entry = Entry { at: self.now(), actor: actor.clone(), outcome: code.into(), detail: detail.into() };
        // The audit writer has logged why; the refusal stands all the same.
        let _ = self.recorder.record(entry).await;
    }

    /// Refusals since the start, by code, over all interfaces.
    pub fn refusals(&self) -> BTreeMap<String, u64> {
        self.refusals.counts()
    }

    /// Audits a privileged action; returns whether the audit has it.
    pub async fn done(&self, actor: &Actor, detail: &str) -> bool {
        let entry = Entry { at: self.now(), actor: actor.clone(), outcome: DONE.into(), detail: detail.into() };
        self.recorder.record(entry).await.is_ok()
    }
}

/// A timer takes some time even for a zero delay: right passwords that come together would count as too many attempts.
async fn hold(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

/// The user, unless the row was changed or removed since.
fn unchanged<'a>(picture: &'a Picture, (name, revision): &(Text, i64)) -> Option<&'a User> {
    let user = picture.users.get(name)?;
    (user.revision == *revision).then_some(&**user)
}
