//! Users and tokens: does what was asked, on the store of a server or of the command line, and says it in words.

use std::fmt::Display;

use access::{
    AccessChannel, AccessRequest, Actor, NewToken, PasswordDigest, PrincipalName, UserRole, UserStore, UserStoreError,
};
use domain::Timestamp;
use domain::rights::{InvalidRights, TradingRights};

use crate::exit_failure::{Exit, ExitFailure};
use crate::users::requests::{RequestedRole, UserReply, UserRequest};

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NO_ADMIN: &str = "no user is an admin: until one is, only this command line manages users\n";

/// Does it, with its row in the audit.
pub(crate) fn execute(users: &UserStore, asked: UserRequest, now: Timestamp) -> Result<UserReply, ExitFailure> {
    let admin = UserCommands { users, now };
    let text = match asked {
        UserRequest::AddUser { name, role, digest, replace } => admin.add_user(&name, &role, &digest, replace)?,
        UserRequest::RemoveUser { name } => admin.remove_user(&name)?,
        UserRequest::SetUserRights { name, rights } => admin.set_user_rights(&name, rights.as_deref())?,
        UserRequest::ListUsers => admin.list_users()?,
        UserRequest::NewToken { name, role, days } => return admin.new_token(&name, &role, days),
        UserRequest::RevokeToken { name } => admin.revoke_token(&name)?,
        UserRequest::SetTokenRights { name, rights } => admin.set_token_rights(&name, rights.as_deref())?,
        UserRequest::ListTokens => admin.list_tokens()?,
    };
    Ok(UserReply { text, token: None })
}

struct UserCommands<'a> {
    users: &'a UserStore,
    now: Timestamp,
}

impl UserCommands<'_> {
    fn add_user(&self, name: &str, role: &RequestedRole, digest: &str, replace: bool) -> Result<String, ExitFailure> {
        let (name, role) = (parse_name(name)?, parse_role(role)?);
        let digest = PasswordDigest::parse(digest).ok_or_else(|| refused("the password", "was not hashed"))?;
        let added = self.users.add_user_with_digest((&name, &role, &digest), replace, &actor("user add"), self.now);
        added.map_err(|reason| match reason {
            UserStoreError::NameTaken { by: "user", .. } => {
                refused(&format!("{reason};"), "--replace changes password and role")
            }
            other => store_failure(other),
        })?;
        Ok(format!("user {name} may log in, role {role}\n{}", self.warning()?))
    }

    fn set_user_rights(&self, name: &str, rights: Option<&str>) -> Result<String, ExitFailure> {
        let (name, rights) = (parse_name(name)?, parse_rights(rights)?);
        let set = self.users.set_user_rights(&name, &rights, &actor("user rights"), self.now);
        set.map_err(store_failure)?;
        Ok(format!("user {name} may trade {rights}\n"))
    }

    fn set_token_rights(&self, name: &str, rights: Option<&str>) -> Result<String, ExitFailure> {
        let (name, rights) = (parse_name(name)?, parse_rights(rights)?);
        let set = self.users.set_token_rights(&name, &rights, &actor("token rights"), self.now);
        set.map_err(store_failure)?;
        Ok(format!("token {name} may trade {rights}\n"))
    }

    fn list_users(&self) -> Result<String, ExitFailure> {
        let users = self.users.users()?;
        let line = |user: &access::User| {
            let when = format!("{}{}", since(user.created), limited(user.rights.as_deref()));
            [user.name.to_string(), user.role.to_string(), when]
        };
        Ok(table("there are no users", users.iter().map(line).collect()))
    }

    fn remove_user(&self, name: &str) -> Result<String, ExitFailure> {
        let name = parse_name(name)?;
        self.users.remove_user(&name, &actor("user remove"), self.now).map_err(store_failure)?;
        Ok(format!("user {name} is removed\n{}", self.warning()?))
    }

    /// Here people may come in any order, but nobody should wonder later why no screen administers.
    fn warning(&self) -> Result<&'static str, ExitFailure> {
        let users = self.users.users()?;
        let has_no_admin = !users.is_empty() && users.iter().all(|user| user.role != UserRole::Admin);
        Ok(if has_no_admin { NO_ADMIN } else { "" })
    }

    /// The token, and what is to be said of it.
    fn new_token(&self, name: &str, role: &RequestedRole, days: u32) -> Result<UserReply, ExitFailure> {
        let wanted = NewToken { name: parse_name(name)?, role: parse_role(role)?, days };
        let (token, secret) = self.users.new_token(wanted, &actor("token new"), self.now).map_err(store_failure)?;
        let (name, role, until) = (token.name, token.role, whole_seconds(token.expires));
        let text = format!("token {name}, role {role}, valid until {until}; it is shown only now:");
        Ok(UserReply { text, token: Some(secret.text().to_owned()) })
    }

    fn list_tokens(&self) -> Result<String, ExitFailure> {
        let tokens = self.users.tokens()?;
        let line = |token: &access::AccessToken| {
            let name = format!("{} (rialto_{}_…)", token.name, token.prefix);
            let when = format!("{}{}", validity(token.expires, self.now), limited(token.rights.as_deref()));
            [name, token.role.to_string(), when]
        };
        Ok(table("there are no tokens", tokens.iter().map(line).collect()))
    }

    fn revoke_token(&self, name: &str) -> Result<String, ExitFailure> {
        let name = parse_name(name)?;
        self.users.revoke_token(&name, &actor("token revoke"), self.now).map_err(store_failure)?;
        Ok(format!("token {name} is revoked\n"))
    }
}

/// Whoever can write the data folder needs no name.
pub(crate) fn actor(action: &'static str) -> Actor {
    Actor {
        user: None,
        request: AccessRequest { channel: AccessChannel::CommandLine, peer: None, action: action.into() },
    }
}

pub(crate) fn parse_name(text: &str) -> Result<PrincipalName, ExitFailure> {
    text.parse().map_err(|error: access::InvalidName| refused(&format!("the name '{text}'"), error))
}

pub(crate) fn parse_role(wanted: &RequestedRole) -> Result<UserRole, ExitFailure> {
    UserRole::new(&wanted.name, wanted.strategy.as_deref())
        .map_err(|error| ExitFailure::new(Exit::Refused, error.to_string()))
}

/// No text stands for all rights.
pub(crate) fn parse_rights(text: Option<&str>) -> Result<TradingRights, ExitFailure> {
    let Some(text) = text else { return Ok(TradingRights::default()) };
    text.parse().map_err(|error: InvalidRights| refused(&format!("'{text}':"), error))
}

pub(crate) fn refused(what: &str, reason: impl Display) -> ExitFailure {
    ExitFailure::new(Exit::Refused, format!("{what} {reason}"))
}

fn store_failure(reason: UserStoreError) -> ExitFailure {
    match reason {
        UserStoreError::Failed(error) => error.into(),
        other => ExitFailure::new(Exit::Refused, other.to_string()),
    }
}

fn limited(rights: Option<&TradingRights>) -> String {
    rights.map_or(String::new(), |rights| format!(", may trade {rights}"))
}

fn since(at: Timestamp) -> String {
    format!("since {}", whole_seconds(at))
}

fn validity(expires: Timestamp, now: Timestamp) -> String {
    let word = if now < expires { "valid until" } else { "expired" };
    format!("{word} {}", whole_seconds(expires))
}

fn whole_seconds(at: Timestamp) -> Timestamp {
    Timestamp(at.0 - at.0.rem_euclid(NANOS_PER_SECOND))
}

/// Lines with their first columns aligned.
fn table(where_empty: &str, lines: Vec<[String; 3]>) -> String {
    if lines.is_empty() {
        return format!("{where_empty}\n");
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    lines.iter().map(|[name, role, when]| format!("{name:first$}  {role:second$}  {when}\n")).collect()
}
