//! Users, tokens and typed passwords, from the command line. A server that runs is asked to do it; otherwise it is done here.

use std::io::{self, BufRead, IsTerminal, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use access::{Password, SecretString};
use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use storage::StorageError;
use storage::lock::DataDirLock;

use crate::clock::SystemClock;
use crate::config::Config;
use crate::control::client;
use crate::exit_failure::{Exit, ExitFailure};
use crate::users::execute::{self, parse_name, parse_rights, parse_role, refused};
use crate::users::offline_log;
use crate::users::requests::{RequestedRole, UserReply, UserRequest};

/// How long a folder may be held by what does not answer yet: a server that starts, or another command.
const FOLDER_WAIT_MAX: Duration = Duration::from_secs(20);
const FOLDER_LOOK_EVERY: Duration = Duration::from_millis(50);

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
    /// None where they allow everything.
    fn text(&self) -> Option<String> {
        let lists = [("accounts", &self.accounts), ("securities", &self.securities), ("interfaces", &self.interfaces)];
        let given = lists.iter().filter_map(|(name, items)| Some(format!("{name} {}", items.as_ref()?)));
        let text = given.collect::<Vec<_>>().join("; ");
        (!text.is_empty()).then_some(text)
    }
}

impl RoleArgs {
    fn wanted(&self) -> RequestedRole {
        RequestedRole { name: self.role.clone(), strategy: self.strategy.clone() }
    }
}

pub struct UserAdmin<'a>(pub &'a Config);

impl UserAdmin<'_> {
    /// The password is asked for last, when all else is in order.
    pub fn add_user(
        &self,
        name: &str,
        role: &RoleArgs,
        replace: bool,
        password: impl FnOnce() -> Result<SecretString, ExitFailure>,
    ) -> Result<String, ExitFailure> {
        let role = role.wanted();
        parse_name(name)?;
        parse_role(&role)?;
        let password = Password::new(password()?).map_err(|error| refused("the password", error))?;
        let digest = password.digest()?;
        let digest = digest.as_str().to_owned();
        self.ask_for_text(UserRequest::AddUser { name: name.to_owned(), role, digest, replace })
    }

    pub fn set_user_rights(&self, name: &str, rights: &RightsArgs) -> Result<String, ExitFailure> {
        let rights = rights.text();
        parse_rights(rights.as_deref())?;
        self.ask_for_text(UserRequest::SetUserRights { name: name.to_owned(), rights })
    }

    pub fn set_token_rights(&self, name: &str, rights: &RightsArgs) -> Result<String, ExitFailure> {
        let rights = rights.text();
        parse_rights(rights.as_deref())?;
        self.ask_for_text(UserRequest::SetTokenRights { name: name.to_owned(), rights })
    }

    pub fn list_users(&self) -> Result<String, ExitFailure> {
        self.ask_for_text(UserRequest::ListUsers)
    }

    pub fn remove_user(&self, name: &str) -> Result<String, ExitFailure> {
        self.ask_for_text(UserRequest::RemoveUser { name: name.to_owned() })
    }

    /// The token, and what is to be said of it.
    pub fn new_token(&self, name: &str, role: &RoleArgs, days: u32) -> Result<(String, String), ExitFailure> {
        let role = role.wanted();
        parse_name(name)?;
        parse_role(&role)?;
        let UserReply { text, token } = self.ask(UserRequest::NewToken { name: name.to_owned(), role, days })?;
        let token = token.ok_or_else(|| ExitFailure::new(Exit::Failed, "the server gave no token"))?;
        Ok((token, text))
    }

    pub fn list_tokens(&self) -> Result<String, ExitFailure> {
        self.ask_for_text(UserRequest::ListTokens)
    }

    pub fn revoke_token(&self, name: &str) -> Result<String, ExitFailure> {
        self.ask_for_text(UserRequest::RevokeToken { name: name.to_owned() })
    }

    fn ask_for_text(&self, asked: UserRequest) -> Result<String, ExitFailure> {
        self.ask(asked).map(|reply| reply.text)
    }

    /// Of the server that holds the folder, or on the folder itself.
    fn ask(&self, asked: UserRequest) -> Result<UserReply, ExitFailure> {
        let (folder, begun) = (&self.0.data_dir, Instant::now());
        loop {
            match DataDirLock::acquire(folder) {
                Ok(lock) => return self.execute(&lock, asked),
                Err(StorageError::Locked { .. }) if client::is_served(folder) => return client::users(folder, asked),
                Err(StorageError::Locked { .. }) if begun.elapsed() < FOLDER_WAIT_MAX => sleep(FOLDER_LOOK_EVERY),
                Err(other) => return Err(other.into()),
            }
        }
    }

    fn execute(&self, lock: &DataDirLock, asked: UserRequest) -> Result<UserReply, ExitFailure> {
        let now = SystemClock::new(self.0.clock_offset.0).now();
        offline_log::with_users(self.0, lock, now, |users| execute::execute(users, asked, now))
    }
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
