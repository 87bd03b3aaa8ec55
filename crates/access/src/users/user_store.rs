//! User store: users, tokens and settings, from memory. A change and its row of the audit are one record of the journal, and a
//! change counts when the record is durable.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::Timestamp;
use domain::admin::{AdminChange, AdminRecord, AdminState, TokenRecord, UserRecord};
use domain::rights::TradingRights;

use crate::admin_log::{AdminLog, AdminLogError, MemoryAdminLog};
use crate::audit::aggregator::AuditAggregator;
use crate::audit::entry::{AccessChannel, Actor, AuditEntry, AuditRow};
use crate::audit::view::AuditView;
use crate::environment::{AccessEnvironment, system_environment};
use crate::error::AccessError;
use crate::login::password::{Password, PasswordDigest};
use crate::login::secret::{Secret, new_token};
use crate::users::name::PrincipalName;
use crate::users::principal::{AccessToken, User, rights_text};
use crate::users::role::UserRole;

/// The longest lifetime of a token.
pub const TOKEN_DAYS_MAX: u32 = 3_650;
const DAY_SECONDS: i64 = 24 * 60 * 60;

pub struct UserStore {
    log: Arc<dyn AdminLog>,
    /// Absent where nobody reads the audit.
    view: Option<Arc<AuditView>>,
    /// One change at a time: each is checked against the one before.
    writing: Mutex<AuditAggregator>,
    environment: Arc<dyn AccessEnvironment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    pub name: PrincipalName,
    pub role: UserRole,
    pub days: u32,
}

/// Why nothing was changed.
#[derive(Debug)]
pub enum UserStoreError {
    /// A name belongs to one user or one token, so that an order's `submittedBy` is unambiguous.
    NameTaken {
        name: PrincipalName,
        by: &'static str,
    },
    UnknownUser(PrincipalName),
    UnknownToken(PrincipalName),
    /// There would be users without an admin, which only the command line could repair.
    NoAdminLeft,
    DaysOutOfRange,
    /// Other settings were saved meanwhile.
    SettingsChanged {
        revision: u64,
    },
    Failed(AccessError),
}

impl UserStore {
    pub fn new(log: Arc<dyn AdminLog>, view: Option<Arc<AuditView>>) -> Self {
        Self { log, view, writing: Mutex::default(), environment: system_environment() }
    }

    /// With other random bytes, threads and cost of hashes than the system's.
    #[must_use]
    pub fn with_environment(self, environment: Arc<dyn AccessEnvironment>) -> Self {
        Self { environment, ..self }
    }

    pub(crate) fn environment(&self) -> &Arc<dyn AccessEnvironment> {
        &self.environment
    }

    /// For as long as the process runs: only the rows of the audit are in a file.
    pub fn in_memory(folder: &Path) -> Result<Self, AccessError> {
        let (log, view) = (Arc::new(MemoryAdminLog::default()), Arc::new(AuditView::open(folder)?));
        view.follow(log.follow())?;
        Ok(Self::new(log, Some(view)))
    }

    /// Rises with every change of a user or a token.
    pub(crate) fn revision(&self) -> i64 {
        self.log.state().revision
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.log.is_stalled()
    }

    pub(crate) fn state(&self) -> Arc<AdminState> {
        self.log.state()
    }

    /// By name.
    pub fn users(&self) -> Result<Vec<User>, AccessError> {
        self.log.state().users.values().map(User::from_record).collect()
    }

    /// By name.
    pub fn tokens(&self) -> Result<Vec<AccessToken>, AccessError> {
        self.log.state().tokens.values().map(AccessToken::from_record).collect()
    }

    /// Rows of the audit after an id, oldest first.
    pub fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditRow>, AccessError> {
        self.view()?.page(self.log.state().last_sequence, after, limit)
    }

    /// The same from the other end: rows before an id, newest first.
    pub fn audit_back(&self, before: u64, limit: usize) -> Result<Vec<AuditRow>, AccessError> {
        self.view()?.page_back(self.log.state().last_sequence, before, limit)
    }

    fn view(&self) -> Result<&AuditView, AccessError> {
        self.view.as_deref().ok_or_else(|| AccessError::System("there is no view of the audit".to_owned()))
    }

    /// Adds a user, or changes password and role of an existing one.
    pub fn add_user(
        &self,
        (name, role, password): (&PrincipalName, &UserRole, &Password),
        replace: bool,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(), UserStoreError> {
        let digest = password.digest_in(&*self.environment)?;
        self.add_user_with_digest((name, role, &digest), replace, actor, at)
    }

    /// The same with a password that was hashed before.
    pub fn add_user_with_digest(
        &self,
        (name, role, digest): (&PrincipalName, &UserRole, &PasswordDigest),
        replace: bool,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(), UserStoreError> {
        self.change(actor, at, |state| {
            if let Some(by) = name_holder(state, name).filter(|by| !replace || *by != USER) {
                return Err(UserStoreError::NameTaken { name: name.clone(), by });
            }
            let before = state.users.get(name.as_str());
            let user = UserRecord {
                name: name.text().clone(),
                role: role.name().into(),
                strategy: role.strategy().cloned(),
                password: digest.as_str().into(),
                created: before.map_or(at, |user| user.created),
                revision: state.revision + 1,
                rights: before.and_then(|user| user.rights.clone()),
            };
            let roles = roles_without(state, name).chain([role.name()]);
            check_admin(roles, actor)?;
            Ok((vec![AdminChange::PutUser(user)], format!("user {name}, role {role}")))
        })
    }

    pub fn remove_user(&self, name: &PrincipalName, actor: &Actor, at: Timestamp) -> Result<(), UserStoreError> {
        self.change(actor, at, |state| {
            let user = state.users.get(name.as_str()).ok_or_else(|| UserStoreError::UnknownUser(name.clone()))?;
            if &*user.role == UserRole::Admin.name() {
                check_admin(roles_without(state, name), actor)?;
            }
            let gone = vec![AdminChange::RemoveUser(name.text().clone()), forget_settings(name)];
            Ok((gone, format!("user {name}")))
        })
    }

    /// The token itself is only returned, never stored.
    pub fn new_token(
        &self,
        wanted: NewToken,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(AccessToken, Secret), UserStoreError> {
        let NewToken { name, role, days } = wanted;
        if !(1..=TOKEN_DAYS_MAX).contains(&days) {
            return Err(UserStoreError::DaysOutOfRange);
        }
        let (prefix, secret) = new_token(&*self.environment).map_err(AccessError::system)?;
        let expires = at.plus_seconds(i64::from(days) * DAY_SECONDS);
        let token = AccessToken { name, prefix, role, created: at, expires, digest: secret.digest(), rights: None };
        self.change(actor, at, |state| {
            if let Some(by) = name_holder(state, &token.name) {
                return Err(UserStoreError::NameTaken { name: token.name.clone(), by });
            }
            let detail = format!("token {}, role {}, {days} days", token.name, token.role);
            Ok((vec![AdminChange::PutToken(token.to_record())], detail))
        })?;
        Ok((token, secret))
    }

    pub fn revoke_token(&self, name: &PrincipalName, actor: &Actor, at: Timestamp) -> Result<(), UserStoreError> {
        self.change(actor, at, |state| {
            known_token(state, name)?;
            let gone = vec![AdminChange::RemoveToken(name.text().clone()), forget_settings(name)];
            Ok((gone, format!("token {name}")))
        })
    }

    /// Sets what a user may trade. Sessions and connections of the user end, so that none goes on with the old rights.
    pub fn set_user_rights(
        &self,
        name: &PrincipalName,
        rights: &TradingRights,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(), UserStoreError> {
        self.change(actor, at, |state| {
            let user = state.users.get(name.as_str()).ok_or_else(|| UserStoreError::UnknownUser(name.clone()))?;
            let user = UserRecord { rights: rights_text(rights), revision: state.revision + 1, ..user.clone() };
            Ok((vec![AdminChange::PutUser(user)], format!("user {name}, may trade {rights}")))
        })
    }

    /// The same for a token.
    pub fn set_token_rights(
        &self,
        name: &PrincipalName,
        rights: &TradingRights,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(), UserStoreError> {
        self.change(actor, at, |state| {
            let token = TokenRecord { rights: rights_text(rights), ..known_token(state, name)?.clone() };
            Ok((vec![AdminChange::PutToken(token)], format!("token {name}, may trade {rights}")))
        })
    }

    /// Something was done on the data folder itself.
    pub fn note(&self, actor: &Actor, detail: String, at: Timestamp) -> Result<(), AccessError> {
        self.record(&[AuditEntry::done(at, actor, detail)])
    }

    /// All entries in one record, with the counts that are due.
    pub(crate) fn record(&self, entries: &[AuditEntry]) -> Result<(), AccessError> {
        let mut folds = self.turn();
        let newest = entries.iter().map(|entry| entry.at).max().unwrap_or_default();
        let mut changes = folds.take_finished(newest);
        let mut id = self.log.state().last_audit;
        let mut counts = Vec::new();
        for entry in entries {
            if let Some(count) = folds.count_up(entry) {
                counts.push(count);
                continue;
            }
            id += 1;
            folds.begin(entry, id);
            changes.push(AdminChange::Audit(entry.to_record(id)));
        }
        // A row that is not durable has no count.
        self.append(changes).inspect_err(|_| *folds = AuditAggregator::default())?;
        self.show_counts(&counts)
    }

    /// Journals all counts of refusals: at an orderly stop, while the engine still runs.
    pub fn record_counts(&self) -> Result<(), AccessError> {
        let counts = self.turn().take_all();
        self.append(counts)
    }

    /// They are shown before they are journalled; the rows come first.
    fn show_counts(&self, counts: &[AdminChange]) -> Result<(), AccessError> {
        let is_shown = !counts.is_empty() && self.log.keeps_audit();
        let Some(view) = self.view.as_deref().filter(|_| is_shown) else { return Ok(()) };
        view.wait_for(self.log.state().last_sequence)?;
        counts.iter().try_for_each(|count| view.count(count))
    }

    /// A change with its row of the audit.
    fn change(
        &self,
        actor: &Actor,
        at: Timestamp,
        make: impl FnOnce(&AdminState) -> Result<(Vec<AdminChange>, String), UserStoreError>,
    ) -> Result<(), UserStoreError> {
        self.change_unaudited(|state| {
            let (mut changes, detail) = make(state)?;
            let row = AuditEntry::done(at, actor, detail).to_record(state.last_audit + 1);
            changes.push(AdminChange::Audit(row));
            Ok((changes, ()))
        })
    }

    /// A change that needs no row of the audit, with what is to be told of it.
    pub(crate) fn change_unaudited<T>(
        &self,
        make: impl FnOnce(&AdminState) -> Result<(Vec<AdminChange>, T), UserStoreError>,
    ) -> Result<T, UserStoreError> {
        // A caller learns at once that nothing can be durable now.
        if self.is_stalled() {
            return Err(AccessError::System("the journal's disk does not answer".to_owned()).into());
        }
        let _turn = self.turn();
        let state = self.log.state();
        let (mut changes, told) = make(&state)?;
        if !state.is_begun {
            changes.push(AdminChange::Begun);
        }
        self.append(changes)?;
        Ok(told)
    }

    fn append(&self, changes: Vec<AdminChange>) -> Result<(), AccessError> {
        if changes.is_empty() {
            return Ok(());
        }
        self.log.append(AdminRecord { changes }).map(drop).map_err(AccessError::from)
    }

    fn turn(&self) -> MutexGuard<'_, AuditAggregator> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const USER: &str = "user";
const TOKEN: &str = "token";

/// The owner of this name, if it is used.
fn name_holder(state: &AdminState, name: &PrincipalName) -> Option<&'static str> {
    if state.users.contains_key(name.as_str()) {
        return Some(USER);
    }
    state.tokens.contains_key(name.as_str()).then_some(TOKEN)
}

fn known_token<'a>(state: &'a AdminState, name: &PrincipalName) -> Result<&'a TokenRecord, UserStoreError> {
    state.tokens.get(name.as_str()).ok_or_else(|| UserStoreError::UnknownToken(name.clone()))
}

/// The roles of all other users.
fn roles_without<'a>(state: &'a AdminState, name: &'a PrincipalName) -> impl Iterator<Item = &'a str> {
    state.users.values().filter(|user| user.name != *name.text()).map(|user| &*user.role)
}

/// From the first user on all callers must log in, so one of the users must be an admin. The command line can always repair it, and
/// may add users in any order.
fn check_admin<'a>(mut roles: impl Iterator<Item = &'a str>, actor: &Actor) -> Result<(), UserStoreError> {
    let is_admin = |role: &str| role == UserRole::Admin.name();
    let Some(first) = roles.next() else { return Ok(()) };
    if is_admin(first) || roles.any(is_admin) || actor.request.channel == AccessChannel::CommandLine {
        return Ok(());
    }
    Err(UserStoreError::NoAdminLeft)
}

/// The next owner of the name begins without settings.
fn forget_settings(name: &PrincipalName) -> AdminChange {
    AdminChange::RemoveSettings(name.text().clone())
}

impl From<AdminLogError> for AccessError {
    fn from(AdminLogError(reason): AdminLogError) -> Self {
        Self::System(reason)
    }
}

impl From<AccessError> for UserStoreError {
    fn from(error: AccessError) -> Self {
        Self::Failed(error)
    }
}

impl fmt::Display for UserStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken { name, by } => write!(f, "there is a {by} called {name} already"),
            Self::UnknownUser(name) => write!(f, "there is no user called {name}"),
            Self::UnknownToken(name) => write!(f, "there is no token called {name}"),
            Self::NoAdminLeft => {
                write!(f, "one user must be an admin, and so the first: from then on everybody logs in")
            }
            Self::DaysOutOfRange => write!(f, "a token lives from 1 to {TOKEN_DAYS_MAX} days"),
            Self::SettingsChanged { revision } => {
                write!(f, "other settings were kept meanwhile, read them first: they have revision {revision}")
            }
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for UserStoreError {}
