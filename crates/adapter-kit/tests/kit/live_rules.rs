//! Rules before real money.

use adapter_kit::KeptText;
use adapter_kit::credentials::{
    FirstDayFile, FirstDayLimit, KeyPermissions, LiveTarget, VenueEnvironment, check_live, check_permissions,
};
use domain::Amount;

use crate::budget::at;

#[test]
fn a_key_that_may_withdraw_is_refused_unless_the_setting_names_the_venue() {
    let check = |may_trade, may_withdraw, allow: Option<&str>, trades| {
        let permissions = KeyPermissions { may_trade, may_withdraw };
        check_permissions("BINANCE1", permissions, allow, trades).map_err(|refusal| refusal.to_string())
    };
    let refused = "venue-key-may-withdraw: the key of BINANCE1 may withdraw; make one without that right, or set \
                   allowWithdraw = \"BINANCE1\"";
    assert_eq!(check(Some(true), Some(true), None, true), Err(refused.to_owned()));
    assert_eq!(check(Some(true), Some(true), Some("BINANCE2"), true), Err(refused.to_owned()));
    assert_eq!(check(Some(true), Some(true), Some("BINANCE1"), true), Ok(()));
    assert_eq!(check(Some(true), Some(false), None, true), Ok(()));
    assert_eq!(check(None, None, None, true), Ok(()), "the venue does not say");
    let refused = "venue-key-may-not-trade: the key of BINANCE1 may not trade; give it the right, or use paper mode";
    assert_eq!(check(Some(false), Some(false), None, true), Err(refused.to_owned()));
    assert_eq!(check(Some(false), Some(false), None, false), Ok(()));
}

#[test]
fn real_money_needs_allow_live() {
    use VenueEnvironment::{Demo, Live, Testnet};
    let check = |environment, paper, hosts: &[&str], allow| {
        check_live(&LiveTarget { venue: "BINANCE1", environment, paper, hosts }, allow)
            .map_err(|refusal| refusal.to_string())
    };
    let refused =
        Err("venue-not-allowed-live: BINANCE1 trades with real money; set venues.BINANCE1.allowLive = true to \
                       allow it"
            .to_owned());
    assert_eq!(check(Live, false, &["api.example.com"], false), refused);
    assert_eq!(check(Live, false, &["127.0.0.1", "api.example.com"], false), refused, "all addresses must be loopback");
    assert_eq!(check(Live, false, &["localhost.example.com"], false), refused);
    assert_eq!(check(Live, false, &[], false), refused);
    assert_eq!(check(Live, false, &["0.0.0.0"], false), refused);
    assert_eq!(check(Live, false, &["api.example.com"], true), Ok(()));
    assert_eq!(check(Live, true, &["api.example.com"], false), Ok(()));
    assert_eq!(check(Live, false, &["127.0.0.1", "[::1]", "::1", "LocalHost", "127.9.9.9"], false), Ok(()));
    assert_eq!(check(Testnet, false, &["testnet.example.com"], false), Ok(()));
    assert_eq!(check(Demo, false, &["demo.example.com"], false), Ok(()));
}

#[test]
fn orders_of_the_first_day_are_small() {
    let amount = |text: &str| text.parse::<Amount>().unwrap();
    let limit = FirstDayLimit::new(at(0), amount("100"));
    let check = |seconds, notional: Option<&str>| {
        limit.check(at(seconds), notional.map(amount)).map_err(|refusal| refusal.to_string())
    };
    assert_eq!(check(0, Some("100")), Ok(()));
    let refused = "venue-first-day: -100.01 is above the first day's limit of 100; it ends at 2026-11-17T05:00:00Z";
    assert_eq!(check(1, Some("-100.01")), Err(refused.to_owned()));
    let refused = "venue-first-day: the order has no price to compare with the first day's limit; it ends at \
                   2026-11-17T05:00:00Z";
    assert_eq!(check(86_399, None), Err(refused.to_owned()));
    assert_eq!(check(86_400, Some("1000000")), Ok(()));
    assert_eq!(check(86_400, None), Ok(()));
}

#[test]
fn the_first_day_is_remembered_and_a_damaged_file_begins_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first-live");
    let file = FirstDayFile::new(KeptText::file(&path));
    assert_eq!(file.first_live_at(at(0)).unwrap(), at(0));
    assert_eq!(file.first_live_at(at(5_000)).unwrap(), at(0));
    assert_eq!(file.first_live_at(at(-10)).unwrap(), at(-10), "the clock was wrong then");
    std::fs::write(&path, "nonsense").unwrap();
    assert_eq!(file.first_live_at(at(9_000)).unwrap(), at(9_000));
    assert!(FirstDayFile::new(KeptText::file(folder.path())).first_live_at(at(0)).is_err());
}
