//! What the administrator's answers say of users and tokens, and what follows for a log-in.

use std::collections::BTreeMap;

use domain::Timestamp;
use domain::admin::AdminRecord;

/// Records of administration by their sequence.
pub(crate) type AdminRecords = BTreeMap<u64, AdminRecord>;

/// The administrator's own user.
pub(super) const ROOT: &str = "root";
pub(super) const USERS: [&str; 3] = ["anna", "bruno", "carla"];
pub(super) const TOKENS: [&str; 2] = ["desk-token", "report-token"];
pub(super) const ROLES: [&str; 3] = ["viewer", "trader", "admin"];
const DAY_SECONDS: i64 = 86_400;

/// A change of the administrator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UserChange {
    PutUser { name: &'static str, role: &'static str, password: String },
    RemoveUser { name: &'static str },
    NewToken { name: &'static str, role: &'static str, days: u32 },
    RevokeToken { name: &'static str },
    SaveSettings { document: String },
}

impl UserChange {
    /// The user or token that it is about; settings change no log-in.
    pub(super) fn name(&self) -> Option<&'static str> {
        match self {
            Self::PutUser { name, .. }
            | Self::RemoveUser { name }
            | Self::NewToken { name, .. }
            | Self::RevokeToken { name } => Some(name),
            Self::SaveSettings { .. } => None,
        }
    }
}

/// A token as its maker knows it.
#[derive(Debug, Clone)]
pub(super) struct TokenSecret {
    pub(super) text: String,
    /// It was made between these.
    pub(super) made: [Timestamp; 2],
}

/// What must become of a log-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    LetIn(&'static str),
    Denied,
    /// A change is under way, or what became of one is not known.
    Open,
}

#[derive(Debug, Clone)]
struct KnownUser {
    role: &'static str,
    password: String,
}

#[derive(Debug, Clone)]
struct KnownToken {
    role: &'static str,
    days: u32,
    /// Absent where the answer was lost that had it.
    secret: Option<TokenSecret>,
}

#[derive(Debug, Clone, Copy, Default)]
struct NameState {
    /// Changes that were asked for.
    begun: u64,
    /// Those that took effect.
    done: u64,
    /// Those that may take effect yet.
    unsure: u64,
}

#[derive(Default)]
pub(super) struct KnownUsers {
    users: BTreeMap<&'static str, KnownUser>,
    tokens: BTreeMap<&'static str, KnownToken>,
    names: BTreeMap<&'static str, NameState>,
    /// All that were ever set, also those that are not valid any more.
    passwords: Vec<(&'static str, String)>,
    secrets: Vec<(&'static str, String)>,
}

impl KnownUsers {
    pub(super) fn begin(&mut self, change: &UserChange) {
        let Some(name) = change.name() else { return };
        let state = self.names.entry(name).or_default();
        (state.begun, state.unsure) = (state.begun + 1, state.unsure + 1);
        if let UserChange::PutUser { password, .. } = change {
            self.passwords.push((name, password.clone()));
        }
    }

    /// It took effect, and nothing of it is open any more.
    pub(super) fn confirm(&mut self, change: &UserChange, secret: Option<TokenSecret>) {
        self.refuse(change);
        let named = change.name().zip(secret.as_ref());
        self.secrets.extend(named.map(|(name, secret)| (name, secret.text.clone())));
        self.apply(change, secret);
    }

    /// It takes no effect.
    pub(super) fn refuse(&mut self, change: &UserChange) {
        if let Some(state) = change.name().and_then(|name| self.names.get_mut(name)) {
            state.unsure = state.unsure.saturating_sub(1);
        }
    }

    /// What the journal has is what took effect.
    pub(super) fn restore<'a>(&mut self, done: impl Iterator<Item = (&'a UserChange, Option<TokenSecret>)>) {
        self.users.clear();
        self.tokens.clear();
        self.names.values_mut().for_each(|state| (state.begun, state.unsure) = (state.begun + 1, 0));
        done.for_each(|(change, secret)| self.apply(change, secret));
    }

    /// How often each name has changed.
    pub(super) fn done_of_all(&self) -> BTreeMap<&'static str, u64> {
        self.names.iter().map(|(name, state)| (*name, state.done)).collect()
    }

    /// As often as before, and once more with each of these changes.
    pub(super) fn set_done(&mut self, before: &BTreeMap<&'static str, u64>, changed: &[&'static str]) {
        for (name, state) in &mut self.names {
            let more = changed.iter().filter(|changed| *changed == name).count() as u64;
            state.done = before.get(name).copied().unwrap_or(0) + more;
        }
    }

    fn apply(&mut self, change: &UserChange, secret: Option<TokenSecret>) {
        if let Some(name) = change.name() {
            self.names.entry(name).or_default().done += 1;
        }
        match change {
            UserChange::PutUser { name, role, password } => {
                self.users.insert(name, KnownUser { role, password: password.clone() });
            }
            UserChange::RemoveUser { name } => drop(self.users.remove(name)),
            UserChange::NewToken { name, role, days } => {
                self.tokens.insert(name, KnownToken { role, days: *days, secret });
            }
            UserChange::RevokeToken { name } => drop(self.tokens.remove(name)),
            UserChange::SaveSettings { .. } => {}
        }
    }

    /// Whether the store must refuse a change; none where that is not known.
    pub(super) fn must_refuse(&self, change: &UserChange) -> Option<bool> {
        if change.name().is_some_and(|name| self.is_unsure(name)) {
            return None;
        }
        Some(match change {
            UserChange::PutUser { .. } | UserChange::SaveSettings { .. } => false,
            UserChange::RemoveUser { name } => !self.users.contains_key(name),
            UserChange::NewToken { name, .. } => self.tokens.contains_key(name),
            UserChange::RevokeToken { name } => !self.tokens.contains_key(name),
        })
    }

    pub(super) fn is_unsure(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|state| state.unsure > 0)
    }

    /// Rises with every change that is asked for: the same before and behind a log-in means that none was under way.
    pub(super) fn begun(&self, name: &str) -> u64 {
        self.names.get(name).map_or(0, |state| state.begun)
    }

    /// Rises with every change that took effect.
    pub(super) fn done(&self, name: &str) -> u64 {
        self.names.get(name).map_or(0, |state| state.done)
    }

    /// Of a user, where it is known for sure.
    pub(super) fn password(&self, name: &str) -> Option<&str> {
        self.users.get(name).filter(|_| !self.is_unsure(name)).map(|user| user.password.as_str())
    }

    pub(super) fn secret(&self, name: &str) -> Option<&str> {
        let token = self.tokens.get(name).filter(|_| !self.is_unsure(name))?;
        token.secret.as_ref().map(|secret| secret.text.as_str())
    }

    pub(super) fn all_passwords(&self) -> &[(&'static str, String)] {
        &self.passwords
    }

    pub(super) fn all_secrets(&self) -> &[(&'static str, String)] {
        &self.secrets
    }

    pub(super) fn with_password(&self, name: &str, password: &str) -> Expected {
        let user = self.users.get(name).filter(|user| user.password == password);
        self.sure(name, user.map_or(Expected::Denied, |user| Expected::LetIn(user.role)))
    }

    pub(super) fn with_token(&self, name: &str, text: &str, at: Timestamp) -> Expected {
        let valid = self.tokens.get(name).and_then(|token| {
            let secret = token.secret.as_ref().filter(|secret| secret.text == text)?;
            Some(token.at_age(secret, at))
        });
        self.sure(name, valid.unwrap_or(Expected::Denied))
    }

    /// A session that began when the user had changed so often.
    pub(super) fn with_session(&self, name: &str, done: u64) -> Expected {
        let user = self.users.get(name).filter(|_| self.done(name) == done);
        self.sure(name, user.map_or(Expected::Denied, |user| Expected::LetIn(user.role)))
    }

    fn sure(&self, name: &str, expected: Expected) -> Expected {
        if self.is_unsure(name) { Expected::Open } else { expected }
    }
}

impl KnownToken {
    /// About the instant at which it expires nothing is said.
    fn at_age(&self, secret: &TokenSecret, at: Timestamp) -> Expected {
        let life = i64::from(self.days) * DAY_SECONDS;
        let [first, last] = secret.made.map(|made| made.plus_seconds(life));
        match at {
            at if at >= last => Expected::Denied,
            at if at.plus_seconds(60) < first => Expected::LetIn(self.role),
            _ => Expected::Open,
        }
    }
}
