//! STOMP broker: publishes the engine's events as topics over TCP, TLS and WebSocket. Frames, topics and lanes come
//! from `stomp`, payloads from `wire`.

mod limits;

mod state;
mod state_loading;
mod metrics;
mod publish_lag;

mod ports;
mod connection;
mod hub;
mod cache;

mod translate;
mod warm_start;
mod event_publication;
mod event_submission;
mod event_forwarding;
mod publisher;

use std::io;
use std::sync::Arc;

use access::Access;
use axum::Router;
use bus::forwarding::ForwardedCall;
use bus::operations::LogLine;
use bus::{Bus, CommandForwarder, EventReceiver};
use rustls::server::ResolvesServerCert;
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use connection::close_reason::CloseReason;
use ports::StompPort;
use state::BrokerState;

pub use event_forwarding::FORWARDED_SEND;
pub use limits::*;
pub use metrics::BrokerMetrics;
pub use ports::allowed_hosts::AllowedHosts;
pub use ports::configure_socket;
pub use ports::stream::{StompCaller, StompStream};
pub use ports::upgrade::UpgradeOrigin;
pub use state::{BrokerMonitor, BrokerSettings};
pub use stomp::lanes::{Rate, StallLimits};
pub use stomp::{DestinationPattern, InvalidDestination};

/// The broker, before its ports are open and while they are.
#[derive(Clone)]
pub struct Broker(Arc<BrokerState>);

/// The broker's ports.
#[derive(Default)]
pub struct StompListeners {
    pub tcp: Option<TcpListener>,
    pub tls: Option<TcpListener>,
    pub ws: Option<TcpListener>,
    /// Used in every handshake; without it no port offers TLS.
    pub certificates: Option<Arc<dyn ResolvesServerCert>>,
    /// Valid host names of the WebSocket port; its own port is added.
    pub hosts: AllowedHosts,
}

impl Broker {
    pub fn new(settings: BrokerSettings, bus: Bus, access: Arc<Access>) -> Self {
        Self(BrokerState::new(settings, bus, access, None))
    }

    /// The broker of a follower in a cluster: what clients send to the engine goes to the leader.
    pub fn of_follower(
        settings: BrokerSettings,
        bus: Bus,
        access: Arc<Access>,
        forwarder: Arc<dyn CommandForwarder>,
    ) -> Self {
        Self(BrokerState::new(settings, bus, access, Some(forwarder)))
    }

    /// Publishes the messages that followers forward to this server, which leads, until `calls` ends. Each has the method
    /// [`FORWARDED_SEND`].
    pub fn serve_forwarded(&self, calls: mpsc::Receiver<ForwardedCall>) -> impl Future<Output = ()> + use<> {
        event_forwarding::serve(self.0.clone(), calls)
    }

    /// `/stomp` for an HTTP port that checks hosts and origins itself; `reached` extracts what that port knows of a
    /// request.
    pub fn route<F>(&self, reached: F) -> Router
    where
        F: Fn(&axum::http::Extensions) -> Option<UpgradeOrigin> + Clone + Send + Sync + 'static,
    {
        ports::upgrade::route(self.0.clone(), reached)
    }

    /// Current metrics.
    pub fn metrics(&self) -> BrokerMetrics {
        self.0.metrics()
    }

    /// A monitor that does not keep the broker alive.
    pub fn monitor(&self) -> BrokerMonitor {
        BrokerMonitor::new(&self.0)
    }

    /// A connection from inside this process, for a part of the server that speaks STOMP: it needs no port and no
    /// login, and has all permissions.
    pub fn connect_internal(&self) -> DuplexStream {
        ports::serve_internal(self.0.clone())
    }

    /// Serves until `shutdown` is ready, then closes all connections. Events are received from the moment of this call
    /// on. `log` are the lines that topics carry.
    pub fn serve(
        self,
        listeners: StompListeners,
        log: mpsc::Receiver<LogLine>,
        shutdown: impl Future<Output = ()>,
    ) -> impl Future<Output = io::Result<()>> {
        let listener = publisher::subscribe_feed(&self.0);
        serve(self.0, listeners, listener, log, shutdown)
    }

    /// As [`Self::serve`], with connections from a queue in place of ports: for a network of the caller's own, such as a
    /// simulated one.
    pub fn serve_streams(
        self,
        streams: mpsc::Receiver<StompCaller>,
        log: mpsc::Receiver<LogLine>,
        shutdown: impl Future<Output = ()>,
    ) -> impl Future<Output = ()> {
        let (broker, listener) = (self.0.clone(), publisher::subscribe_feed(&self.0));
        async move {
            let mut work = start_publishing(&broker, listener, log).await;
            work.spawn(ports::serve_streams(broker.clone(), streams));
            stop_after(&broker, work, shutdown).await;
        }
    }
}

async fn serve(
    broker: Arc<BrokerState>,
    listeners: StompListeners,
    listener: EventReceiver,
    log: mpsc::Receiver<LogLine>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut work = start_publishing(&broker, listener, log).await;
    for (listener, port) in ports(&broker, listeners)? {
        work.spawn(ports::serve(broker.clone(), listener, port));
    }
    stop_after(&broker, work, shutdown).await;
    Ok(())
}

/// What runs beside the ports; whoever connects finds the state loaded.
async fn start_publishing(
    broker: &Arc<BrokerState>,
    mut listener: EventReceiver,
    log: mpsc::Receiver<LogLine>,
) -> JoinSet<()> {
    let loading = broker.loading.begin();
    warm_start::load_state(broker, &mut listener).await;
    drop(loading);
    let mut work = JoinSet::new();
    work.spawn(publisher::publish(broker.clone(), listener));
    work.spawn(publisher::publish_log(broker.clone(), log));
    work.spawn(connection::permissions::watch_credentials(broker.clone()));
    work
}

async fn stop_after(broker: &BrokerState, mut work: JoinSet<()>, shutdown: impl Future<Output = ()>) {
    shutdown.await;
    work.shutdown().await;
    broker.hub.disconnect_all(&CloseReason::ServerStopping);
    // A client that does not close in time is disconnected.
    broker.connection_limiter.wait_until_empty(SHUTDOWN_GRACE).await;
}

fn ports(broker: &Arc<BrokerState>, listeners: StompListeners) -> io::Result<Vec<(TcpListener, StompPort)>> {
    let StompListeners { tcp, tls, ws, certificates, mut hosts } = listeners;
    let config =
        certificates.map(|certificates| net::server_config(certificates, &[])).transpose().map_err(io::Error::other)?;
    let mut ports = Vec::new();
    if let Some(listener) = ws {
        hosts.ports.push(listener.local_addr()?.port());
        ports.push((listener, StompPort::WebSocket(ports::upgrade::any_path(broker.clone(), hosts.into()))));
    }
    ports.extend(tls.zip(config.clone()).map(|(listener, config)| (listener, StompPort::Tls(config))));
    ports.extend(tcp.map(|listener| (listener, StompPort::Tcp(config))));
    Ok(ports)
}
