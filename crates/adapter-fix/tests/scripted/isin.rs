//! An order by the ISIN of its security.

use adapters::SendOutcome;
use domain::{Order, SecurityId, Side};

use crate::scripted_venue::ScriptedVenue;
use crate::test_adapter::{TestAdapter, order};

const BY_ISIN: &str = "\n[[fields]]\ntag = 48\nvalue = '{isin}'\n[[fields]]\ntag = 22\nvalue = '4'\n";

#[test]
fn an_order_of_a_security_without_an_isin_is_refused_before_it_is_sent() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let file = folder.path().join("isin.toml");
    std::fs::write(&file, adapter_fix::shipped_dialect("generic-44").unwrap().to_owned() + BY_ISIN).unwrap();
    let dialect = Box::leak(file.display().to_string().into_boxed_str());
    let mut desk = TestAdapter::open(&folder, dialect, &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    let without = Order { security: SecurityId(2), ..order(1, Side::Buy) };
    assert_eq!(desk.place(&without), SendOutcome::NotSent("venue-field: tag 48: the security has no ISIN".into()));
    desk.submit(&order(2, Side::Buy));
    let first = venue.expect("D");
    assert_eq!([11, 22, 48, 55].map(|tag| first[&tag].as_str()), ["R7-2-0", "4", "US5949181045", "MSFT"]);
}
