//! Caller of a request: connection, identity, source.

use std::net::{IpAddr, SocketAddr};

use access::{Actor, Door, Identity, Visit};
use axum::extract::{MatchedPath, Request};
use axum::http::HeaderMap;
use domain::{Caller, Source};

use crate::endpoints::{Endpoint, endpoint};

/// The connection of a request, in its extensions.
#[derive(Debug, Clone, Copy)]
pub struct Reached {
    /// Our address.
    pub at: SocketAddr,
    /// The peer's address.
    pub from: SocketAddr,
    /// Over TLS.
    pub secure: bool,
}

impl Reached {
    /// Over loopback, or over an address of this machine.
    pub(crate) fn is_from_this_machine(&self) -> bool {
        let from = self.from.ip().to_canonical();
        from.is_loopback() || from == self.at.ip().to_canonical()
    }
}

/// The caller, for all parts of the server.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    pub(crate) identity: Identity,
    pub(crate) source: Source,
    pub(crate) actor: Actor,
}

impl Speaker {
    /// As recorded by the engine.
    pub(crate) fn caller(&self) -> Caller {
        Caller { source: self.source.clone(), user: self.identity.name.clone(), origin: None }
    }
}

/// Caller, interface and action, for the audit.
pub(crate) fn visit(row: &Endpoint, request: &Request) -> Visit {
    Visit { door: door(request.headers()), peer: peer(request), action: row.action.into() }
}

fn door(headers: &HeaderMap) -> Door {
    if is_ui(headers) { Door::Ui } else { Door::Rest }
}

/// An unauthenticated caller.
pub(crate) fn stranger(request: &Request) -> Actor {
    let path = request.extensions().get::<MatchedPath>();
    let row = path.and_then(|path| endpoint(request.method(), path.as_str()));
    let action = row.map_or_else(|| request.method().to_string().into(), |row| row.action.into());
    let visit = Visit { door: door(request.headers()), peer: peer(request), action };
    Actor { user: None, visit }
}

pub(crate) fn is_secure(request: &Request) -> bool {
    request.extensions().get::<Reached>().is_some_and(|reached| reached.secure)
}

pub(crate) fn peer(request: &Request) -> Option<IpAddr> {
    request.extensions().get::<Reached>().map(|reached| reached.from.ip().to_canonical())
}

pub(crate) fn is_ui(headers: &HeaderMap) -> bool {
    headers.get("rialto-source").is_some_and(|source| source == "UI")
}
