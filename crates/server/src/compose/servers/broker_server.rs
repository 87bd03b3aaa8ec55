//! Broker server: STOMP topics over TCP, TLS and WebSocket, on a runtime of its own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ::web::Router;
use access::Access;
use broker::{AllowedHosts, Broker, BrokerMonitor, BrokerSettings, StompListeners, UpgradeOrigin};
use bus::forwarding::ForwardedCall;
use bus::operations::BrokerEndpoints;
use bus::{Bus, CommandForwarder};
use runtime::strategies::HostHandle;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle};

use crate::compose::servers::{bind, bind_failure};
use crate::config::Config;
use crate::distributed::{BridgeTransport, NatsBusConfig, SharedEvents, StrategyBridge};
use crate::exit_failure::ExitFailure;
use crate::logging;
use crate::tls::Certificate;

/// Threads that serve connections; the engine and the journal want the rest of the machine.
const BROKER_THREADS: usize = 2;

/// Events that wait for the broker, for each topic with a last value.
const EVENTS_PER_TOPIC: usize = 4;

/// The ports, open but not yet served: the web server must know them first, and they its.
pub(crate) struct BrokerServer {
    pub(crate) tcp: Option<SocketAddr>,
    pub(crate) tls: Option<SocketAddr>,
    pub(crate) ws: Option<SocketAddr>,
    listeners: [Option<TcpListener>; 3],
    broker: Broker,
    /// Where strategy processes come over NATS.
    nats: Option<NatsBusConfig>,
    runtime: Runtime,
}

/// The ports while they are served.
pub(crate) struct RunningBroker {
    broker: Broker,
    nats: Option<NatsBusConfig>,
    runtime: Runtime,
    close: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
}

impl BrokerServer {
    pub(crate) fn open(
        config: &Config,
        connections: usize,
        bus: &Bus,
        access: Arc<Access>,
        forwarder: Option<Arc<dyn CommandForwarder>>,
    ) -> Result<Self, ExitFailure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(BROKER_THREADS)
            .thread_name("broker")
            .enable_all()
            .build()
            .map_err(|error| bind_failure("start the broker's threads", &error))?;
        let keys = ["broker.tcp.port", "broker.tls.port", "broker.ws.port"];
        let [tcp, tls, ws] = config.broker_addresses();
        let open = |wanted: Option<SocketAddr>, key| wanted.map(|wanted| bind(&runtime, wanted, key)).transpose();
        let (tcp, tcp_listener) = open(tcp, keys[0])?.unzip();
        let (tls, tls_listener) = open(tls, keys[1])?.unzip();
        let (ws, ws_listener) = open(ws, keys[2])?.unzip();
        let (settings, bus) = (settings(config, connections), bus.clone());
        let broker = match forwarder {
            Some(forwarder) => Broker::of_follower(settings, bus, access, forwarder),
            None => Broker::new(settings, bus, access),
        };
        let nats = NatsBusConfig::of(config)?;
        Ok(Self { tcp, tls, ws, listeners: [tcp_listener, tls_listener, ws_listener], broker, nats, runtime })
    }

    /// What the web server serves of it.
    pub(crate) fn route(&self) -> Router {
        self.broker.route(|extensions| {
            let socket = extensions.get::<::web::UpgradeSocket>();
            socket.iter().for_each(|socket| socket.configure_with(broker::configure_socket));
            let reached = extensions.get::<::web::ConnectionInfo>()?;
            Some(UpgradeOrigin { local: reached.local, peer: reached.peer, secure: reached.secure })
        })
    }

    /// For whoever watches it.
    pub(crate) fn monitor(&self) -> BrokerMonitor {
        self.broker.monitor()
    }

    pub(crate) fn endpoints(&self, config: &Config) -> BrokerEndpoints {
        let port = |bound: Option<SocketAddr>| bound.map(|address| address.port());
        let public_host = config.broker_public_host.as_ref().map(|host| host.0.clone());
        BrokerEndpoints { tcp_port: port(self.tcp), ws_port: port(self.ws), public_host }
    }

    /// The pages of `web` may connect. `forwarded` are messages that followers of a cluster send to this server, which leads.
    pub(crate) fn serve(
        self,
        config: &Config,
        certificate: Option<Arc<Certificate>>,
        web: [Option<SocketAddr>; 2],
        forwarded: Option<mpsc::Receiver<ForwardedCall>>,
    ) -> RunningBroker {
        let [tcp, tls, ws] = self.listeners;
        let hosts = AllowedHosts {
            hosts: config.hosts(),
            ports: web.into_iter().flatten().map(|address| address.port()).collect(),
            allowed_origins: config.http_allowed_origins.iter().map(|origin| origin.0.clone()).collect(),
        };
        let certificates = certificate.map(|certificate| certificate as _);
        let listeners = StompListeners { tcp, tls, ws, certificates, hosts };
        let (close, closed) = oneshot::channel::<()>();
        let broker = self.broker.clone();
        let serving = self.broker.serve(listeners, logging::subscribe(), async { drop(closed.await) });
        let served = self.runtime.spawn(serving);
        forwarded.into_iter().for_each(|calls| drop(self.runtime.spawn(broker.serve_forwarded(calls))));
        RunningBroker { broker, nats: self.nats, runtime: self.runtime, close, served }
    }
}

fn settings(config: &Config, connections: usize) -> BrokerSettings {
    BrokerSettings {
        server: format!("Rialto/{}", env!("CARGO_PKG_VERSION")),
        max_rate_per_connection: config.broker_max_rate_per_connection.rate,
        min_rate_per_consumer: config.broker_min_rate_per_consumer.rate,
        client_destinations: config.broker_client_destinations.iter().map(|pattern| pattern.0.clone()).collect(),
        distributed: config.strategies_distributed && config.strategies_nats.is_none(),
        last_message: microseconds_now(),
        limits: broker::BrokerLimits {
            connections,
            unauthenticated: (connections / 2).clamp(1, broker::UNAUTHENTICATED_MAX),
            ..limits(config)
        },
    }
}

/// Messages are counted from here on. No server sends a million in a second, so those of the next start have greater numbers.
fn microseconds_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX / 2)
}

fn limits(config: &Config) -> broker::BrokerLimits {
    let count = |whole: i64| usize::try_from(whole).expect("its range is checked");
    broker::BrokerLimits {
        connect_wait: Duration::from_secs(config.broker_connect_within_seconds.0.unsigned_abs()),
        body_bytes: count(config.broker_max_body_kilobytes.0) * 1_024,
        connections_per_address: count(config.broker_max_per_address.0),
        connections_per_local_address: count(config.broker_max_per_loopback.0),
        state_topics: config.broker_state_topics.size(),
        // One command may change all that a snapshot has.
        events: broker::EVENTS_MAX.max(EVENTS_PER_TOPIC * config.broker_state_topics.size()),
        ..broker::BrokerLimits::default()
    }
}

impl RunningBroker {
    /// For whoever watches it.
    pub(crate) fn monitor(&self) -> BrokerMonitor {
        self.broker.monitor()
    }

    /// Strategies in processes of their own come in by the broker's queues, or over NATS; none where there are none.
    pub(crate) fn bridge(
        &self,
        config: &Config,
        bus: &Bus,
        controls: HostHandle,
        clock: runtime::EngineClock,
    ) -> Option<AbortHandle> {
        if !config.strategies_distributed {
            return None;
        }
        let broker = self.broker.clone();
        let transport = match self.nats.clone() {
            None => BridgeTransport::Broker(Box::new(move || broker.connect_internal())),
            Some(config) => {
                let shared = SharedEvents { feed: bus.feed.clone(), catalogue: bus.catalogue.clone() };
                BridgeTransport::Nats { config, shared }
            }
        };
        Some(self.runtime.spawn(StrategyBridge::serve(transport, controls, clock)).abort_handle())
    }

    /// Every client is told that the server stops. Strategies have left by then, and a bridge whose connection closes
    /// would make it again.
    pub(crate) fn close(self, bridge: Option<AbortHandle>) {
        bridge.iter().for_each(AbortHandle::abort);
        // Doors that closed by themselves no longer listen.
        self.close.send(()).unwrap_or(());
        drop(self.runtime.block_on(self.served));
    }
}
