//! HTTP server: REST, health, metrics, API description and the trading UI. Trading is behind the bus, JSON is in
//! `wire`.

mod settings;

/// One connection: accept, protocol, time limits.
mod ports;
/// What every request passes on its way in and out.
mod middleware;

pub mod endpoints;
mod router;
mod extract;
mod rest;
mod openapi;

mod response;
mod lists;
pub mod codes;
mod app_state;
mod problem;

mod ui_files;
mod in_process;
mod forwarded_calls;

use std::io;
use std::mem::take;
use std::sync::Arc;

use access::Access;
use bus::Bus;
use bus::forwarding::ForwardedCall;
use rustls::server::ResolvesServerCert;
use tokio::net::TcpListener;
use tokio::sync::mpsc::Receiver;
use tokio::sync::oneshot;

pub use axum::Router;
pub use in_process::{InProcessHttp, PlainCredentials, PlainRequest, PlainResponse, PlainSender};
pub use middleware::caller::ConnectionInfo;
use ports::HttpPort;
use ports::protocol_detect::ALPN_PROTOCOLS;
pub use ports::upgrade_socket::UpgradeSocket;
pub use settings::{Http2Limits, HttpLimits, WebServices, WebSettings};
pub use ui_files::UiFiles;

/// Where requests come from: HTTP, HTTPS, or both; and from the followers of a cluster, at their leader.
#[derive(Debug)]
pub struct HttpListeners {
    pub http: Option<TcpListener>,
    pub https: Option<HttpsListener>,
    pub forwarded: Option<Receiver<ForwardedCall>>,
}

#[derive(Debug)]
pub struct HttpsListener {
    pub listener: TcpListener,
    /// Queried in every handshake, so a certificate can change while the server runs.
    pub certificates: Arc<dyn ResolvesServerCert>,
}

impl From<TcpListener> for HttpListeners {
    fn from(http: TcpListener) -> Self {
        Self { http: Some(http), https: None, forwarded: None }
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
    let HttpListeners { http, https, forwarded } = listeners.into();
    let http = http.map(|listener| HttpPort { listener, tls: None });
    let https = https.map(https_port).transpose()?;
    for port in [http.as_ref(), https.as_ref()].into_iter().flatten() {
        settings.ports.push(port.listener.local_addr()?.port());
    }
    let (limits, others, journal) = (settings.limits.clone(), take(&mut settings.others), bus.journal.clone());
    let router = router::router(app_state::AppState::new(bus, services, access, settings), others);
    let (close, closed) = oneshot::channel();
    let answer =
        forwarded.map(|calls| forwarded_calls::serve((router.clone(), journal), calls, limits.shutdown_grace, closed));
    let answering = answer.map(tokio::spawn);
    ports::serve((http, https), router, &limits, shutdown).await;
    drop(close);
    if let Some(answering) = answering {
        drop(answering.await);
    }
    Ok(())
}

fn https_port(https: HttpsListener) -> io::Result<HttpPort> {
    let tls = net::server_config(https.certificates, &ALPN_PROTOCOLS).map_err(io::Error::other)?;
    Ok(HttpPort { listener: https.listener, tls: Some(tls) })
}
