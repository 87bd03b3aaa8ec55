//! What a client hears, told as stories on a floor with a real engine.

/// Client, engine and venue without sockets.
mod floor;
/// The scenarios of FIX 4.4's Appendix D.
mod matrix;
/// More of them, and those it is silent about.
mod unasked;
/// Requests that overtake each other or come too late.
mod overtaken;
/// Ids that are used again, and messages that are sent again.
mod names;
/// What a venue does by itself, and what is answered while it is away.
mod outside;
/// Every field of an order, right and wrong.
mod orders;
/// Terms that are not honoured.
mod terms;
/// Questions that can't be answered.
mod questions;
/// All orders of a client at once.
mod mass_cancel;
/// Who did what the client did not ask for.
mod causes;
/// Whole messages.
mod messages;

use expect_test::Expect;

use floor::Floor;

const ORDER: &str = "35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1";
const CANCEL: &str = "35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1";

fn replace(id: &str, of: &str, quantity: u64) -> String {
    format!("35=G|11={id}|41={of}|54=1|38={quantity}|40=2|44=10|60=20261116-12:00:00|48=1")
}

fn check(story: &[&str], expected: &Expect) {
    expected.assert_eq(&Floor::literal().tell(&story.join("\n")));
}

fn check_standard(story: &[&str], expected: &Expect) {
    expected.assert_eq(&Floor::standard().tell(&story.join("\n")));
}
