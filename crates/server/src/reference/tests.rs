use std::path::Path;

use domain::SecurityId;
use domain::command::ReferenceChange;
use expect_test::{Expect, expect};

use super::*;

/// A copy of the demo's files in which a line of a file is replaced, added or, as an empty text, removed.
struct Folder(tempfile::TempDir);

impl Folder {
    fn of_the_demo() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/reference");
        for file in std::fs::read_dir(demo).unwrap().map(Result::unwrap) {
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
        Self(folder)
    }

    /// Replaces the first occurrence in a file.
    fn replace(self, file: &str, old: &str, new: &str) -> Self {
        let path = self.0.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{file} has no {old}");
        std::fs::write(&path, text.replacen(old, new, 1)).unwrap();
        self
    }

    fn append(self, file: &str, line: &str) -> Self {
        let path = self.0.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{line}\n")).unwrap();
        self
    }

    fn remove(self, file: &str) -> Self {
        std::fs::remove_file(self.0.path().join(file)).unwrap();
        self
    }

    fn read(&self) -> Result<ReferenceSet, Problems> {
        read(&ReferencePath::Folder(self.0.path().to_owned()))
    }

    fn problems(&self, expected: &Expect) {
        let problems = self.read().unwrap_err().to_string();
        expected.assert_eq(&problems.replace(&format!("{}/", self.0.path().display()), ""));
    }
}

#[test]
fn the_demo_is_complete() {
    expect!["2 exchanges, 25 families, 33 securities, 3 accounts, 4 strategies, 33 opening quotes"]
        .assert_eq(&demo().to_string());
    assert_eq!(Folder::of_the_demo().read().unwrap(), demo());
}

#[test]
fn every_column_of_a_security_is_read() {
    let reference = demo();
    let shown = [6, 26, 27, 30].map(|id| format!("{:?}\n", reference.data.securities[&SecurityId(id)])).concat();
    expect![[r#"
        Security { id: SecurityId(6), kind: Forex { base: EUR, transaction: USD }, symbol: "EUR.USD", description: Some("Euro against US dollar"), isin: None, bbgid: None, ric: Some("EUR="), conid: Some("12087792"), adapter_ticker: Some("EURUSD"), underlying: None, family: Some(FamilyId(2)), exchange: ExchangeId(1), currency: USD, contract_size: 1, min_qty: Some(1), max_qty: Some(50000000), qty_incr: 1, min_price: None, max_price: None, price_incr: 0.00001, min_notional: None, tradeable: true, venue_symbols: {} }
        Security { id: SecurityId(26), kind: Future { expiration: 2027-05-20, month_year: "202706", first_notice: Some(2027-05-24) }, symbol: "CLM7", description: Some("Crude oil future, June 2027"), isin: None, bbgid: None, ric: Some("CLM7"), conid: None, adapter_ticker: None, underlying: None, family: Some(FamilyId(19)), exchange: ExchangeId(2), currency: USD, contract_size: 1000, min_qty: Some(1), max_qty: Some(500), qty_incr: 1, min_price: None, max_price: None, price_incr: 0.01, min_notional: None, tradeable: true, venue_symbols: {} }
        Security { id: SecurityId(27), kind: Option { expiration: 2027-03-19, strike: 280, right: Call }, symbol: "AAPL270319C280", description: Some("Apple call 280, March 2027"), isin: None, bbgid: None, ric: None, conid: None, adapter_ticker: None, underlying: Some(SecurityId(1)), family: Some(FamilyId(20)), exchange: ExchangeId(2), currency: USD, contract_size: 100, min_qty: Some(1), max_qty: Some(5000), qty_incr: 1, min_price: Some(0.01), max_price: None, price_incr: 0.01, min_notional: None, tradeable: true, venue_symbols: {} }
        Security { id: SecurityId(30), kind: Bond { maturity: 2034-11-15, coupon: 4.25, coupon_frequency: 2 }, symbol: "T425N34", description: Some("US Treasury note 4.25 % November 2034"), isin: Some("US91282CLW90"), bbgid: None, ric: None, conid: None, adapter_ticker: None, underlying: None, family: Some(FamilyId(22)), exchange: ExchangeId(2), currency: USD, contract_size: 10, min_qty: Some(1), max_qty: Some(10000), qty_incr: 1, min_price: None, max_price: None, price_incr: 0.015625, min_notional: None, tradeable: true, venue_symbols: {} }
    "#]].assert_eq(&shown);
}

#[test]
fn a_security_has_a_symbol_at_each_venue() {
    let symbols = |cell: &str| {
        let folder = Folder::of_the_demo();
        let path = folder.0.path().join("securities.csv");
        let lines = std::fs::read_to_string(&path).unwrap();
        let cells = ["venueSymbols", cell].into_iter().chain(std::iter::repeat(""));
        let lines: Vec<_> = lines.lines().zip(cells).map(|(line, cell)| format!("{line},{cell}")).collect();
        std::fs::write(&path, lines.join("\n")).unwrap();
        let read = folder.read().map_err(|problems| problems.to_string())?;
        let of = |id, venue| read.data.securities[&SecurityId(id)].symbol_at(venue).to_string();
        Ok::<_, String>(format!("{} {} {}", of(1, "MAIN"), of(1, "SPARE"), of(1, "OTHER")))
    };
    assert_eq!(symbols("MAIN=AAPL.N; SPARE=苹果=X"), Ok("AAPL.N 苹果=X AAPL".into()));
    for wrong in ["AAPL", "MAIN=", "=AAPL", "MA IN=A", "MAIN=A;MAIN=B"] {
        let expected = "is not VENUE=SYMBOL, with ; between several, each venue once";
        assert_eq!(symbols(wrong), Err(format!("securities.csv line 2, column venueSymbols: '{wrong}' {expected}")));
    }
    // Without one of its own, a venue has the ticker of all adapters.
    assert_eq!(&**demo().data.securities[&SecurityId(6)].symbol_at("MAIN"), "EURUSD");
}

#[test]
fn a_family_says_how_its_members_are_settled_or_leaves_it_to_their_kind() {
    let settlements = |data: &ReferenceData| {
        [24, 26, 27, 29].map(|id| data.settlement_of(&data.securities[&SecurityId(id)]).name()).join(" ")
    };
    assert_eq!(settlements(&demo().data), "CASH CASH PHYSICAL CASH");
    // A folder from before the column existed.
    let folder = Folder::of_the_demo();
    let path = folder.0.path().join("families.csv");
    let lines = std::fs::read_to_string(&path).unwrap();
    let older: Vec<_> = lines.lines().map(|line| line.rsplit_once(',').unwrap().0).collect();
    std::fs::write(&path, older.join("\n")).unwrap();
    assert_eq!(settlements(&folder.read().unwrap().data), "CASH CASH PHYSICAL CASH");
}

#[test]
fn what_is_delivered_must_be_there_to_be_delivered() {
    let folder = Folder::of_the_demo()
        .replace("families.csv", "0.85,0.2,1.2,CASH", "0.85,0.2,1.2,PHYSICAL")
        .replace("families.csv", "0.85,0.2,1.5,CASH", "0.85,0.2,1.5,PHYSICAL")
        .replace("families.csv", "0.5,0.1,0.3,CASH", "0.5,0.1,0.3,BARTER");
    folder.problems(&expect![[r#"
        families.csv line 19, column settlement: 'BARTER' is not CASH or PHYSICAL
        securities.csv line 25, column underlyingId: its family 17 is settled PHYSICAL, so it must be a security in USD that can be delivered
        securities.csv line 27, column underlyingId: its family 19 is settled PHYSICAL, so it must be a security in USD that can be delivered"#]]);
}

#[test]
fn an_exchange_has_its_hours_and_holidays() {
    let reference = demo();
    let exchange = &reference.data.exchanges[&domain::ExchangeId(2)];
    let (hours, holidays) = (&exchange.trading_hours, &exchange.holidays);
    expect![[r#"
        [TradingHours { open: 00:10, close: 23:50, days: [1, 2, 3, 4, 5, 6, 7] }]
        [Holiday { date: 2026-12-25, open: None, close: None }, Holiday { date: 2026-12-31, open: Some(00:10), close: Some(18:00) }]
    "#]].assert_eq(&format!("{hours:?}\n{:?}\n", &holidays[..2]));
}

#[test]
fn columns_are_found_by_name() {
    let shuffled = Folder::of_the_demo().replace("strategies.csv", "id,name,autoActivate", "name,id,autoActivate");
    let swapped = |folder: Folder, id: &str, name: &str| {
        folder.replace("strategies.csv", &format!("{id},{name}"), &format!("{name},{id}"))
    };
    let folder = [("2", "TREND"), ("3", "REVERSION"), ("4", "PAIRS"), ("5", "MAKER")]
        .into_iter()
        .fold(shuffled, |folder, (id, name)| swapped(folder, id, name));
    assert_eq!(folder.read().unwrap(), demo());
}

#[test]
fn headers_must_have_every_column_and_no_other() {
    Folder::of_the_demo()
        .replace("accounts.csv", "sessionQualifier", "sessionQualifer")
        .replace("strategies.csv", "autoActivate", "name")
        .problems(&expect![[r#"
            accounts.csv line 1: unknown column 'sessionQualifer'; did you mean 'sessionQualifier'?
            accounts.csv line 1: column 'sessionQualifier' is missing
            strategies.csv line 1: column 'name' stands there twice
            strategies.csv line 1: column 'autoActivate' is missing"#]]);
}

#[test]
fn missing_files_are_named_and_opening_quotes_may_be_missing() {
    Folder::of_the_demo().remove("accounts.csv").remove("families.csv").problems(&expect![[r#"
        families.csv: cannot be read: No such file or directory (os error 2)
        accounts.csv: cannot be read: No such file or directory (os error 2)"#]]);
    let reference = Folder::of_the_demo().remove("opening.csv").read().unwrap();
    assert_eq!(reference, ReferenceSet { openings: Vec::new(), ..demo() });
}

#[test]
fn all_wrong_cells_are_told_at_once() {
    Folder::of_the_demo()
        .replace("exchanges.csv", "XSMX,SM,UTC,10", "xsmx,SM,Mars/Olympus,-1")
        .replace("trading-hours.csv", "1,00:00,24:00,MON", "1,00:00,24:01,MOON")
        .replace("holidays.csv", "2026-12-25,,", "2026-12-32,,")
        .replace("holidays.csv", "00:10,18:00", "00:10,")
        .replace("families.csv", "0.005,0.0002,0.0003", "5e-3,,0.0003")
        .replace("securities.csv", "1,Stock,AAPL,Apple Inc.,US0378331005", "0,Stok,AAPL,Apple Inc.,US0378331006")
        .replace("securities.csv", "2027-03-19,202703,,,,,,", "2027-03-19,March,,280,,,,")
        .replace("accounts.csv", "1,Rialto Desk,true", "1,,yes")
        .replace("strategies.csv", "2,TREND", "1,SERVER")
        .append("strategies.csv", "9,SHORT")
        .problems(&expect![[r#"
            exchanges.csv line 3, column mic: 'xsmx' is not four upper-case letters or digits
            exchanges.csv line 3, column timeZone: 'Mars/Olympus' is not the name of a time zone, such as Europe/Zurich
            exchanges.csv line 3, column openingAuction: '-1' is not minutes from 0 to 1440
            trading-hours.csv line 2, column close: '24:01' is not a time from 00:00 to 24:00
            trading-hours.csv line 2, column days: 'MOON TUE WED THU FRI SAT SUN' is not days from MON to SUN with blanks between
            holidays.csv line 2, column date: '2026-12-32' is not a date, such as 2027-03-19
            holidays.csv line 3, column open: open and close are either both given or both blank
            families.csv line 2, column executionCommission: '5e-3' is not a decimal, such as 0.005
            families.csv line 2, column clearingCommission: is blank, but must be a decimal, such as 0.005
            securities.csv line 2, column id: '0' is not a whole number from 1
            securities.csv line 2, column objectType: 'Stok' is no kind of security; did you mean 'Stock'?
            securities.csv line 2, column isin: 'US0378331006' is not an ISIN with a correct check digit
            securities.csv line 25, column strike: belongs to Option and must be blank for Future
            securities.csv line 25, column monthYear: 'March' is not a year and a month, such as 202703
            accounts.csv line 2, column name: is blank, but must be a text of at most 250 characters without control characters
            accounts.csv line 2, column active: 'yes' is not true or false
            strategies.csv line 2, column id: 1 is the strategy SERVER, which always exists
            strategies.csv line 2, column name: SERVER always exists and has the id 1
            strategies.csv line 6: has 2 cells, the header has 3"#]]);
}

#[test]
fn what_stands_twice_or_refers_to_nothing_is_told() {
    Folder::of_the_demo()
        .append("exchanges.csv", "2,Copy,RCM,XCPY,,UTC,0,0")
        .append("trading-hours.csv", "7,00:00,24:00,MON")
        .append("holidays.csv", "2,2026-12-25,,")
        .replace("families.csv", "USDT,1,0.1,11,1", "USDT,1,0.1,99,1")
        .replace("securities.csv", "1,Stock,AAPL,", "1,Stock,MSFT,")
        .replace("securities.csv", ",,,11,2,EUR,1,1,1000000,1,,,0.05", ",,,77,2,EUR,1,1,1000000,1,,,0.05")
        .replace("securities.csv", ",,,12,2,GBP,", ",,,12,1,USD,")
        .append("accounts.csv", "4,Rialto Desk,true,SIMULATED,ALPHA,,,,")
        .problems(&expect![[r#"
            exchanges.csv line 4, column id: stands in line 3 already
            exchanges.csv line 4, column code: stands in line 2 already
            trading-hours.csv line 4, column exchangeId: 7 is not in exchanges.csv
            holidays.csv line 6, column date: stands in line 2 already
            securities.csv line 3, column symbol: stands in line 2 already
            accounts.csv line 5, column name: stands in line 2 already
            opening.csv line 2, column symbol: no security has this symbol
            opening.csv line 3, column symbol: several securities have this symbol
            families.csv line 9, column underlyingId: 99 is not in securities.csv
            securities.csv line 17, column securityFamilyId: 77 is not in families.csv
            securities.csv line 20, column exchangeId: its family 12 is listed on exchange 2
            securities.csv line 20, column currency: its family 12 has GBP"#]]);
}

#[test]
fn a_security_obeys_its_kind() {
    Folder::of_the_demo()
        .replace("securities.csv", "1,,1,,,0.01,,false", "1,,1,,,0.01,,true")
        .replace("securities.csv", "true,EUR,USD", "true,EUR,EUR")
        .replace("securities.csv", "100,1,5000,1,0.01,,0.01", "100,9000,5000,1,0.01,0.001,0.01")
        .problems(&expect![[r#"
            securities.csv line 7, column transactionCurrency: is not the currency, USD
            securities.csv line 23, column tradeable: an index can't be traded
            securities.csv line 28, column maxQty: is below minQty
            securities.csv line 28, column maxPrice: is below minPrice"#]]);
}

#[test]
fn opening_quotes_fall_on_ticks_and_lots() {
    Folder::of_the_demo()
        .replace("opening.csv", "AAPL,272.4,2,300", "AAPL,272.405,3,0")
        .replace("opening.csv", "SPX,6734,0,0", "SPX,6734,2,5")
        .replace("opening.csv", "MSFT,", "MSTF,")
        .append("opening.csv", "7203,3200,2,50,0.2")
        .problems(&expect![[r#"
            opening.csv line 35, column symbol: stands in line 22 already
            opening.csv line 2, column mid: is not a multiple of the tick size
            opening.csv line 2, column spreadTicks: must be an even number from 2, so that bid and ask fall on a tick
            opening.csv line 2, column size: is not a multiple of the lot size above 0
            opening.csv line 3, column symbol: no security has this symbol
            opening.csv line 23, column spreadTicks: must be 0: an index has no book
            opening.csv line 23, column size: must be 0: an index has no book
            opening.csv line 35, column size: is not a multiple of the lot size above 0"#]]);
}

#[test]
fn an_unknown_id_is_no_second_complaint_about_a_file_that_can_t_be_read() {
    Folder::of_the_demo()
        .replace("families.csv", "1,US Stocks", "x,US Stocks")
        .problems(&expect!["families.csv line 2, column id: 'x' is not a whole number from 1"]);
}

#[test]
fn only_differences_become_changes() {
    let current = demo().data;
    assert_eq!(differences(&current, &current), vec![]);
    let wanted = Folder::of_the_demo()
        .replace("accounts.csv", "3,San Marco Reserve,false", "3,San Marco Reserve,true")
        .append("strategies.csv", "6,SCALPER,true")
        .read()
        .unwrap();
    let changes = differences(&current, &wanted.data);
    expect![[r#"
        Account(Account { id: AccountId(3), name: "San Marco Reserve", active: true, adapter_type: "SIMULATED", session_qualifier: Some("BETA"), ext_account: Some("SM-0002"), ext_account_group: Some("RESERVE"), ext_allocation_profile: None, ext_clearing_account: Some("CLR-BETA") })
        Strategy(StrategyRecord { id: StrategyId(6), name: "SCALPER", auto_activate: true })
    "#]].assert_eq(&changes.iter().map(|change| format!("{change:?}\n")).collect::<String>());
}

#[test]
fn everything_is_new_on_an_empty_platform_and_exchanges_come_first() {
    let kind = |change: &ReferenceChange| match change {
        ReferenceChange::Exchange(_) => 'x',
        ReferenceChange::Family(_) => 'f',
        ReferenceChange::Security(_) => 's',
        ReferenceChange::Account(_) => 'a',
        ReferenceChange::Strategy(_) => 't',
        ReferenceChange::RetireSecurity(_) => 'r',
    };
    let changes = differences(&ReferenceData::default(), &demo().data);
    let kinds: String = changes.iter().map(kind).collect();
    assert_eq!(kinds, ["x".repeat(2), "f".repeat(25), "s".repeat(33), "a".repeat(3), "t".repeat(4)].concat());
}

#[test]
fn a_security_that_is_missing_is_retired_once() {
    let mut current = demo().data;
    let mut wanted = current.clone();
    wanted.securities.remove(&SecurityId(5));
    assert_eq!(differences(&current, &wanted), vec![ReferenceChange::RetireSecurity(SecurityId(5))]);
    Arc::make_mut(current.securities.get_mut(&SecurityId(5)).unwrap()).tradeable = false;
    assert_eq!(differences(&current, &wanted), vec![]);
}
