//! HTTP server: REST, health, metrics, API description and the trading UI. Trading is behind the bus, JSON is in
//! `wire`.

mod limits;
mod settings;

mod passage;
mod visitor;
mod admission;
mod last_steps;
mod cors;
mod credentials;
mod guard;
mod own_name;
mod pace;
mod metrics;
/// What every answer tells browsers and caches.
mod manners;
/// The number of a request, in and out.
mod request_id;

pub mod endpoints;
mod router;
mod form;
mod page;
mod request;
mod rest;
mod openapi;

mod answer;
pub mod codes;
mod doors;
mod problem;
mod shelf;

mod compression;

mod screen;

mod ports;
/// How many connections there may be, and of whom.
mod places;
/// Connections beyond the limit.
mod turned_away;
mod connection;
mod opening;
mod tls;
mod patience;
mod socket;
mod pulse;

use std::io;
use std::mem::take;
use std::sync::Arc;

use access::Access;
use bus::Bus;
use rustls::server::ResolvesServerCert;
use tokio::net::TcpListener;

pub use axum::Router;
pub use limits::{Http2Limits, Limits};
use ports::Port;
pub use screen::Screen;
pub use settings::Settings;
pub use socket::Socket;
pub use visitor::Reached;

/// The listeners: HTTP, HTTPS, or both.
#[derive(Debug)]
pub struct Listeners {
    pub http: Option<TcpListener>,
    pub https: Option<Https>,
}

#[derive(Debug)]
pub struct Https {
    pub listener: TcpListener,
    /// Queried in every handshake, so a certificate can change while the server runs.
    pub certificates: Arc<dyn ResolvesServerCert>,
}

impl From<TcpListener> for Listeners {
    fn from(http: TcpListener) -> Self {
        Self { http: Some(http), https: None }
    }
}

/// Serves with the default settings until `shutdown` is ready, then completes requests in progress.
pub async fn serve(
    listener: TcpListener,
    bus: Bus,
    access: Arc<Access>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_with(listener, bus, access, Settings::default(), shutdown).await
}

pub async fn serve_with(
    listeners: impl Into<Listeners>,
    bus: Bus,
    access: Arc<Access>,
    mut settings: Settings,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let Listeners { http, https } = listeners.into();
    let http = http.map(|listener| Port { listener, tls: None });
    let https = https.map(secure).transpose()?;
    for port in [http.as_ref(), https.as_ref()].into_iter().flatten() {
        settings.ports.push(port.listener.local_addr()?.port());
    }
    let (limits, others) = (settings.limits.clone(), take(&mut settings.others));
    let router = router::router(doors::Doors::new(bus, access, settings), others);
    ports::serve((http, https), router, &limits, shutdown).await;
    Ok(())
}

fn secure(https: Https) -> io::Result<Port> {
    let tls = tls::configuration(https.certificates).map_err(io::Error::other)?;
    Ok(Port { listener: https.listener, tls: Some(tls) })
}
