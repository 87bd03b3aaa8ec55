//! A Reject (3) of the venue ends the request that it names.

use adapters::SendOutcome;
use domain::order::OrderTerms;
use domain::{Order, SecurityId, Side};

use crate::scripted_venue::ScriptedVenue;
use crate::test_adapter::{TestAdapter, order};

#[test]
fn a_reject_of_the_session_layer_names_a_request_and_it_is_refused() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    let placed = order(1, Side::Buy);
    desk.submit(&placed);
    let number = &venue.expect("D")[&34];
    venue.send("3", &format!("45={number}|371=44|372=D|373=5|58=no such price"));
    assert_eq!(desk.reports(1), ["1 rejected: no such price"]);

    assert_eq!(desk.cancel(&Order { request: 1, ..order(2, Side::Buy) }), SendOutcome::Sent);
    let number = &venue.expect("F")[&34];
    venue.send("3", &format!("45={number}|372=F|373=11"));
    assert_eq!(desk.reports(1), ["2 cancel refused: reason (373) 11"]);

    let terms = OrderTerms { quantity: 50.into(), ..placed.terms };
    assert_eq!(desk.replace(&Order { request: 1, ..order(3, Side::Buy) }, terms), SendOutcome::Sent);
    let number = &venue.expect("G")[&34];
    venue.send("3", &format!("45={number}|372=G|373=99|58=not now"));
    assert_eq!(desk.reports(1), ["3 replace refused: not now"]);

    desk.subscribe(SecurityId(1));
    let number = &venue.expect("V")[&34];
    venue.send("3", &format!("45={number}|372=V|373=5|58=no such symbol"));
    assert_eq!(desk.reports(1), ["1 prices lost: REFUSED, FIX-MAIN"]);
}
