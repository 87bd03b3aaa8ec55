//! Error codes: what each means for a request, whatever its status.

use adapter_binance::protocol::error_codes::{ERROR_CODES, ErrorMeaning, meaning_of, meaning_of_status};
use adapter_binance::protocol::refusal_codes::{is_about_listing, refusal_code};
use expect_test::expect;

#[test]
fn every_code_has_one_meaning() {
    let mut codes: Vec<_> = ERROR_CODES.iter().map(|known| known.code).collect();
    codes.dedup();
    assert_eq!(codes.len(), ERROR_CODES.len());
    assert!(codes.is_sorted_by(|a, b| a > b));
    let of = |meaning: ErrorMeaning| {
        let names: Vec<_> =
            ERROR_CODES.iter().filter(|known| known.meaning == meaning).map(|known| known.code.to_string()).collect();
        format!("{meaning:?}: {}\n", names.join(" "))
    };
    use ErrorMeaning::{
        AlreadySubscribed, Archived, Clock, Duplicate, HalfDone, Key, NoSuchOrder, RateLimited, Refused, Unknown,
    };
    let all =
        [Unknown, Refused, NoSuchOrder, Duplicate, RateLimited, Clock, Key, HalfDone, Archived, AlreadySubscribed];
    let lines: String = all.into_iter().map(of).collect();
    expect![[r#"
        Unknown: -1000 -1001 -1006 -1007 -1008 -1016
        Refused: -1013 -1014 -1020 -1100 -1101 -1102 -1103 -1104 -1105 -1106 -1108 -1111 -1112 -1114 -1115 -1116 -1117 -1118 -1119 -1121 -1122 -1127 -1128 -1130 -1135 -1145 -1220 -2010 -2011 -2022 -2036 -2038 -2039
        NoSuchOrder: -2013
        Duplicate: 
        RateLimited: -1003 -1015 -1034
        Clock: -1021
        Key: -1002 -1022 -2014 -2015
        HalfDone: -2021
        Archived: -2026
        AlreadySubscribed: -2035
    "#]].assert_eq(&lines);
}

#[test]
fn a_server_error_is_unknown_whatever_its_code_says() {
    for known in ERROR_CODES {
        assert_eq!(meaning_of(500, known.code, "x"), ErrorMeaning::Unknown, "{}", known.code);
        assert_eq!(meaning_of(503, known.code, "Duplicate order sent."), ErrorMeaning::Unknown, "{}", known.code);
        assert_eq!(meaning_of(429, known.code, "x"), ErrorMeaning::RateLimited, "{}", known.code);
    }
}

#[test]
fn a_message_may_say_more_than_its_code() {
    assert_eq!(meaning_of(400, -2010, "Duplicate order sent."), ErrorMeaning::Duplicate);
    assert_eq!(meaning_of(400, -2010, "Market is closed."), ErrorMeaning::Refused);
    assert_eq!(meaning_of(400, -2011, "Unknown order sent."), ErrorMeaning::NoSuchOrder);
    assert_eq!(meaning_of(400, -2011, "Order was not canceled due to cancel restrictions."), ErrorMeaning::Refused);
    assert_eq!(meaning_of(400, -1121, "Unknown order sent."), ErrorMeaning::Refused);
}

#[test]
fn without_a_known_code_the_status_decides() {
    let statuses = [200, 301, 400, 401, 403, 404, 408, 409, 418, 429, 451, 500, 502, 503, 504, 599];
    let lines: String = statuses
        .iter()
        .map(|status| {
            let meaning = meaning_of_status(*status);
            assert_eq!(meaning_of(*status, -9999, ""), meaning);
            format!("{status} {meaning:?}\n")
        })
        .collect();
    expect![[r#"
        200 Unknown
        301 Unknown
        400 Refused
        401 Key
        403 Refused
        404 Refused
        408 Unknown
        409 HalfDone
        418 RateLimited
        429 RateLimited
        451 Refused
        500 Unknown
        502 Unknown
        503 Unknown
        504 Unknown
        599 Unknown
    "#]]
    .assert_eq(&lines);
}

#[test]
fn a_refusal_has_a_stable_code_before_the_venue_s_words() {
    let messages = [
        (-1013, "Filter failure: PRICE_FILTER"),
        (-1013, "Filter failure: PERCENT_PRICE_BY_SIDE"),
        (-1013, "Filter failure: LOT_SIZE"),
        (-1013, "Filter failure: MARKET_LOT_SIZE"),
        (-1013, "Filter failure: MIN_NOTIONAL"),
        (-1013, "Filter failure: NOTIONAL"),
        (-1013, "Filter failure: ICEBERG_PARTS"),
        (-1013, "Filter failure: MAX_NUM_ORDERS"),
        (-1013, "Filter failure: EXCHANGE_MAX_NUM_ALGO_ORDERS"),
        (-1013, "Filter failure: MAX_POSITION"),
        (-1013, "Filter failure: OF_TOMORROW"),
        (-1121, "Invalid symbol."),
        (-2010, "Market is closed."),
        (-2010, "Account has insufficient balance for requested action."),
        (-2010, "Order would immediately match and take."),
        (-2010, "Stop price would trigger immediately."),
        (-2011, "Unknown order sent."),
        (-1015, "Too many new orders; current limit is 50 orders per 10 SECOND."),
        (-1021, "Timestamp for this request is outside of the recvWindow."),
        (-2015, "Invalid API-key, IP, or permissions for action."),
        (-1102, "Mandatory parameter 'symbol' was not sent."),
    ];
    let line = |(code, message): (i64, &str)| {
        let refusal = refusal_code(Some(code), meaning_of(400, code, message), message);
        let again = if is_about_listing(code, message) { ", the list is looked at" } else { "" };
        format!("{code} {message}: {refusal}{again}\n")
    };
    let lines: String = messages.into_iter().map(line).collect();
    expect![[r#"
        -1013 Filter failure: PRICE_FILTER: venue-price, the list is looked at
        -1013 Filter failure: PERCENT_PRICE_BY_SIDE: venue-price, the list is looked at
        -1013 Filter failure: LOT_SIZE: venue-quantity, the list is looked at
        -1013 Filter failure: MARKET_LOT_SIZE: venue-quantity, the list is looked at
        -1013 Filter failure: MIN_NOTIONAL: venue-notional, the list is looked at
        -1013 Filter failure: NOTIONAL: venue-notional, the list is looked at
        -1013 Filter failure: ICEBERG_PARTS: venue-property
        -1013 Filter failure: MAX_NUM_ORDERS: venue-open-orders
        -1013 Filter failure: EXCHANGE_MAX_NUM_ALGO_ORDERS: venue-open-orders
        -1013 Filter failure: MAX_POSITION: venue-position
        -1013 Filter failure: OF_TOMORROW: venue-refused
        -1121 Invalid symbol.: venue-unlisted, the list is looked at
        -2010 Market is closed.: venue-halted, the list is looked at
        -2010 Account has insufficient balance for requested action.: venue-balance
        -2010 Order would immediately match and take.: venue-post-only
        -2010 Stop price would trigger immediately.: venue-trigger
        -2011 Unknown order sent.: venue-unknown-order
        -1015 Too many new orders; current limit is 50 orders per 10 SECOND.: venue-rate
        -1021 Timestamp for this request is outside of the recvWindow.: venue-clock
        -2015 Invalid API-key, IP, or permissions for action.: venue-key
        -1102 Mandatory parameter 'symbol' was not sent.: venue-refused
    "#]]
    .assert_eq(&lines);
}
