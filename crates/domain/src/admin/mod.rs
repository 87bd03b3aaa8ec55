//! Administration as the journal has it: users, tokens, settings of users and the audit. A record is all of one change, with
//! its row of the audit; the state is what follows from all records. Secrets come as hashes only.

use std::collections::BTreeMap;

use minicbor::{Decode, Encode};

use crate::{PlantedBug, Text, Timestamp};

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct UserRecord {
    /// Unique among users and tokens.
    #[n(0)]
    pub name: Text,
    /// As people write it.
    #[n(1)]
    pub role: Text,
    /// The strategy that the role is bound to.
    #[n(2)]
    pub strategy: Option<Text>,
    /// The hash of the password, in the text form that names its parameters.
    #[n(3)]
    pub password: Text,
    /// When the user was added.
    #[n(4)]
    pub created: Timestamp,
    /// Of the directory when the user last changed.
    #[n(5)]
    pub revision: i64,
    /// What the user may trade; absent: everything.
    #[n(6)]
    pub rights: Option<Text>,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct TokenRecord {
    /// Unique among users and tokens.
    #[n(0)]
    pub name: Text,
    /// Its public part.
    #[n(1)]
    pub prefix: Text,
    /// The hash of the token.
    #[cbor(n(2), with = "minicbor::bytes")]
    pub digest: Vec<u8>,
    /// As people write it.
    #[n(3)]
    pub role: Text,
    /// The strategy that the role is bound to.
    #[n(4)]
    pub strategy: Option<Text>,
    /// When it was made.
    #[n(5)]
    pub created: Timestamp,
    /// From then on it is not valid any more.
    #[n(6)]
    pub expires: Timestamp,
    /// What it may trade; absent: everything.
    #[n(7)]
    pub rights: Option<Text>,
}

/// The settings document of a user or a token.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SettingsRecord {
    /// Empty for anonymous callers.
    #[n(0)]
    pub owner: Text,
    /// Not interpreted.
    #[n(1)]
    pub document: Text,
    /// 1 for the first document, and one more each time.
    #[n(2)]
    pub revision: u64,
    /// When it was saved.
    #[n(3)]
    pub changed: Timestamp,
}

/// A row of the audit.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct AuditRecord {
    /// Rises by one from row to row.
    #[n(0)]
    pub id: u64,
    /// When it came first.
    #[n(1)]
    pub at: Timestamp,
    /// Absent: an anonymous caller.
    #[n(2)]
    pub user: Option<Text>,
    /// The interface.
    #[n(3)]
    pub channel: Text,
    /// The address of the caller.
    #[n(4)]
    pub peer: Option<Text>,
    /// What was asked for.
    #[n(5)]
    pub action: Text,
    /// `done`, or the code of a refusal.
    #[n(6)]
    pub outcome: Text,
    /// For people.
    #[n(7)]
    pub detail: Text,
    /// How often it came.
    #[n(8)]
    pub times: u64,
    /// When it came last.
    #[n(9)]
    pub last_at: Timestamp,
}

/// One step of a change. Each says what is there afterwards, so that the same step twice is the same as once.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum AdminChange {
    /// Adds or replaces a user.
    #[n(0)]
    PutUser(#[n(0)] UserRecord),
    /// Removes a user.
    #[n(1)]
    RemoveUser(#[n(0)] Text),
    /// Adds or replaces a token.
    #[n(2)]
    PutToken(#[n(0)] TokenRecord),
    /// Removes a token.
    #[n(3)]
    RemoveToken(#[n(0)] Text),
    /// Adds or replaces settings.
    #[n(4)]
    PutSettings(#[n(0)] SettingsRecord),
    /// Removes the settings of an owner.
    #[n(5)]
    RemoveSettings(#[n(0)] Text),
    /// Adds a row to the audit.
    #[n(6)]
    Audit(#[n(0)] AuditRecord),
    /// An equal refusal came again: how often by now, and when last.
    #[n(7)]
    CountAudit {
        /// Of the row.
        #[n(0)]
        id: u64,
        /// With the first one.
        #[n(1)]
        times: u64,
        /// The newest.
        #[n(2)]
        last_at: Timestamp,
    },
    /// The users of an older file follow; users that are there already came from an import that was cut off.
    #[n(8)]
    ImportBegun,
    /// From here on the journal is where users are; an older file is not read any more.
    #[n(9)]
    Begun,
}

/// What is journalled at once: all of it counts, or none of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct AdminRecord {
    /// In their order.
    #[n(0)]
    pub changes: Vec<AdminChange>,
}

/// What follows from all records: everything except the rows of the audit, which are read from a view of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct AdminState {
    /// By name.
    #[n(0)]
    pub users: BTreeMap<Text, UserRecord>,
    /// By name.
    #[n(1)]
    pub tokens: BTreeMap<Text, TokenRecord>,
    /// By owner.
    #[n(2)]
    pub settings: BTreeMap<Text, SettingsRecord>,
    /// Rises with every change of a user or a token.
    #[n(3)]
    pub revision: i64,
    /// The id of the newest row of the audit.
    #[n(4)]
    pub last_audit: u64,
    /// The sequence of the newest record.
    #[n(5)]
    pub last_sequence: u64,
    /// Whether users are in the journal, and not in an older file.
    #[n(6)]
    pub is_begun: bool,
}

impl AdminState {
    /// In the journal's order.
    pub fn apply(&mut self, sequence: u64, record: &AdminRecord) {
        self.last_sequence = sequence;
        record.changes.iter().for_each(|change| self.apply_change(change));
    }

    fn apply_change(&mut self, change: &AdminChange) {
        match change {
            AdminChange::PutUser(user) => {
                self.revision = user.revision.max(self.revision + 1);
                self.users.insert(user.name.clone(), user.clone());
            }
            AdminChange::RemoveUser(name) => {
                self.revision += 1;
                self.users.remove(name);
            }
            AdminChange::PutToken(token) => {
                self.revision += 1;
                self.tokens.insert(token.name.clone(), token.clone());
            }
            AdminChange::RemoveToken(name) => {
                self.revision += 1;
                if !PlantedBug::KeepRevokedToken.is_planted() {
                    self.tokens.remove(name);
                }
            }
            AdminChange::PutSettings(settings) => drop(self.settings.insert(settings.owner.clone(), settings.clone())),
            AdminChange::RemoveSettings(owner) => drop(self.settings.remove(owner)),
            AdminChange::Audit(row) => self.last_audit = self.last_audit.max(row.id),
            AdminChange::CountAudit { .. } => {}
            AdminChange::ImportBegun => self.clear(),
            AdminChange::Begun => self.is_begun = true,
        }
    }

    fn clear(&mut self) {
        self.revision += 1;
        self.users.clear();
        self.tokens.clear();
        self.settings.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str, revision: i64) -> AdminChange {
        AdminChange::PutUser(UserRecord {
            name: name.into(),
            role: "trader".into(),
            strategy: None,
            password: "$argon2id$".into(),
            created: Timestamp(1),
            revision,
            rights: None,
        })
    }

    fn state_of(records: &[&[AdminChange]]) -> AdminState {
        let mut state = AdminState::default();
        for (sequence, changes) in (1..).zip(records) {
            state.apply(sequence, &AdminRecord { changes: changes.to_vec() });
        }
        state
    }

    #[test]
    fn an_import_that_was_cut_off_leaves_nothing_to_the_next() {
        let cut_off: &[AdminChange] = &[AdminChange::ImportBegun, user("anna", 1), user("gone", 2)];
        let whole: &[AdminChange] = &[AdminChange::ImportBegun, user("anna", 1), AdminChange::Begun];
        let (twice, once) = (state_of(&[cut_off, whole]), state_of(&[whole]));
        assert_eq!((&twice.users, twice.is_begun), (&once.users, true));
        assert!(!state_of(&[cut_off]).is_begun);
    }

    #[test]
    fn every_change_of_a_user_has_a_higher_revision() {
        let state = state_of(&[&[user("anna", 7)], &[user("bert", 8)], &[AdminChange::RemoveUser("bert".into())]]);
        assert_eq!((state.revision, state.last_sequence, state.users.len()), (9, 3, 1));
    }

    #[test]
    fn a_state_is_read_back_as_it_was_written() {
        let state = state_of(&[&[user("anna", 1), AdminChange::Begun]]);
        let bytes = minicbor::to_vec(&state).unwrap();
        assert_eq!(minicbor::decode::<AdminState>(&bytes).unwrap(), state);
    }
}
