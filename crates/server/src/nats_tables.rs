//! What every file about NATS has: addresses of servers, and the tables `login` and `tls`.

use std::fs;
use std::path::{Path, PathBuf};

use replication_nats::{NatsLogin, NatsTls};
use serde::Deserialize;

use crate::input_problem::Problems;

/// As whom the program connects to the NATS servers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LoginTable {
    user: Option<String>,
    password_file: Option<PathBuf>,
    /// A JWT with the seed of its key, or a seed alone.
    credentials_file: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TlsTable {
    ca_file: Option<PathBuf>,
    certificate_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
}

/// The line of an error in a file.
pub(crate) fn place(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    before.map_or("file".to_owned(), |before| format!("line {}", before.lines().count().max(1)))
}

pub(crate) fn check_addresses(key: &str, addresses: &[String], problems: &mut Problems) {
    if addresses.is_empty() {
        problems.add(key, "there must be an address of each NATS server, as host:port");
    }
    for address in addresses {
        let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
        if port.is_none_or(|port| port.parse::<u16>().is_err()) {
            problems.add(key, format!("'{address}' is not host:port"));
        }
    }
}

impl LoginTable {
    /// Nothing secret stands in the file itself, which may be shown to everybody.
    pub(crate) fn read(self, problems: &mut Problems) -> Option<NatsLogin> {
        match (self.user, self.password_file, self.credentials_file) {
            (Some(user), Some(file), None) => {
                let password = read_secret(&file, "login.passwordFile", problems)?.lines().next()?.to_owned();
                Some(NatsLogin::Password { user, password })
            }
            (None, None, Some(file)) => {
                let text = read_secret(&file, "login.credentialsFile", problems)?;
                let login = NatsLogin::from_credentials(&text);
                login
                    .map_err(|reason| problems.add("login.credentialsFile", format!("{}: {reason}", file.display())))
                    .ok()
            }
            _ => {
                problems.add("login", "it has user and passwordFile, or credentialsFile");
                None
            }
        }
    }
}

/// The first line must not be empty.
fn read_secret(path: &Path, key: &str, problems: &mut Problems) -> Option<String> {
    match fs::read_to_string(path) {
        Ok(text) if text.lines().next().is_some_and(|line| !line.is_empty()) => return Some(text),
        Ok(_) => problems.add(key, format!("{} is empty", path.display())),
        Err(error) => problems.add(key, format!("{} can't be read: {error}", path.display())),
    }
    None
}

impl TlsTable {
    pub(crate) fn check(self, problems: &mut Problems) -> NatsTls {
        let Self { ca_file, certificate_file, key_file } = self;
        let named = [("caFile", &ca_file), ("certificateFile", &certificate_file), ("keyFile", &key_file)];
        for (key, path) in named.into_iter().filter_map(|(key, path)| path.as_ref().map(|path| (key, path))) {
            if !path.is_file() {
                problems.add(format!("tls.{key}"), format!("{} is not a file", path.display()));
            }
        }
        if certificate_file.is_some() != key_file.is_some() {
            problems.add("tls.certificateFile", "certificateFile and keyFile belong together");
        }
        NatsTls { ca_file, own: certificate_file.zip(key_file) }
    }
}
