//! AsyncAPI description of the topics, and a page that shows it and subscribes to them. The page loads nothing from
//! elsewhere.

use axum::extract::State;
use axum::response::Response;
use bus::operations::BrokerEndpoints;
use wire::asyncapi::{self, AsyncApiServer};

use super::docs::file;
use crate::app_state::AppState;
use crate::response;
use crate::rest::operations::broker::RequestAuthority;

/// With the ports of this server, by the host name of the request.
pub(crate) async fn document(State(state): State<AppState>, called: RequestAuthority) -> Response {
    let servers = servers(&called, &state.services().broker);
    response::value(wire::json::encode(&asyncapi::document(env!("CARGO_PKG_VERSION"), &servers)))
}

fn servers(called: &RequestAuthority, broker: &BrokerEndpoints) -> Vec<AsyncApiServer> {
    let own = AsyncApiServer {
        name: "own",
        description: "WebSocket of the port that this description came from",
        host: called.authority().as_str().to_owned(),
        pathname: Some("/stomp"),
        protocol: if called.is_secure() { "wss" } else { "ws" },
    };
    let at = |port: u16| format!("{}:{port}", called.host(broker));
    let server = |name, says, port, protocol| AsyncApiServer {
        name,
        description: says,
        host: at(port),
        pathname: None,
        protocol,
    };
    let tcp = broker.tcp_port.map(|port| server("tcp", "STOMP over TCP", port, "stomp"));
    let tls = broker.tcp_port.map(|port| server("tls", "STOMP over TLS, on the same port", port, "stomps"));
    let websocket = broker.ws_port.map(|port| server("websocket", "WebSocket, any path", port, "ws"));
    [Some(own), tcp, tls, websocket].into_iter().flatten().collect()
}

pub(crate) async fn page() -> Response {
    file("text/html; charset=utf-8", include_str!("../../pages/topics.html"))
}

pub(crate) async fn program() -> Response {
    file("text/javascript; charset=utf-8", include_str!("../../pages/topics.js"))
}

pub(crate) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("../../pages/topics.css"))
}
