//! User settings: one opaque document per user, with a revision for optimistic locking.

use domain::Timestamp;
use domain::admin::{AdminChange, AdminState, SettingsRecord};

use crate::error::AccessError;
use crate::users::user_store::{UserStore, UserStoreError};

/// The owner of the settings of anonymous callers. No user and no token can have this name.
const LOCAL: &str = "";

/// A document with its revision: 1 when it was first saved, and one more each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSettings {
    pub document: String,
    pub revision: u64,
}

impl UserStore {
    /// The settings of a user or a token; anonymous callers share one document.
    pub fn settings(&self, owner: Option<&str>) -> Result<Option<UserSettings>, AccessError> {
        let state = self.state();
        let read =
            |kept: &SettingsRecord| UserSettings { document: kept.document.to_string(), revision: kept.revision };
        Ok(state.settings.get(owner.unwrap_or(LOCAL)).map(read))
    }

    /// Saves a document in place of the one that the writer has read, where that is still the current one. Returns the
    /// new revision.
    pub fn save_settings(
        &self,
        owner: Option<&str>,
        document: &str,
        seen: Option<u64>,
        at: Timestamp,
    ) -> Result<u64, UserStoreError> {
        let owner = owner.unwrap_or(LOCAL);
        self.change_unaudited(|state: &AdminState| {
            let revision = state.settings.get(owner).map_or(0, |settings| settings.revision);
            if seen.is_some_and(|seen| seen != revision) {
                return Err(UserStoreError::SettingsChanged { revision });
            }
            let (owner, document, revision) = (owner.into(), document.into(), revision + 1);
            let kept = SettingsRecord { owner, document, revision, changed: at };
            Ok((vec![AdminChange::PutSettings(kept)], revision))
        })
    }
}
