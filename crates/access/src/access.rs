//! The one question: who is it? All doors ask here, so a password costs the same everywhere, whoever guesses waits
//! everywhere, and every refusal stands in the audit.

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
    /// Real money can move.
    pub live_adapter: bool,
}

/// What somebody may do who calls from this machine and shows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Anonymous {
    /// On a desk where nobody can log in: everything while nothing is real, and only look once something is. Where
    /// somebody can: nothing.
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
    /// Passwords that are hashed at once: half of the machine at the most, because others want to trade.
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

    /// For the lists, and for changes; after a change [`Access::look_again`].
    pub fn register(&self) -> &Arc<Register> {
        &self.register
    }

    /// Sees at once what was changed in the register.
    pub fn look_again(&self) -> Result<(), AccessError> {
        self.gallery.compare()
    }

    pub fn has_users(&self) -> Result<bool, AccessError> {
        self.gallery.picture(self.now()).map(|picture| !picture.users.is_empty())
    }

    /// Who it is, or why not; a refusal is in the audit before it is told.
    pub async fn authenticate(&self, credentials: Credentials, visit: &Visit) -> Result<Identity, Denied> {
        self.admit(credentials, visit).await.map(|(identity, _)| identity)
    }

    /// As [`Access::authenticate`], for a connection that stays: with what it is asked by whether it may.
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

    /// Whether what let somebody in still would: not where the token was revoked or has expired, the user was changed or
    /// removed, the session has ended, or the desk is no longer open to everybody.
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
            tracing::error!(%error, "users cannot be looked up");
            Denied::Unavailable
        })
    }

    fn anonymous(&self, picture: &Picture, peer: Option<IpAddr>) -> Option<Admitted> {
        self.anonymous_role(picture, peer).map(|role| pass::of_nobody(role, peer))
    }

    /// Only on this machine: whoever comes from elsewhere is somebody or nobody.
    fn anonymous_role(&self, picture: &Picture, peer: Option<IpAddr>) -> Option<Role> {
        let is_here = peer.is_some_and(|peer| peer.to_canonical().is_loopback());
        self.settings.anonymous_role(!picture.users.is_empty()).filter(|_| is_here)
    }

    fn holder(&self, picture: &Picture, shown: &str) -> Result<Admitted, Denied> {
        let known = secret::prefix(shown).and_then(|prefix| picture.tokens.get(prefix));
        let valid = known.filter(|token| token.digest == secret::digest(shown) && self.now() < token.expires);
        valid.map(|token| pass::of_token(token)).ok_or(Denied::WrongCredentials)
    }

    /// The cookie of a session that is over is as good as none.
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

    /// Compares a secret that is kept elsewhere, such as a session's own password, by the rules for every other: whoever
    /// guesses waits, and a refusal is in the audit before it is told.
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
            attempt.succeeded();
            return Ok(());
        }
        attempt.failed(self.now());
        Err(Denied::WrongCredentials)
    }

    /// The slow way: held if it must be, then hashed beside few others.
    async fn check(&self, name: &str, password: SecretString, peer: Option<IpAddr>) -> Result<Arc<User>, Denied> {
        let peer = peer.unwrap_or(IpAddr::from([0; 4]));
        // Names that nobody can have share one account.
        let account = name.parse::<Name>().map(|name| name.to_string()).unwrap_or_default();
        let attempt = self.slowdown.begin(&account, peer, self.now()).map_err(|_| Denied::TooManyAttempts)?;
        hold(attempt.delay).await;
        let user = self.picture()?.users.get(name).cloned();
        let hash = user.as_ref().map(|user| user.password.clone());
        match (user, self.hash_and_compare(password, hash).await) {
            (Some(user), Ok(true)) => {
                attempt.succeeded();
                Ok(user)
            }
            (_, Ok(_)) => {
                attempt.failed(self.now());
                Err(Denied::WrongCredentials)
            }
            (_, Err(denied)) => Err(denied),
        }
    }

    /// The slot goes with the work: it is taken until the hash is done, also when nobody waits for it any more.
    async fn hash_and_compare(&self, password: SecretString, hash: Option<String>) -> Result<bool, Denied> {
        let slot = self.hashing.clone().acquire_owned().await.map_err(|_| Denied::Unavailable)?;
        let work = move || {
            let _slot = slot;
            is_right(&password, hash.as_deref())
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| Denied::Unavailable)
    }

    /// A session for a user who has just logged in; nobody else can have one.
    pub fn begin_session(&self, identity: &Identity) -> Result<Secret, Denied> {
        let picture = self.picture()?;
        let user = identity.name.as_ref().and_then(|name| picture.users.get(name)).ok_or(Denied::WrongCredentials)?;
        self.sessions.begin(user.name.text(), user.revision, self.now()).map_err(|error| {
            tracing::error!(%error, "the system gave no secret for a session");
            Denied::Unavailable
        })
    }

    /// Whose session it is, while it lasts.
    pub fn user_of_session(&self, secret: &SecretString) -> Option<Text> {
        self.sessions.user_of(secret.expose_secret(), self.now()).map(|(user, _)| user)
    }

    pub fn end_session(&self, secret: &SecretString) {
        self.sessions.end(secret.expose_secret());
    }

    /// Somebody may not do what he came for. Where the audit cannot be written he may not either.
    pub async fn refused(&self, actor: &Actor, code: &str, detail: &str) {
        self.refusals.note(code);
        let entry = Entry { at: self.now(), actor: actor.clone(), outcome: code.into(), detail: detail.into() };
        // The recorder has logged why; the refusal stands all the same.
        let _ = self.recorder.record(entry).await;
    }

    /// How often somebody was refused since the start, by code and at all doors together.
    pub fn refusals(&self) -> BTreeMap<String, u64> {
        self.refusals.counts()
    }

    /// Something was done that needs power: whether the audit has it.
    pub async fn done(&self, actor: &Actor, detail: &str) -> bool {
        let entry = Entry { at: self.now(), actor: actor.clone(), outcome: DONE.into(), detail: detail.into() };
        self.recorder.record(entry).await.is_ok()
    }
}

/// The user, unless the row was changed or removed since.
/// A timer takes its while even for nothing: right passwords that come together would be counted as a crowd of attempts.
async fn hold(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

fn unchanged<'a>(picture: &'a Picture, (name, revision): &(Text, i64)) -> Option<&'a User> {
    let user = picture.users.get(name)?;
    (user.revision == *revision).then_some(&**user)
}
