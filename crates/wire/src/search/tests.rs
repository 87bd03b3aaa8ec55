//! Search results as a table, and as a property against a slow evaluation of the JSON that clients receive.

use domain::reference::OptionRight;
use domain::{Currency, Decimal, ExchangeId, FamilyId, Price, Quantity, Security, SecurityId, SecurityKind};
use proptest::prelude::*;
use serde_json::Value;

use super::{BadSearch, SEARCH_DEPTH_MAX, SecuritySearch};
use crate::SecurityVO;

fn security(id: u64, symbol: &str, description: Option<&str>, kind: SecurityKind) -> Security {
    Security {
        id: SecurityId(id),
        kind,
        symbol: symbol.into(),
        description: description.map(Into::into),
        isin: (id == 1).then(|| "US0378331005".into()),
        bbgid: None,
        ric: (id == 1).then(|| "AAPL.O".into()),
        conid: None,
        adapter_ticker: None,
        underlying: (id == 4).then_some(SecurityId(1)),
        family: Some(FamilyId(id)),
        exchange: ExchangeId(1 + id % 2),
        currency: Currency::USD,
        contract_size: Decimal::ONE,
        min_qty: (id == 2).then_some(Quantity(Decimal::new(5, 1))),
        max_qty: None,
        qty_incr: Decimal::ONE,
        min_price: None,
        max_price: None,
        price_incr: Decimal::new(1, 2),
        min_notional: None,
        tradeable: id != 5,
        venue_symbols: Default::default(),
    }
}

fn securities() -> Vec<Security> {
    let expiration = "2027-03-19".parse().unwrap();
    let euro = "EUR".parse().unwrap();
    let strike = Price("280.0".parse().unwrap());
    let forex = SecurityKind::Forex { base: euro, transaction: Currency::USD };
    let future = SecurityKind::Future { expiration, month_year: "202703".into(), first_notice: None };
    let option = SecurityKind::Option { expiration, strike, right: OptionRight::Call };
    let maturity = "2035-11-15".parse().unwrap();
    let bond = SecurityKind::Bond { maturity, coupon: Decimal::new(425, 2), coupon_frequency: 2 };
    vec![
        security(1, "AAPL", Some("Apple Inc."), SecurityKind::Stock),
        security(2, "EUR.USD", Some("Euro / US dollar"), forex),
        security(3, "ESH7", Some("E-mini S&P 500 (March)"), future),
        security(4, "AAPL C280", Some("Apple call"), option),
        security(5, "SPX", None, SecurityKind::Index),
        security(6, "T 4.25", Some("Treasury \"long\" bond"), bond),
    ]
}

fn found(search: &str) -> Vec<u64> {
    let search = SecuritySearch::parse(search).unwrap_or_else(|bad| panic!("{search}: {bad:?}"));
    securities().iter().filter(|security| search.matches(security)).map(|security| security.id.0).collect()
}

#[test]
fn what_a_search_finds() {
    let cases: &[(&str, &[u64])] = &[
        ("", &[1, 2, 3, 4, 5, 6]),
        ("   ", &[1, 2, 3, 4, 5, 6]),
        ("*", &[1, 2, 3, 4, 5, 6]),
        ("apple", &[1, 4]),
        ("PPL", &[1, 4]),
        ("0378331005", &[1]),
        ("aapl.o", &[1]),
        ("\"apple inc\"", &[1]),
        (r#""\"long\"""#, &[6]),
        ("app*", &[1, 4]),
        ("pple*", &[]),
        ("doll*", &[2]),
        ("mini", &[3]),
        ("mini*", &[3]),
        ("\"(March)\"", &[3]),
        ("apple call", &[4]),
        ("apple AND call", &[4]),
        ("call OR euro", &[2, 4]),
        ("call OR euro OR spx", &[2, 4, 5]),
        ("apple AND call OR euro", &[2, 4]),
        ("apple (call OR euro)", &[4]),
        ("NOT apple", &[2, 3, 5, 6]),
        ("NOT NOT apple", &[1, 4]),
        ("apple NOT call", &[1]),
        ("NOT (apple OR euro)", &[3, 5, 6]),
        ("\"AND\"", &[]),
        ("and", &[]),
        ("symbol:AAPL", &[1]),
        ("SYMBOL:aapl", &[1]),
        ("symbol:AAPL*", &[1, 4]),
        ("symbol = \"AAPL C280\"", &[4]),
        ("symbol:\"AAPL*\"", &[]),
        ("objectType:option", &[4]),
        ("tradeable:false", &[5]),
        ("id:3", &[3]),
        ("id>=5", &[5, 6]),
        ("id<2", &[1]),
        ("exchangeId:2 currency:usd", &[1, 3, 5]),
        ("strike>100", &[4]),
        ("strike:280", &[4]),
        ("strike:280.000", &[4]),
        ("strike>280", &[]),
        ("strike <= 280", &[4]),
        ("NOT strike>100", &[1, 2, 3, 5, 6]),
        ("minQty:0.5", &[2]),
        ("coupon>4 couponFrequency:2", &[6]),
        ("expiration>2027-03-18", &[3, 4]),
        ("expiration<2027-03-19", &[]),
        ("maturity>=2035-11-15", &[6]),
        ("optionType:CALL underlyingId:1", &[4]),
        ("baseCurrency:EUR transactionCurrency:USD", &[2]),
        ("monthYear:2027*", &[3]),
        ("isin:*", &[1]),
        ("NOT description:*", &[5]),
        ("securityFamilyId:1 OR firstNotice:*", &[1]),
    ];
    for (search, ids) in cases {
        assert_eq!(found(search), *ids, "{search}");
    }
}

#[test]
fn what_cannot_be_understood_says_where() {
    let cases = [
        ("apple \"inc", 7, "this quote is never closed"),
        ("apple \"inc\\", 7, "this quote is never closed"),
        ("(apple", 7, "a ) is missing"),
        ("apple)", 6, "this ) closes nothing"),
        ("()", 2, "something to look for is missing before this )"),
        ("apple AND", 10, "something to look for is missing"),
        ("OR apple", 1, "something to look for is missing before OR"),
        ("apple AND OR x", 11, "something to look for is missing before OR"),
        ("NOT", 4, "something to look for is missing"),
        (":USD", 1, "a field is missing before :"),
        ("strike>", 8, "a value is missing after >"),
        ("strike>=)", 9, "a value is missing after >="),
        ("strike>expensive", 8, "strike is compared with a number"),
        ("strike:1*", 8, "strike is compared with a number"),
        ("expiration>soon", 12, "expiration is compared with a date YYYY-MM-DD"),
        ("tradeable:yes", 11, "tradeable is compared with true or false, by : only"),
        ("symbol>A", 8, "symbol is compared with a text, by : only"),
        ("colour:red", 1, "a security has no field colour; quotes make it a word"),
        ("\"symbol\":AAPL", 9, "before : stands a field, without quotes"),
        ("a*b", 2, "a * may stand at the end only, or in quotes"),
        ("größe:*x", 7, "a * may stand at the end only, or in quotes"),
    ];
    for (search, at, reason) in cases {
        assert_eq!(SecuritySearch::parse(search), Err(BadSearch { at, reason: reason.into() }), "{search}");
    }
}

#[test]
fn questions_inside_each_other_have_an_end() {
    let nested = |depth: usize| format!("{}apple{}", "(".repeat(depth), ")".repeat(depth));
    assert!(SecuritySearch::parse(&nested(SEARCH_DEPTH_MAX)).is_ok());
    let deep = SecuritySearch::parse(&nested(SEARCH_DEPTH_MAX + 1)).unwrap_err();
    assert_eq!((deep.at, deep.reason.as_str()), (33, "more than 32 questions stand inside each other"));
    assert!(SecuritySearch::parse(&"NOT ".repeat(8_000)).is_err());
    assert!(SecuritySearch::parse(&"(a) ".repeat(100)).is_ok(), "beside each other is not inside");
}

/// A search as the slow evaluation represents it.
#[derive(Debug, Clone)]
enum Asked {
    Words(String, bool),
    Text(&'static str, String, bool),
    Number(&'static str, &'static str, i64),
    Not(Box<Asked>),
    And(Box<Asked>, Box<Asked>),
    Or(Box<Asked>, Box<Asked>),
}

impl Asked {
    fn written(&self) -> String {
        let star = |is_beginning: &bool| if *is_beginning { "*" } else { "" };
        match self {
            Self::Words(text, is_beginning) => format!("{text}{}", star(is_beginning)),
            Self::Text(field, text, is_beginning) => format!("{field}:{text}{}", star(is_beginning)),
            Self::Number(field, operator, number) => format!("{field}{operator}{number}"),
            Self::Not(other) => format!("NOT ({})", other.written()),
            Self::And(left, right) => format!("({}) ({})", left.written(), right.written()),
            Self::Or(left, right) => format!("({}) OR ({})", left.written(), right.written()),
        }
    }

    fn holds(&self, seen: &Value) -> bool {
        match self {
            Self::Words(text, is_beginning) => ["symbol", "description", "isin", "ric", "bbgid"]
                .into_iter()
                .filter_map(|field| seen[field].as_str())
                .any(|held| stands_in(&held.to_lowercase(), &text.to_lowercase(), *is_beginning)),
            Self::Text(field, text, is_beginning) => seen[*field].as_str().is_some_and(|held| {
                let (held, text) = (held.to_lowercase(), text.to_lowercase());
                if *is_beginning { held.starts_with(&text) } else { held == text }
            }),
            Self::Number(field, operator, number) => seen[*field].as_f64().is_some_and(|held| {
                let number = f64::from(i32::try_from(*number).unwrap());
                match *operator {
                    ">" => held > number,
                    ">=" => held >= number,
                    "<" => held < number,
                    "<=" => held <= number,
                    _ => held == number,
                }
            }),
            Self::Not(other) => !other.holds(seen),
            Self::And(left, right) => left.holds(seen) && right.holds(seen),
            Self::Or(left, right) => left.holds(seen) || right.holds(seen),
        }
    }
}

fn stands_in(held: &str, text: &str, is_beginning: bool) -> bool {
    if !is_beginning {
        return held.contains(text);
    }
    let letters: Vec<char> = held.chars().collect();
    (0..letters.len()).any(|place| {
        let begins = place == 0 || letters[place].is_alphanumeric() && !letters[place - 1].is_alphanumeric();
        begins && letters[place..].iter().collect::<String>().starts_with(text)
    })
}

fn asked() -> impl Strategy<Value = Asked> {
    let word = "[aAcEinLpPsUS]{1,3}";
    let fields = prop::sample::select(vec!["symbol", "objectType", "currency", "isin", "optionType"]);
    let numbers = prop::sample::select(vec!["id", "strike", "exchangeId", "coupon", "underlyingId", "priceIncr"]);
    let operators = prop::sample::select(vec![">", ">=", "<", "<=", ":", "="]);
    let held = prop::sample::select(vec!["AAPL", "aapl", "stock", "USD", "call", "SP", "O", "US"]);
    let leaf = prop_oneof![
        (word, any::<bool>()).prop_map(|(text, star)| Asked::Words(text, star)),
        (fields, held, any::<bool>()).prop_map(|(field, text, star)| Asked::Text(field, text.into(), star)),
        (numbers, operators, 0..400_i64).prop_map(|(field, operator, number)| Asked::Number(field, operator, number)),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|other| Asked::Not(Box::new(other))),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| Asked::And(left.into(), right.into())),
            (inner.clone(), inner).prop_map(|(left, right)| Asked::Or(left.into(), right.into())),
        ]
    })
}

proptest! {
    #[test]
    fn a_search_finds_what_a_slow_reader_of_the_json_finds(asked in asked()) {
        let search = SecuritySearch::parse(&asked.written()).unwrap();
        for security in securities() {
            let seen = serde_json::to_value(SecurityVO::from_domain(&security)).unwrap();
            prop_assert_eq!(search.matches(&security), asked.holds(&seen), "{} of {}", asked.written(), seen);
        }
    }

    #[test]
    fn no_text_makes_it_stumble(text in "[a-z():=<>\"*\\\\ ä]{0,40}|(AND|OR|NOT|\\(|\\)| |id|>|1){0,20}") {
        if let Err(bad) = SecuritySearch::parse(&text) {
            prop_assert!((1..=text.chars().count() + 1).contains(&bad.at), "{:?}", bad);
        }
    }
}

#[test]
fn a_security_is_found_by_its_symbol_at_any_venue() {
    let symbols = [("MAIN", "BTCUSDT"), ("SPARE", "XBT")].map(|(venue, symbol)| (venue.into(), symbol.into()));
    let mut security = securities().remove(0);
    let finds = |query: &str, security: &Security| SecuritySearch::parse(query).unwrap().matches(security);
    assert!(!finds("venueSymbols:*", &security));
    security.venue_symbols = domain::VenueSymbols(symbols.into());
    let found = ["venueSymbols:xbt", "venueSymbols:BTC*", "venueSymbols:*", "venueSymbols:ETH"];
    assert_eq!(found.map(|query| finds(query, &security)), [true, true, true, false]);
}

/// Every key of the JSON is searchable.
#[test]
fn every_key_of_a_security_is_a_field() {
    for security in securities() {
        let Value::Object(keys) = serde_json::to_value(SecurityVO::from_domain(&security)).unwrap() else {
            panic!("a security is an object")
        };
        for key in keys.keys() {
            assert!(SecuritySearch::parse(&format!("{key}:*")).is_ok(), "{key}");
        }
    }
}
