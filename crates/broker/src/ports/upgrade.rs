//! WebSocket upgrade: on any path of the broker's own port, and at `/stomp` of the HTTP ports.

use std::net::SocketAddr;
use std::sync::Arc;

use access::{AccessCredentials, SecretString};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use net::{ConnectionLimitReached, ConnectionPermit};
use parking_lot::Mutex;
use tungstenite::error::{Error, ProtocolError};
use tungstenite::handshake::server::create_response_with_body;

use crate::connection::{ConnectionOrigin, PresentedCredentials, StompConnection};
use crate::ports::allowed_hosts::AllowedHosts;
use crate::ports::websocket::WebSocketTransport;
use crate::state::BrokerState;

/// Supported sub-protocols, the preferred one first.
const PROTOCOLS: [&str; 4] = ["v12.stomp", "v11.stomp", "v10.stomp", "stomp"];

/// The version of WebSocket that is spoken.
const WEBSOCKET_VERSION: &str = "13";

/// The connection of a request.
#[derive(Debug, Clone, Copy)]
pub struct UpgradeOrigin {
    /// Our address.
    pub local: SocketAddr,
    /// The peer's address.
    pub peer: SocketAddr,
    /// Over TLS.
    pub secure: bool,
}

/// The permit of a connection to our own port, for the WebSocket that it becomes.
#[derive(Clone)]
pub(crate) struct UpgradePermit(Arc<Mutex<Option<ConnectionPermit>>>);

impl UpgradePermit {
    pub(crate) fn new(permit: ConnectionPermit) -> Self {
        Self(Arc::new(Mutex::new(Some(permit))))
    }

    fn take(self) -> Option<ConnectionPermit> {
        self.0.lock().take()
    }
}

/// `/stomp`, for ports that check hosts and origins themselves; `reached` extracts what such a port knows of a request.
pub(crate) fn route<F>(broker: Arc<BrokerState>, reached: F) -> Router
where
    F: Fn(&axum::http::Extensions) -> Option<UpgradeOrigin> + Clone + Send + Sync + 'static,
{
    let upgrade = move |State(broker): State<Arc<BrokerState>>, request: Request| {
        let reached = reached(request.extensions());
        async move { upgrade(broker, reached, request) }
    };
    Router::new().route("/stomp", get(upgrade)).with_state(broker)
}

/// Any path, for our own port: hosts and origins are checked here.
pub(crate) fn any_path(broker: Arc<BrokerState>, hosts: Arc<AllowedHosts>) -> Router {
    let upgrade = move |State(broker): State<Arc<BrokerState>>, request: Request| {
        let (hosts, reached) = (hosts.clone(), request.extensions().get::<UpgradeOrigin>().copied());
        async move {
            match hosts.check(reached.map(|reached| reached.local), request.headers()) {
                Ok(()) => upgrade(broker, reached, request),
                Err(reason) => (StatusCode::FORBIDDEN, reason).into_response(),
            }
        }
    };
    Router::new().fallback(any(upgrade)).with_state(broker)
}

fn upgrade(broker: Arc<BrokerState>, reached: Option<UpgradeOrigin>, mut request: Request) -> Response {
    let answer = match shake_hands(&request) {
        Ok(answer) => answer,
        Err(error) => return not_an_upgrade(&error),
    };
    let Some(upgraded) = request.extensions_mut().remove::<OnUpgrade>() else {
        return (StatusCode::UPGRADE_REQUIRED, "this connection cannot become a WebSocket").into_response();
    };
    let peer = reached.map(|reached| reached.peer.ip().to_canonical());
    let held = request.extensions_mut().remove::<UpgradePermit>().and_then(UpgradePermit::take);
    let place = match held.map_or_else(|| broker.connection_limiter.acquire(peer), Ok) {
        Ok(place) => place,
        Err(ConnectionLimitReached::Connections) => {
            return (StatusCode::SERVICE_UNAVAILABLE, "too many connections").into_response();
        }
        Err(ConnectionLimitReached::Address) => {
            return (StatusCode::SERVICE_UNAVAILABLE, "too many connections of your address").into_response();
        }
    };
    let shown = presented_credentials(request.headers(), reached.is_some_and(|reached| reached.secure));
    let origin = ConnectionOrigin {
        peer,
        credentials: shown.map_or(PresentedCredentials::Absent, PresentedCredentials::Credentials),
    };
    tokio::spawn(async move {
        // Who hangs up before the answer has nothing to do with us.
        let Ok(stream) = upgraded.await else { return };
        let messages = WebSocketTransport::new(TokioIo::new(stream));
        StompConnection::new(broker.clone(), messages, origin, broker.new_throttled_lanes())
            .with_permit(place)
            .run()
            .await;
    });
    answer
}

/// The answer to a request for a WebSocket, with the best sub-protocol that both speak.
fn shake_hands(request: &Request) -> Result<Response, Error> {
    let mut answer = create_response_with_body(request, Body::empty)?;
    let lines = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let wanted: Vec<_> =
        lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(',').map(str::trim)).collect();
    if let Some(best) = PROTOCOLS.into_iter().find(|protocol| wanted.contains(protocol)) {
        answer.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(best));
    }
    Ok(answer)
}

/// A client of another version of WebSocket is told which one is spoken here (RFC 6455, 4.2.2).
fn not_an_upgrade(error: &Error) -> Response {
    let text = format!("here only a WebSocket is served: {error}");
    match error {
        Error::Protocol(ProtocolError::WrongHttpMethod) => (StatusCode::METHOD_NOT_ALLOWED, text).into_response(),
        Error::Protocol(ProtocolError::MissingSecWebSocketVersionHeader) => {
            let spoken = [
                (header::SEC_WEBSOCKET_VERSION, WEBSOCKET_VERSION),
                (header::UPGRADE, "websocket"),
                (header::CONNECTION, "upgrade"),
            ];
            (StatusCode::UPGRADE_REQUIRED, spoken, text).into_response()
        }
        _ => (StatusCode::BAD_REQUEST, text).into_response(),
    }
}

/// Credentials of the request, which those in CONNECT override: a bearer token, or the cookie of a session.
fn presented_credentials(headers: &HeaderMap, secure: bool) -> Option<AccessCredentials> {
    let cookie = if secure { "__Host-rialto-session" } else { "rialto-session" };
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let token = value.to_str().ok().and_then(|text| text.split_once(' '));
        let is_bearer = |(scheme, _): &(&str, &str)| scheme.eq_ignore_ascii_case("bearer");
        return Some(token.filter(is_bearer).map_or(
            AccessCredentials::Unreadable("the header Authorization of an upgrade is not Bearer"),
            |(_, token)| AccessCredentials::Token(token.trim().into()),
        ));
    }
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == cookie).map(|(_, secret)| AccessCredentials::Session(SecretString::from(secret)))
}

#[cfg(test)]
mod tests {
    use access::ExposeSecret;

    use super::*;

    fn show(lines: &[(&'static str, &str)], secure: bool) -> String {
        let headers = lines.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        match presented_credentials(&headers, secure) {
            None => "nothing".into(),
            Some(AccessCredentials::Token(token)) => format!("token {}", token.expose_secret()),
            Some(AccessCredentials::Session(secret)) => format!("session {}", secret.expose_secret()),
            Some(other) => format!("{other:?}"),
        }
    }

    #[test]
    fn a_bearer_token_counts_before_the_cookie_of_the_scheme() {
        assert_eq!(show(&[("authorization", "bearer abc"), ("cookie", "rialto-session=x")], false), "token abc");
        assert_eq!(show(&[("cookie", "a=b; rialto-session=x")], false), "session x");
        assert_eq!(show(&[("cookie", "rialto-session=x")], true), "nothing");
        assert_eq!(show(&[("cookie", "__Host-rialto-session=x")], true), "session x");
        let digest = r#"Unreadable("the header Authorization of an upgrade is not Bearer")"#;
        assert_eq!(show(&[("authorization", "Digest abc")], false), digest);
    }
}
