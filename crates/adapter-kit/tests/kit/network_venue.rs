//! Settings of venues over a network, and what follows from them before the first connection.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use adapter_kit::credentials::{FirstDayLimit, KeyPermissions};
use adapter_kit::network_venue::{NETWORK_SETTINGS, NetworkSettings, NetworkVenue, check_first_day};
use adapter_kit::recording::Masker;
use adapters::venue_type::{VenueContext, VenueSettings};
use bus::Catalogue;
use domain::order::OrderTerms;
use domain::{AdapterName, Decimal, Order, OrderKind, OrderProperties, TimeInForce, Timestamp};

const NOON: Timestamp = Timestamp(1_780_574_400_000_000_000);
const REMOTE: &[&str] = &["api.example"];
const LOOPBACK: &[&str] = &["127.0.0.1", "localhost"];
const SECRET: &str = "planted-secret-0123456789";

fn settings(written: &[(&'static str, &str)]) -> NetworkSettings {
    let written: BTreeMap<&str, &str> = written.iter().copied().collect();
    NetworkSettings::read(&VenueSettings::read("MAIN", &[NETWORK_SETTINGS], &written).unwrap())
}

fn problems(written: &[(&'static str, &str)], hosts: &[&str]) -> String {
    let found = settings(written).check(hosts);
    found.iter().map(|problem| format!("{}: {}", problem.key, problem.reason)).collect::<Vec<_>>().join("\n")
}

#[test]
fn real_money_needs_a_word_and_a_key() {
    let live = ("environment", "live");
    let refused =
        "allowLive: venue-not-allowed-live: MAIN trades with real money; set venues.MAIN.allowLive = true to allow it";
    let no_key = "credentials: is missing; only paper mode may do without";
    assert_eq!(problems(&[live], REMOTE), format!("{refused}\n{no_key}"));
    assert_eq!(problems(&[live, ("credentials", "env:KEY")], REMOTE), refused);
    assert_eq!(problems(&[live, ("credentials", "env:KEY"), ("allowLive", "true")], REMOTE), "");
    assert_eq!(problems(&[live, ("credentials", "env:KEY")], LOOPBACK), "");
    assert_eq!(problems(&[live, ("paper", "true")], REMOTE), "");
    assert_eq!(problems(&[("environment", "testnet"), ("credentials", "env:KEY")], REMOTE), "");
    let other = [("environment", "demo"), ("credentials", "env:KEY"), ("allowWithdraw", "SPARE")];
    assert_eq!(problems(&other, REMOTE), "allowWithdraw: is not MAIN, so it would allow nothing");
}

#[test]
fn a_value_of_another_form_is_refused_with_its_key() {
    let read = |key, text| {
        let written = [("environment", "live"), (key, text)].into_iter().collect();
        let refused = VenueSettings::read("MAIN", &[NETWORK_SETTINGS], &written).unwrap_err();
        refused.iter().map(|problem| format!("{}: {}", problem.key, problem.reason)).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(read("environment", "mars"), "environment: 'mars' is not one of live, testnet, demo");
    assert_eq!(read("paper", "maybe"), "paper: 'maybe' is not true or false");
    let source = "credentials: 'env:' is not a file of mode 0600, systemd:NAME or env:PREFIX";
    assert_eq!(read("credentials", "env:"), source);
    let proxy = "is not an address such as http://proxy.example:3128";
    assert_eq!(read("proxy", "https://proxy.example"), format!("proxy: 'https://proxy.example' {proxy}"));
    assert_eq!(read("firstDayLimit", "-1"), "firstDayLimit: '-1' is not a decimal from 0 to 1000000000");
}

#[test]
fn a_key_of_unknown_rights_is_refused_where_real_money_is_at_stake() {
    let folder = tempfile::tempdir().unwrap();
    let check = |environment, allow: &str, hosts: &[&str], may_withdraw| {
        let written = [("environment", environment), ("allowLive", "true"), ("allowWithdraw", allow)];
        let venue = open(folder.path(), 0o600, &written, hosts).unwrap();
        venue.check_key(KeyPermissions { may_trade: Some(true), may_withdraw }).map_err(|refusal| refusal.code())
    };
    assert_eq!(check("live", "", REMOTE, None), Err("venue-key-rights-unknown"));
    assert_eq!(check("live", "MAIN", REMOTE, None), Ok(()));
    assert_eq!(check("live", "", LOOPBACK, None), Ok(()));
    assert_eq!(check("testnet", "", REMOTE, None), Ok(()));
    assert_eq!(check("live", "", REMOTE, Some(false)), Ok(()));
    for (environment, hosts) in [("live", REMOTE), ("live", LOOPBACK), ("testnet", REMOTE)] {
        assert_eq!(check(environment, "", hosts, Some(true)), Err("venue-key-may-withdraw"));
        assert_eq!(check(environment, "MAIN", hosts, Some(true)), Ok(()));
    }
}

/// Opens a venue in a folder, with credentials in a file of that mode.
fn open(folder: &Path, mode: u32, written: &[(&'static str, &str)], hosts: &[&str]) -> Result<NetworkVenue, String> {
    let path = folder.join("key.toml");
    fs::write(&path, format!("apiKey = \"planted-key-0123456789\"\nsecret = \"{SECRET}\"\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    let path = path.display().to_string();
    let written: Vec<_> = written.iter().copied().chain([("credentials", path.as_str())]).collect();
    let quotes = BTreeMap::new();
    let prices = BTreeMap::new();
    let context = VenueContext {
        instance: 1,
        records: None,
        adapter: AdapterName::new("TOY", Some("MAIN")),
        folder,
        clock: Arc::new(|| NOON),
        catalogue: Catalogue::default(),
        opening_quotes: &quotes,
        last_prices: &prices,
        opening_cash: None,
    };
    NetworkVenue::open(settings(&written), hosts, Masker::default(), &context).map_err(|error| error.to_string())
}

#[test]
fn a_key_that_others_can_read_is_refused_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let refused = open(folder.path(), 0o644, &[("environment", "testnet")], REMOTE).err().unwrap();
    assert!(refused.starts_with("venues.MAIN.credentials: "), "{refused}");
    assert!(!refused.contains("planted"), "{refused}");
    let roots = [("environment", "testnet"), ("trustedCertificates", "/nowhere/roots.pem")];
    let refused = open(folder.path(), 0o600, &roots, REMOTE).err().unwrap();
    assert!(refused.starts_with("venues.MAIN.trustedCertificates: /nowhere/roots.pem cannot be read: "), "{refused}");
}

#[test]
fn a_recording_has_a_file_of_its_own_at_each_start() {
    let folder = tempfile::tempdir().unwrap();
    let pem = rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem();
    let roots = folder.path().join("roots.pem");
    fs::write(&roots, pem).unwrap();
    let roots = roots.display().to_string();
    let written = [("environment", "testnet"), ("trustedCertificates", roots.as_str()), ("recording", "true")];
    let venue = open(folder.path(), 0o600, &written, REMOTE).unwrap();
    assert!(venue.recorder.is_some() && venue.credentials.is_some());
    assert!(folder.path().join("TOY-MAIN.2026-06-04T12-00-00Z.messages.jsonl").exists());
    assert_eq!(venue.first_day_limit(NOON).unwrap(), None);
    let again = open(folder.path(), 0o600, &written, REMOTE).err().unwrap();
    assert!(again.starts_with("venues.MAIN.recording: "), "{again}");
}

#[test]
fn the_first_day_at_a_live_venue_is_remembered_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let roots = folder.path().join("roots.pem");
    fs::write(&roots, rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem()).unwrap();
    let roots = roots.display().to_string();
    let live = [
        ("environment", "live"),
        ("trustedCertificates", roots.as_str()),
        ("allowLive", "true"),
        ("firstDayLimit", "500"),
    ];
    let limit = open(folder.path(), 0o600, &live, REMOTE).unwrap().first_day_limit(NOON).unwrap();
    assert_eq!(limit, Some(FirstDayLimit::new(NOON, domain::Amount(500.into()))));
    let later = NOON.plus_seconds(3_600);
    assert_eq!(open(folder.path(), 0o600, &live, REMOTE).unwrap().first_day_limit(later).unwrap(), limit);
    assert_eq!(open(folder.path(), 0o600, &live, LOOPBACK).unwrap().first_day_limit(later).unwrap(), None);
}

#[test]
fn an_order_above_the_limit_of_the_first_day_stays_here_unless_it_only_reduces() {
    let limit = FirstDayLimit::new(NOON, domain::Amount(1_000.into()));
    let order = |quantity: i64, kind: OrderKind, reduce_only: bool| Order {
        terms: OrderTerms { quantity: quantity.into(), kind, tif: TimeInForce::Gtc },
        properties: OrderProperties { reduce_only, ..OrderProperties::default() },
        ..samples::order(1)
    };
    let at = |price: i64| OrderKind::Limit { limit: price.into() };
    let check =
        |order: &Order| check_first_day(Some(&limit), NOON, order, Decimal::ONE).map_err(|text| text.to_string());
    assert_eq!(check(&order(10, at(100), false)), Ok(()));
    let until = NOON.plus_seconds(24 * 3_600);
    let large = format!("venue-first-day: 1010 is above the first day's limit of 1000; it ends at {until}");
    assert_eq!(check(&order(10, at(101), false)), Err(large));
    assert_eq!(check(&order(10, at(101), true)), Ok(()));
    assert!(check(&order(1, OrderKind::Market, false)).unwrap_err().contains("has no price"));
    assert_eq!(check_first_day(None, NOON, &order(10, at(101), false), Decimal::ONE), Ok(()));
}
