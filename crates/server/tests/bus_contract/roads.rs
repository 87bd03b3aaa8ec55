//! The roads from a strategy to the desk: the thread's own inside the server, and a socket to the broker.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use broker::{Broker, Limits, Listeners, Rate, Settings};
use domain::Command;
use domain::command::Phase;
use runtime::strategies::protocol::Request;
use runtime::strategies::{Attached, Delivery, LifeId, Link, Note, Progress};
use scenarios::patience::PATIENCE;
use scenarios::proxy::Proxy;
use server::distributed::{Bridge, Conversation, Life};
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::desk::{Desk, NAME, STRATEGY};

/// A strategy's way to the desk, and what a story can do to it.
pub(crate) trait Road {
    /// A strategy that has gone through all phases up to RUN.
    fn open(desk: &Desk) -> Self
    where
        Self: Sized;

    fn link(&mut self) -> &mut dyn Link;

    /// The strategy has gone through a phase.
    fn entered(&mut self, phase: Phase);

    /// The wire is cut, and mended after `meanwhile`.
    fn cut(&mut self, meanwhile: &mut dyn FnMut());

    /// The server's own end of the wire breaks.
    fn cut_server(&mut self);

    /// Hears until `enough`; phases are gone through on the way.
    fn hear(&mut self, mut is_enough: impl FnMut(&[Delivery]) -> bool) -> Vec<Delivery>
    where
        Self: Sized,
    {
        let begun = Instant::now();
        let mut heard = vec![];
        while !is_enough(&heard) {
            assert!(begun.elapsed() < PATIENCE, "waited in vain, heard {heard:#?}");
            let mut new = vec![];
            self.link().receive(Duration::from_millis(50), &mut new).unwrap();
            for delivery in &new {
                if let Delivery::Enter(phase, _) = delivery {
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
        self.hear(|heard| heard.iter().any(|delivery| matches!(delivery, Delivery::Enter(Phase::Run, _))));
        self
    }

    fn send(&mut self, command: Command) {
        self.link().send(command).unwrap();
    }
}

pub(crate) struct InProcess(Attached);

impl Road for InProcess {
    fn open(desk: &Desk) -> Self {
        Self(desk.host.controls().attach(NAME, None, false).unwrap()).until_run()
    }

    fn link(&mut self) -> &mut dyn Link {
        &mut self.0.link
    }

    fn entered(&mut self, phase: Phase) {
        let progress = Progress { phase, wishes: vec![] };
        let life = LifeId { strategy: STRATEGY, run: self.0.who.run };
        self.0.notes.send(Note::Entered(life, progress)).unwrap();
    }

    /// There is no wire inside a process.
    fn cut(&mut self, meanwhile: &mut dyn FnMut()) {
        meanwhile();
    }

    fn cut_server(&mut self) {}
}

pub(crate) struct OverTheBroker {
    life: Life,
    conversation: Conversation,
    proxy: Proxy,
    broker: OpenBroker,
}

impl Road for OverTheBroker {
    fn open(desk: &Desk) -> Self {
        let broker = OpenBroker::before(desk);
        let proxy = Proxy::to(broker.address);
        let address = proxy.address().to_string();
        let conversation = Conversation::begin(move || Ok(address.clone()), NAME.into(), None, false).unwrap();
        let life = conversation.next_life().expect("a life");
        Self { life, conversation, proxy, broker }.until_run()
    }

    fn link(&mut self) -> &mut dyn Link {
        &mut self.life.link
    }

    fn entered(&mut self, phase: Phase) {
        self.conversation.say(self.life.who.run, Request::Entered { phase, wishes: vec![] });
    }

    fn cut(&mut self, meanwhile: &mut dyn FnMut()) {
        self.proxy.cut();
        meanwhile();
        self.proxy.mend();
    }

    fn cut_server(&mut self) {
        self.broker.cut_bridge();
    }
}

/// The real broker on a port of its own, with the bridge behind it.
pub(crate) struct OpenBroker {
    pub(crate) address: std::net::SocketAddr,
    wires: Wires,
    _runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

impl OpenBroker {
    pub(crate) fn before(desk: &Desk) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let clock = desk.clock.clone();
        let access = Arc::new(access::Access::open(folder.path(), anonymous(), clock).unwrap());
        let broker = Broker::new(settings(), desk.bus.clone(), access);
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let listeners = Listeners { tcp: Some(listener), ..Listeners::default() };
        let (_, log) = tokio::sync::mpsc::channel(1);
        runtime.spawn(broker.clone().serve(listeners, log, std::future::pending()));
        let wires = Wires::default();
        let connect = wires.connect_to(broker);
        runtime.spawn(Bridge::serve(connect, desk.host.controls(), desk.clock.clone()));
        Self { address, wires, _runtime: runtime, _folder: folder }
    }

    /// The bridge's own connection to the broker breaks.
    pub(crate) fn cut_bridge(&self) {
        self.wires.0.lock().unwrap().drain(..).for_each(|wire| wire.abort());
    }
}

/// What carries the bridge's words to the broker.
#[derive(Clone, Default)]
struct Wires(Arc<Mutex<Vec<AbortHandle>>>);

impl Wires {
    fn connect_to(&self, broker: Broker) -> impl Fn() -> DuplexStream + Send + Sync + 'static {
        let wires = self.clone();
        move || {
            let (near, mut middle) = tokio::io::duplex(65_536);
            let mut far = broker.connect();
            let wire = tokio::spawn(async move { tokio::io::copy_bidirectional(&mut middle, &mut far).await });
            wires.0.lock().unwrap().push(wire.abort_handle());
            near
        }
    }
}

fn anonymous() -> access::Settings {
    access::Settings::default()
}

fn settings() -> Settings {
    Settings {
        server: "Rialto/test".into(),
        max_rate_per_connection: Rate::per_second(50).unwrap(),
        min_rate_per_consumer: "0.1".parse().unwrap(),
        last_message: 0,
        client_destinations: vec![],
        distributed: true,
        limits: Limits::default(),
    }
}
