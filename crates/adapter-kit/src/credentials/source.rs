//! Where credentials come from: a file of mode 0600, systemd's credentials folder, or the environment.
//!
//! No error repeats what stands in the source, not even the text around a syntax error: it may be the secret.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use secrecy::SecretString;
use secrecy::zeroize::{Zeroize, Zeroizing};
use serde::Deserialize;

use super::{SigningKey, VenueCredentials};

/// A longer file of credentials is refused.
pub const CREDENTIALS_BYTES_MAX: u64 = 64 * 1_024;

/// Bits of a file's mode that let others than its owner use it.
const OTHERS: u32 = 0o077;

/// The setting `credentials`: a path, `systemd:NAME` or `env:PREFIX`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CredentialSource {
    /// TOML with `apiKey` and `secret` or `privateKey`; only its owner may read it.
    File(PathBuf),
    /// The same TOML, given to the service by systemd (`LoadCredential=NAME:…`).
    Systemd(String),
    /// `PREFIX_API_KEY` and `PREFIX_SECRET` or `PREFIX_PRIVATE_KEY`.
    Environment(String),
}

/// Reads a variable of the environment. The server gives `std::env::var`, tests a table.
pub type CredentialEnvironment<'a> = &'a dyn Fn(&str) -> Option<String>;

#[derive(Debug)]
pub enum CredentialError {
    Io {
        path: PathBuf,
        reason: io::Error,
    },
    /// Others than the owner can use the file.
    OpenToOthers {
        path: PathBuf,
        mode: u32,
    },
    NotAFile {
        path: PathBuf,
    },
    TooLong {
        path: PathBuf,
    },
    /// `line` is where the TOML cannot be read; what stands there is not repeated.
    Malformed {
        origin: String,
        line: Option<usize>,
    },
    Missing {
        origin: String,
        what: &'static str,
    },
    /// Both `secret` and `privateKey`.
    Ambiguous {
        origin: String,
    },
    NoSystemdFolder,
    /// The name of a systemd credential is a plain file name.
    UnusableName {
        name: String,
    },
}

impl FromStr for CredentialSource {
    type Err = CredentialError;

    fn from_str(text: &str) -> Result<Self, CredentialError> {
        let unusable = |name: &str| CredentialError::UnusableName { name: name.to_owned() };
        let is_plain = |name: &str| !name.is_empty() && !name.contains('/') && !name.starts_with('.');
        let is_variable = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        match text.split_once(':') {
            Some(("systemd", name)) if is_plain(name) => Ok(Self::Systemd(name.to_owned())),
            Some(("env", prefix)) if is_variable(prefix) => Ok(Self::Environment(prefix.to_owned())),
            Some(("systemd" | "env", name)) => Err(unusable(name)),
            _ if text.is_empty() => Err(unusable(text)),
            _ => Ok(Self::File(PathBuf::from(text))),
        }
    }
}

impl CredentialSource {
    pub fn load(&self, environment: CredentialEnvironment<'_>) -> Result<VenueCredentials, CredentialError> {
        match self {
            Self::File(path) => from_file(path, true),
            Self::Systemd(name) => from_file(&systemd_folder(environment)?.join(name), false),
            Self::Environment(prefix) => from_environment(prefix, environment),
        }
    }

    /// The file to watch for a change, where there is one.
    pub(super) fn path(&self, environment: CredentialEnvironment<'_>) -> Option<PathBuf> {
        match self {
            Self::File(path) => Some(path.clone()),
            Self::Systemd(name) => Some(systemd_folder(environment).ok()?.join(name)),
            Self::Environment(_) => None,
        }
    }
}

fn systemd_folder(environment: CredentialEnvironment<'_>) -> Result<PathBuf, CredentialError> {
    environment("CREDENTIALS_DIRECTORY").map(PathBuf::from).ok_or(CredentialError::NoSystemdFolder)
}

/// systemd protects its folder by access lists, which the mode of a file shows as rights of a group.
fn from_file(path: &Path, checks_mode: bool) -> Result<VenueCredentials, CredentialError> {
    let failed = |reason| CredentialError::Io { path: path.to_owned(), reason };
    let file = File::open(path).map_err(failed)?;
    // Of the open file, so that it cannot be exchanged between check and use.
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(CredentialError::NotAFile { path: path.to_owned() });
    }
    let mode = metadata.permissions().mode() & 0o7777;
    if checks_mode && mode & OTHERS != 0 {
        return Err(CredentialError::OpenToOthers { path: path.to_owned(), mode });
    }
    if metadata.len() > CREDENTIALS_BYTES_MAX {
        return Err(CredentialError::TooLong { path: path.to_owned() });
    }
    let mut text = Zeroizing::new(String::with_capacity(usize::try_from(metadata.len()).unwrap_or(0)));
    file.take(CREDENTIALS_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    parse(&text, &path.display().to_string())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawCredentials {
    api_key: Option<String>,
    secret: Option<String>,
    private_key: Option<String>,
    passphrase: Option<String>,
}

impl Drop for RawCredentials {
    fn drop(&mut self) {
        self.api_key.zeroize();
        self.secret.zeroize();
        self.private_key.zeroize();
        self.passphrase.zeroize();
    }
}

fn parse(text: &str, origin: &str) -> Result<VenueCredentials, CredentialError> {
    let line =
        |error: &toml::de::Error| error.span().map(|span| text[..span.start.min(text.len())].lines().count().max(1));
    let raw = toml::from_str::<RawCredentials>(text);
    let raw = raw.map_err(|error| CredentialError::Malformed { origin: origin.to_owned(), line: line(&error) })?;
    check(raw, origin)
}

fn from_environment(prefix: &str, environment: CredentialEnvironment<'_>) -> Result<VenueCredentials, CredentialError> {
    let value = |name: &str| environment(&format!("{prefix}_{name}"));
    let raw = RawCredentials {
        api_key: value("API_KEY"),
        secret: value("SECRET"),
        private_key: value("PRIVATE_KEY"),
        passphrase: value("PASSPHRASE"),
    };
    check(raw, &format!("environment {prefix}_*"))
}

fn check(mut raw: RawCredentials, origin: &str) -> Result<VenueCredentials, CredentialError> {
    let missing = |what| CredentialError::Missing { origin: origin.to_owned(), what };
    let take = |value: &mut Option<String>| value.take().filter(|text| !text.trim().is_empty()).map(SecretString::from);
    let api_key = take(&mut raw.api_key).ok_or_else(|| missing("apiKey"))?;
    let signing = match (take(&mut raw.secret), take(&mut raw.private_key)) {
        (Some(secret), None) => SigningKey::Secret(secret),
        (None, Some(key)) => SigningKey::PrivateKey(key),
        (None, None) => return Err(missing("secret or privateKey")),
        (Some(_), Some(_)) => return Err(CredentialError::Ambiguous { origin: origin.to_owned() }),
    };
    Ok(VenueCredentials::new(api_key, signing).with_passphrase(take(&mut raw.passphrase)))
}

impl fmt::Display for CredentialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, reason } => write!(f, "credentials {} cannot be read: {reason}", path.display()),
            Self::OpenToOthers { path, mode } => {
                write!(
                    f,
                    "credentials {0} have mode {mode:04o}: others can use them; run chmod 600 {0}",
                    path.display()
                )
            }
            Self::NotAFile { path } => write!(f, "credentials {} are no file", path.display()),
            Self::TooLong { path } => {
                write!(f, "credentials {} are longer than {CREDENTIALS_BYTES_MAX} bytes", path.display())
            }
            Self::Malformed { origin, line: Some(line) } => {
                write!(f, "credentials {origin} cannot be read at line {line}: {EXPECTED}")
            }
            Self::Malformed { origin, line: None } => write!(f, "credentials {origin} cannot be read: {EXPECTED}"),
            Self::Missing { origin, what } => write!(f, "credentials {origin} have no {what}"),
            Self::Ambiguous { origin } => {
                write!(f, "credentials {origin} have secret and privateKey: give one of them")
            }
            Self::NoSystemdFolder => f.write_str("credentials of systemd: CREDENTIALS_DIRECTORY is not set"),
            Self::UnusableName { name } => {
                write!(f, "credentials `{name}`: give a path, systemd:NAME or env:PREFIX with a plain name")
            }
        }
    }
}

const EXPECTED: &str =
    "expected are the texts apiKey, secret or privateKey, passphrase where the venue has one, and nothing else";

impl std::error::Error for CredentialError {}
