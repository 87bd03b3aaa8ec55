//! A user and a token, as they are used, from their records.

use std::sync::Arc;

use domain::admin::{TokenRecord, UserRecord};
use domain::rights::{InvalidRights, TradingRights};
use domain::{Text, Timestamp};

use crate::error::AccessError;
use crate::login::secret::SecretDigest;
use crate::users::name::{InvalidName, PrincipalName};
use crate::users::role::{InvalidRole, UserRole};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub name: PrincipalName,
    pub role: UserRole,
    pub created: Timestamp,
    pub(crate) password: Text,
    /// Rises with every change of the user: what was verified against an older one is void.
    pub(crate) revision: i64,
    /// What it may trade; absent: everything.
    pub rights: Option<Arc<TradingRights>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    pub name: PrincipalName,
    /// Its public part.
    pub prefix: String,
    pub role: UserRole,
    pub created: Timestamp,
    pub expires: Timestamp,
    pub(crate) digest: SecretDigest,
    /// What it may trade; absent: everything.
    pub rights: Option<Arc<TradingRights>>,
}

impl User {
    pub(crate) fn from_record(record: &UserRecord) -> Result<Self, AccessError> {
        let (name, role) = name_and_role(&record.name, &record.role, record.strategy.as_ref())?;
        let (created, password, revision) = (record.created, record.password.clone(), record.revision);
        Ok(Self { name, role, created, password, revision, rights: rights(record.rights.as_ref())? })
    }
}

impl AccessToken {
    pub(crate) fn from_record(record: &TokenRecord) -> Result<Self, AccessError> {
        let (name, role) = name_and_role(&record.name, &record.role, record.strategy.as_ref())?;
        let digest: [u8; 32] = record.digest.as_slice().try_into().map_err(|_| unreadable("a token's hash"))?;
        let (created, expires) = (record.created, record.expires);
        let rights = rights(record.rights.as_ref())?;
        Ok(Self { name, role, prefix: record.prefix.to_string(), created, expires, digest: digest.into(), rights })
    }

    pub(crate) fn to_record(&self) -> TokenRecord {
        TokenRecord {
            name: self.name.text().clone(),
            prefix: self.prefix.as_str().into(),
            digest: self.digest.as_bytes().to_vec(),
            role: self.role.name().into(),
            strategy: self.role.strategy().cloned(),
            created: self.created,
            expires: self.expires,
            rights: self.rights.as_deref().and_then(rights_text),
        }
    }
}

/// No text stands for all rights.
pub(crate) fn rights_text(rights: &TradingRights) -> Option<Text> {
    (!rights.is_unlimited()).then(|| rights.to_string().into())
}

fn rights(text: Option<&Text>) -> Result<Option<Arc<TradingRights>>, AccessError> {
    let parse = |text: &Text| text.parse().map(Arc::new).map_err(|error: InvalidRights| unreadable(&error.to_string()));
    text.map(parse).transpose()
}

fn name_and_role(name: &str, role: &str, strategy: Option<&Text>) -> Result<(PrincipalName, UserRole), AccessError> {
    let name = name.parse().map_err(|error: InvalidName| unreadable(&error.to_string()))?;
    let role = UserRole::new(role, strategy.map(|strategy| &**strategy));
    Ok((name, role.map_err(|error: InvalidRole| unreadable(&error.to_string()))?))
}

fn unreadable(reason: &str) -> AccessError {
    AccessError::System(format!("the journal has a user or a token that this program never writes: {reason}"))
}
