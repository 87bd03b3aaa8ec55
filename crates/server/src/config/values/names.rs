//! Ports, files, hosts, origins.

use std::path::PathBuf;

use super::setting::{Literal, Setting};

/// A port that can be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenPort(pub Option<u16>);

impl Setting for ListenPort {
    const LITERAL: Literal = Literal::Bare;

    fn shape() -> String {
        format!("{}, or off", u16::shape())
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self(None)),
            _ => text.parse().map(Some).map(Self).map_err(|_| format!("'{text}' is not {}", Self::shape())),
        }
    }

    fn show(&self) -> String {
        self.0.map_or("off".to_owned(), |port| port.to_string())
    }
}

/// A file that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePath(pub PathBuf);

impl Setting for FilePath {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "a file".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err(format!("'{text}' is not {}", Self::shape())) } else { Ok(Self(PathBuf::from(text))) }
    }

    fn show(&self) -> String {
        self.0.display().to_string()
    }
}

/// The file of FIX sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionFile {
    /// In the data folder; created at first start with the demo's session.
    Own,
    File(PathBuf),
}

impl Setting for SessionFile {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "a file, or 'own' for fix/sessions.cfg in the data folder".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "own" => Ok(Self::Own),
            _ => FilePath::parse(text).map(|path| Self::File(path.0)),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Own => "own".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// A host name of this server in browsers, without a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName(pub String);

impl Setting for HostName {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "a host name without a port, such as desk.example".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        let good = !text.is_empty() && text.bytes().all(legal);
        good.then(|| Self(text.to_ascii_lowercase())).ok_or_else(|| format!("'{text}' is not {}", Self::shape()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// An origin as browsers send it: scheme, host and, unless it is the default, port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebOrigin(pub String);

impl Setting for WebOrigin {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "an origin without a path, such as https://desk.example:8443".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
        let good = rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(legal));
        good.then(|| Self(text.to_ascii_lowercase())).ok_or_else(|| format!("'{text}' is not {}", Self::shape()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}
