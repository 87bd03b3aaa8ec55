//! Reports to a client, as stories with a real engine.

mod harness;
mod matrix;
mod unsolicited;
mod crossing_requests;
mod cl_ord_ids;
mod venue_events;
mod orders;
mod terms;
mod status_requests;
mod mass_cancel;
mod causes;
mod messages;

use expect_test::Expect;

use harness::GatewayHarness;

const ORDER: &str = "35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1";
const CANCEL: &str = "35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1";

fn replace(id: &str, of: &str, quantity: u64) -> String {
    format!("35=G|11={id}|41={of}|54=1|38={quantity}|40=2|44=10|60=20261116-12:00:00|48=1")
}

fn check(story: &[&str], expected: &Expect) {
    expected.assert_eq(&GatewayHarness::literal().run(&story.join("\n")));
}

fn check_standard(story: &[&str], expected: &Expect) {
    expected.assert_eq(&GatewayHarness::standard().run(&story.join("\n")));
}
