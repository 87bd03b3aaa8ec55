//! Lists while the session is up: what the private stream lost is found, and what fails is no empty list.

use adapters::conformance::OrderIntent;
use adapters::{OrderSession, ReportSink, SendOutcome};
use domain::Timestamp;
use domain::command::MarketData;
use domain::report::{ExternalOrder, FillsPage, ListingScope, OpenOrdersPage, ReportKind};

use crate::harness::{BITCOIN, LabHarness, terms};
use crate::lab::{now, run_value};

#[derive(Default)]
struct Reports(Vec<ReportKind>);

impl ReportSink for Reports {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        self.0.push(said);
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

impl Reports {
    fn fills(&self) -> Option<&FillsPage> {
        self.0.iter().find_map(|said| if let ReportKind::Fills(page) = said { Some(page) } else { None })
    }

    fn open_orders(&self) -> Option<&OpenOrdersPage> {
        self.0.iter().find_map(|said| if let ReportKind::OpenOrders(page) = said { Some(page) } else { None })
    }

    fn external(&self) -> Vec<&ExternalOrder> {
        self.0
            .iter()
            .filter_map(|said| if let ReportKind::External(seen) = said { Some(&**seen) } else { None })
            .collect()
    }

    fn failed(&self) -> Vec<ListingScope> {
        let failed = |said: &_| if let ReportKind::ListingFailed { scope, .. } = said { Some(*scope) } else { None };
        self.0.iter().filter_map(failed).collect()
    }
}

fn logged_on() -> LabHarness {
    let mut harness = LabHarness::start("ED25519");
    harness.adapter.connect(now()).unwrap();
    harness.adapter.snapshot(now()).unwrap();
    // What the venue takes of the security is told first.
    reported(&mut harness);
    harness
}

/// What is reported until everything is answered.
fn reported(harness: &mut LabHarness) -> Reports {
    harness.settle();
    let mut reports = Reports::default();
    // A session that was lost tells what it had before.
    let _ = harness.adapter.deliver(now(), &mut reports);
    reports
}

fn list_fills(harness: &mut LabHarness) -> Reports {
    assert_eq!(harness.adapter.list_fills(now(), Some(BITCOIN), None), SendOutcome::Sent);
    reported(harness)
}

fn list_open_orders(harness: &mut LabHarness) -> Reports {
    assert_eq!(harness.adapter.list_open_orders(now()), SendOutcome::Sent);
    reported(harness)
}

#[test]
fn a_fill_that_the_stream_lost_is_in_the_list_of_fills_and_its_order_not_among_the_open_ones() {
    let mut harness = logged_on();
    run_value(harness.lab.arm("fill-only-in-list"));
    let crosses = harness.next_order(terms("0.002", Some("61000")));
    assert_eq!(harness.adapter.submit(now(), &crosses), SendOutcome::Sent);
    let told = reported(&mut harness);
    assert!(matches!(told.0.last(), Some(ReportKind::Accepted { .. })), "{:?}", told.0);
    let listed = list_fills(&mut harness);
    let page = listed.fills().unwrap();
    let fills: Vec<_> = page.fills.iter().map(|fill| (fill.order, fill.quantity)).collect();
    assert_eq!(fills, [(crosses.id, crosses.terms.quantity)]);
    assert!(page.last && page.next_cursor.is_some(), "{page:?}");
    assert_eq!(list_open_orders(&mut harness).open_orders().unwrap().orders, []);
}

#[test]
fn orders_placed_elsewhere_that_the_stream_did_not_tell_are_found_by_the_lists_and_told_once() {
    let mut harness = logged_on();
    for aim in [OrderIntent::Trade, OrderIntent::Rest] {
        run_value(harness.lab.arm("stream-mute"));
        harness.place_as_other(aim);
        assert_eq!(reported(&mut harness).0, [], "the stream is mute");
    }
    let by_fills = list_fills(&mut harness);
    let [traded] = by_fills.external()[..] else { panic!("{:?}", by_fills.0) };
    assert_eq!((traded.client_id.as_deref(), traded.fills.len()), (Some("web_1"), 1), "{traded:?}");
    assert_eq!(by_fills.fills().unwrap().fills, [], "none of them is ours");
    let by_orders = list_open_orders(&mut harness);
    let [rests] = by_orders.external()[..] else { panic!("{:?}", by_orders.0) };
    assert_eq!((rests.client_id.as_deref(), rests.fills.len()), (Some("web_2"), 0), "{rests:?}");
    for again in [list_fills(&mut harness), list_open_orders(&mut harness)] {
        assert_eq!(again.external(), Vec::<&ExternalOrder>::new(), "nothing changed");
    }
}

#[test]
fn a_list_that_is_refused_or_half_or_unanswered_is_never_an_empty_one() {
    let mut harness = logged_on();
    harness.place_as_other(OrderIntent::Trade);
    reported(&mut harness);
    run_value(harness.lab.arm("signature-rule"));
    let refused = list_fills(&mut harness);
    assert_eq!(
        (refused.failed(), refused.fills()),
        (vec![ListingScope::Fills(Some(BITCOIN))], None),
        "{:?}",
        refused.0
    );
    run_value(harness.lab.arm("signature-rule"));
    let refused = list_open_orders(&mut harness);
    assert_eq!((refused.failed(), refused.open_orders()), (vec![ListingScope::OpenOrders], None), "{:?}", refused.0);
    harness.cut_rest();
    for (asked, scope) in [(true, ListingScope::OpenOrders), (false, ListingScope::Fills(Some(BITCOIN)))] {
        let told = if asked { list_open_orders(&mut harness) } else { list_fills(&mut harness) };
        assert_eq!(told.failed(), [scope], "{:?}", told.0);
    }
}

#[test]
fn a_cursor_that_is_none_of_ours_is_not_asked_with() {
    let mut harness = logged_on();
    for cursor in ["", "-1", "newest"] {
        let asked = harness.adapter.list_fills(now(), Some(BITCOIN), Some(&cursor.into()));
        assert!(matches!(asked, SendOutcome::NotSent(_)), "{cursor:?}: {asked:?}");
    }
}
