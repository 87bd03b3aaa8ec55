//! Authentication for all interfaces: the same password cost, throttling and audit everywhere.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use domain::{PlantedBug, Text, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::{Semaphore, oneshot};

use crate::audit::entry::{AccessRequest, Actor, AuditEntry, DONE};
use crate::audit::writer::AuditWriter;
use crate::environment::AccessEnvironment;
use crate::error::AccessError;
use crate::grant::{self, AccessGrant, Authenticated, GrantBasis};
use crate::identity::{AccessCredentials, AccessDenied, Identity, RefusalCounts};
use crate::login::login_throttle::LoginThrottle;
use crate::login::password::{PASSWORD_BYTES_MAX, matches_hash};
use crate::login::password_cache::{AttemptLocks, PasswordCache, PasswordFingerprint};
use crate::login::secret::{self, Secret};
use crate::login::sessions::{LoginSessions, SESSIONS_MAX};
use crate::users::name::PrincipalName;
use crate::users::principal::User;
use crate::users::role::UserRole;
use crate::users::user_directory::{UserDirectory, UserDirectoryCache};
use crate::users::user_store::UserStore;

/// Where the time comes from.
pub type AccessClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessSettings {
    pub anonymous: AnonymousPolicy,
    /// A live adapter is configured: orders are real.
    pub live_adapter: bool,
    /// Login sessions at a time.
    pub sessions: usize,
}

impl Default for AccessSettings {
    fn default() -> Self {
        Self { anonymous: AnonymousPolicy::default(), live_adapter: false, sessions: SESSIONS_MAX }
    }
}

/// Role of a caller from this machine without credentials.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AnonymousPolicy {
    /// Without users: admin while no adapter is live, viewer once one is. With users: none.
    #[default]
    Automatic,
    Denied,
    As(UserRole),
}

impl AccessSettings {
    fn anonymous_role(&self, has_users: bool) -> Option<UserRole> {
        match (&self.anonymous, has_users, self.live_adapter) {
            (AnonymousPolicy::As(role), _, _) => Some(role.clone()),
            (AnonymousPolicy::Denied, _, _) | (AnonymousPolicy::Automatic, true, _) => None,
            (AnonymousPolicy::Automatic, false, true) => Some(UserRole::Viewer),
            (AnonymousPolicy::Automatic, false, false) => Some(UserRole::Admin),
        }
    }
}

pub struct Access {
    settings: AccessSettings,
    clock: AccessClock,
    user_store: Arc<UserStore>,
    directory: UserDirectoryCache,
    password_cache: PasswordCache,
    attempt_locks: AttemptLocks,
    throttle: LoginThrottle,
    /// Passwords that are hashed at once: at most half of the cores, because trading needs the rest.
    hashing: Arc<Semaphore>,
    sessions: LoginSessions,
    audit: AuditWriter,
    refusals: RefusalCounts,
}

impl Access {
    pub fn open(register: Arc<UserStore>, settings: AccessSettings, clock: AccessClock) -> Result<Self, AccessError> {
        let recorder = AuditWriter::start(register.clone()).map_err(AccessError::system)?;
        let password_cache = PasswordCache::new(&**register.environment()).map_err(AccessError::system)?;
        let half_of_the_machine = available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1));
        Ok(Self {
            directory: UserDirectoryCache::open(register.clone())?,
            password_cache,
            attempt_locks: AttemptLocks::default(),
            throttle: LoginThrottle::default(),
            hashing: Arc::new(Semaphore::new(half_of_the_machine)),
            sessions: LoginSessions::new(settings.sessions),
            settings,
            clock,
            user_store: register,
            audit: recorder,
            refusals: RefusalCounts::default(),
        })
    }

    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// For lists and changes.
    pub fn user_store(&self) -> &Arc<UserStore> {
        &self.user_store
    }

    /// Random bytes and threads, for interfaces that read and change users.
    pub fn environment(&self) -> &dyn AccessEnvironment {
        &**self.user_store.environment()
    }

    pub fn has_users(&self) -> Result<bool, AccessError> {
        self.directory.current().map(|directory| !directory.users.is_empty())
    }

    /// The identity, or why access is denied; a refusal is in the audit before it is returned.
    pub async fn authenticate(
        &self,
        credentials: AccessCredentials,
        visit: &AccessRequest,
    ) -> Result<Identity, AccessDenied> {
        self.authenticate_connection(credentials, visit).await.map(|(identity, _)| identity)
    }

    /// As [`Access::authenticate`], for a long-lived connection: with the grant to be checked again.
    pub async fn authenticate_connection(
        &self,
        credentials: AccessCredentials,
        visit: &AccessRequest,
    ) -> Result<(Identity, AccessGrant), AccessDenied> {
        let claimed = match &credentials {
            AccessCredentials::Password { user, .. } => {
                user.parse().ok().map(|name: PrincipalName| name.text().clone())
            }
            _ => None,
        };
        match self.identify(credentials, visit.peer).await {
            Ok(admitted) => Ok(admitted),
            Err(denied) => {
                let actor = Actor { user: claimed, request: visit.clone() };
                self.audit_refusal(&actor, denied.code(), &denied.to_string()).await;
                Err(denied)
            }
        }
    }

    /// The identity of a caller that another server of the cluster has authenticated, as this one knows it now: its role and its rights
    /// may have changed. None is an anonymous caller of the other server's machine.
    pub async fn identify_forwarded(
        &self,
        name: Option<&str>,
        visit: &AccessRequest,
    ) -> Result<Identity, AccessDenied> {
        let outcome = self.directory().and_then(|directory| match name {
            Some(name) => self.named_identity(&directory, name).ok_or(AccessDenied::WrongCredentials),
            None => self
                .settings
                .anonymous_role(!directory.users.is_empty())
                .map(|role| grant::for_anonymous(role, visit.peer).0)
                .ok_or(AccessDenied::LoginNeeded),
        });
        if let Err(denied) = &outcome {
            let actor = Actor { user: name.map(Into::into), request: visit.clone() };
            self.audit_refusal(&actor, denied.code(), &denied.to_string()).await;
        }
        outcome
    }

    /// Users and tokens share their names.
    fn named_identity(&self, directory: &UserDirectory, name: &str) -> Option<Identity> {
        if let Some(user) = directory.users.get(name) {
            return Some(grant::for_user(user).0);
        }
        let mut tokens = directory.tokens.values();
        let token = tokens.find(|token| &**token.name.text() == name && self.now() < token.expires)?;
        Some(grant::for_token(token).0)
    }

    /// Whether a grant is still valid: not where the token was revoked, changed or has expired, the user was changed or removed,
    /// the session has ended, or anonymous access was switched off.
    pub fn is_valid(&self, pass: &AccessGrant) -> Result<bool, AccessError> {
        let directory = self.directory.current()?;
        Ok(match &pass.0 {
            GrantBasis::Anonymous { peer, role } => self.anonymous_role(&directory, *peer).as_ref() == Some(role),
            GrantBasis::Token { prefix, digest, rights } => directory
                .tokens
                .get(prefix)
                .is_some_and(|token| token.digest == *digest && token.rights == *rights && self.now() < token.expires),
            GrantBasis::Password(proven) => unchanged(&directory, proven).is_some(),
            GrantBasis::Session { key, of } => {
                self.sessions.is_active(key, self.now()) && unchanged(&directory, of).is_some()
            }
        })
    }

    async fn identify(
        &self,
        credentials: AccessCredentials,
        peer: Option<IpAddr>,
    ) -> Result<Authenticated, AccessDenied> {
        let directory = self.directory()?;
        match credentials {
            AccessCredentials::Anonymous => {
                self.authenticate_anonymous(&directory, peer).ok_or(AccessDenied::LoginNeeded)
            }
            AccessCredentials::Token(token) => self.authenticate_token(&directory, token.expose_secret()),
            AccessCredentials::Session(secret) => self.authenticate_session(&directory, secret.expose_secret(), peer),
            AccessCredentials::Password { user, password } => {
                self.authenticate_password(&directory, user, password, peer).await
            }
            AccessCredentials::Unreadable(reason) => Err(AccessDenied::Unreadable(reason)),
        }
    }

    fn directory(&self) -> Result<Arc<UserDirectory>, AccessDenied> {
        self.directory.current().map_err(|error| {
            tracing::error!(%error, "users cannot be read; logins are refused");
            AccessDenied::Unavailable
        })
    }

    fn authenticate_anonymous(&self, directory: &UserDirectory, peer: Option<IpAddr>) -> Option<Authenticated> {
        self.anonymous_role(directory, peer).map(|role| grant::for_anonymous(role, peer))
    }

    /// Only on this machine: a remote caller needs credentials.
    fn anonymous_role(&self, directory: &UserDirectory, peer: Option<IpAddr>) -> Option<UserRole> {
        let is_here = peer.is_some_and(|peer| peer.to_canonical().is_loopback());
        self.settings.anonymous_role(!directory.users.is_empty()).filter(|_| is_here)
    }

    fn authenticate_token(&self, directory: &UserDirectory, shown: &str) -> Result<Authenticated, AccessDenied> {
        let known = secret::prefix(shown).and_then(|prefix| directory.tokens.get(prefix));
        let valid = known.filter(|token| token.digest == secret::digest(shown) && self.now() < token.expires);
        valid.map(|token| grant::for_token(token)).ok_or(AccessDenied::WrongCredentials)
    }

    /// The cookie of an ended session counts as no credentials.
    fn authenticate_session(
        &self,
        directory: &UserDirectory,
        shown: &str,
        peer: Option<IpAddr>,
    ) -> Result<Authenticated, AccessDenied> {
        let user = self.sessions.user_of(shown, self.now()).and_then(|known| {
            if PlantedBug::KeepSession.is_planted() {
                return directory.users.get(&known.0).map(|user| &**user);
            }
            unchanged(directory, &known)
        });
        let admitted = user.map(|user| grant::for_session(user, LoginSessions::key(shown)));
        admitted.or_else(|| self.authenticate_anonymous(directory, peer)).ok_or(AccessDenied::SessionEnded)
    }

    async fn authenticate_password(
        &self,
        directory: &UserDirectory,
        name: String,
        password: SecretString,
        peer: Option<IpAddr>,
    ) -> Result<Authenticated, AccessDenied> {
        if password.expose_secret().len() > PASSWORD_BYTES_MAX {
            return Err(AccessDenied::WrongCredentials);
        }
        let mark = self.password_cache.fingerprint(&name, &password);
        if let Some(user) = self.cached_user(directory, mark) {
            return Ok(grant::for_user(user));
        }
        let _turn = self.attempt_locks.acquire(mark).await;
        if let Some(user) = self.cached_user(directory, mark) {
            return Ok(grant::for_user(user));
        }
        let user = self.verify_password(&name, password, peer).await?;
        self.password_cache.insert(mark, user.name.text(), user.revision, self.now());
        Ok(grant::for_user(&user))
    }

    fn cached_user<'a>(&self, directory: &'a UserDirectory, mark: PasswordFingerprint) -> Option<&'a User> {
        let known = self.password_cache.get(mark, self.now())?;
        if PlantedBug::KeepOldPassword.is_planted() {
            return directory.users.get(&known.0).map(|user| &**user);
        }
        unchanged(directory, &known)
    }

    /// Checks a secret that is kept elsewhere, such as a session's own password, by the same rules: failed attempts are
    /// throttled, and a refusal is in the audit before it is returned.
    pub async fn check_secret(
        &self,
        account: &str,
        visit: &AccessRequest,
        is_right: impl FnOnce() -> bool,
    ) -> Result<(), AccessDenied> {
        let outcome = self.check_secret_throttled(account, visit.peer, is_right).await;
        if let Err(denied) = &outcome {
            let actor = Actor { user: None, request: visit.clone() };
            self.audit_refusal(&actor, denied.code(), &denied.to_string()).await;
        }
        outcome
    }

    async fn check_secret_throttled(
        &self,
        account: &str,
        peer: Option<IpAddr>,
        is_right: impl FnOnce() -> bool,
    ) -> Result<(), AccessDenied> {
        let peer = peer.unwrap_or(IpAddr::from([0; 4]));
        let attempt = self.throttle.start(account, peer, self.now()).map_err(|_| AccessDenied::TooManyAttempts)?;
        delay(attempt.delay).await;
        if is_right() {
            attempt.succeeded(self.now());
            return Ok(());
        }
        attempt.failed(self.now());
        delay(attempt.refusal_delay).await;
        Err(AccessDenied::WrongCredentials)
    }

    /// The slow path: throttled, then hashed beside few others.
    async fn verify_password(
        &self,
        name: &str,
        password: SecretString,
        peer: Option<IpAddr>,
    ) -> Result<Arc<User>, AccessDenied> {
        let peer = peer.unwrap_or(IpAddr::from([0; 4]));
        // Invalid names share one account.
        let account = name.parse::<PrincipalName>().map(|name| name.to_string()).unwrap_or_default();
        let attempt = self.throttle.start(&account, peer, self.now()).map_err(|_| AccessDenied::TooManyAttempts)?;
        delay(attempt.delay).await;
        let user = self.directory()?.users.get(name).cloned();
        let hash = user.as_ref().map(|user| user.password.to_string());
        match (user, self.hash_and_compare(password, hash).await) {
            (Some(user), Ok(true)) => {
                attempt.succeeded(self.now());
                Ok(user)
            }
            (_, Ok(_)) => {
                attempt.failed(self.now());
                delay(attempt.refusal_delay).await;
                Err(AccessDenied::WrongCredentials)
            }
            (_, Err(denied)) => Err(denied),
        }
    }

    /// The permit is held until the hash is done, also when the caller is gone.
    async fn hash_and_compare(&self, password: SecretString, hash: Option<String>) -> Result<bool, AccessDenied> {
        let slot = self.hashing.clone().acquire_owned().await.map_err(|_| AccessDenied::Unavailable)?;
        let (done, outcome) = oneshot::channel();
        let cost = self.environment().password_cost();
        self.environment().compute(Box::new(move || {
            let _slot = slot;
            // The caller may be gone.
            let _ = done.send(matches_hash(&password, hash.as_deref(), cost));
        }));
        outcome.await.map_err(|_| AccessDenied::Unavailable)
    }

    /// A session for a user that has just logged in; tokens and anonymous callers have none.
    pub fn start_session(&self, identity: &Identity) -> Result<Secret, AccessDenied> {
        let directory = self.directory()?;
        let user =
            identity.name.as_ref().and_then(|name| directory.users.get(name)).ok_or(AccessDenied::WrongCredentials)?;
        self.sessions.start((user.name.text(), user.revision), self.environment(), self.now()).map_err(|error| {
            tracing::error!(%error, "no random bytes from the operating system; session not created");
            AccessDenied::Unavailable
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
    pub async fn audit_refusal(&self, actor: &Actor, code: &str, detail: &str) {
        self.refusals.count(code);
        if PlantedBug::ForgetRefusal.is_planted() {
            return;
        }
        let entry = AuditEntry { at: self.now(), actor: actor.clone(), outcome: code.into(), detail: detail.into() };
        // The audit writer has logged why; the refusal stands all the same.
        let _ = self.audit.record(entry).await;
    }

    /// Refusals since the start, by code, over all interfaces.
    pub fn refusals(&self) -> BTreeMap<String, u64> {
        self.refusals.counts()
    }

    /// Audits a privileged action; returns whether the audit has it.
    pub async fn audit_action(&self, actor: &Actor, detail: &str) -> bool {
        let entry = AuditEntry { at: self.now(), actor: actor.clone(), outcome: DONE.into(), detail: detail.into() };
        self.audit.record(entry).await.is_ok()
    }
}

/// A timer takes some time even for a zero delay: right passwords that come together would count as too many attempts.
async fn delay(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

/// The user, unless the row was changed or removed since.
fn unchanged<'a>(directory: &'a UserDirectory, (name, revision): &(Text, i64)) -> Option<&'a User> {
    let user = directory.users.get(name)?;
    (user.revision == *revision).then_some(&**user)
}
