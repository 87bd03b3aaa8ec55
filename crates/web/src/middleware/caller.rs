//! Caller of a request: connection, identity, source, and the permit that counts the request as unanswered until the
//! engine has answered.

use std::net::{IpAddr, SocketAddr};

use access::{AccessChannel, AccessRequest, Actor, Identity};
use axum::extract::{MatchedPath, Request};
use axum::http::HeaderMap;
use bus::InFlightPermit;
use domain::{Caller, Source};
use tokio::task_local;

use crate::endpoints::{Endpoint, endpoint};

/// The connection of a request, in its extensions.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionInfo {
    /// Our address.
    pub local: SocketAddr,
    /// The peer's address.
    pub peer: SocketAddr,
    /// Over TLS.
    pub secure: bool,
}

impl ConnectionInfo {
    /// Over loopback, or over an address of this machine.
    pub(crate) fn is_local(&self) -> bool {
        let from = self.peer.ip().to_canonical();
        from.is_loopback() || from == self.local.ip().to_canonical()
    }
}

/// A follower of the cluster has authenticated the caller of this request, and forwarded it.
#[derive(Debug, Clone)]
pub(crate) struct ForwardedCaller {
    /// None for an anonymous caller.
    pub(crate) user: Option<String>,
}

/// The caller, for all parts of the server.
#[derive(Debug, Clone)]
pub(crate) struct HttpCaller {
    pub(crate) identity: Identity,
    pub(crate) source: Source,
    pub(crate) actor: Actor,
}

impl HttpCaller {
    /// As recorded by the engine.
    pub(crate) fn caller(&self) -> Caller {
        let rights = self.identity.rights.as_deref().cloned().map(Box::new);
        Caller { rights, ..Caller::new(self.source.clone(), self.identity.name.clone()) }
    }
}

/// Caller, interface and action, for the audit.
pub(crate) fn audit_visit(row: &Endpoint, request: &Request) -> AccessRequest {
    AccessRequest { channel: audit_channel(request.headers()), peer: peer(request), action: row.action.into() }
}

fn audit_channel(headers: &HeaderMap) -> AccessChannel {
    if is_ui(headers) { AccessChannel::Ui } else { AccessChannel::Rest }
}

/// An unauthenticated caller.
pub(crate) fn anonymous_actor(request: &Request) -> Actor {
    let path = request.extensions().get::<MatchedPath>();
    let row = path.and_then(|path| endpoint(request.method(), path.as_str()));
    let action = row.map_or_else(|| request.method().to_string().into(), |row| row.action.into());
    let visit = AccessRequest { channel: audit_channel(request.headers()), peer: peer(request), action };
    Actor { user: None, request: visit }
}

pub(crate) fn is_secure(request: &Request) -> bool {
    request.extensions().get::<ConnectionInfo>().is_some_and(|reached| reached.secure)
}

pub(crate) fn peer(request: &Request) -> Option<IpAddr> {
    request.extensions().get::<ConnectionInfo>().map(|reached| reached.peer.ip().to_canonical())
}

pub(crate) fn is_ui(headers: &HeaderMap) -> bool {
    headers.get("rialto-source").is_some_and(|source| source == "UI")
}

/// The request was authorized.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Authenticated;

/// The answer tells of an act that is in the audit already.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AlreadyAudited;

task_local! {
    /// What the request that is served here counts as. Whatever it asks of the engine takes a copy along, so that a client
    /// who hangs up makes no room for more before that is done.
    static UNANSWERED: InFlightPermit;
}

/// What the request that is served here counts as.
pub(crate) fn unanswered() -> InFlightPermit {
    UNANSWERED.try_with(InFlightPermit::clone).unwrap_or_default()
}

/// Serves a request that counts as this.
pub(crate) async fn with_permit<T>(permit: InFlightPermit, serving: impl Future<Output = T>) -> T {
    UNANSWERED.scope(permit, serving).await
}
