//! The publish-subscribe door: the engine's events as STOMP topics over TCP, TLS and WebSocket. It knows frames, topics
//! and lanes through `stomp`, and what a payload looks like through `wire`.

/// How much of everything is held, and for how long.
mod limits;

/// The time of timers.
mod clock;
/// What all connections share.
mod house;
/// Numbers for whoever watches the broker.
mod numbers;
/// How late it is with what the engine tells.
mod lateness;
/// Looks at the broker from outside.
mod watch;

/// How many may come, and from where.
mod places;
/// The ports: TCP, TLS and WebSocket.
mod doors;
/// Sockets that hold little.
mod sockets;
/// Who is called, and from where, at the WebSocket port.
mod hosts;
/// How a request becomes a WebSocket.
mod upgrade;

/// What carries STOMP.
mod transport;
/// STOMP over a stream of bytes.
mod stream;
/// STOMP over the messages of a WebSocket.
mod websocket;

/// One connection, from its first byte to its last.
mod connection;
/// What a session wants done.
mod work;
/// What is said about a client that falls behind.
mod slowness;
/// Why a connection ends.
mod ending;
/// Who was let in stays only as long as he may.
mod admission;
/// What a role may do here.
mod rights;
/// Which topics there are.
mod known_topics;

/// Where publishers and connections meet.
mod hub;
/// A connection's place at the hub.
mod place;
/// Who is connected, and what goes to whom.
mod seats;
/// An event, put into words when somebody needs them.
mod telling;
/// What an event is the last word about.
mod subject;
/// The last word about everything that has one.
mod last_values;
/// What stands beside prices, for those who come late.
mod standing;
/// The last values for a new subscription.
mod snapshot;
/// The newest events that history keeps too.
mod recent;
/// What happened before a subscription.
mod replay;
/// A connection's subscriptions that begin in the past.
mod catching_up;
/// Queues, and who takes from them.
mod queues;
/// Topics that strategies in processes of their own share.
mod strategy_bus;
/// Generic events that have not come back from the engine.
mod echoes;
/// What waits for one connection.
mod mailbox;
/// What may wait for all of them.
mod budget;

/// Their words and ours.
mod translate;
/// What stands when the broker begins.
mod present;
/// The engine's events and the log on their way to the hub.
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

/// Where the doors are.
#[derive(Default)]
pub struct Listeners {
    pub tcp: Option<TcpListener>,
    pub tls: Option<TcpListener>,
    pub ws: Option<TcpListener>,
    /// Asked in every handshake; without it nobody speaks TLS, on whichever port.
    pub certificates: Option<Arc<dyn ResolvesServerCert>>,
    /// By which names the WebSocket port may be called; its own port is added.
    pub hosts: OurHosts,
}

impl Broker {
    pub fn new(settings: Settings, bus: Bus, access: Arc<Access>) -> Self {
        Self(House::new(settings, bus, access))
    }

    /// `/stomp` for an HTTP door that checks hosts and origins itself; `reached` tells what that door knows of a request.
    pub fn route<F>(&self, reached: F) -> Router
    where
        F: Fn(&axum::http::Extensions) -> Option<Reached> + Clone + Send + Sync + 'static,
    {
        upgrade::route(self.0.clone(), reached)
    }

    /// How the broker does.
    pub fn numbers(&self) -> Numbers {
        self.0.numbers()
    }

    /// For whoever watches the broker as long as it is there.
    pub fn watch(&self) -> Watch {
        Watch::new(&self.0)
    }

    /// A connection from inside this process, for a part of the server that speaks STOMP: it needs no port and no login,
    /// and may do whatever whoever runs the desk may.
    pub fn connect(&self) -> DuplexStream {
        doors::serve_local(self.0.clone())
    }

    /// Serves until `shutdown` is ready, then tells everybody. What happens is heard from the moment of this call on.
    /// `log` are the lines that topics carry.
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
    listener: Listener,
    log: mpsc::Receiver<LogLine>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    present::remember(&house).await;
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
    // Whoever does not take his leave in time is cut.
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
