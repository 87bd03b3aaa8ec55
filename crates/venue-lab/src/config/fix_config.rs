//! Configuration of the FIX faces: ports, sessions and whether missed messages come again.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::config::config_error::LabConfigError;
use crate::exchange::AccountRules;
use crate::fix_face::{FixFaceConfig, FixSessionConfig, FixVersion};

/// Behind the name of an account: its drop copy, where the configuration names no sessions.
const DROP_COPY_SUFFIX: &str = "-DROP";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct RawFix {
    port: Option<u16>,
    off: bool,
    resends: bool,
    sessions: Vec<RawFixSession>,
}

impl Default for RawFix {
    fn default() -> Self {
        Self { port: None, off: false, resends: true, sessions: Vec::new() }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawFixSession {
    comp_id: String,
    account: String,
    #[serde(default)]
    drop_copy: bool,
}

impl RawFix {
    /// Without sessions in the configuration each account has one by its name, and a drop copy.
    pub(crate) fn check(
        &self,
        version: FixVersion,
        usual_port: u16,
        accounts: &[AccountRules],
    ) -> Result<FixFaceConfig, LabConfigError> {
        let sessions = if self.sessions.is_empty() {
            accounts.iter().zip(0..).flat_map(|(rules, account)| usual_sessions(&rules.name, account)).collect()
        } else {
            self.named_sessions(version, accounts)?
        };
        let mut seen = BTreeSet::new();
        if let Some(twice) = sessions.iter().find(|session| !seen.insert(&session.comp_id)) {
            return Err(LabConfigError(format!("{}.sessions: {} is there twice", version.face(), twice.comp_id)));
        }
        let port = (!self.off).then(|| self.port.unwrap_or(usual_port));
        Ok(FixFaceConfig { version, port, resends: self.resends, sessions })
    }

    fn named_sessions(
        &self,
        version: FixVersion,
        accounts: &[AccountRules],
    ) -> Result<Vec<FixSessionConfig>, LabConfigError> {
        let named = self.sessions.iter().map(|raw| {
            let error = |reason: &str| {
                LabConfigError(format!("{}.sessions: {}: {reason}", version.face(), raw.comp_id.escape_debug()))
            };
            if raw.comp_id.is_empty() || raw.comp_id.chars().any(char::is_control) {
                return Err(error("no CompID"));
            }
            let account = accounts.iter().position(|rules| rules.name == raw.account);
            let account = account.and_then(|account| u32::try_from(account).ok());
            Ok(FixSessionConfig {
                comp_id: raw.comp_id.clone(),
                account: account.ok_or_else(|| error(&format!("there is no account {}", raw.account)))?,
                account_name: raw.account.clone(),
                is_drop_copy: raw.drop_copy,
            })
        });
        named.collect()
    }
}

fn usual_sessions(name: &str, account: u32) -> [FixSessionConfig; 2] {
    [false, true].map(|is_drop_copy| FixSessionConfig {
        comp_id: format!("{name}{}", if is_drop_copy { DROP_COPY_SUFFIX } else { "" }),
        account,
        account_name: name.to_owned(),
        is_drop_copy,
    })
}
