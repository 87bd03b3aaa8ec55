//! STOMP broker: publishes the engine's events as topics over TCP, TLS and WebSocket. Frames, topics and lanes come
//! from `stomp`, payloads from `wire`.

mod limits;

mod clock;
mod house;
mod numbers;
mod lateness;
mod watch;

mod places;
mod doors;
mod sockets;
mod hosts;
mod upgrade;

mod transport;
mod stream;
mod websocket;
/// A stream for a library that does not poll.
mod polled;

mod connection;
mod work;
mod slowness;
mod ending;
mod admission;
mod rights;
mod known_topics;

mod hub;
mod place;
mod seats;
mod telling;
mod subject;
mod last_values;
mod standing;
mod snapshot;
mod recent;
mod replay;
mod catching_up;
mod queues;
mod strategy_bus;
mod echoes;
mod mailbox;
mod budget;

mod translate;
mod present;
mod publishing;

use std::io;
use std::sync::Arc;

use access::Access;
use axum::Router;
use bus::operations::LogLine;
use bus::{Bus, Listener};
use rustls::ServerConfig;
use rustls::server::ResolvesServerCert;
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use doors::Door;
use ending::End;
use house::House;

pub use hosts::OurHosts;
pub use house::Settings;
pub use limits::*;
pub use numbers::Numbers;
pub use sockets::treat_socket;
pub use stomp::lanes::{Patience, Rate};
pub use stomp::{NotADestination, Pattern};
pub use upgrade::Reached;
pub use watch::Watch;

/// The broker, before its ports are open and while they are.
#[derive(Clone)]
pub struct Broker(Arc<House>);

/// The broker's ports.
#[derive(Default)]
pub struct Listeners {
    pub tcp: Option<TcpListener>,
    pub tls: Option<TcpListener>,
    pub ws: Option<TcpListener>,
    /// Used in every handshake; without it no port offers TLS.
    pub certificates: Option<Arc<dyn ResolvesServerCert>>,
    /// Valid host names of the WebSocket port; its own port is added.
    pub hosts: OurHosts,
}

impl Broker {
    pub fn new(settings: Settings, bus: Bus, access: Arc<Access>) -> Self {
        Self(House::new(settings, bus, access))
    }

    /// `/stomp` for an HTTP port that checks hosts and origins itself; `reached` extracts what that port knows of a
    /// request.
    pub fn route<F>(&self, reached: F) -> Router
    where
        F: Fn(&axum::http::Extensions) -> Option<Reached> + Clone + Send + Sync + 'static,
    {
        upgrade::route(self.0.clone(), reached)
    }

    /// Current metrics.
    pub fn numbers(&self) -> Numbers {
        self.0.numbers()
    }

    /// A monitor that does not keep the broker alive.
    pub fn watch(&self) -> Watch {
        Watch::new(&self.0)
    }

    /// A connection from inside this process, for a part of the server that speaks STOMP: it needs no port and no
    /// login, and has all permissions.
    pub fn connect(&self) -> DuplexStream {
        doors::serve_local(self.0.clone())
    }

    /// Serves until `shutdown` is ready, then closes all connections. Events are received from the moment of this call
    /// on. `log` are the lines that topics carry.
    pub fn serve(
        self,
        listeners: Listeners,
        log: mpsc::Receiver<LogLine>,
        shutdown: impl Future<Output = ()>,
    ) -> impl Future<Output = io::Result<()>> {
        let listener = publishing::listen(&self.0);
        serve(self.0, listeners, listener, log, shutdown)
    }
}

async fn serve(
    house: Arc<House>,
    listeners: Listeners,
    mut listener: Listener,
    log: mpsc::Receiver<LogLine>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    present::remember(&house, &mut listener).await;
    let mut work = JoinSet::new();
    work.spawn(publishing::publish(house.clone(), listener));
    work.spawn(publishing::publish_log(house.clone(), log));
    work.spawn(admission::keep(house.clone()));
    for (listener, door) in ports(&house, listeners)? {
        work.spawn(doors::serve(house.clone(), listener, door));
    }
    shutdown.await;
    work.shutdown().await;
    house.hub.end_all(&End::ServerStops);
    // A client that does not close in time is disconnected.
    house.places.wait_until_empty(SHUTDOWN_GRACE).await;
    Ok(())
}

fn ports(house: &Arc<House>, listeners: Listeners) -> io::Result<Vec<(TcpListener, Door)>> {
    let Listeners { tcp, tls, ws, certificates, mut hosts } = listeners;
    let config = certificates.map(configuration).transpose().map_err(io::Error::other)?;
    let mut ports = Vec::new();
    if let Some(listener) = ws {
        hosts.ports.push(listener.local_addr()?.port());
        ports.push((listener, Door::WebSocket(upgrade::every_path(house.clone(), hosts.into()))));
    }
    ports.extend(tls.zip(config.clone()).map(|(listener, config)| (listener, Door::Tls(config))));
    ports.extend(tcp.map(|listener| (listener, Door::Tcp(config))));
    Ok(ports)
}

/// TLS 1.2 and 1.3 by ring.
fn configuration(certificates: Arc<dyn ResolvesServerCert>) -> Result<Arc<ServerConfig>, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(Arc::new(builder.with_no_client_auth().with_cert_resolver(certificates)))
}
