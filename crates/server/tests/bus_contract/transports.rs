//! Transports of the strategy bus: in process, and a socket to the broker. [`crate::nats_transport`] has the third.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use broker::{Broker, BrokerLimits, BrokerSettings, Rate, StompListeners};
use domain::Command;
use domain::command::StrategyPhase;
use runtime::strategies::protocol::StrategyRequestBody;
use runtime::strategies::{AttachedStrategy, PhaseCompleted, RunId, RunnerEvent, StrategyDelivery, StrategyLink};
use scenarios::proxy::CuttableProxy;
use scenarios::wait::DEADLINE;
use server::distributed::{BridgeTransport, BusHandle, StrategyBridge, StrategyRun};
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::harness::{BusHarness, NAME, STRATEGY};

/// A strategy's way to the desk, and what a story can do to it.
pub(crate) trait BusTransport {
    /// A strategy that has gone through all phases up to RUN.
    fn open(desk: &BusHarness) -> Self
    where
        Self: Sized;

    fn link(&mut self) -> &mut dyn StrategyLink;

    /// The strategy has gone through a phase.
    fn entered(&mut self, phase: StrategyPhase);

    /// The wire is cut, and mended after `meanwhile`.
    fn cut(&mut self, meanwhile: &mut dyn FnMut());

    /// The server's own end of the wire breaks.
    fn cut_server(&mut self);

    /// Hears until `enough`; phases are gone through on the way.
    fn receive_until(&mut self, mut is_enough: impl FnMut(&[StrategyDelivery]) -> bool) -> Vec<StrategyDelivery>
    where
        Self: Sized,
    {
        let begun = Instant::now();
        let mut heard = vec![];
        while !is_enough(&heard) {
            assert!(begun.elapsed() < DEADLINE, "waited in vain, heard {heard:#?}");
            let mut new = vec![];
            self.link().receive(Duration::from_millis(50), &mut new).unwrap();
            for delivery in &new {
                if let StrategyDelivery::Enter(phase, _) = delivery {
                    self.entered(*phase);
                }
            }
            heard.extend(new);
        }
        heard
    }

    fn until_run(mut self) -> Self
    where
        Self: Sized,
    {
        self.receive_until(|heard| {
            heard.iter().any(|delivery| matches!(delivery, StrategyDelivery::Enter(StrategyPhase::Run, _)))
        });
        self
    }

    fn send(&mut self, command: Command) {
        self.link().send(command).unwrap();
    }
}

pub(crate) struct InProcess(AttachedStrategy);

impl BusTransport for InProcess {
    fn open(server: &BusHarness) -> Self {
        Self(server.host.handle().attach(NAME, None, false).unwrap()).until_run()
    }

    fn link(&mut self) -> &mut dyn StrategyLink {
        &mut self.0.link
    }

    fn entered(&mut self, phase: StrategyPhase) {
        let progress = PhaseCompleted { phase, history_requests: vec![] };
        let life = RunId { strategy: STRATEGY, run: self.0.identity.run };
        self.0.events.send(RunnerEvent::Entered(life, progress)).unwrap();
    }

    /// There is no wire inside a process.
    fn cut(&mut self, meanwhile: &mut dyn FnMut()) {
        meanwhile();
    }

    fn cut_server(&mut self) {}
}

pub(crate) struct BrokerTransport {
    run: StrategyRun,
    bus: BusHandle,
    proxy: CuttableProxy,
    broker: OpenBroker,
}

impl BusTransport for BrokerTransport {
    fn open(server: &BusHarness) -> Self {
        let broker = OpenBroker::before(server);
        let proxy = CuttableProxy::to(broker.address);
        let address = proxy.address().to_string();
        let conversation = BusHandle::connect(move || Ok(address.clone()), NAME.into(), None, false).unwrap();
        let life = conversation.next_run().expect("a life");
        Self { run: life, bus: conversation, proxy, broker }.until_run()
    }

    fn link(&mut self) -> &mut dyn StrategyLink {
        &mut self.run.link
    }

    fn entered(&mut self, phase: StrategyPhase) {
        self.bus.send(self.run.identity.run, StrategyRequestBody::Entered { phase, wishes: vec![] });
    }

    fn cut(&mut self, meanwhile: &mut dyn FnMut()) {
        self.proxy.cut();
        meanwhile();
        self.proxy.restore();
    }

    fn cut_server(&mut self) {
        self.broker.cut_bridge();
    }
}

/// The real broker on a port of its own, with the bridge behind it.
pub(crate) struct OpenBroker {
    pub(crate) address: std::net::SocketAddr,
    wires: BridgeConnections,
    _runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

impl OpenBroker {
    pub(crate) fn before(server: &BusHarness) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let clock = server.clock.clone();
        let access = Arc::new(
            access::Access::open(Arc::new(access::UserStore::in_memory(folder.path()).unwrap()), anonymous(), clock)
                .unwrap(),
        );
        let broker = Broker::new(settings(), server.bus.clone(), access);
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let listeners = StompListeners { tcp: Some(listener), ..StompListeners::default() };
        let (_, log) = tokio::sync::mpsc::channel(1);
        runtime.spawn(broker.clone().serve(listeners, log, std::future::pending()));
        let wires = BridgeConnections::default();
        let transport = BridgeTransport::Broker(Box::new(wires.connect_to(broker)));
        runtime.spawn(StrategyBridge::serve(transport, server.host.handle(), server.clock.clone()));
        Self { address, wires, _runtime: runtime, _folder: folder }
    }

    /// The bridge's own connection to the broker breaks.
    pub(crate) fn cut_bridge(&self) {
        self.wires.0.lock().unwrap().drain(..).for_each(|wire| wire.abort());
    }
}

/// What carries the bridge's words to the broker.
#[derive(Clone, Default)]
struct BridgeConnections(Arc<Mutex<Vec<AbortHandle>>>);

impl BridgeConnections {
    fn connect_to(&self, broker: Broker) -> impl Fn() -> DuplexStream + Send + Sync + 'static {
        let wires = self.clone();
        move || {
            let (near, mut middle) = tokio::io::duplex(65_536);
            let mut far = broker.connect_internal();
            let wire = tokio::spawn(async move { tokio::io::copy_bidirectional(&mut middle, &mut far).await });
            wires.0.lock().unwrap().push(wire.abort_handle());
            near
        }
    }
}

fn anonymous() -> access::AccessSettings {
    access::AccessSettings::default()
}

fn settings() -> BrokerSettings {
    BrokerSettings {
        server: "Rialto/test".into(),
        max_rate_per_connection: Rate::per_second(50).unwrap(),
        min_rate_per_consumer: "0.1".parse().unwrap(),
        last_message: 0,
        client_destinations: vec![],
        distributed: true,
        limits: BrokerLimits::default(),
    }
}
