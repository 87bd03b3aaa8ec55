//! The strategy bus over a real NATS server, with a line to it from each end that a story can cut.

use domain::command::StrategyPhase;
use replication_nats::NatsSettings;
use runtime::strategies::StrategyLink;
use runtime::strategies::protocol::StrategyRequestBody;
use scenarios::nats::NatsServer;
use scenarios::proxy::CuttableProxy;
use server::distributed::{BridgeTransport, BusHandle, NatsBusConfig, SharedEvents, StrategyBridge, StrategyRun};

use crate::harness::{BusHarness, NAME};
use crate::transports::BusTransport;

pub(crate) struct NatsTransport {
    run: StrategyRun,
    bus: BusHandle,
    line_of_process: CuttableProxy,
    line_of_server: CuttableProxy,
    _runtime: tokio::runtime::Runtime,
    _nats: NatsServer,
    _folder: tempfile::TempDir,
}

impl BusTransport for NatsTransport {
    fn open(server: &BusHarness) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let nats = NatsServer::start(folder.path(), "");
        let [line_of_process, line_of_server] = [(); 2].map(|()| CuttableProxy::to(nats.address().parse().unwrap()));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let shared = SharedEvents { feed: server.bus.feed.clone(), catalogue: server.bus.catalogue.clone() };
        let transport = BridgeTransport::Nats { config: config(&line_of_server), shared };
        runtime.spawn(StrategyBridge::serve(transport, server.host.handle(), server.clock.clone()));
        let bus = BusHandle::connect_nats(config(&line_of_process), NAME.into(), false).unwrap();
        let run = bus.next_run().expect("a life");
        Self { run, bus, line_of_process, line_of_server, _runtime: runtime, _nats: nats, _folder: folder }.until_run()
    }

    fn link(&mut self) -> &mut dyn StrategyLink {
        &mut self.run.link
    }

    fn entered(&mut self, phase: StrategyPhase) {
        self.bus.send(self.run.identity.run, StrategyRequestBody::Entered { phase, wishes: vec![] });
    }

    fn cut(&mut self, meanwhile: &mut dyn FnMut()) {
        self.line_of_process.cut();
        meanwhile();
        self.line_of_process.restore();
    }

    fn cut_server(&mut self) {
        self.line_of_server.cut();
        self.line_of_server.restore();
    }
}

fn config(line: &CuttableProxy) -> NatsBusConfig {
    let connection = NatsSettings::new(vec![line.address().to_string()]);
    NatsBusConfig { connection, subject: "rialto".to_owned() }
}
