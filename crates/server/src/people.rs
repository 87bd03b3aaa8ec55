//! Users and tokens, from the command line. The server may run meanwhile: both work on the same file.

use std::fmt::Display;

use access::{Actor, Door, Name, NewToken, Password, Refused, Register, Role, Secret, SecretString, Visit};
use clap::Args;
use domain::Timestamp;

use crate::clock::SystemClock;
use crate::config::Config;
use crate::failure::{Exit, Failure};

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NO_ADMIN: &str = "no user is an admin: until one is, only this command line manages users\n";

/// Which role somebody is to have.
#[derive(Debug, Args)]
pub struct RoleArgs {
    /// A viewer reads, a trader also trades, an admin does everything, a strategy trades in its own name only.
    #[arg(long, value_name = "ROLE", value_parser = access::Role::NAMES)]
    pub role: String,
    /// The strategy that the role strategy is bound to.
    #[arg(long, value_name = "NAME")]
    pub strategy: Option<String>,
}

pub struct People {
    register: Register,
    now: Timestamp,
}

impl People {
    pub fn of(config: &Config) -> Result<Self, Failure> {
        let now = SystemClock::new(config.clock_offset.0).now();
        Ok(Self { register: Register::open(&config.data_dir)?, now })
    }

    /// The password is asked for last, when all else is in order.
    pub fn add_user(
        &self,
        name: &str,
        role: &RoleArgs,
        replace: bool,
        password: impl FnOnce() -> Result<SecretString, Failure>,
    ) -> Result<String, Failure> {
        let (name, role) = (name_of(name)?, role_of(role)?);
        let password = Password::new(password()?).map_err(|error| refused("the password", error))?;
        let added = self.register.add_user((&name, &role, &password), replace, &actor("user add"), self.now);
        added.map_err(|reason| match reason {
            Refused::NameTaken { by: "user", .. } => {
                refused(&format!("{reason};"), "--replace changes password and role")
            }
            other => not_done(other),
        })?;
        Ok(format!("user {name} may log in, role {role}\n{}", self.warning()?))
    }

    pub fn list_users(&self) -> Result<String, Failure> {
        let users = self.register.users()?;
        let line = |user: &access::User| [user.name.to_string(), user.role.to_string(), since(user.created)];
        Ok(table("there are no users", users.iter().map(line).collect()))
    }

    pub fn remove_user(&self, name: &str) -> Result<String, Failure> {
        let name = name_of(name)?;
        self.register.remove_user(&name, &actor("user remove"), self.now).map_err(not_done)?;
        Ok(format!("user {name} is removed\n{}", self.warning()?))
    }

    /// Here people may come in any order, but nobody should wonder later why no screen administers.
    fn warning(&self) -> Result<&'static str, Failure> {
        let users = self.register.users()?;
        let has_no_admin = !users.is_empty() && users.iter().all(|user| user.role != Role::Admin);
        Ok(if has_no_admin { NO_ADMIN } else { "" })
    }

    /// The token, and what is to be said of it.
    pub fn new_token(&self, name: &str, role: &RoleArgs, days: u32) -> Result<(Secret, String), Failure> {
        let wanted = NewToken { name: name_of(name)?, role: role_of(role)?, days };
        let (token, secret) = self.register.new_token(wanted, &actor("token new"), self.now).map_err(not_done)?;
        let (name, role, until) = (token.name, token.role, whole_seconds(token.expires));
        Ok((secret, format!("token {name}, role {role}, valid until {until}; it is shown only now:")))
    }

    pub fn list_tokens(&self) -> Result<String, Failure> {
        let tokens = self.register.tokens()?;
        let line = |token: &access::Token| {
            let name = format!("{} (rialto_{}_…)", token.name, token.prefix);
            [name, token.role.to_string(), validity(token.expires, self.now)]
        };
        Ok(table("there are no tokens", tokens.iter().map(line).collect()))
    }

    pub fn revoke_token(&self, name: &str) -> Result<String, Failure> {
        let name = name_of(name)?;
        self.register.revoke_token(&name, &actor("token revoke"), self.now).map_err(not_done)?;
        Ok(format!("token {name} is revoked\n"))
    }
}

/// Whoever can write the data folder needs no name.
pub fn actor(action: &'static str) -> Actor {
    Actor { user: None, visit: Visit { door: Door::CommandLine, peer: None, action: action.into() } }
}

fn name_of(text: &str) -> Result<Name, Failure> {
    text.parse().map_err(|error: access::NotAName| refused(&format!("the name '{text}'"), error))
}

fn role_of(arguments: &RoleArgs) -> Result<Role, Failure> {
    Role::new(&arguments.role, arguments.strategy.as_deref())
        .map_err(|error| Failure::new(Exit::Refused, error.to_string()))
}

fn refused(what: &str, reason: impl Display) -> Failure {
    Failure::new(Exit::Refused, format!("{what} {reason}"))
}

fn not_done(reason: Refused) -> Failure {
    match reason {
        Refused::Failed(error) => error.into(),
        other => Failure::new(Exit::Refused, other.to_string()),
    }
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
