//! Open files: the process takes all that the system allows, keeps some for its own (journal, snapshots, read model, logs),
//! and shares the rest between the interfaces. A connection is an open file, so without this a client that opens enough of them
//! makes the next file of the journal fail.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::{info, warn};

use crate::exit_failure::{Exit, ExitFailure};

/// Files that connections never get: those of the server itself, about 50, and connections that are being turned away.
pub const FILES_RESERVED: u64 = 128;
/// Files of one FIX session: its connection and its message log, with room for a log that is begun anew.
pub const FILES_PER_FIX_SESSION: u64 = 4;
/// With fewer files for connections the server does not start.
pub const CONNECTIONS_MIN: u64 = 64;

/// How many connections each interface may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    pub http: usize,
    pub broker: usize,
    /// Of FIX, callers before their Logon; sessions are counted one by one.
    pub fix_callers: usize,
    /// FIX sessions, also those that are added while the server runs.
    pub fix_sessions: usize,
}

/// Callers of FIX before their Logon, where files are no matter.
pub const FIX_CALLERS_MAX: usize = 256;
/// FIX sessions, where files are no matter; a session file that has more at start is served too.
pub const FIX_SESSIONS_MAX: usize = 1_000;

/// Raises the limit of the process to what the system allows, and shares it. `full` is what each interface has where files are no
/// matter.
pub fn share(full: Connections, fix_sessions: usize) -> Result<Connections, ExitFailure> {
    let files = raise();
    let shared = divide(files, full, fix_sessions)?;
    if shared == full {
        info!(files, "open files suffice for every connection");
    } else {
        let Connections { http, broker, fix_callers, fix_sessions } = shared;
        warn!(
            files,
            http,
            broker,
            fix_callers,
            fix_sessions,
            "few open files are allowed (ulimit -n), so fewer connections are served"
        );
    }
    Ok(shared)
}

/// The limit after it was raised; where that is not possible, the limit as it is.
fn raise() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    // None means that there is no limit.
    let (current, maximum) = (current.unwrap_or(u64::MAX), maximum.unwrap_or(u64::MAX));
    match raised {
        Ok(()) => maximum,
        Err(error) => {
            warn!(%error, "the limit of open files can't be raised");
            current
        }
    }
}

/// Where there are not enough for all, HTTP gets a quarter and FIX an eighth at the most: an interface that is flooded takes
/// nothing from the others.
fn divide(files: u64, full: Connections, fix_sessions: usize) -> Result<Connections, ExitFailure> {
    let sessions = u64::try_from(fix_sessions).unwrap_or(u64::MAX).saturating_mul(FILES_PER_FIX_SESSION);
    let reserved = FILES_RESERVED.saturating_add(sessions);
    let left = files.saturating_sub(reserved);
    if left < CONNECTIONS_MIN {
        return Err(too_few(files, reserved.saturating_add(CONNECTIONS_MIN)));
    }
    let part = |part: u64, most: usize| usize::try_from(part).unwrap_or(usize::MAX).min(most);
    let (http, fix_callers) = (part(left / 4, full.http), part(left / 8, full.fix_callers));
    let taken = u64::try_from(http + fix_callers).unwrap_or(u64::MAX);
    let broker = part(left.saturating_sub(taken), full.broker);
    let unused = left.saturating_sub(taken).saturating_sub(broker as u64);
    // Sessions that are added while the server runs get what nobody else does.
    let fix_sessions = part(unused / FILES_PER_FIX_SESSION, usize::MAX).saturating_add(fix_sessions);
    Ok(Connections { http, fix_callers, broker, fix_sessions: fix_sessions.min(full.fix_sessions) })
}

fn too_few(files: u64, needed: u64) -> ExitFailure {
    let text = format!(
        "the process may have {files} files open and needs {needed}, some of them for the journal: raise the limit \
         (ulimit -n, LimitNOFILE)"
    );
    ExitFailure::new(Exit::Failed, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Connections = Connections {
        http: 1_024,
        broker: broker::CONNECTIONS_MAX,
        fix_callers: FIX_CALLERS_MAX,
        fix_sessions: FIX_SESSIONS_MAX,
    };

    fn shared(files: u64, sessions: usize) -> Result<Connections, String> {
        divide(files, FULL, sessions).map_err(|failure| failure.to_string())
    }

    #[test]
    fn with_many_files_every_interface_has_all_its_connections() {
        assert_eq!(shared(u64::MAX, 2), Ok(FULL));
        assert_eq!(shared(1 << 20, 2), Ok(FULL));
    }

    #[test]
    fn few_files_are_shared_and_some_stay_with_the_journal() {
        for files in [200, 256, 1_024, 4_096, 20_000] {
            let Connections { http, broker, fix_callers, fix_sessions } = shared(files, 2).unwrap();
            let all = u64::try_from(http + broker + fix_callers).unwrap();
            let all = all + u64::try_from(fix_sessions).unwrap() * FILES_PER_FIX_SESSION;
            assert!(all + FILES_RESERVED <= files, "{files}");
        }
        assert_eq!(shared(256, 0), Ok(Connections { http: 32, broker: 80, fix_callers: 16, fix_sessions: 0 }));
        assert_eq!(shared(1_024, 0), Ok(Connections { http: 224, broker: 560, fix_callers: 112, fix_sessions: 0 }));
    }

    #[test]
    fn what_is_configured_is_shared_out_where_files_suffice() {
        let full = Connections { broker: 100_000, http: 8_192, ..FULL };
        assert_eq!(divide(1 << 20, full, 2).ok(), Some(full));
        let few = divide(20_000, full, 0).ok().map(|shared| (shared.http, shared.fix_callers, shared.broker));
        assert_eq!(few, Some((4_968, 256, 14_648)));
    }

    #[test]
    fn a_server_that_could_not_keep_its_journal_does_not_start() {
        let text = "the process may have 191 files open and needs 192, some of them for the journal: raise the limit \
                    (ulimit -n, LimitNOFILE)";
        assert_eq!(shared(191, 0), Err(text.into()));
        assert!(shared(192, 0).is_ok() && shared(192, 1).is_err());
    }
}
