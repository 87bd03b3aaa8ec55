//! The toy adapter and its venue, for the conformance kit.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use adapter_kit::connection::TlsRoots;
use adapter_kit::credentials::{SigningKey, VenueCredentials};
use adapter_kit::recording::{MessageRecorder, RecorderClock};
use adapters::Adapter;
use adapters::conformance::{DurableView, Harness, OrderIntent};
use domain::order::OrderTerms;
use domain::{Order, OrderKind, SecurityId, TimeInForce, Timestamp};
use tempfile::TempDir;

use crate::toy_adapter::{ToyAdapter, ToySettings};
use crate::toy_server::ToyServer;

pub(crate) const KEY: &str = "toy-key-0123456789abcdef";
pub(crate) const SECRET: &str = "toy-secret-fedcba9876543210";

/// A wait for the network that takes longer than this has failed, on any machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

pub(crate) struct ToyHarness {
    venue: ToyServer,
    adapter: ToyAdapter,
    folder: TempDir,
    recorder: Option<Arc<MessageRecorder>>,
    is_down: bool,
    orders: u64,
}

pub(crate) fn wall_clock() -> RecorderClock {
    Arc::new(|| jiff::Timestamp::now().try_into().unwrap())
}

pub(crate) fn credentials() -> VenueCredentials {
    VenueCredentials::new(KEY.into(), SigningKey::Secret(SECRET.into()))
}

impl ToyHarness {
    pub(crate) fn start(recorder: Option<Arc<MessageRecorder>>) -> Self {
        let (venue, folder) = (ToyServer::start(), tempfile::tempdir().unwrap());
        let adapter = adapter_of(&venue, &folder, recorder.clone());
        Self { venue, adapter, folder, recorder, is_down: false, orders: 0 }
    }

    /// Until the venue has answered everything and its reports are here, or the cut is noticed.
    fn settle(&self) {
        let progress = self.adapter.progress();
        let is_settled = || {
            let is_lost = progress.is_lost.load(Ordering::SeqCst);
            let is_answered = progress.unanswered.load(Ordering::SeqCst) == 0;
            let is_received = progress.events.load(Ordering::SeqCst) == self.venue.sent();
            if self.is_down { is_lost } else { is_lost || (is_answered && is_received) }
        };
        let begun = Instant::now();
        while self.adapter.is_logged_on() && !is_settled() {
            assert!(begun.elapsed() < WAIT_MAX, "the venue did not answer");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn adapter_of(venue: &ToyServer, folder: &TempDir, recorder: Option<Arc<MessageRecorder>>) -> ToyAdapter {
    let settings = ToySettings {
        rest: format!("http://{}", venue.rest).parse().unwrap(),
        stream: format!("ws://{}/stream", venue.stream).parse().unwrap(),
        credentials: Arc::new(credentials()),
        roots: TlsRoots::Pem(rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem().into_bytes()),
        clock: wall_clock(),
        recorder,
    };
    ToyAdapter::new(settings, folder.path())
}

impl Harness for ToyHarness {
    fn adapter(&mut self) -> &mut dyn Adapter {
        &mut self.adapter
    }

    fn now(&self) -> Timestamp {
        wall_clock()()
    }

    fn advance(&mut self) {
        self.settle();
    }

    fn order(&mut self, aim: OrderIntent) -> Order {
        self.orders += 1;
        let limit = match aim {
            OrderIntent::Rest => "9",
            OrderIntent::Trade => "11",
        };
        Order { terms: terms(100, limit), security: SecurityId(7), exchange_order: true, ..samples::order(self.orders) }
    }

    fn other_terms(&self, _: &Order) -> OrderTerms {
        terms(60, "9.05")
    }

    fn disconnect(&mut self) {
        self.settle();
        self.is_down = true;
        self.venue.set_down(true);
    }

    fn reconnect(&mut self) {
        self.is_down = false;
        self.venue.set_down(false);
    }

    /// Its stream has no numbers.
    fn lose_reports(&mut self, _: bool) -> bool {
        false
    }

    /// The venue is another process: only the adapter starts again.
    fn place_elsewhere(&mut self, _: OrderIntent) -> bool {
        false
    }

    fn restart(&mut self) {
        self.adapter = adapter_of(&self.venue, &self.folder, self.recorder.clone());
    }

    fn durable_view(&self) -> Option<DurableView> {
        None
    }
}

fn terms(quantity: i64, limit: &str) -> OrderTerms {
    let kind = OrderKind::Limit { limit: limit.parse().unwrap() };
    OrderTerms { quantity: quantity.into(), kind, tif: TimeInForce::Gtc }
}
