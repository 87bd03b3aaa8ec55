//! Stories of the exchange in one line per step: what is asked, and what becomes of it.

use expect_test::{Expect, expect};

use super::*;
use crate::config::LabConfig;

const CONFIG: &str = r#"
    seed = 7
    [[symbols]]
    symbol = "BTCUSDT"
    base = "BTC"
    quote = "USDT"
    tickSize = "1"
    stepSize = "0.1"
    mid = "100"
    size = "1"
    [[symbols]]
    symbol = "BNBUSDT"
    base = "BNB"
    quote = "USDT"
    tickSize = "1"
    stepSize = "0.1"
    mid = "10"
    size = "1"
    [[accounts]]
    account = "A"
    balances = { USDT = "10000", BTC = "10" }
    [[accounts]]
    account = "B"
    paysInBnb = true
    balances = { USDT = "10000", BTC = "10", BNB = "1" }
"#;

fn exchange() -> SpotExchange {
    SpotExchange::open(LabConfig::load(Some(CONFIG), false, &[]).unwrap().setup, 1)
}

fn units(text: &str) -> Option<Units> {
    (text != "-").then(|| Units::parse(text).unwrap())
}

/// `A id BUY LIMIT GTC 0.1 @ 99`, with `- ` for what is absent and `stop 98`, `stp EXPIRE_BOTH` at the end.
fn new_order(line: &str) -> NewSpotOrder {
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |name: &str| words.iter().position(|word| *word == name).map(|place| words[place + 1]);
    NewSpotOrder {
        account: u32::from(words[0] == "B"),
        symbol: "BTCUSDT".to_owned(),
        client_id: Some(words[1].to_owned()),
        side: SpotSide::parse(words[2]).unwrap(),
        kind: SpotOrderType::parse(words[3]).unwrap(),
        time_in_force: SpotTimeInForce::parse(words[4]).unwrap(),
        quantity: units(words[5]),
        quote_quantity: after("for").and_then(units),
        price: after("@").and_then(units),
        stop_price: after("stop").and_then(units),
        prevention: after("stp").and_then(PreventionMode::parse).unwrap_or(PreventionMode::None),
        strategy_id: None,
        strategy_type: None,
        has_unique_id: false,
    }
}

fn command(line: &str) -> SpotCommand {
    let (verb, rest) = line.split_once(' ').unwrap();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let reference = || OrderReference {
        account: u32::from(words[0] == "B"),
        symbol: "BTCUSDT".to_owned(),
        order_id: None,
        client_id: Some(words[1].to_owned()),
    };
    match verb {
        "place" => SpotCommand::Place(new_order(rest)),
        "cancel" => SpotCommand::Cancel(CancelRequest { order: reference(), cancel_id: None, restriction: None }),
        "amend" => SpotCommand::Amend {
            order: reference(),
            quantity: units(words[2]).unwrap(),
            new_client_id: Some(words[1].to_owned()),
        },
        "replace" => {
            let after = |name: &str| words.iter().position(|word| *word == name).map(|place| words[place + 1]);
            SpotCommand::Replace(ReplaceRequest {
                order: reference(),
                new_client_id: words[2].to_owned(),
                quantity: units(words[3]).unwrap(),
                price: after("@").and_then(units),
                stop_price: after("stop").and_then(units),
            })
        }
        other => panic!("{other}"),
    }
}

fn short(units: Units) -> String {
    let text = units.to_string();
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn describe(event: &VenueEvent) -> Option<String> {
    match event {
        VenueEvent::Execution(report) => {
            let trade = report.trade.as_ref().map_or_else(String::new, |trade| {
                let role = if trade.is_maker { "maker" } else { "taker" };
                let fee = format!("fee {} {}", short(trade.commission), trade.commission_asset);
                format!(" {} @ {} {role} {fee}", short(trade.quantity), short(trade.price))
            });
            let order = &report.order;
            Some(format!("{} {} {}{trade}", order.client_id, report.kind.name(), order.status.name()))
        }
        _ => None,
    }
}

/// Runs the lines; after each what happened to clients' orders, at the end the balances.
fn check(story: &str, expected: &Expect) {
    let mut exchange = exchange();
    let mut told = String::new();
    for (line, at) in story.lines().map(str::trim).filter(|line| !line.is_empty()).zip(2..) {
        let applied = exchange.apply(&command(line), at);
        told.push_str(&format!("{line}\n"));
        if let Err(reject) = applied {
            told.push_str(&format!("  {} {}\n", reject.code, reject.text));
        }
        for event in exchange.take_events().iter().filter_map(describe) {
            told.push_str(&format!("  {event}\n"));
        }
    }
    for account in &exchange.accounts {
        let balance = |(asset, balance): (&String, &account::SpotBalance)| {
            format!("{asset} {} + {}", short(balance.free), short(balance.locked))
        };
        let balances: Vec<_> = account.balances.iter().map(balance).collect();
        told.push_str(&format!("{}: {}\n", account.rules.name, balances.join(", ")));
    }
    expected.assert_eq(&told);
}

#[test]
fn a_limit_order_rests_trades_and_pays_in_what_it_receives_or_in_bnb() {
    check(
        "
        place A bid BUY LIMIT GTC 0.5 @ 100
        place B hit SELL LIMIT IOC 0.2 @ 100
        place B big SELL LIMIT FOK 9 @ 98
        amend A bid 0.3
        amend A bid 0.4
        cancel A bid
        cancel A bid
        ",
        &expect![[r#"
            place A bid BUY LIMIT GTC 0.5 @ 100
              bid NEW NEW
            place B hit SELL LIMIT IOC 0.2 @ 100
              hit NEW NEW
              bid TRADE PARTIALLY_FILLED 0.2 @ 100 maker fee 0.0002 BTC
              hit TRADE FILLED 0.2 @ 100 taker fee 0.0015 BNB
            place B big SELL LIMIT FOK 9 @ 98
              big NEW NEW
              big EXPIRED EXPIRED
            amend A bid 0.3
              bid REPLACED PARTIALLY_FILLED
            amend A bid 0.4
              -2038 Order amend (quantity increase) is not supported.
            cancel A bid
              bid CANCELED CANCELED
            cancel A bid
              -2011 Unknown order sent.
            A: BTC 10.1998 + 0, USDT 9980 + 0
            B: BNB 0.9985 + 0, BTC 9.8 + 0, USDT 10020 + 0
        "#]],
    );
}

#[test]
fn market_orders_take_the_book_by_quantity_or_by_amount() {
    check(
        "
        place A one BUY MARKET GTC 1.5
        place A amount BUY MARKET GTC - for 250
        place A all SELL MARKET GTC 9
        place B sweep BUY MARKET GTC 80
        place A short SELL LIMIT GTC 50 @ 100
        ",
        &expect![[r#"
            place A one BUY MARKET GTC 1.5
              one NEW NEW
              one TRADE PARTIALLY_FILLED 1 @ 101 taker fee 0.001 BTC
              one TRADE FILLED 0.5 @ 102 taker fee 0.0005 BTC
            place A amount BUY MARKET GTC - for 250
              amount NEW NEW
              amount TRADE PARTIALLY_FILLED 1.5 @ 102 taker fee 0.0015 BTC
              amount TRADE FILLED 0.9 @ 103 taker fee 0.0009 BTC
            place A all SELL MARKET GTC 9
              all NEW NEW
              all TRADE PARTIALLY_FILLED 1 @ 99 taker fee 0.099 USDT
              all TRADE PARTIALLY_FILLED 2 @ 98 taker fee 0.196 USDT
              all TRADE PARTIALLY_FILLED 3 @ 97 taker fee 0.291 USDT
              all TRADE FILLED 3 @ 96 taker fee 0.288 USDT
            place B sweep BUY MARKET GTC 80
              sweep NEW NEW
              sweep TRADE PARTIALLY_FILLED 2.1 @ 103 taker fee 0.0162225 BNB
              sweep TRADE PARTIALLY_FILLED 4 @ 104 taker fee 0.0312 BNB
              sweep TRADE PARTIALLY_FILLED 5 @ 105 taker fee 0.039375 BNB
              sweep TRADE PARTIALLY_FILLED 6 @ 106 taker fee 0.0477 BNB
              sweep TRADE PARTIALLY_FILLED 7 @ 107 taker fee 0.056175 BNB
              sweep TRADE PARTIALLY_FILLED 8 @ 108 taker fee 0.0648 BNB
              sweep TRADE PARTIALLY_FILLED 9 @ 109 taker fee 0.073575 BNB
              sweep TRADE PARTIALLY_FILLED 10 @ 110 taker fee 0.0825 BNB
              sweep EXPIRED EXPIRED
            place A short SELL LIMIT GTC 50 @ 100
              -2010 Account has insufficient balance for requested action.
            A: BTC 4.8961 + 0, USDT 10475.426 + 0
            B: BNB 0.5884525 + 0, BTC 61.1 + 0, USDT 4512.7 + 0
        "#]],
    );
}

#[test]
fn stops_wait_for_the_last_price_and_reserve_what_they_need() {
    check(
        "
        place A fall SELL STOP_LOSS GTC 1 stop 98
        place A limit SELL STOP_LOSS_LIMIT GTC 1 @ 97 stop 98
        place A rise BUY STOP_LOSS GTC 1 stop 104
        place A profit SELL TAKE_PROFIT GTC 1 stop 103
        place A now SELL STOP_LOSS GTC 1 stop 101
        place B push SELL LIMIT IOC 5 @ 98
        ",
        &expect![[r#"
            place A fall SELL STOP_LOSS GTC 1 stop 98
              fall NEW NEW
            place A limit SELL STOP_LOSS_LIMIT GTC 1 @ 97 stop 98
              limit NEW NEW
            place A rise BUY STOP_LOSS GTC 1 stop 104
              rise NEW NEW
            place A profit SELL TAKE_PROFIT GTC 1 stop 103
              profit NEW NEW
            place A now SELL STOP_LOSS GTC 1 stop 101
              -2010 Order would trigger immediately.
            place B push SELL LIMIT IOC 5 @ 98
              push NEW NEW
              push TRADE PARTIALLY_FILLED 1 @ 99 taker fee 0.007425 BNB
              push TRADE PARTIALLY_FILLED 2 @ 98 taker fee 0.0147 BNB
              push EXPIRED EXPIRED
              fall NEW NEW
              fall TRADE FILLED 1 @ 97 taker fee 0.097 USDT
              limit NEW NEW
              limit TRADE FILLED 1 @ 97 taker fee 0.097 USDT
            A: BTC 7 + 1, USDT 10193.806 + 0
            B: BNB 0.977875 + 0, BTC 7 + 0, USDT 10295 + 0
        "#]],
    );
}

#[test]
fn an_account_does_not_trade_with_itself_where_it_asks_not_to() {
    check(
        "
        place A offer SELL LIMIT GTC 0.5 @ 100
        place A taker BUY LIMIT GTC 0.2 @ 100 stp EXPIRE_TAKER
        place A both BUY LIMIT GTC 0.2 @ 100 stp EXPIRE_BOTH
        place A again SELL LIMIT GTC 0.5 @ 100
        place A maker BUY LIMIT GTC 0.2 @ 100 stp EXPIRE_MAKER
        place A none SELL LIMIT GTC 0.2 @ 100
        ",
        &expect![[r#"
            place A offer SELL LIMIT GTC 0.5 @ 100
              offer NEW NEW
            place A taker BUY LIMIT GTC 0.2 @ 100 stp EXPIRE_TAKER
              taker NEW NEW
              taker TRADE_PREVENTION EXPIRED_IN_MATCH
            place A both BUY LIMIT GTC 0.2 @ 100 stp EXPIRE_BOTH
              both NEW NEW
              offer TRADE_PREVENTION EXPIRED_IN_MATCH
              both TRADE_PREVENTION EXPIRED_IN_MATCH
            place A again SELL LIMIT GTC 0.5 @ 100
              again NEW NEW
            place A maker BUY LIMIT GTC 0.2 @ 100 stp EXPIRE_MAKER
              maker NEW NEW
              again TRADE_PREVENTION EXPIRED_IN_MATCH
            place A none SELL LIMIT GTC 0.2 @ 100
              none NEW NEW
              maker TRADE FILLED 0.2 @ 100 maker fee 0.0002 BTC
              none TRADE FILLED 0.2 @ 100 taker fee 0.02 USDT
            A: BTC 9.9998 + 0, USDT 9999.98 + 0
            B: BNB 1 + 0, BTC 10 + 0, USDT 10000 + 0
        "#]],
    );
}

#[test]
fn with_decrement_both_orders_lose_what_would_have_traded_and_the_larger_one_goes_on() {
    check(
        "
        place A offer SELL LIMIT GTC 0.5 @ 100
        place B behind SELL LIMIT GTC 0.3 @ 100
        place A less BUY LIMIT GTC 0.2 @ 100 stp DECREMENT
        place A more BUY LIMIT GTC 0.5 @ 100 stp DECREMENT
        place A last SELL LIMIT GTC 0.4 @ 100
        place A equal BUY LIMIT GTC 0.5 @ 100 stp DECREMENT
        ",
        &expect![[r#"
            place A offer SELL LIMIT GTC 0.5 @ 100
              offer NEW NEW
            place B behind SELL LIMIT GTC 0.3 @ 100
              behind NEW NEW
            place A less BUY LIMIT GTC 0.2 @ 100 stp DECREMENT
              less NEW NEW
              offer TRADE_PREVENTION NEW
              less TRADE_PREVENTION EXPIRED_IN_MATCH
            place A more BUY LIMIT GTC 0.5 @ 100 stp DECREMENT
              more NEW NEW
              offer TRADE_PREVENTION EXPIRED_IN_MATCH
              more TRADE_PREVENTION NEW
              behind TRADE PARTIALLY_FILLED 0.2 @ 100 maker fee 0.0015 BNB
              more TRADE FILLED 0.2 @ 100 taker fee 0.0002 BTC
            place A last SELL LIMIT GTC 0.4 @ 100
              last NEW NEW
            place A equal BUY LIMIT GTC 0.5 @ 100 stp DECREMENT
              equal NEW NEW
              behind TRADE FILLED 0.1 @ 100 maker fee 0.00075 BNB
              equal TRADE PARTIALLY_FILLED 0.1 @ 100 taker fee 0.0001 BTC
              last TRADE_PREVENTION EXPIRED_IN_MATCH
              equal TRADE_PREVENTION EXPIRED_IN_MATCH
            A: BTC 10.2997 + 0, USDT 9970 + 0
            B: BNB 0.99775 + 0, BTC 9.7 + 0, USDT 10030 + 0
        "#]],
    );
}

#[test]
fn a_client_id_is_free_again_when_its_order_has_ended() {
    check(
        "
        place A same BUY LIMIT GTC 0.5 @ 90
        place A same BUY LIMIT GTC 0.5 @ 90
        place B same BUY LIMIT GTC 0.5 @ 90
        cancel A same
        place A same BUY LIMIT GTC 0.5 @ 90
        place A taker BUY LIMIT_MAKER GTC 0.5 @ 105
        ",
        &expect![[r#"
            place A same BUY LIMIT GTC 0.5 @ 90
              same NEW NEW
            place A same BUY LIMIT GTC 0.5 @ 90
              -2010 Duplicate order sent.
            place B same BUY LIMIT GTC 0.5 @ 90
              same NEW NEW
            cancel A same
              same CANCELED CANCELED
            place A same BUY LIMIT GTC 0.5 @ 90
              same NEW NEW
            place A taker BUY LIMIT_MAKER GTC 0.5 @ 105
              -2010 Order would immediately match and take.
            A: BTC 10 + 0, USDT 9955 + 45
            B: BNB 1 + 0, BTC 10 + 0, USDT 9955 + 45
        "#]],
    );
}

#[test]
fn nothing_is_made_and_nothing_is_lost() {
    let mut exchange = exchange();
    let mut rng = domain::SeededRng::new(11, 3);
    for at in 2..3_000_i64 {
        let mut pick = |bound: u64| rng.below(bound);
        let account = ["A", "B"][usize::from(pick(2) == 1)];
        let side = ["BUY", "SELL"][usize::from(pick(2) == 1)];
        let (lots, price) = (1 + pick(20), 95 + pick(11));
        let quantity = format!("{}.{}", lots / 10, lots % 10);
        let line = match pick(6) {
            0 => format!("cancel {account} {}", pick(30)),
            1 => format!("amend {account} {} {quantity}", pick(30)),
            2 => format!("place {account} {} {side} MARKET GTC {quantity}", pick(30)),
            3 => format!("place {account} {} {side} LIMIT IOC {quantity} @ {price} stp EXPIRE_BOTH", pick(30)),
            4 => format!("place {account} {} {side} STOP_LOSS_LIMIT GTC {quantity} @ {price} stop {price}", pick(30)),
            _ => format!("place {account} {} {side} LIMIT GTC {quantity} @ {price} stp EXPIRE_MAKER", pick(30)),
        };
        let _ = exchange.apply(&command(&line), at);
        let _ = exchange.apply(&SpotCommand::Act { symbol: 0 }, at);
        exchange.take_events();
        check_balances(&exchange, &line);
    }
    let trades: usize = exchange.markets[0].account_trades.values().map(Vec::len).sum();
    assert!(trades > 200, "{trades} trades are too few to show anything");
}

/// Balances follow from deposits and trades; what is locked follows from open orders.
fn check_balances(exchange: &SpotExchange, line: &str) {
    for (account, index) in exchange.accounts.iter().zip(0..) {
        for (asset, balance) in &account.balances {
            assert!(balance.free.0 >= 0 && balance.locked.0 >= 0, "{line}: {asset} {balance:?}");
            let mut total = account.rules.deposits.get(asset).map_or(0, |deposit| deposit.0);
            let mut locked = 0;
            for market in &exchange.markets {
                let sign = |is_in: bool| if is_in { 1 } else { -1 };
                for trade in market.account_trades.get(&index).into_iter().flatten() {
                    total += if market.rules.base == *asset { sign(trade.is_buyer) * trade.quantity.0 } else { 0 };
                    total -= if market.rules.quote == *asset { sign(trade.is_buyer) * trade.quote.0 } else { 0 };
                    total -= if trade.commission_asset == *asset { trade.commission.0 } else { 0 };
                }
                for order in market.open_orders(index) {
                    let pays = if order.side == SpotSide::Buy { &market.rules.quote } else { &market.rules.base };
                    locked += if pays == asset { order.locked.0 } else { 0 };
                }
            }
            assert_eq!((balance.free.0 + balance.locked.0, balance.locked.0), (total, locked), "{line}: {asset}");
        }
    }
}

/// It keeps its id and what it has executed; under a better price it trades, and what it cannot be is refused.
#[test]
fn an_order_is_replaced_under_its_own_id() {
    check(
        "place A a BUY LIMIT GTC 1 @ 90
         replace A a b 0.5 @ 90
         replace A b c 2 @ 101
         replace A c d 0.5 @ 101
         replace A c a 3 @ 95
         replace A c d 3 @ 5000
         replace A c d 3 @ 95
         replace A a e 3 @ 95
         place A s SELL STOP_LOSS_LIMIT GTC 1 @ 80 stop 85
         replace A s t 2 @ 81 stop 86
         cancel A t
         cancel A d",
        &expect![[r#"
            place A a BUY LIMIT GTC 1 @ 90
              a NEW NEW
            replace A a b 0.5 @ 90
              b REPLACED NEW
            replace A b c 2 @ 101
              c REPLACED NEW
              c TRADE PARTIALLY_FILLED 1 @ 101 taker fee 0.001 BTC
            replace A c d 0.5 @ 101
              -2038 The new quantity is not more than what is executed.
            replace A c a 3 @ 95
              -2010 Duplicate order sent.
            replace A c d 3 @ 5000
              -1013 Filter failure: PERCENT_PRICE_BY_SIDE
            replace A c d 3 @ 95
              d REPLACED PARTIALLY_FILLED
            replace A a e 3 @ 95
              -2011 Unknown order sent.
            place A s SELL STOP_LOSS_LIMIT GTC 1 @ 80 stop 85
              s NEW NEW
            replace A s t 2 @ 81 stop 86
              t REPLACED NEW
            cancel A t
              t CANCELED CANCELED
            cancel A d
              d CANCELED CANCELED
            A: BTC 10.999 + 0, USDT 9899 + 0
            B: BNB 1 + 0, BTC 10 + 0, USDT 10000 + 0
        "#]],
    );
}

#[test]
fn the_average_price_is_that_of_the_last_five_minutes_or_the_last_price() {
    const MINUTE: i64 = 60_000_000;
    let mut exchange = exchange();
    let market = &mut exchange.markets[0];
    for (minute, price) in [(1, "110"), (4, "120"), (7, "130")] {
        let (price, quantity) = (Units::parse(price).unwrap(), Units::ONE);
        let time_micros = minute * MINUTE;
        let trade =
            PublicTrade { id: 0, aggregate_id: 0, price, quantity, quote: price, buyer_is_maker: false, time_micros };
        market.add_trade(trade);
    }
    let average = |minute: i64| short(market.average_price(minute * MINUTE));
    assert_eq!([7, 9, 10, 12, 13].map(average), ["125", "125", "130", "130", "130"]);
}
