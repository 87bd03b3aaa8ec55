//! Resends: what is executed while the line is cut comes with the next log-on, without a question.

use domain::Side;

use crate::drop_copy::{bitcoin, sell_from_elsewhere};
use crate::lab::Lab;
use crate::proxy::Proxy;
use crate::test_adapter::{TestAdapter, VenueAddress};

fn a_fill_of_an_absence_comes_again(face: &str, dialect: &'static str) {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let proxy = Proxy::start(lab.port(face));
    let address = VenueAddress { port: proxy.port(), ..lab.address(face) };
    let mut desk = TestAdapter::open(&folder, dialect, &address);
    desk.connect();
    desk.submit(&bitcoin(1, Side::Buy, "60000"));
    assert_eq!(desk.reports(1), ["1 accepted"]);

    proxy.close();
    desk.lose();
    sell_from_elsewhere(&lab);
    proxy.open();
    desk.connect();
    assert_eq!(desk.reports(1), ["1 filled 0.01 @ 60000 (BTCUSDT-3)"]);
    // Logon, order, and after the cut the Logon alone: no question about the order (H).
    assert_eq!(proxy.requested(), ["A", "D", "A"]);
}

#[test]
fn a_fill_of_an_absence_comes_again_over_fix_44() {
    a_fill_of_an_absence_comes_again("fix44", "generic-44");
}

#[test]
fn a_fill_of_an_absence_comes_again_over_fix_42() {
    a_fill_of_an_absence_comes_again("fix42", "generic-42");
}
