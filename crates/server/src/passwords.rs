//! Passwords, typed or piped.

use std::io::{self, BufRead, IsTerminal, Write};

use access::SecretString;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::exit_failure::{Exit, ExitFailure};

/// At a terminal it is typed twice and not seen; otherwise it is the first line of standard input.
pub fn read() -> Result<SecretString, ExitFailure> {
    if !io::stdin().is_terminal() {
        return line().map_err(read_failure);
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
    let typed = line();
    // The newline that ended the line was not seen either.
    writeln!(screen).map_err(read_failure)?;
    typed.map_err(read_failure)
}

fn line() -> io::Result<SecretString> {
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
