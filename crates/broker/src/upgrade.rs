//! WebSocket upgrade: on any path of the broker's own port, and at `/stomp` of the HTTP ports.

use std::net::SocketAddr;
use std::sync::Arc;

use access::{Credentials, SecretString};
use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};

use crate::connection::{Connection, Shown, Visitor};
use crate::hosts::OurHosts;
use crate::house::House;
use crate::limits::{READ_BYTES, WEBSOCKET_MESSAGE_BYTES_MAX};
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
    let upgrade = move |State(house): State<Arc<House>>, ws: WebSocketUpgrade, request: Request| {
        let reached = reached(request.extensions());
        async move { upgrade(house, reached, ws, request.headers()) }
    };
    Router::new().route("/stomp", get(upgrade)).with_state(house)
}

/// Any path, for our own port: hosts and origins are checked here.
pub(crate) fn every_path(house: Arc<House>, hosts: Arc<OurHosts>) -> Router {
    let upgrade = move |State(house): State<Arc<House>>, ws: WebSocketUpgrade, request: Request| {
        let (hosts, reached) = (hosts.clone(), request.extensions().get::<Reached>().copied());
        async move {
            match hosts.check(reached.map(|reached| reached.at), request.headers()) {
                Ok(()) => upgrade(house, reached, ws, request.headers()),
                Err(reason) => (StatusCode::FORBIDDEN, reason).into_response(),
            }
        }
    };
    Router::new().fallback(any(upgrade)).with_state(house)
}

fn upgrade(house: Arc<House>, reached: Option<Reached>, ws: WebSocketUpgrade, headers: &HeaderMap) -> Response {
    let peer = reached.map(|reached| reached.from.ip().to_canonical());
    let place = match house.places.take(peer) {
        Ok(place) => place,
        Err(Full::Connections) => return (StatusCode::SERVICE_UNAVAILABLE, "too many connections").into_response(),
        Err(Full::Address) => {
            return (StatusCode::SERVICE_UNAVAILABLE, "too many connections of your address").into_response();
        }
    };
    let visitor = Visitor {
        peer,
        shown: shown(headers, reached.is_some_and(|reached| reached.secure)).map_or(Shown::Nothing, Shown::Credentials),
    };
    ws.protocols(PROTOCOLS)
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(0)
        .max_message_size(WEBSOCKET_MESSAGE_BYTES_MAX)
        .max_frame_size(WEBSOCKET_MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| async move {
            Connection::new(house.clone(), Messages::new(socket), visitor, house.throttled()).at(place).run().await;
        })
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
