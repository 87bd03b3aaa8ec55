//! The HTTP door: REST and health. It knows paths, headers and statuses; what trading means is behind the bus, what JSON
//! looks like is in `wire`.

/// How much of everything is let in, and for how long.
mod limits;
/// What the door is told about its surroundings.
mod settings;

/// The way of every request, in and out.
mod passage;
/// Who comes, by which door and from where.
mod visitor;
/// Who may call what, and what is written down of it.
mod admission;
/// What is left once it is known who it is.
mod last_steps;
/// What other origins may read.
mod cors;
/// What a request shows of its sender.
mod credentials;
/// Who is called, and from where: hosts and origins.
mod guard;
/// What a strategy may do in its own name.
mod own_name;
/// How fast requests may come.
mod pace;
/// Numbers of this door for whoever watches it.
mod metrics;
/// The number of a request, in and out.
mod request_id;

/// Every path, in one table.
pub mod endpoints;
/// From paths to those who answer.
mod router;
/// The form in which a client wants a list.
mod form;
/// The part of a list that a client wants.
mod page;
/// Parts of a request: path, parameters, body, caller.
mod request;
/// What callers want, by noun.
mod rest;
/// The interface, described for programs.
mod openapi;

/// Answers that went well.
mod answer;
/// Every code of a problem, with status and meaning.
pub mod codes;
/// The bus, as handlers use it.
mod doors;
/// Answers that did not.
mod problem;
/// Lists of reference data, encoded once.
mod shelf;

/// Answers as gzip, where it pays.
mod compression;

/// The page that people trade with.
mod screen;

/// The ports: connections are accepted, counted and finished.
mod ports;
/// Connections beyond the limit.
mod turned_away;
/// One connection, from its first byte to its last.
mod connection;
/// The first bytes: TLS or not, HTTP/1.1 or HTTP/2.
mod opening;
/// TLS as this door speaks it.
mod tls;
/// A connection that does not wait for ever for a reader.
mod patience;
/// The socket below a connection, for what it becomes.
mod socket;
/// Whether anything goes on at an HTTP/2 connection.
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

/// Where the door is: HTTP, HTTPS, or both.
#[derive(Debug)]
pub struct Listeners {
    pub http: Option<TcpListener>,
    pub https: Option<Https>,
}

#[derive(Debug)]
pub struct Https {
    pub listener: TcpListener,
    /// Asked in every handshake, so a certificate can change while the server runs.
    pub certificates: Arc<dyn ResolvesServerCert>,
}

impl From<TcpListener> for Listeners {
    fn from(http: TcpListener) -> Self {
        Self { http: Some(http), https: None }
    }
}

/// Serves with the default settings until `shutdown` is ready, then finishes what has begun.
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
