//! Identities, users, tokens and the audit, in both directions.

use std::collections::BTreeSet;
use std::ops::Range;

use domain::rights::{TradingInterface, TradingRights};
use domain::{AccountId, SecurityId, Timestamp};
use serde_json::Value;

use crate::bodies::fields::{BadBody, FieldError, Fields, ids_of};
use crate::json::Millis;
use crate::value_object::value_object;

/// Longer names, passwords and roles are never valid.
const TEXT_BYTES_MAX: usize = 4_096;

/// Accounts or securities of the rights of a user or a token.
pub const RIGHTS_ITEMS_MAX: usize = 10_000;

/// A role by its upper-case name, with the strategy it is bound to.
#[derive(Debug, Clone)]
pub struct RoleVO<'a> {
    role: String,
    strategy: Option<&'a str>,
}

impl<'a> RoleVO<'a> {
    pub fn new(role: &str, strategy: Option<&'a str>) -> Self {
        Self { role: role.to_ascii_uppercase(), strategy }
    }
}

value_object! {
    /// The caller as authenticated by the server; an anonymous caller has no name.
    pub struct IdentityVO<'a> ("IdentityVO", golden)
    from (user: Option<&'a str>, role: RoleVO<'a>) {
        user: Option<&'a str> = user,
        role: String [OneOf(ROLES)] = role.role,
        strategy: Option<&'a str> = role.strategy,
    }
}

value_object! {
    /// A user with the role, and the strategy that the role strategy is bound to.
    pub struct UserVO<'a> ("UserVO", golden)
    from (name: &'a str, role: RoleVO<'a>, created: Timestamp, rights: RightsVO) {
        name: &'a str = name,
        role: String [OneOf(ROLES)] = role.role,
        strategy: Option<&'a str> = role.strategy,
        created: Millis = created.into(),
        accounts: Option<Vec<u64>> = rights.accounts,
        securities: Option<Vec<u64>> = rights.securities,
        interfaces: Option<Vec<&'static str>> [Maybe(&List(&OneOf(INTERFACES)))] = rights.interfaces,
    }
}

value_object! {
    /// The key of a program, without its secret.
    pub struct TokenVO<'a> ("TokenVO", golden)
    from (name: &'a str, prefix: &'a str, role: RoleVO<'a>, life: Range<Timestamp>, rights: RightsVO) {
        name: &'a str = name,
        prefix: &'a str = prefix,
        role: String [OneOf(ROLES)] = role.role,
        strategy: Option<&'a str> = role.strategy,
        created: Millis = life.start.into(),
        expires: Millis = life.end.into(),
        accounts: Option<Vec<u64>> = rights.accounts,
        securities: Option<Vec<u64>> = rights.securities,
        interfaces: Option<Vec<&'static str>> [Maybe(&List(&OneOf(INTERFACES)))] = rights.interfaces,
    }
}

value_object! {
    /// A key when it is made: the only time that it is seen whole.
    pub struct NewTokenVO<'a> ("NewTokenVO", golden)
    from (known: TokenVO<'a>, token: &'a str) {
        name: &'a str = known.name,
        prefix: &'a str = known.prefix,
        role: String [OneOf(ROLES)] = known.role,
        strategy: Option<&'a str> = known.strategy,
        created: Millis = known.created,
        expires: Millis = known.expires,
        accounts: Option<Vec<u64>> = known.accounts,
        securities: Option<Vec<u64>> = known.securities,
        interfaces: Option<Vec<&'static str>> [Maybe(&List(&OneOf(INTERFACES)))] = known.interfaces,
        token: &'a str = token,
    }
}

/// What a user or a token may trade; `null` means everything.
#[derive(Debug, Default)]
pub struct RightsVO {
    accounts: Option<Vec<u64>>,
    securities: Option<Vec<u64>>,
    interfaces: Option<Vec<&'static str>>,
}

impl RightsVO {
    pub fn from_domain(rights: Option<&TradingRights>) -> Self {
        let Some(rights) = rights else { return Self::default() };
        Self {
            accounts: rights.accounts.as_ref().map(|ids| ids.iter().map(|id| id.0).collect()),
            securities: rights.securities.as_ref().map(|ids| ids.iter().map(|id| id.0).collect()),
            interfaces: rights.interfaces.as_ref().map(|set| set.iter().map(|one| one.name()).collect()),
        }
    }
}

value_object! {
    /// What was refused, or done with power; equal rows of one minute are counted in one.
    pub struct AuditVO<'a> ("AuditVO", golden) {
        id: u64,
        dateTime: Millis,
        user: Option<&'a str>,
        door: &'a str,
        peer: Option<&'a str>,
        action: &'a str,
        outcome: &'a str,
        detail: &'a str,
        // Occurrences within a minute, and the time of the last one.
        times: u64 [Whole],
        lastDateTime: Millis,
    }
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
    /// Absent: as before, for a new user everything.
    pub rights: Option<TradingRights>,
}

impl UserBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let strategy = fields.text("strategy", TEXT_BYTES_MAX);
        let replace = fields.flag("replace").unwrap_or(false);
        let rights = named_rights(&mut fields);
        let name = needed(&mut fields, "name");
        let password = needed(&mut fields, "password");
        let role = needed(&mut fields, "role");
        let user = name.zip(password).zip(role);
        fields.finish_strict(user.map(|((name, password), role)| Self {
            name,
            password,
            role,
            strategy,
            replace,
            rights,
        }))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenBody {
    pub name: String,
    pub role: String,
    pub strategy: Option<String>,
    pub days: Option<u32>,
    pub rights: Option<TradingRights>,
}

impl TokenBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let (strategy, days) = (fields.text("strategy", TEXT_BYTES_MAX), fields.count("days"));
        let rights = named_rights(&mut fields);
        let (name, role) = (needed(&mut fields, "name"), needed(&mut fields, "role"));
        fields.finish_strict(name.zip(role).map(|(name, role)| Self { name, role, strategy, days, rights }))
    }
}

/// The rights of a user or a token, all of them anew: what is left out allows everything.
pub fn parse_rights(body: &[u8]) -> Result<TradingRights, BadBody> {
    let mut fields = Fields::parse(body)?;
    let rights = rights(&mut fields);
    fields.finish_strict(Some(rights))
}

/// None where the body names no rights.
fn named_rights(fields: &mut Fields) -> Option<TradingRights> {
    let is_named = ["accounts", "securities", "interfaces"].iter().any(|key| fields.contains(key));
    let rights = rights(fields);
    is_named.then_some(rights)
}

fn rights(fields: &mut Fields) -> TradingRights {
    let accounts = fields.read("accounts", |field, value| ids_of(field, value, RIGHTS_ITEMS_MAX));
    let securities = fields.read("securities", |field, value| ids_of(field, value, RIGHTS_ITEMS_MAX));
    TradingRights {
        accounts: accounts.map(|ids| ids.into_iter().map(AccountId).collect()),
        securities: securities.map(|ids| ids.into_iter().map(SecurityId).collect()),
        interfaces: fields.read("interfaces", interfaces_of),
    }
}

fn interfaces_of(field: &'static str, value: Value) -> Result<BTreeSet<TradingInterface>, FieldError> {
    let names = TradingInterface::ALL.map(TradingInterface::name).join(", ");
    let malformed = || FieldError::malformed(field, format!("must be a list of {names}"));
    let Value::Array(items) = value else { return Err(malformed()) };
    let named = |item: &Value| TradingInterface::ALL.into_iter().find(|one| item.as_str() == Some(one.name()));
    items.iter().map(|item| named(item).ok_or_else(malformed)).collect()
}

fn needed(fields: &mut Fields, field: &'static str) -> Option<String> {
    let text = fields.text(field, TEXT_BYTES_MAX);
    fields.require(field, text)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!((user.rights, token.rights), (None, None));
    }

    #[test]
    fn rights_are_lists_and_what_is_left_out_is_allowed() {
        let rights = parse_rights(br#"{"accounts": [1, 2], "interfaces": ["REST", "FIX"], "securities": null}"#);
        assert_eq!(rights.unwrap().to_string(), "accounts 1,2; interfaces REST,FIX");
        assert_eq!(parse_rights(b"{}").unwrap(), TradingRights::default());
        let body = br#"{"accounts": 1, "securities": [0], "interfaces": ["TELEX"], "account": [1]}"#;
        let Err(BadBody::Fields(errors)) = parse_rights(body) else { panic!("it is refused") };
        let told: Vec<_> = errors.iter().map(|error| format!("{}: {}", error.field, error.reason)).collect();
        assert_eq!(
            told,
            [
                "account: is not known here; did you mean 'accounts'?",
                "accounts: must be a list of ids",
                "securities: must be an id: an integer from 1 below 2^53",
                "interfaces: must be a list of REST, FIX, STOMP",
            ]
        );
    }
}
