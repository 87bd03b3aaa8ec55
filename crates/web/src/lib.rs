//! The HTTP door: REST and health. It knows paths, headers and statuses; what trading means is behind the bus, what JSON
//! looks like is in `wire`.

/// How much of everything is let in, and for how long.
mod limits;

/// What other origins may read.
mod cors;
/// Who is called, and from where: hosts and origins.
mod guard;
/// The number of a request, in and out.
mod request_id;

/// Every path, in one table.
pub mod endpoints;
/// Parts of a request: path, parameters, body, caller.
mod request;
/// What callers want, by noun.
mod rest;

/// Answers that went well.
mod answer;
/// Every code of a problem, with status and meaning.
pub mod codes;
/// The bus, as handlers use it.
mod doors;
/// Answers that did not.
mod problem;

/// Connections, from accept to the last byte.
mod connection;
/// A connection that does not wait for ever for a reader.
mod patience;

use std::io;

use bus::Bus;
use tokio::net::TcpListener;

pub use limits::Limits;

/// What the door is told about its surroundings.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub limits: Limits,
    /// Hosts beside localhost and the bound address by which we may be called: `name`, or `name:port` for one port.
    pub hosts: Vec<String>,
    /// Our other HTTP(S) and WebSocket ports.
    pub ports: Vec<u16>,
    /// Origins of others whose pages may read and act.
    pub allowed_origins: Vec<String>,
}

/// Serves with the default settings until `shutdown` is ready, then finishes what has begun.
pub async fn serve(listener: TcpListener, bus: Bus, shutdown: impl Future<Output = ()>) -> io::Result<()> {
    serve_with(listener, bus, Settings::default(), shutdown).await
}

pub async fn serve_with(
    listener: TcpListener,
    bus: Bus,
    mut settings: Settings,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    settings.ports.push(listener.local_addr()?.port());
    let limits = settings.limits.clone();
    let router = endpoints::router(doors::Doors::new(bus, settings));
    connection::serve_all(listener, router, &limits, shutdown).await;
    Ok(())
}
