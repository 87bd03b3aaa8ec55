//! WebSocket upgrade: on any path of the broker's own port, and at `/stomp` of the HTTP ports.

use std::net::SocketAddr;
use std::sync::Arc;

use access::{Credentials, SecretString};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tungstenite::error::{Error, ProtocolError};
use tungstenite::handshake::server::create_response_with_body;

use crate::connection::{Connection, Shown, Visitor};
use crate::hosts::OurHosts;
use crate::house::House;
use crate::places::Full;
use crate::websocket::Messages;

/// Supported sub-protocols, the preferred one first.
const PROTOCOLS: [&str; 4] = ["v12.stomp", "v11.stomp", "v10.stomp", "stomp"];

/// The connection of a request.
#[derive(Debug, Clone, Copy)]
pub struct Reached {
    /// Our address.
    pub at: SocketAddr,
    /// The peer's address.
    pub from: SocketAddr,
    /// Over TLS.
    pub secure: bool,
}

/// `/stomp`, for ports that check hosts and origins themselves; `reached` extracts what such a port knows of a request.
pub(crate) fn route<F>(house: Arc<House>, reached: F) -> Router
where
    F: Fn(&axum::http::Extensions) -> Option<Reached> + Clone + Send + Sync + 'static,
{
    let upgrade = move |State(house): State<Arc<House>>, request: Request| {
        let reached = reached(request.extensions());
        async move { upgrade(house, reached, request) }
    };
    Router::new().route("/stomp", get(upgrade)).with_state(house)
}

/// Any path, for our own port: hosts and origins are checked here.
pub(crate) fn every_path(house: Arc<House>, hosts: Arc<OurHosts>) -> Router {
    let upgrade = move |State(house): State<Arc<House>>, request: Request| {
        let (hosts, reached) = (hosts.clone(), request.extensions().get::<Reached>().copied());
        async move {
            match hosts.check(reached.map(|reached| reached.at), request.headers()) {
                Ok(()) => upgrade(house, reached, request),
                Err(reason) => (StatusCode::FORBIDDEN, reason).into_response(),
            }
        }
    };
    Router::new().fallback(any(upgrade)).with_state(house)
}

fn upgrade(house: Arc<House>, reached: Option<Reached>, mut request: Request) -> Response {
    let answer = match shake_hands(&request) {
        Ok(answer) => answer,
        Err(error) => return not_an_upgrade(&error),
    };
    let Some(upgraded) = request.extensions_mut().remove::<OnUpgrade>() else {
        return (StatusCode::UPGRADE_REQUIRED, "this connection cannot become a WebSocket").into_response();
    };
    let peer = reached.map(|reached| reached.from.ip().to_canonical());
    let place = match house.places.take(peer) {
        Ok(place) => place,
        Err(Full::Connections) => return (StatusCode::SERVICE_UNAVAILABLE, "too many connections").into_response(),
        Err(Full::Address) => {
            return (StatusCode::SERVICE_UNAVAILABLE, "too many connections of your address").into_response();
        }
    };
    let shown = shown(request.headers(), reached.is_some_and(|reached| reached.secure));
    let visitor = Visitor { peer, shown: shown.map_or(Shown::Nothing, Shown::Credentials) };
    tokio::spawn(async move {
        // Who hangs up before the answer has nothing to do with us.
        let Ok(stream) = upgraded.await else { return };
        let messages = Messages::new(TokioIo::new(stream));
        Connection::new(house.clone(), messages, visitor, house.throttled()).at(place).run().await;
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

fn not_an_upgrade(error: &Error) -> Response {
    let status = match error {
        Error::Protocol(ProtocolError::WrongHttpMethod) => StatusCode::METHOD_NOT_ALLOWED,
        _ => StatusCode::BAD_REQUEST,
    };
    (status, format!("here only a WebSocket is served: {error}")).into_response()
}

/// Credentials of the request, which those in CONNECT override: a bearer token, or the cookie of a session.
fn shown(headers: &HeaderMap, secure: bool) -> Option<Credentials> {
    let cookie = if secure { "__Host-rialto-session" } else { "rialto-session" };
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let token = value.to_str().ok().and_then(|text| text.split_once(' '));
        let is_bearer = |(scheme, _): &(&str, &str)| scheme.eq_ignore_ascii_case("bearer");
        return Some(
            token.filter(is_bearer).map_or(
                Credentials::Unreadable("the header Authorization of an upgrade is not Bearer"),
                |(_, token)| Credentials::Token(token.trim().into()),
            ),
        );
    }
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == cookie).map(|(_, secret)| Credentials::Session(SecretString::from(secret)))
}

#[cfg(test)]
mod tests {
    use access::ExposeSecret;

    use super::*;

    fn show(lines: &[(&'static str, &str)], secure: bool) -> String {
        let headers = lines.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        match shown(&headers, secure) {
            None => "nothing".into(),
            Some(Credentials::Token(token)) => format!("token {}", token.expose_secret()),
            Some(Credentials::Session(secret)) => format!("session {}", secret.expose_secret()),
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
