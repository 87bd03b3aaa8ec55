//! What the venue lists: told to the engine after each log-on, and shown by a question of its own.

use adapter_fix::FixVenueType;
use adapters::venue_type::{ListedSymbol, VenueType};
use domain::report::ListingStatus;

use crate::lab::Lab;
use crate::test_adapter::{TestAdapter, VenueAddress, question};

fn shown(listed: &ListedSymbol) -> String {
    let listing = &listed.listing;
    format!("{} = {}/{}, tick {:?}, lot {:?}", listed.symbol, listed.base, listed.quote, listing.tick, listing.lot)
}

#[test]
fn listings_are_told_after_the_log_on_and_what_is_not_listed_is_known() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let text = adapter_fix::shipped_dialect("generic-44").unwrap().to_owned() + "\n[securityList]\n";
    let file = folder.path().join("listing.toml");
    std::fs::write(&file, text).unwrap();
    let dialect: &'static str = Box::leak(file.display().to_string().into_boxed_str());
    let mut desk = TestAdapter::open(&folder, dialect, &lab.address("fix44"));
    desk.connect();
    let mut told = desk.reports(2);
    told.sort();
    assert!(
        told[0].contains("SecurityId(1)") && told[0].contains(&format!("{:?}", ListingStatus::Unlisted)),
        "{told:?}"
    );
    assert!(
        told[1].contains("SecurityId(2)") && told[1].contains(&format!("{:?}", ListingStatus::Trading)),
        "{told:?}"
    );
    assert!(told[1].contains("0.00001"), "{told:?}");
}

#[test]
fn numbers_that_go_on_are_those_of_the_server_when_the_symbols_are_asked_for() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let text = adapter_fix::shipped_dialect("generic-44").unwrap();
    assert!(text.contains("[marketData]\n"), "{text}");
    let text = text.replace("[marketData]\n", "[marketData]\nresetOnLogon = false\n") + "\n[securityList]\n";
    let file = folder.path().join("going-on.toml");
    std::fs::write(&file, text).unwrap();
    let dialect: &'static str = Box::leak(file.display().to_string().into_boxed_str());
    let port = lab.port("fix44").to_string();
    let settings = [("marketDataPort", port.as_str()), ("marketDataSenderCompId", "BETA")];
    let list = || {
        question(&folder, dialect, &lab.address("fix44"), &settings, |settings, context| {
            FixVenueType.list_symbols(settings, context)
        })
    };
    // It leaves without a Logout, as in a crash: fewer numbers are used than by the question.
    let serve = || {
        let mut desk = TestAdapter::open_with(&folder, dialect, &lab.address("fix44"), &settings);
        desk.connect();
        while !desk.reports(1).contains(&"PRICES up".to_owned()) {}
        desk
    };
    drop(serve());
    for _ in 0..2 {
        assert_eq!(list().unwrap().unwrap().len(), 5);
    }
    let serving = serve();
    let refusal = list().unwrap().unwrap_err().to_string();
    assert!(refusal.ends_with("prices.numbers: the sequence numbers are in use by another process"), "{refusal}");
    drop(serving);
}

#[test]
fn the_symbols_of_binance_are_asked_for_over_its_market_data() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let address = VenueAddress { port: lab.port("binanceFixOrderEntry"), sender: "RIALTO", target: "SPOT" };
    let (certificate, key) = (lab.certificate(), lab.credentials("ALPHA", "ED25519"));
    let port = lab.port("binanceFixMarketData").to_string();
    let settings = [
        ("tls", "true"),
        ("trustedCertificates", certificate.as_str()),
        ("credentials", key.as_str()),
        ("recoveryVenue", "REST"),
        ("marketDataPort", port.as_str()),
    ];
    let listed = question(&folder, "binance-spot", &address, &settings, |settings, context| {
        FixVenueType.list_symbols(settings, context)
    });
    let listed = listed.unwrap().unwrap();
    assert_eq!(listed.len(), 5);
    let bitcoin = listed.iter().find(|listed| &*listed.symbol == "BTCUSDT").unwrap();
    assert!(
        shown(bitcoin).starts_with("BTCUSDT = BTC/USDT, tick Some(") && shown(bitcoin).contains("0.00001"),
        "{bitcoin:?}"
    );
    let without = question(&folder, "binance-spot", &address, &settings[..4], |settings, context| {
        FixVenueType.list_symbols(settings, context)
    });
    let reason = without.unwrap().unwrap_err().to_string();
    assert_eq!(reason, "the list is asked for over a session for market data alone: set marketDataPort");
}
