//! Identities, users, tokens and the audit, in both directions.

use serde::Serialize;

use crate::fields::{BadBody, Fields};
use crate::json::Millis;

/// Longer names, passwords and roles are never valid.
const TEXT_BYTES_MAX: usize = 4_096;

/// A role by its upper-case name, with the strategy it is bound to.
#[derive(Debug, Clone, Serialize)]
pub struct RoleVO<'a> {
    role: String,
    strategy: Option<&'a str>,
}

impl<'a> RoleVO<'a> {
    pub fn new(role: &str, strategy: Option<&'a str>) -> Self {
        Self { role: role.to_ascii_uppercase(), strategy }
    }
}

/// The caller as the server has authenticated it; an anonymous caller has no name.
#[derive(Debug, Serialize)]
pub struct IdentityVO<'a> {
    pub user: Option<&'a str>,
    #[serde(flatten)]
    pub role: RoleVO<'a>,
}

#[derive(Debug, Serialize)]
pub struct UserVO<'a> {
    pub name: &'a str,
    #[serde(flatten)]
    pub role: RoleVO<'a>,
    pub created: Millis,
}

#[derive(Debug, Serialize)]
pub struct TokenVO<'a> {
    pub name: &'a str,
    pub prefix: &'a str,
    #[serde(flatten)]
    pub role: RoleVO<'a>,
    pub created: Millis,
    pub expires: Millis,
}

/// A new token: the only response that contains it in full.
#[derive(Debug, Serialize)]
pub struct NewTokenVO<'a> {
    #[serde(flatten)]
    pub known: TokenVO<'a>,
    pub token: &'a str,
}

/// A row of the audit.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditVO<'a> {
    pub id: u64,
    pub date_time: Millis,
    pub user: Option<&'a str>,
    pub door: &'a str,
    pub peer: Option<&'a str>,
    pub action: &'a str,
    pub outcome: &'a str,
    pub detail: &'a str,
    /// Occurrences within a minute, and the time of the last one.
    pub times: u64,
    pub last_date_time: Millis,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginBody {
    pub user: String,
    pub password: String,
}

impl LoginBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let user = needed(&mut fields, "user");
        let password = needed(&mut fields, "password");
        let login = user.zip(password).map(|(user, password)| Self { user, password });
        fields.finish_strict(login)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserBody {
    pub name: String,
    pub password: String,
    pub role: String,
    pub strategy: Option<String>,
    /// Gives an existing user a new password and role.
    pub replace: bool,
}

impl UserBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let strategy = fields.text("strategy", TEXT_BYTES_MAX);
        let replace = fields.flag("replace").unwrap_or(false);
        let name = needed(&mut fields, "name");
        let password = needed(&mut fields, "password");
        let role = needed(&mut fields, "role");
        let user = name.zip(password).zip(role);
        fields.finish_strict(user.map(|((name, password), role)| Self { name, password, role, strategy, replace }))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenBody {
    pub name: String,
    pub role: String,
    pub strategy: Option<String>,
    pub days: Option<u32>,
}

impl TokenBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let (strategy, days) = (fields.text("strategy", TEXT_BYTES_MAX), fields.count("days"));
        let (name, role) = (needed(&mut fields, "name"), needed(&mut fields, "role"));
        fields.finish_strict(name.zip(role).map(|(name, role)| Self { name, role, strategy, days }))
    }
}

fn needed(fields: &mut Fields, field: &'static str) -> Option<String> {
    let text = fields.text(field, TEXT_BYTES_MAX);
    fields.require(field, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FieldError;

    #[test]
    fn what_is_missing_is_asked_for_by_name() {
        let missing =
            |fields: &[&'static str]| BadBody::Fields(fields.iter().map(|f| FieldError::missing(f)).collect());
        assert_eq!(LoginBody::parse(b"{}"), Err(missing(&["user", "password"])));
        assert_eq!(UserBody::parse(b"{}"), Err(missing(&["name", "password", "role"])));
        assert_eq!(TokenBody::parse(b"{}"), Err(missing(&["name", "role"])));
    }

    #[test]
    fn the_rest_may_be_left_out() {
        let user = UserBody::parse(br#"{"name": "anna", "password": "correct horse", "role": "TRADER"}"#).unwrap();
        assert_eq!((user.strategy, user.replace), (None, false));
        let token = TokenBody::parse(br#"{"name": "robot", "role": "STRATEGY", "strategy": "A", "days": 7}"#).unwrap();
        assert_eq!((token.strategy.as_deref(), token.days), (Some("A"), Some(7)));
    }
}
