//! Messages to and from a venue, and what becomes of a request without an answer.

use std::fmt;

/// Its Debug shows neither query, header values nor body: key and signature stand there.
#[derive(Clone, PartialEq, Eq)]
pub struct VenueRequest {
    pub method: &'static str,
    /// Path and query, beginning with a slash.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// Its Debug shows neither header values nor body: venues give out keys of streams and tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct VenueResponse {
    pub status: u16,
    /// Names in small letters. Values that are no text are left out.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl VenueResponse {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Why there is no answer. An answer of any status is an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestFailure {
    /// The venue certainly did not receive the request.
    NotSent(String),
    /// The venue may have received the request, and may have acted on it.
    Unknown(String),
}

/// A message of a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketMessage {
    Text(String),
    Binary(Vec<u8>),
}

impl fmt::Debug for VenueRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.split('?').next().unwrap_or_default();
        write!(f, "VenueRequest({} {path}, {} headers, {} bytes)", self.method, self.headers.len(), self.body.len())
    }
}

impl fmt::Debug for VenueResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VenueResponse({}, {} headers, {} bytes)", self.status, self.headers.len(), self.body.len())
    }
}

impl fmt::Display for RequestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(reason) => write!(f, "not sent: {reason}"),
            Self::Unknown(reason) => write!(f, "outcome unknown: {reason}"),
        }
    }
}

impl std::error::Error for RequestFailure {}
