//! Broker URLs, by the host name of the request.

use axum::extract::{FromRequestParts, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::response::Response;
use bus::operations::BrokerEndpoints;
use wire::json;

use crate::app_state::AppState;
use crate::middleware::caller::ConnectionInfo;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn main(State(state): State<AppState>, called: RequestAuthority) -> Result<Response, Problem> {
    let url = called.main_url(&state.services().broker).ok_or_else(|| broker_closed("STOMP over TCP"))?;
    Ok(response::value(json::encode(&url)))
}

pub(crate) async fn ws(State(state): State<AppState>, called: RequestAuthority) -> Result<Response, Problem> {
    let url = called.ws_url(&state.services().broker).ok_or_else(|| broker_closed("STOMP over WebSocket"))?;
    Ok(response::value(json::encode(&url)))
}

fn broker_closed(door: &str) -> Problem {
    Problem::new("door-closed", format!("the door for {door} is not open on this server"))
}

/// The host name of the request, and whether it came over TLS.
pub(crate) struct RequestAuthority {
    authority: Authority,
    secure: bool,
}

impl RequestAuthority {
    pub(crate) fn host<'a>(&'a self, broker: &'a BrokerEndpoints) -> &'a str {
        broker.public_host.as_deref().unwrap_or(self.authority.host())
    }

    /// The host, with the port as the client gave it.
    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.secure
    }

    fn main_url(&self, broker: &BrokerEndpoints) -> Option<String> {
        broker.tcp_port.map(|port| format!("tcp://{}:{port}", self.host(broker)))
    }

    /// A page over HTTPS may open only a WebSocket with TLS: it gets the one of its own port.
    fn ws_url(&self, broker: &BrokerEndpoints) -> Option<String> {
        let (port, host) = (broker.ws_port?, self.host(broker));
        Some(match self.authority.port_u16() {
            _ if !self.secure => format!("ws://{host}:{port}"),
            Some(own) => format!("wss://{host}:{own}/stomp"),
            None => format!("wss://{host}/stomp"),
        })
    }
}

impl FromRequestParts<AppState> for RequestAuthority {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Problem> {
        let secure = parts.extensions.get::<ConnectionInfo>().is_some_and(|reached| reached.secure);
        let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok()?.parse().ok());
        let authority = parts.uri.authority().cloned().or(host);
        let unnamed = || Problem::new("missing-host", "a request names its host, once");
        Ok(Self { authority: authority.ok_or_else(unnamed)?, secure })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_https_the_websocket_is_the_one_of_the_same_port() {
        let broker = BrokerEndpoints { tcp_port: Some(61613), ws_port: Some(61614), public_host: None };
        let url = |authority: &str, secure| {
            RequestAuthority { authority: authority.parse().unwrap(), secure }.ws_url(&broker)
        };
        assert_eq!(url("localhost:9443", true).as_deref(), Some("wss://localhost:9443/stomp"));
        assert_eq!(url("desk.example", true).as_deref(), Some("wss://desk.example/stomp"));
        assert_eq!(url("localhost:9090", false).as_deref(), Some("ws://localhost:61614"));
    }
}
