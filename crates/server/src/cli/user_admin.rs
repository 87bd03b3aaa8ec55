//! Users, tokens and typed passwords, from the command line. The server may run meanwhile: both work on the same file.

use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal, Write};

use access::{
    AccessChannel, AccessRequest, Actor, NewToken, Password, PrincipalName, Secret, SecretString, UserRole, UserStore,
    UserStoreError,
};
use clap::Args;
use domain::Timestamp;
use domain::rights::{InvalidRights, TradingRights};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::clock::SystemClock;
use crate::config::Config;
use crate::exit_failure::{Exit, ExitFailure};

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NO_ADMIN: &str = "no user is an admin: until one is, only this command line manages users\n";

/// Which role somebody is to have.
#[derive(Debug, Args)]
pub struct RoleArgs {
    /// A viewer reads, a trader also trades, an admin does everything, a strategy trades in its own name only.
    #[arg(long, value_name = "ROLE", value_parser = access::UserRole::NAMES)]
    pub role: String,
    /// The strategy that the role strategy is bound to.
    #[arg(long, value_name = "NAME")]
    pub strategy: Option<String>,
}

/// What somebody may trade; a list that is not given allows everything.
#[derive(Debug, Args)]
pub struct RightsArgs {
    /// Ids of the accounts, separated by commas; none allows no account.
    #[arg(long, value_name = "IDS")]
    pub accounts: Option<String>,
    /// Ids of the securities, separated by commas; none allows no security.
    #[arg(long, value_name = "IDS")]
    pub securities: Option<String>,
    /// Of REST (with the screen), FIX and STOMP, separated by commas.
    #[arg(long, value_name = "NAMES")]
    pub interfaces: Option<String>,
}

impl RightsArgs {
    fn parse(&self) -> Result<TradingRights, ExitFailure> {
        let lists = [("accounts", &self.accounts), ("securities", &self.securities), ("interfaces", &self.interfaces)];
        let given = lists.iter().filter_map(|(name, items)| Some(format!("{name} {}", items.as_ref()?)));
        let text = given.collect::<Vec<_>>().join("; ");
        if text.is_empty() {
            return Ok(TradingRights::default());
        }
        text.parse().map_err(|error: InvalidRights| refused(&format!("'{text}':"), error))
    }
}

pub struct UserAdmin {
    register: UserStore,
    now: Timestamp,
}

impl UserAdmin {
    pub fn open(config: &Config) -> Result<Self, ExitFailure> {
        let now = SystemClock::new(config.clock_offset.0).now();
        Ok(Self { register: UserStore::open(&config.data_dir)?, now })
    }

    /// The password is asked for last, when all else is in order.
    pub fn add_user(
        &self,
        name: &str,
        role: &RoleArgs,
        replace: bool,
        password: impl FnOnce() -> Result<SecretString, ExitFailure>,
    ) -> Result<String, ExitFailure> {
        let (name, role) = (parse_name(name)?, parse_role(role)?);
        let password = Password::new(password()?).map_err(|error| refused("the password", error))?;
        let added = self.register.add_user((&name, &role, &password), replace, &actor("user add"), self.now);
        added.map_err(|reason| match reason {
            UserStoreError::NameTaken { by: "user", .. } => {
                refused(&format!("{reason};"), "--replace changes password and role")
            }
            other => register_failure(other),
        })?;
        Ok(format!("user {name} may log in, role {role}\n{}", self.warning()?))
    }

    pub fn set_user_rights(&self, name: &str, rights: &RightsArgs) -> Result<String, ExitFailure> {
        let (name, rights) = (parse_name(name)?, rights.parse()?);
        let set = self.register.set_user_rights(&name, &rights, &actor("user rights"), self.now);
        set.map_err(register_failure)?;
        Ok(format!("user {name} may trade {rights}\n"))
    }

    pub fn set_token_rights(&self, name: &str, rights: &RightsArgs) -> Result<String, ExitFailure> {
        let (name, rights) = (parse_name(name)?, rights.parse()?);
        let set = self.register.set_token_rights(&name, &rights, &actor("token rights"), self.now);
        set.map_err(register_failure)?;
        Ok(format!("token {name} may trade {rights}\n"))
    }

    pub fn list_users(&self) -> Result<String, ExitFailure> {
        let users = self.register.users()?;
        let line = |user: &access::User| {
            let when = format!("{}{}", since(user.created), limited(user.rights.as_deref()));
            [user.name.to_string(), user.role.to_string(), when]
        };
        Ok(table("there are no users", users.iter().map(line).collect()))
    }

    pub fn remove_user(&self, name: &str) -> Result<String, ExitFailure> {
        let name = parse_name(name)?;
        self.register.remove_user(&name, &actor("user remove"), self.now).map_err(register_failure)?;
        Ok(format!("user {name} is removed\n{}", self.warning()?))
    }

    /// Here people may come in any order, but nobody should wonder later why no screen administers.
    fn warning(&self) -> Result<&'static str, ExitFailure> {
        let users = self.register.users()?;
        let has_no_admin = !users.is_empty() && users.iter().all(|user| user.role != UserRole::Admin);
        Ok(if has_no_admin { NO_ADMIN } else { "" })
    }

    /// The token, and what is to be said of it.
    pub fn new_token(&self, name: &str, role: &RoleArgs, days: u32) -> Result<(Secret, String), ExitFailure> {
        let wanted = NewToken { name: parse_name(name)?, role: parse_role(role)?, days };
        let (token, secret) =
            self.register.new_token(wanted, &actor("token new"), self.now).map_err(register_failure)?;
        let (name, role, until) = (token.name, token.role, whole_seconds(token.expires));
        Ok((secret, format!("token {name}, role {role}, valid until {until}; it is shown only now:")))
    }

    pub fn list_tokens(&self) -> Result<String, ExitFailure> {
        let tokens = self.register.tokens()?;
        let line = |token: &access::AccessToken| {
            let name = format!("{} (rialto_{}_…)", token.name, token.prefix);
            let when = format!("{}{}", validity(token.expires, self.now), limited(token.rights.as_deref()));
            [name, token.role.to_string(), when]
        };
        Ok(table("there are no tokens", tokens.iter().map(line).collect()))
    }

    pub fn revoke_token(&self, name: &str) -> Result<String, ExitFailure> {
        let name = parse_name(name)?;
        self.register.revoke_token(&name, &actor("token revoke"), self.now).map_err(register_failure)?;
        Ok(format!("token {name} is revoked\n"))
    }
}

/// Whoever can write the data folder needs no name.
pub fn actor(action: &'static str) -> Actor {
    Actor {
        user: None,
        request: AccessRequest { channel: AccessChannel::CommandLine, peer: None, action: action.into() },
    }
}

fn parse_name(text: &str) -> Result<PrincipalName, ExitFailure> {
    text.parse().map_err(|error: access::InvalidName| refused(&format!("the name '{text}'"), error))
}

fn parse_role(arguments: &RoleArgs) -> Result<UserRole, ExitFailure> {
    UserRole::new(&arguments.role, arguments.strategy.as_deref())
        .map_err(|error| ExitFailure::new(Exit::Refused, error.to_string()))
}

fn refused(what: &str, reason: impl Display) -> ExitFailure {
    ExitFailure::new(Exit::Refused, format!("{what} {reason}"))
}

fn register_failure(reason: UserStoreError) -> ExitFailure {
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

/// At a terminal it is typed twice and not seen; otherwise it is the first line of standard input.
pub fn read_password() -> Result<SecretString, ExitFailure> {
    if !io::stdin().is_terminal() {
        return read_line().map_err(read_failure);
    }
    let (once, twice) = (prompt_password("Password: ")?, prompt_password("Again: ")?);
    if access::ExposeSecret::expose_secret(&once) != access::ExposeSecret::expose_secret(&twice) {
        return Err(ExitFailure::new(Exit::Refused, "the two passwords differ"));
    }
    Ok(once)
}

fn prompt_password(prompt: &str) -> Result<SecretString, ExitFailure> {
    let _unseen = EchoOff::begin().map_err(read_failure)?;
    let mut screen = io::stderr();
    write!(screen, "{prompt}").and_then(|()| screen.flush()).map_err(read_failure)?;
    let typed = read_line();
    // The newline that ended the line was not seen either.
    writeln!(screen).map_err(read_failure)?;
    typed.map_err(read_failure)
}

fn read_line() -> io::Result<SecretString> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).into())
}

fn read_failure(error: io::Error) -> ExitFailure {
    ExitFailure::new(Exit::Failed, format!("can't read a password: {error}"))
}

/// A terminal that does not show what is typed, until this is dropped.
struct EchoOff {
    before: Termios,
}

impl EchoOff {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut unseen = before.clone();
        unseen.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &unseen)?;
        Ok(Self { before })
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        // A terminal that went away needs no echo.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
