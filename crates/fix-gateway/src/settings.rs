//! Session file: parsed and checked. Every session is one of this gateway, and CompIDs are unique.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fix::{ConnectionType, Dictionary, FixSettings, SessionSettings};
use fix_net::DictionaryCache;

use crate::translate::not_passable;

/// The file that the demo writes into its data folder: the values of the specification's example.
pub const DEMO_SETTINGS: &str = include_str!("demo.cfg");

/// The sessions of one file.
pub struct FixSessionFile {
    pub(crate) sessions: Vec<(Arc<SessionSettings>, Option<Arc<Dictionary>>)>,
    /// Names of QuickFIX that have no effect here.
    pub warnings: Vec<String>,
    path: PathBuf,
}

impl FixSessionFile {
    pub fn read(path: &Path) -> Result<Self, Vec<String>> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| vec![format!("{shown}: {error}")])?;
        let settings = FixSettings::parse(&text)
            .map_err(|errors| errors.iter().map(|error| format!("{shown} {error}")).collect::<Vec<_>>())?;
        let problems = validate(&settings.sessions);
        if !problems.is_empty() {
            return Err(problems.iter().map(|problem| format!("{shown}: {problem}")).collect());
        }
        let mut dictionaries = DictionaryCache::for_settings_file(path);
        let with_dictionary = |session: SessionSettings| {
            let dictionary =
                dictionaries.get(&session.dictionary).map_err(|error| vec![format!("{shown}: {error}")])?;
            let tags = &session.gateway.pass_through;
            let dictionary =
                dictionary.map(|known| if tags.is_empty() { known } else { Arc::new(known.with_order_tags(tags)) });
            Ok((Arc::new(session), dictionary))
        };
        let all: Result<Vec<_>, Vec<String>> = settings.sessions.into_iter().map(with_dictionary).collect();
        Ok(Self { sessions: all?, warnings: settings.warnings, path: path.to_owned() })
    }

    /// The file as it is now.
    pub(crate) fn read_again(&self) -> Result<Self, Vec<String>> {
        Self::read(&self.path)
    }

    /// Why a running port cannot serve the sessions of that file: port and TLS are those of its start.
    pub(crate) fn difference_to_port(&self, newer: &Self) -> Vec<String> {
        let shown = newer.path.display();
        let mut problems = Vec::new();
        if self.port() != newer.port() {
            problems.push(format!("{shown}: SocketAcceptPort can be changed by a restart only"));
        }
        if self.use_tls() != newer.use_tls() {
            problems.push(format!("{shown}: SocketUseSSL can be changed by a restart only"));
        }
        problems
    }

    /// Sender and target of each session, as in the file.
    pub fn names(&self) -> Vec<String> {
        self.sessions.iter().map(|(session, _)| session.id.to_string()).collect()
    }

    /// The port in the file, where there is one; all sessions share it.
    pub fn port(&self) -> Option<u16> {
        self.sessions.iter().find_map(|(session, _)| port(session))
    }

    /// Whether clients must use TLS.
    pub fn use_tls(&self) -> bool {
        self.sessions.iter().any(|(session, _)| session.use_tls)
    }

    /// The folder of a session's message log; a relative path is relative to the session file.
    pub(crate) fn message_log_folder(&self, session: &SessionSettings) -> Option<PathBuf> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        session.message_log.as_ref().map(|path| folder.join(path))
    }
}

fn validate(sessions: &[SessionSettings]) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut clients, mut ports, mut tls) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for session in sessions {
        let client = &session.id.target;
        match session.role {
            ConnectionType::Acceptor { port, .. } => ports.extend(port),
            ConnectionType::Initiator { .. } => problems.push(format!("{client}: ConnectionType must be acceptor")),
        }
        tls.insert(session.use_tls);
        for (tag, why) in session.gateway.pass_through.iter().filter_map(|tag| Some((tag, not_passable(*tag)?))) {
            problems.push(format!("{client}: PassThroughTags: {tag} {why}"));
        }
        if !clients.insert(client) {
            problems.push(format!("TargetCompID {client} has two sessions, and its orders would be of both"));
        }
    }
    if ports.len() > 1 {
        problems.push("all sessions share one SocketAcceptPort".to_owned());
    }
    if tls.len() > 1 {
        problems.push("SocketUseSSL is the same for all sessions, because they share the port".to_owned());
    }
    problems
}

fn port(session: &SessionSettings) -> Option<u16> {
    match session.role {
        ConnectionType::Acceptor { port, .. } => port,
        ConnectionType::Initiator { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<FixSessionFile, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.cfg");
        std::fs::write(&path, text).unwrap();
        let shown = folder.path().display().to_string();
        FixSessionFile::read(&path).map_err(|all| all.into_iter().map(|one| one.replace(&shown, "")).collect())
    }

    fn problems_of(text: &str) -> Vec<String> {
        read(text).err().unwrap_or_default()
    }

    #[test]
    fn the_demos_file_is_the_example_of_the_specification() {
        let sessions = read(DEMO_SETTINGS).unwrap();
        let [(session, dictionary), (second, _)] = &sessions.sessions[..] else { panic!("two sessions") };
        assert_eq!(session.id.to_string(), "FIX.4.4:RIALTO->CLIENT");
        assert!(session.reset_on_logon && session.refresh_on_logon && !session.validate_incoming);
        assert_eq!(second.id.to_string(), "FIX.4.4:RIALTO->CLIENT2");
        assert!(!second.reset_on_logon, "numbers go on, as QuickFIX's clients expect by default");
        assert_eq!((session.heartbeat_seconds, sessions.port(), sessions.use_tls()), (30, Some(9876), false));
        assert!(dictionary.is_some());
        assert_eq!(sessions.message_log_folder(session).map(|path| path.ends_with("log")), Some(true));
    }

    #[test]
    fn a_session_file_that_cannot_be_served_is_rejected_with_the_reason() {
        let two = DEMO_SETTINGS.to_owned() + "[SESSION]\nTargetCompID=CLIENT\nSenderCompID=OTHER\nSocketUseSSL=Y\n";
        assert_eq!(
            problems_of(&two.replace(
                "TargetCompID=CLIENT\nSenderCompID=OTHER",
                "TargetCompID=CLIENT\nSenderCompID=OTHER\nSocketAcceptPort=9999"
            )),
            [
                "/sessions.cfg: TargetCompID CLIENT has two sessions, and its orders would be of both",
                "/sessions.cfg: all sessions share one SocketAcceptPort",
                "/sessions.cfg: SocketUseSSL is the same for all sessions, because they share the port",
            ]
        );
        let elsewhere = DEMO_SETTINGS.replace("SocketAcceptPort=9876\n", "");
        assert_eq!(read(&elsewhere).map(|sessions| sessions.port()), Ok(None), "the configuration may name the port");
        assert_eq!(problems_of("[DEFAULT]\n"), ["/sessions.cfg line 1: there is no [SESSION]"]);
        assert_eq!(problems_of(&DEMO_SETTINGS.replace("HeartBtInt", "HeartBeatInt")).len(), 1);
    }
}
