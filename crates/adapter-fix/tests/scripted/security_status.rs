//! The trading status of securities: asked for where the dialect says so, and told to the engine.

use crate::scripted_venue::ScriptedVenue;
use crate::test_adapter::TestAdapter;

/// The generic dialect with this at its end, as a file.
fn dialect(folder: &tempfile::TempDir, more: &str) -> &'static str {
    let file = folder.path().join("status.toml");
    std::fs::write(&file, adapter_fix::shipped_dialect("generic-44").unwrap().to_owned() + more).unwrap();
    Box::leak(file.display().to_string().into_boxed_str())
}

#[test]
fn a_security_that_the_venue_halts_is_halted_until_it_trades_again() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let dialect = dialect(&folder, "\n[securityStatus]\ncodes = { 101 = \"halted\" }\n");
    let mut desk = TestAdapter::open(&folder, dialect, &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    desk.deliver();
    let asked = [venue.expect("e"), venue.expect("e")];
    let shown = |tag: u32| asked.each_ref().map(|fields| fields[&tag].clone());
    assert_eq!((shown(55), shown(263)), (["MSFT", "BTCUSDT"].map(str::to_owned), ["1", "1"].map(str::to_owned)));
    assert_ne!(asked[0][&324], asked[1][&324]);

    // A fast market (23) says nothing of orders.
    venue.send("f", &format!("324={}|55=MSFT|326=23", asked[0][&324]));
    let mut tell = |status: &str| {
        venue.send("f", &format!("324={}|55=MSFT|326={status}", asked[0][&324]));
        let told = desk.reports(1).remove(0);
        assert!(told.starts_with("Listed { security: SecurityId(1)"), "{told}");
        told.split("status: ").nth(1).unwrap().split(',').next().unwrap().to_owned()
    };
    let told = ["2", "17", "101", "3", "19"].map(&mut tell);
    assert_eq!(told, ["Halted", "Trading", "Halted", "Trading", "Unlisted"]);
}

#[test]
fn statuses_are_asked_for_again_after_each_log_on_and_a_refusal_changes_nothing() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let dialect = dialect(&folder, "\n[securityStatus]\n");
    let mut desk = TestAdapter::open(&folder, dialect, &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    desk.deliver();
    let (first, second) = (venue.expect("e"), venue.expect("e"));
    venue.send("j", &format!("45={}|372=e|380=3|58=not here", second[&34]));
    venue.send("f", &format!("324={}|55=MSFT|326=2", first[&324]));
    assert!(desk.reports(1)[0].contains("Halted"));
    venue.hang_up();
    desk.lose();
    desk.connect_while(|| drop(venue.log_on()));
    desk.deliver();
    let again = venue.expect("e");
    assert_ne!(again[&324], first[&324]);
    venue.send("f", &format!("324={}|55=MSFT|326=17", again[&324]));
    assert!(desk.reports(1)[0].contains("Trading"));
}
