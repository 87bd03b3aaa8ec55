//! A recorded session of the toy adapter gives the same reports when it is replayed, without a venue.

use std::fs;
use std::sync::Arc;

use adapter_kit::recording::{Masker, MessageRecorder, replay};
use adapters::conformance::{Harness, OrderIntent};
use adapters::{Adapter, ReportSink};
use domain::command::MarketData;
use domain::report::ReportKind;
use domain::{Order, SecurityId, Timestamp};

use crate::harness::{KEY, SECRET, ToyHarness, credentials, wall_clock};
use crate::toy_protocol::ToyReplay;

#[derive(Default)]
struct Reports(Vec<ReportKind>);

impl ReportSink for Reports {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        self.0.push(said);
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

/// One request to the adapter.
type TradingStep<'a> = &'a dyn Fn(&mut dyn Adapter);

/// Trades a little, and waits for the venue after each request.
fn trade(harness: &mut ToyHarness, reports: &mut Reports) {
    let at = harness.now();
    harness.adapter().connect(at).unwrap();
    harness.adapter().snapshot(at).unwrap();
    let (rests, trades) = (harness.order(OrderIntent::Rest), harness.order(OrderIntent::Trade));
    let terms = harness.other_terms(&rests);
    let unlisted = Order { security: SecurityId(8), ..harness.order(OrderIntent::Rest) };
    let requests: [TradingStep<'_>; 7] = [
        &|adapter| drop(adapter.subscribe(at, SecurityId(7))),
        &|adapter| drop(adapter.submit(at, &rests)),
        &|adapter| drop(adapter.submit(at, &trades)),
        &|adapter| drop(adapter.submit(at, &unlisted)),
        &|adapter| drop(adapter.modify(at, &rests, terms)),
        &|adapter| drop(adapter.cancel(at, &rests)),
        &|adapter| drop(adapter.cancel(at, &unlisted)),
    ];
    for request in requests {
        request(harness.adapter());
        harness.advance();
        harness.adapter().deliver(at, reports).unwrap();
    }
    harness.adapter().disconnect(at);
}

#[test]
fn a_replayed_session_gives_the_same_reports_and_its_file_has_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toy.jsonl");
    let mut masker = Masker::new();
    masker.add_credentials(&credentials());
    let recorder = Arc::new(MessageRecorder::create(&path, masker, wall_clock()).unwrap());
    let mut live = Reports::default();
    trade(&mut ToyHarness::start(Some(recorder)), &mut live);

    let mut replayed = ToyReplay::default();
    replay(&path, &mut replayed).unwrap();
    assert_eq!(replayed.reports, live.0);
    let kinds = live.0.iter().map(|report| format!("{report:?}"));
    let names: Vec<_> = kinds.map(|text| text.split([' ', '(']).next().unwrap().to_owned()).collect();
    assert_eq!(names, ["Accepted", "Accepted", "Filled", "Rejected", "Replaced", "Canceled", "CancelRejected"]);

    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"X-Api-Key\",\"***\""), "{text}");
    assert!(!text.contains(KEY) && !text.contains(SECRET), "{text}");
}
