//! HTTP server: REST, health, metrics, API description and the trading UI. Trading is behind the bus, JSON is in
//! `wire`.

mod limits;
mod settings;
mod services;

mod middleware;
mod caller;
mod authorization;
mod dispatch;
mod unanswered;
mod cors;
mod credentials;
mod host_check;
mod strategy_scope;
mod rate_limit;
mod metrics;
/// What every answer tells browsers and caches.
mod manners;
/// The number of a request, in and out.
mod request_id;

pub mod endpoints;
mod router;
mod list_format;
mod pagination;
mod extract;
mod rest;
mod openapi;

mod response;
pub mod codes;
mod app_state;
mod problem;
mod list_cache;

mod compression;

mod ui_files;

mod ports;
/// How many connections there may be, and of whom.
/// Connections beyond the limit.
mod overload;
mod connection;
mod protocol_detect;
mod write_timeout;
mod upgrade_socket;
mod http2_keepalive;

use std::io;
use std::mem::take;
use std::sync::Arc;

use access::Access;
use bus::Bus;
use rustls::server::ResolvesServerCert;
use tokio::net::TcpListener;

pub use axum::Router;
pub use caller::ConnectionInfo;
pub use limits::{Http2Limits, HttpLimits};
use ports::HttpPort;
use protocol_detect::ALPN_PROTOCOLS;
pub use services::WebServices;
pub use settings::WebSettings;
pub use ui_files::UiFiles;
pub use upgrade_socket::UpgradeSocket;

/// The listeners: HTTP, HTTPS, or both.
#[derive(Debug)]
pub struct HttpListeners {
    pub http: Option<TcpListener>,
    pub https: Option<HttpsListener>,
}

#[derive(Debug)]
pub struct HttpsListener {
    pub listener: TcpListener,
    /// Queried in every handshake, so a certificate can change while the server runs.
    pub certificates: Arc<dyn ResolvesServerCert>,
}

impl From<TcpListener> for HttpListeners {
    fn from(http: TcpListener) -> Self {
        Self { http: Some(http), https: None }
    }
}

/// Serves until `shutdown` is ready, then completes requests in progress.
pub async fn serve(
    listeners: impl Into<HttpListeners>,
    bus: Bus,
    services: WebServices,
    access: Arc<Access>,
    mut settings: WebSettings,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let HttpListeners { http, https } = listeners.into();
    let http = http.map(|listener| HttpPort { listener, tls: None });
    let https = https.map(https_port).transpose()?;
    for port in [http.as_ref(), https.as_ref()].into_iter().flatten() {
        settings.ports.push(port.listener.local_addr()?.port());
    }
    let (limits, others) = (settings.limits.clone(), take(&mut settings.others));
    let router = router::router(app_state::AppState::new(bus, services, access, settings), others);
    ports::serve((http, https), router, &limits, shutdown).await;
    Ok(())
}

fn https_port(https: HttpsListener) -> io::Result<HttpPort> {
    let tls = net::server_config(https.certificates, &ALPN_PROTOCOLS).map_err(io::Error::other)?;
    Ok(HttpPort { listener: https.listener, tls: Some(tls) })
}
