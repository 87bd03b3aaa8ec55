//! The command line's side of the control socket.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::SOCKET;
use super::protocol::{ControlReply, ControlRequest, Status};
use crate::exit_failure::{Exit, ExitFailure};
use crate::users::requests::{UserReply, UserRequest};

/// Longer than the server's own patience with its engine, so that its word comes first.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(40);

/// Kills, and says what was done.
pub fn kill(folder: &Path, scope: String, reason: Option<String>) -> Result<String, ExitFailure> {
    match ask(folder, &ControlRequest::Kill { scope, reason })? {
        ControlReply::Killed { scope, cancels, sequence } => {
            Ok(format!("{scope} is halted, {cancels} orders are being cancelled (sequence {sequence})\n"))
        }
        ControlReply::Refused { detail } => Err(ExitFailure::new(Exit::Refused, format!("not killed: {detail}"))),
        _ => Err(strange()),
    }
}

/// How the server is.
pub fn status(folder: &Path) -> Result<Status, ExitFailure> {
    match ask(folder, &ControlRequest::Status)? {
        ControlReply::Status(status) => Ok(status),
        ControlReply::Refused { detail } => Err(ExitFailure::new(Exit::Refused, detail)),
        _ => Err(strange()),
    }
}

/// Whether a server answers in the folder.
pub fn is_served(folder: &Path) -> bool {
    UnixStream::connect(folder.join(SOCKET)).is_ok()
}

/// Reads or changes users and tokens.
pub fn users(folder: &Path, request: UserRequest) -> Result<UserReply, ExitFailure> {
    match ask(folder, &ControlRequest::Users { request })? {
        ControlReply::Users(reply) => Ok(reply),
        ControlReply::Refused { detail } => Err(ExitFailure::new(Exit::Refused, detail)),
        _ => Err(strange()),
    }
}

/// The leader of a cluster begins to stop in order.
pub fn hand_over(folder: &Path) -> Result<(), ExitFailure> {
    match ask(folder, &ControlRequest::HandOver)? {
        ControlReply::HandsOver => Ok(()),
        ControlReply::Refused { detail } => Err(ExitFailure::new(Exit::Refused, detail)),
        _ => Err(strange()),
    }
}

/// The file of FIX sessions is read again; says what it changed.
pub fn reload_fix(folder: &Path) -> Result<String, ExitFailure> {
    match ask(folder, &ControlRequest::FixReload)? {
        ControlReply::FixReloaded(changes) => Ok(changes.to_string()),
        ControlReply::Refused { detail } => Err(ExitFailure::new(Exit::Refused, detail)),
        _ => Err(strange()),
    }
}

fn strange() -> ExitFailure {
    ExitFailure::new(Exit::Failed, "the server's answer is about something else")
}

fn ask(folder: &Path, asked: &ControlRequest) -> Result<ControlReply, ExitFailure> {
    let path = folder.join(SOCKET);
    let stream = UnixStream::connect(&path).map_err(|error| unreachable(folder, &error))?;
    exchange(stream, asked).map_err(|error| {
        ExitFailure::new(Exit::Failed, format!("the server at {} gave no answer: {error}", path.display()))
    })
}

fn exchange(mut stream: UnixStream, asked: &ControlRequest) -> io::Result<ControlReply> {
    stream.set_read_timeout(Some(ANSWER_WAIT_MAX))?;
    let question = serde_json::to_string(asked).expect("texts are always JSON");
    stream.write_all(format!("{question}\n").as_bytes())?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    serde_json::from_str(&line).map_err(io::Error::other)
}

fn unreachable(folder: &Path, error: &io::Error) -> ExitFailure {
    let reason = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => "no server runs on it".to_owned(),
        _ => error.to_string(),
    };
    ExitFailure::new(Exit::Failed, format!("the data folder {}: {reason}", folder.display()))
}
