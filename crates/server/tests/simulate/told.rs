//! What a run tells of money, of what was waited for in vain, and of how orders ended.

use std::fs;
use std::path::Path;

use expect_test::expect;
use serde_json::Value;

use super::{is_near, minutes, rialto, run_demo, said, text};

/// Closes of 10, 9, 8 and 20: the averages cross upwards at 20, and 100 are bought at the next open of 21. At 5 they cross
/// downwards: 200 are sold at 6, which leaves 100 short, and the last price is 4. By hand: 100 × (6 - 21) = -1500 are
/// realised, 100 × (6 - 4) = 200 are not, and fees of 0.001 × (2100 + 1200) = 3.3 come off both.
#[test]
fn what_is_still_held_is_told_apart_from_what_was_earned() {
    let (folder, plan) = minutes(&[10, 9, 8, 20, 21, 5, 6, 4], "", "100");
    let summary = said(&rialto(&["simulate", text(&plan)]));
    let results = folder.path().join("plan-results");
    let read = |name: &str| fs::read_to_string(results.join(name)).unwrap();
    assert_eq!(
        read("positions.csv"),
        "strategy,security,quantity,averagePrice,price,unrealizedPL\nMINE,AAPL,-100,6,4,200.0000\n"
    );
    let figures = &serde_json::from_str::<Value>(&read("results.json")).unwrap()["figures"];
    let told =
        ["realizedPL", "unrealizedPL", "netLiqValue", "costs", "traded"].map(|name| figures[name].as_f64().unwrap());
    is_near(&told, &[-1_500.0, 200.0, 998_696.7, 3.3, 3_300.0]);
    assert_eq!(
        read("days.csv"),
        "date,equity,return\n2024-12-31,1000000.0000,\n2025-01-01,998696.7000,-0.0013033000\n"
    );
    assert!(
        summary.contains("200.00 USD before costs, 1 position open") && summary.contains("-1500.00 USD before costs"),
        "{summary}"
    );
    assert!(!read("equity.csv").contains("-0.000000"));
    assert!(read("report.html").contains("<tr><th>AAPL</th><td>MINE</td><td>-100</td><td>6</td><td>4</td>"));
}

/// 100 SAP are bought at 21 EUR and stand at 25. A euro is 1.1 dollars, by bars of the pair, which have no bid and no offer.
#[test]
fn bars_of_a_forex_pair_are_a_rate() {
    let (folder, plan) = minutes(&[10, 9, 8, 20, 21, 25], "", "100");
    let rate = |place: i64| format!("{},1.1,1.1,1.1,1.1\n", 1_735_689_600_000 + place * 60_000);
    let rates: String = (0..6).map(rate).collect();
    fs::write(folder.path().join("eur.csv"), format!("dateTime,open,high,low,close\n{rates}")).unwrap();
    let pair = "[[data]]\nfile = 'eur.csv'\nsecurity = 'EUR.USD'\nkind = 'bar'\nbarSize = 'MIN_1'\n";
    let written = fs::read_to_string(&plan).unwrap().replace("AAPL", "SAP") + pair;
    fs::write(&plan, written).unwrap();
    said(&rialto(&["simulate", text(&plan)]));
    let results = fs::read_to_string(folder.path().join("plan-results/results.json")).unwrap();
    let figures = &serde_json::from_str::<Value>(&results).unwrap()["figures"];
    let told = ["realizedPL", "costs", "unrealizedPL"].map(|name| figures[name].as_f64().unwrap());
    is_near(&told, &[0.0, 0.001 * 2_100.0 * 1.1, 100.0 * 4.0 * 1.1]);
}

/// Closes that buy 100 at 21 and end at 25, once alone and once beside other data.
fn with_data_beside(symbol: &str, kind: &str, header: &str, row: &str) -> [Value; 2] {
    let alone = minutes(&[10, 9, 8, 20, 21, 25], "", "100");
    let beside = minutes(&[10, 9, 8, 20, 21, 25], "", "100");
    fs::write(beside.0.path().join("more.csv"), format!("{header}\n{row}\n")).unwrap();
    let more = format!("[[data]]\nfile = 'more.csv'\nsecurity = '{symbol}'\n{kind}\n");
    fs::write(&beside.1, fs::read_to_string(&beside.1).unwrap() + &more).unwrap();
    [alone, beside].map(|(folder, plan)| {
        said(&rialto(&["simulate", text(&plan)]));
        let results = fs::read_to_string(folder.path().join("plan-results/results.json")).unwrap();
        serde_json::from_str(&results).unwrap()
    })
}

/// SPX and CSPX are of another exchange, which another account reaches; an index cannot be bought at all.
#[test]
fn data_that_nobody_trades_brings_no_cash_that_would_thin_out_returns() {
    let bar = "dateTime,open,high,low,close";
    for symbol in ["SPX", "CSPX"] {
        let kind = "kind = 'bar'\nbarSize = 'MIN_1'";
        let [alone, beside] = with_data_beside(symbol, kind, bar, "1735689600000,5,5,5,5");
        for name in ["startValue", "netLiqValue", "totalReturn"] {
            assert_eq!(alone["figures"][name], beside["figures"][name], "{symbol} {name}");
        }
        assert_eq!(beside["settings"]["Cash"], "1000000 USD");
    }
}

/// Both exchanges are traded: each of the two accounts has its cash, and the report says so.
#[test]
fn the_report_says_how_many_accounts_began_with_cash() {
    let (folder, plan) = minutes(&[10, 9, 8, 20, 21, 25], "", "100");
    fs::copy(folder.path().join("bars.csv"), folder.path().join("more.csv")).unwrap();
    let more = "[[data]]\nfile = 'more.csv'\nsecurity = 'CSPX'\nkind = 'bar'\nbarSize = 'MIN_1'\n\
                [[strategy]]\nname = 'OTHER'\nsample = 'moving-average-cross'\n\
                parameters = { security = 'CSPX', prices = 'MIN_1' }\n";
    fs::write(&plan, fs::read_to_string(&plan).unwrap() + more).unwrap();
    said(&rialto(&["simulate", text(&plan)]));
    let results = fs::read_to_string(folder.path().join("plan-results/results.json")).unwrap();
    let results: Value = serde_json::from_str(&results).unwrap();
    assert_eq!(results["settings"]["Cash"], "2 × 1000000 USD");
    assert_eq!(results["figures"]["startValue"], 2_000_000.0);
}

#[test]
fn a_strategy_that_waits_for_what_the_data_does_not_have_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trades.csv"), "dateTime,price,quantity\n1735689600000,10,1\n").unwrap();
    let plan = folder.path().join("plan.toml");
    let lines = "[[data]]\nfile = 'trades.csv'\nsecurity = 'AAPL'\nkind = 'trade'\n\
                 [[strategy]]\nname = 'NEAR'\nsample = 'moving-average-cross'\n\
                 [[strategy]]\nname = 'FAR'\nsample = 'market-making'\nparameters = { security = 'MSFT' }\n";
    fs::write(&plan, lines).unwrap();
    let summary = said(&rialto(&["simulate", text(&plan)]));
    let told: Vec<&str> = summary.lines().filter_map(|line| line.trim().strip_prefix("unheard")).collect();
    let wanted = [
        "         NEAR waits for ticks of AAPL: the data has only trades of it",
        "         FAR waits for order books of MSFT: the data has nothing of it",
    ];
    assert_eq!(told, wanted, "{summary}");
    let page = fs::read_to_string(folder.path().join("plan-results/report.html")).unwrap();
    assert!(page.contains("FAR waits for order books of MSFT"));
}

/// The averages cross with the last bar, and no further open comes; the market maker takes its quotes back when it exits.
#[test]
fn the_table_of_orders_says_who_canceled() {
    let (folder, plan) = minutes(&[10, 9, 8, 20], "", "100");
    said(&rialto(&["simulate", text(&plan)]));
    assert_eq!(reasons(&folder.path().join("plan-results")), ["the data ended"]);
    let (folder, _) = run_demo("maker.toml");
    let told = reasons(folder.path());
    assert_eq!(told, ["by the strategy"; 2]);
}

/// Of orders that were canceled.
fn reasons(results: &Path) -> Vec<String> {
    let orders = fs::read_to_string(results.join("orders.csv")).unwrap();
    let canceled = orders.lines().filter_map(|line| line.split_once("CANCELED,"));
    canceled.map(|(_, reason)| reason.to_owned()).collect()
}

/// What a spreadsheet or a data vendor calls daily prices is a plan's data as it is.
#[test]
fn an_ordinary_file_of_daily_prices_is_simulated_and_its_orders_show_their_terms() {
    let folder = tempfile::tempdir().unwrap();
    let closes = [10, 9, 8, 12, 13, 14];
    let rows = closes
        .iter()
        .enumerate()
        .map(|(day, close)| format!("2022-01-{:02},{close},{close},{close},{close},5", day + 3));
    let rows: Vec<String> = rows.collect();
    fs::write(folder.path().join("daily.csv"), format!("Date,Open,High,Low,Close,Volume\n{}\n", rows.join("\n")))
        .unwrap();
    let plan = folder.path().join("plan.toml");
    let lines = "[[data]]\nfile = 'daily.csv'\nsecurity = 'AAPL'\nkind = 'bar'\nbarSize = 'DAY_1'\n[[strategy]]\nname = 'MINE'\n\
                 sample = 'moving-average-cross'\nparameters = { fast = 2, slow = 3, quantity = 100 }\n";
    fs::write(&plan, lines).unwrap();
    said(&rialto(&["simulate", text(&plan)]));
    let table = |name: &str| fs::read_to_string(folder.path().join("plan-results").join(name)).unwrap();
    expect![[r#"
        dateTime,ended,strategy,security,intId,side,orderType,limit,stop,tif,quantity,filled,averagePrice,status,reason
        1641513600000,1641513600000,MINE,AAPL,MINE-1-1,BUY,MarketOrder,,,DAY,100,100,13,EXECUTED,

        dateTime,strategy,security,intId,side,quantity,price,rule,extId,extDateTime,executionCommission,clearingCommission,fee,currency
        1641513600000,MINE,AAPL,MINE-1-1,BUY,100,13,next-bar-open,next-bar-open:SIMULATED-ALPHA-1,1641513600000,0.5,0.02,0.03,USD
    "#]].assert_eq(&format!("{}\n{}", table("orders.csv"), table("fills.csv")));
}

/// One ESH7 of 50 dollars a point is bought at 21 on its last day and stands at 25 when that ends; what is played afterwards is
/// AAPL alone. By hand: 50 × (25 - 21) = 200, less a fee of 0.001 × 21 × 50 = 1.05.
#[test]
fn a_future_that_expires_in_a_run_is_settled_as_it_would_be_live() {
    let (folder, plan) = minutes(&[10, 9, 8, 20, 21, 25], "", "1");
    let data = folder.path().join("bars.csv");
    // From 1 January 2025 to noon of 19 March 2027, the last day of the future.
    let moved = 807 * 86_400_000 + 12 * 3_600_000;
    let bars = fs::read_to_string(&data).unwrap();
    let later = |line: &str| {
        let (at, prices) = line.split_once(',').unwrap();
        at.parse::<i64>().map_or(line.to_owned(), |at| format!("{},{prices}", at + moved))
    };
    fs::write(&data, bars.lines().map(later).collect::<Vec<_>>().join("\n")).unwrap();
    let monday = 1_735_689_600_000_i64 + moved + 3 * 86_400_000;
    fs::write(folder.path().join("later.csv"), format!("dateTime,open,high,low,close\n{monday},5,5,5,5\n")).unwrap();
    let more = "[[data]]\nfile = 'later.csv'\nsecurity = 'AAPL'\nkind = 'bar'\nbarSize = 'MIN_1'\n";
    fs::write(&plan, fs::read_to_string(&plan).unwrap().replace("AAPL", "ESH7") + more).unwrap();
    let summary = said(&rialto(&["simulate", text(&plan)]));
    let read = |name: &str| fs::read_to_string(folder.path().join("plan-results").join(name)).unwrap();
    assert_eq!(read("positions.csv"), "strategy,security,quantity,averagePrice,price,unrealizedPL\n", "{summary}");
    let trades = read("trades.csv");
    let trip: Vec<&str> = trades.lines().nth(1).unwrap().split(',').skip(2).collect();
    assert_eq!(trip, ["MINE", "ESH7", "BUY", "1", "21.000000", "25.000000", "200.0000", "1.0500", "198.9500"]);
    let figures = &serde_json::from_str::<Value>(&read("results.json")).unwrap()["figures"];
    let told = ["realizedPL", "unrealizedPL", "costs"].map(|name| figures[name].as_f64().unwrap());
    is_near(&told, &[200.0, 0.0, 1.05]);
    let gained = figures["netLiqValue"].as_f64().unwrap() - figures["startValue"].as_f64().unwrap();
    is_near(&[gained], &[198.95]);
    let again = said(&rialto(&["simulate", text(&plan)]));
    assert_eq!(super::digest(&summary), super::digest(&again));
}
