//! The file of `strategies.nats`: where the NATS servers are, and as whom server and strategy processes connect to them.

use std::fs;
use std::path::Path;

use replication_nats::NatsSettings;
use serde::Deserialize;

use crate::config::Config;
use crate::exit_failure::{Exit, ExitFailure};
use crate::input_problem::Problems;
use crate::nats_tables::{self, LoginTable, TlsTable};

/// The strategy bus over NATS.
#[derive(Debug, Clone)]
pub struct NatsBusConfig {
    pub connection: NatsSettings,
    /// Begins every subject.
    pub subject: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NatsFile {
    servers: Vec<String>,
    #[serde(default = "rialto")]
    subject: String,
    login: Option<LoginTable>,
    tls: Option<TlsTable>,
}

fn rialto() -> String {
    "rialto".to_owned()
}

impl NatsBusConfig {
    /// None where strategies come over the broker.
    pub(crate) fn of(config: &Config) -> Result<Option<Self>, ExitFailure> {
        config.strategies_nats.as_ref().map(|file| Self::read(&file.0)).transpose()
    }

    fn read(path: &Path) -> Result<Self, ExitFailure> {
        let text = fs::read_to_string(path).map_err(|error| ExitFailure::io("read", path, &error))?;
        Self::parse(&text).map_err(|problems| {
            let lines = problems.to_string().replace('\n', "\n  ");
            let reason = format!("strategies.nats: the file {} can't be used:\n  {lines}", path.display());
            ExitFailure::new(Exit::Refused, reason)
        })
    }

    fn parse(text: &str) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let file: NatsFile = match toml::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                problems.add(nats_tables::place(text, &error), error.message());
                return Err(problems);
            }
        };
        nats_tables::check_addresses("servers", &file.servers, &mut problems);
        check_subject(&file.subject, &mut problems);
        let mut connection = NatsSettings::new(file.servers);
        let has_login = file.login.is_some();
        connection.login = file.login.and_then(|login| login.read(&mut problems));
        connection.tls = file.tls.map(|tls| tls.check(&mut problems));
        let has_own = connection.tls.as_ref().is_some_and(|tls| tls.own.is_some());
        if !(has_login || has_own || connection.servers.iter().all(|server| is_loopback(server))) {
            let reason = "servers on a network need one, or tls.certificateFile: whoever can publish there trades as any strategy";
            problems.add("login", reason);
        }
        problems.none_or(Self { connection, subject: file.subject })
    }
}

fn check_subject(subject: &str, problems: &mut Problems) {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
    let has_empty = subject.split('.').any(str::is_empty);
    if has_empty || !subject.chars().all(is_fit) {
        problems
            .add("subject", format!("'{subject}' must be words of letters, digits and -, with points between them"));
    }
}

fn is_loopback(server: &str) -> bool {
    let host = server.rsplit_once(':').map_or(server, |(host, _)| host).trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_servers_and_what_begins_every_subject() {
        let config = NatsBusConfig::parse("servers = [\"127.0.0.1:4222\", \"[::1]:4222\"]").unwrap();
        assert_eq!((config.connection.servers.len(), config.subject.as_str()), (2, "rialto"));
    }

    #[test]
    fn every_problem_is_named_with_its_field_and_its_reason() {
        let problems = |text: &str| NatsBusConfig::parse(text).err().unwrap().to_string();
        let expected = "servers: 'desk' is not host:port\n\
            subject: 'a..*' must be words of letters, digits and -, with points between them\n\
            login: servers on a network need one, or tls.certificateFile: whoever can publish there trades as any strategy";
        assert_eq!(problems("servers = [\"desk\"]\nsubject = \"a..*\""), expected);
        assert_eq!(problems("servers = []"), "servers: there must be an address of each NATS server, as host:port");
        assert!(problems("servers = []\nsubjekt = \"x\"").contains("unknown field `subjekt`"));
    }
}
