//! Simulation Mode as a shell sees it: plans and data in, summaries and reports out. The results of the demo's plans are
//! golden: a change of the engine, of a fill rule or of a figure shows here.

// The lint knows test functions only, not what they share.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::{expect, expect_file};
use serde_json::Value;

/// What a run tells of money, of what was waited for in vain, and of how orders ended.
mod told;

fn rialto(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rialto")).args(words).env_clear().output().unwrap()
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn refused(words: &[&str]) -> String {
    let output = rialto(words);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

fn demo(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/simulation").join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The digest that a run prints last.
fn digest(summary: &str) -> &str {
    summary.lines().next_back().and_then(|line| line.strip_prefix("digest: ")).expect("the last line is the digest")
}

fn run_demo(plan: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let summary = said(&rialto(&["simulate", text(&demo(plan)), "--out", text(folder.path())]));
    (folder, summary)
}

#[test]
fn the_demo_of_trends_comes_out_as_it_always_did() {
    let (folder, summary) = run_demo("trend.toml");
    let results = fs::read_to_string(folder.path().join("results.json")).unwrap();
    expect_file!["../../../../contract/simulation/trend.json"].assert_eq(&results);
    let (_, again) = run_demo("trend.toml");
    assert_eq!(digest(&summary), digest(&again));
    assert!(results.contains(digest(&summary)));
}

#[test]
fn the_demo_of_market_making_comes_out_as_it_always_did() {
    let (folder, _) = run_demo("maker.toml");
    let results = fs::read_to_string(folder.path().join("results.json")).unwrap();
    expect_file!["../../../../contract/simulation/maker.json"].assert_eq(&results);
    let fills = fs::read_to_string(folder.path().join("fills.csv")).unwrap();
    assert!(fills.lines().skip(1).all(|line| line.contains(",queue-position,")), "{fills}");
}

#[test]
fn every_order_is_listed_once_with_how_it_ended() {
    let (folder, summary) = run_demo("maker.toml");
    let orders = fs::read_to_string(folder.path().join("orders.csv")).unwrap();
    let rows: Vec<Vec<&str>> = orders.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let names: BTreeSet<&str> = rows.iter().map(|row| row[4]).collect();
    assert_eq!((rows.len(), names.len()), (591, 591));
    let unfilled = rows.iter().filter(|row| row[11] == "0").count();
    assert!(rows.iter().all(|row| row[11] != "0" || row[13] != "EXECUTED"), "{orders}");
    assert!(summary.contains(&format!("{unfilled} orders ended unfilled; orders.csv tells why")), "{summary}");
    assert!(summary.contains("591: 589 executed, 2 canceled"), "{summary}");
}

/// A plan of minute bars of AAPL with one trend, in a folder of its own.
fn minutes(closes: &[i64], more: &str, quantity: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let row = |(place, close): (usize, &i64)| {
        format!("{},{close},{close},{close},{close}\n", 1_735_689_600_000 + place as i64 * 60_000)
    };
    let rows: String = closes.iter().enumerate().map(row).collect();
    fs::write(folder.path().join("bars.csv"), format!("dateTime,open,high,low,close\n{rows}")).unwrap();
    let plan = folder.path().join("plan.toml");
    let lines = format!(
        "{more}\n[market]\nfeeRate = 0.001\n[[data]]\nfile = 'bars.csv'\nsecurity = 'AAPL'\nkind = 'bar'\n\
         barSize = 'MIN_1'\n[[strategy]]\nname = 'MINE'\nsample = 'moving-average-cross'\n\
         parameters = {{ fast = 2, slow = 3, quantity = {quantity} }}\n"
    );
    fs::write(&plan, lines).unwrap();
    (folder, plan)
}

#[test]
fn a_run_whose_orders_are_all_refused_says_how_many_and_why() {
    let (_folder, plan) = minutes(&[10, 9, 8, 20, 21, 5, 6, 4], "", "0.5");
    let summary = said(&rialto(&["simulate", text(&plan)]));
    let wanted = [
        "  orders          0",
        "  refused         2 times not-a-multiple",
        "  first refused   2025-01-01T00:04:00Z MINE: not-a-multiple: quantity 0.5 is not a multiple of 1",
        "no order was taken: 2 were refused, the first reason stands above",
    ];
    let told: Vec<&str> = summary.lines().filter(|line| wanted.contains(line)).collect();
    assert_eq!(told, wanted, "{summary}");
}

#[test]
fn a_limit_that_refuses_is_named_with_the_strategy_that_has_it() {
    let folder = tempfile::tempdir().unwrap();
    said(&rialto(&["simulate", "generate", text(&folder.path().join("ticks.csv")), "--rows", "50"]));
    let plan = folder.path().join("plan.toml");
    let lines = "ordersPerSecond = 1\n[[data]]\nfile = 'ticks.csv'\nsecurity = 'AAPL'\nkind = 'tick'\n\
                 [[strategy]]\nname = 'FLOODER'\nsample = 'flooder'\n";
    fs::write(&plan, lines).unwrap();
    let summary =
        said(&Command::new(misbehaving_strategies()).args(["simulate", text(&plan)]).env_clear().output().unwrap());
    let wanted =
        "  first refused   2025-01-01T00:00:00.2Z FLOODER: order-rate: 2 is above the limit of 1 for strategy FLOODER";
    assert!(summary.lines().any(|line| line == wanted), "{summary}");
}

#[test]
fn the_warm_up_ends_at_the_very_start() {
    let (folder, plan) = minutes(&[10, 9, 8, 20, 21, 5, 6, 4], "start = 2025-01-01T00:03:30Z", "100");
    said(&rialto(&["simulate", text(&plan)]));
    let results = folder.path().join("plan-results");
    let document: Value = serde_json::from_str(&fs::read_to_string(results.join("results.json")).unwrap()).unwrap();
    assert_eq!(document["figures"]["from"].as_i64(), Some(1_735_689_600_000 + 210_000));
    // The bar that spans the start closes at minute four and crosses: it is told, and traded upon, then.
    let fills = fs::read_to_string(results.join("fills.csv")).unwrap();
    let first: Vec<&str> = fills.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((first[0], first[6], first[9]), ("1735689840000", "21", "1735689840000"));
}

fn misbehaving_strategies() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("examples/misbehaving_strategies")
}

/// The hanger never returns from its first price.
#[test]
fn an_interrupted_run_leaves_nothing_even_when_a_strategy_does_not_let_go() {
    let folder = tempfile::tempdir().unwrap();
    said(&rialto(&["simulate", "generate", text(&folder.path().join("ticks.csv")), "--rows", "50"]));
    let plan = folder.path().join("plan.toml");
    let lines = "output = 'deep/results'\n[[data]]\nfile = 'ticks.csv'\nsecurity = 'AAPL'\nkind = 'tick'\n\
                 [[strategy]]\nname = 'STUCK'\nsample = 'hanger'\n";
    fs::write(&plan, lines).unwrap();
    let mut run = Command::new(misbehaving_strategies());
    let run = run.args(["simulate", text(&plan)]).env_clear().stderr(std::process::Stdio::piped()).spawn().unwrap();
    // The table of fills is opened when trading begins.
    let fills = folder.path().join(format!("deep/results/.unfinished-{}/fills.csv", run.id()));
    while !fills.exists() {
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    let ended = run.wait_with_output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{told}");
    let is_told = told.contains("interrupted at 20") || told.contains("interrupted before the first price");
    assert!(is_told && told.contains("no results were written"), "{told}");
    assert!(!folder.path().join("deep").exists());
}

#[test]
fn what_makes_no_sense_on_the_command_line_or_in_a_plan_is_refused_with_the_reason() {
    let (folder, plan) = minutes(&[10, 9], "start = 2025-01-02\nend = 2025-01-01\nriskFreeRate = 5", "1");
    let written = fs::read_to_string(&plan).unwrap().replace("0.001", "5");
    fs::write(&plan, written).unwrap();
    expect![[r#"
        rialto: the configuration can't be used:
          end: 2025-01-01T00:00:00Z is not after start, which is 2025-01-02T00:00:00Z
          riskFreeRate: 5 is 500 % a year, and not from -0.5 to 0.5
          market.feeRate: 5 is 500 % of the traded value, more than 0.1
    "#]]
    .assert_eq(&refused(&["simulate", text(&plan)]));
    expect![[r#"
        rialto: --strategies goes with --from-journal; a plan names its strategies itself
    "#]]
    .assert_eq(&refused(&["simulate", "--strategies", text(&plan)]));
    let file = folder.path().join("none.csv");
    expect![[r#"
        rialto: --rows must be above 0: a file without prices is none that a simulation could play
    "#]]
    .assert_eq(&refused(&["simulate", "generate", text(&file), "--rows", "0"]));
    assert!(!file.exists());
}

#[test]
fn a_year_that_no_instant_reaches_is_refused_wherever_it_stands() {
    let (folder, plan) = minutes(&[10, 9], "end = 1600-01-01", "1");
    expect![[r#"
        rialto: the configuration can't be used:
          end: '1600-01-01': its year is not from 1678 to 2261
    "#]]
    .assert_eq(&refused(&["simulate", text(&plan)]));
    let written = fs::read_to_string(&plan).unwrap().replace("end = 1600-01-01", "");
    fs::write(&plan, written).unwrap();
    fs::write(folder.path().join("bars.csv"), "dateTime,open,high,low,close\n9999-03-03T10:00:00Z,1,1,1,1\n").unwrap();
    expect![[r#"
        rialto: bars.csv line 2, column dateTime: '9999-03-03T10:00:00Z': its year is not from 1678 to 2261
    "#]]
    .assert_eq(&refused(&["simulate", text(&plan)]));
    let file = folder.path().join("none.csv");
    let generate = ["simulate", "generate", text(&file)];
    let far = refused(&[&generate[..], &["--from", "9999-01-01T00:00:00Z"]].concat());
    assert!(far.contains("its year is not from 1678 to 2261"), "{far}");
    expect![[r#"
        rialto: --rows 90000: the last row cannot be: its year is not from 1678 to 2261
    "#]]
    .assert_eq(&refused(&[&generate[..], &["--kind", "DAY_1", "--rows", "90000"]].concat()));
    assert!(!file.exists());
}

#[test]
fn prices_that_come_twice_are_refused_whether_from_one_file_or_from_two() {
    let (folder, plan) = minutes(&[10, 9, 8], "", "1");
    let more = |file: &str| format!("[[data]]\nfile = '{file}'\nsecurity = 'AAPL'\nkind = 'bar'\nbarSize = 'MIN_1'\n");
    let alone = fs::read_to_string(&plan).unwrap();
    fs::write(&plan, alone.clone() + &more("bars.csv")).unwrap();
    expect![[r#"
        rialto: the configuration can't be used:
          data: bars.csv is there twice, for the same security and as the same kind
    "#]]
    .assert_eq(&refused(&["simulate", text(&plan)]));
    fs::copy(folder.path().join("bars.csv"), folder.path().join("copy.csv")).unwrap();
    fs::write(&plan, alone + &more("copy.csv")).unwrap();
    expect![[r#"
        rialto: copy.csv line 2, column dateTime: is within a bar of MIN_1 of the same security from bars.csv
    "#]]
    .assert_eq(&refused(&["simulate", text(&plan)]));
}

#[test]
fn everything_that_a_run_leaves_is_there() {
    let (folder, summary) = run_demo("trend.toml");
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let tables = ["days.csv", "equity.csv", "fills.csv", "orders.csv", "positions.csv"];
    assert_eq!(names, [&tables[..], &["report.html", "results.json", "trades.csv"]].concat());
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    let parts = ["Equity", "Drawdown", "Monthly returns", "Exposure", "Trades on price", "By strategy", "By security"];
    for part in parts.into_iter().chain(["Open at the end", "What the figures mean"]) {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains(digest(&summary)) && page.contains("next-bar-open"));
    let orders = fs::read_to_string(folder.path().join("orders.csv")).unwrap();
    let first: Vec<&str> = orders.lines().take(2).collect();
    expect![[r#"
        dateTime,ended,strategy,security,intId,side,orderType,limit,stop,tif,quantity,filled,averagePrice,status,reason
        1709683200000,1709683200000,TREND,AAPL,TREND-1-1,BUY,MarketOrder,,,DAY,1000,1000,185.44,EXECUTED,"#]]
    .assert_eq(&first.join("\n"));
    assert!(!summary.contains("unfilled"), "{summary}");
}

/// One daily bar for each weekday of the first quarter of 2025; the last of March is a Monday.
fn weekdays() -> Vec<(i64, i64)> {
    let first = 20_089;
    let days = (first..first + 90).filter(|day| (day + 3) % 7 < 5);
    days.map(|day| (day, 100 + (day * 7 + day / 5) % 13)).collect()
}

/// The worth of a day is what the closes say: a Friday's close counts for the Friday, and a month ends with its last close.
#[test]
fn months_end_with_their_last_close() {
    let folder = tempfile::tempdir().unwrap();
    let bars = weekdays();
    let row = |(day, close): &(i64, i64)| format!("{},{close},{close},{close},{close}", day * 86_400_000);
    let rows: Vec<String> = bars.iter().map(row).collect();
    fs::write(folder.path().join("bars.csv"), format!("dateTime,open,high,low,close\n{}\n", rows.join("\n"))).unwrap();
    let plan = folder.path().join("plan.toml");
    let lines = "[market]\nfeeRate = 0\n[[data]]\nfile = 'bars.csv'\nsecurity = 'AAPL'\nkind = 'bar'\nbarSize = 'DAY_1'\n\
                 [[strategy]]\nname = 'MINE'\nsample = 'moving-average-cross'\n\
                 parameters = { fast = 2, slow = 5, quantity = 1000 }\n";
    fs::write(&plan, lines).unwrap();
    said(&rialto(&["simulate", text(&plan)]));
    let results = folder.path().join("plan-results");
    let document: Value = serde_json::from_str(&fs::read_to_string(results.join("results.json")).unwrap()).unwrap();
    let values = day_values(&bars, &fs::read_to_string(results.join("fills.csv")).unwrap());
    // January has 23 weekdays, February 20 and March 21.
    let ends = [1_000_000.0, values[22], values[42], values[63]];
    let wanted: Vec<f64> = ends.windows(2).map(|pair| pair[1] / pair[0] - 1.0).collect();
    let months = document["months"].as_array().unwrap();
    let told: Vec<f64> = months.iter().map(|month| month["performance"].as_f64().unwrap()).collect();
    assert!(wanted.iter().all(|performance| *performance != 0.0));
    is_near(&told, &wanted);
    let all: Vec<f64> = std::iter::once(1_000_000.0).chain(values).collect();
    let returns: Vec<f64> = all.windows(2).map(|pair| pair[1] / pair[0] - 1.0).collect();
    let mean = returns.iter().sum::<f64>() / 64.0;
    let deviation = (returns.iter().map(|daily| (daily - mean).powi(2)).sum::<f64>() / 63.0).sqrt();
    is_near(&[document["figures"]["volatility"].as_f64().unwrap()], &[deviation * 252.0_f64.sqrt()]);
}

/// Cash and shares at each close, from the fills alone.
fn day_values(bars: &[(i64, i64)], fills: &str) -> Vec<f64> {
    let fills: Vec<Vec<&str>> = fills.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let worth = |(day, close): &(i64, i64)| {
        let before = fills.iter().filter(|fill| fill[0].parse::<i64>().unwrap() < (day + 1) * 86_400_000);
        before.fold(1_000_000.0, |sum, fill| {
            let [quantity, price]: [f64; 2] = [fill[5], fill[6]].map(|text| text.parse().unwrap());
            let signed = if fill[4] == "BUY" { quantity } else { -quantity };
            sum + signed * (*close as f64 - price)
        })
    };
    bars.iter().map(worth).collect()
}

#[track_caller]
fn is_near(told: &[f64], wanted: &[f64]) {
    let is_same = told.len() == wanted.len() && told.iter().zip(wanted).all(|(one, other)| (one - other).abs() < 1e-9);
    assert!(is_same, "{told:?} is not {wanted:?}");
}

#[test]
fn a_strategy_that_floods_or_panics_is_stopped_alone_and_the_report_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let prices = folder.path().join("ticks.csv");
    said(&rialto(&["simulate", "generate", text(&prices), "--rows", "5000"]));
    let plan = folder.path().join("plan.toml");
    let lines = "ordersPerSecond = 20\n[[data]]\nfile = 'ticks.csv'\nsecurity = 'AAPL'\nkind = 'tick'\n\
                 [[strategy]]\nname = 'FLOODER'\nsample = 'flooder'\n[[strategy]]\nname = 'PANICKER'\nsample = 'panicker'\n\
                 [[strategy]]\nname = 'TREND'\nsample = 'moving-average-cross'\n";
    fs::write(&plan, lines).unwrap();
    let summary =
        said(&Command::new(misbehaving_strategies()).args(["simulate", text(&plan)]).env_clear().output().unwrap());
    let stopped: Vec<&str> = summary.lines().filter(|line| line.contains("stopped")).collect();
    assert_eq!(
        stopped,
        [
            "  stopped         PANICKER at 2025-01-01T00:00:00Z: it panicked: the panicker panics",
            "  stopped         FLOODER at 2025-01-01T00:00:00Z: it floods: the risk gate refuses its orders",
        ]
    );
    let results = folder.path().join("plan-results");
    let document: Value = serde_json::from_str(&fs::read_to_string(results.join("results.json")).unwrap()).unwrap();
    assert_eq!(document["stopped"][0]["strategy"], "PANICKER");
    let trend = document["strategies"].as_array().unwrap().iter().find(|line| line["name"] == "TREND");
    assert!(trend.unwrap()["fills"].as_u64() > Some(100), "{document}");
    assert!(fs::read_to_string(results.join("report.html")).unwrap().contains("strategy FLOODER floods"));
}

#[test]
fn a_rule_that_the_data_cannot_carry_and_a_currency_without_a_rate_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bars.csv"), "dateTime,open,high,low,close\n1735689600000,1,2,1,2\n").unwrap();
    let plan = folder.path().join("plan.toml");
    let data = |security: &str| {
        format!("[[data]]\nfile = 'bars.csv'\nsecurity = '{security}'\nkind = 'bar'\nbarSize = 'DAY_1'\n")
    };
    fs::write(&plan, format!("[market]\nfillRule = 'queue-position'\n{}{}", data("AAPL"), data("SAP"))).unwrap();
    expect![[r#"
        rialto: the configuration can't be used:
          market.fillRule: queue-position needs order books or ticks, and the data has none of AAPL
          market.fillRule: queue-position needs order books or ticks, and the data has none of SAP
          data: SAP is in EUR: without prices of EUR.USD nothing can be valued
    "#]]
    .assert_eq(&refused(&["simulate", text(&plan)]));
}

#[test]
fn numbers_of_nought_are_refused_where_they_mean_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let data = "[[data]]\nfile = 'bars.csv'\nsecurity = 'AAPL'\nkind = 'bar'\nbarSize = 'DAY_1'\n";
    fs::write(&plan, format!("cash = 0\nvaluationSeconds = 0\nordersPerSecond = 0\n{data}")).unwrap();
    expect![[r#"
        rialto: the configuration can't be used:
          cash: 0 is not a sum to begin with
          valuationSeconds: 0 is not a number from 1; leave it out for the usual value
          ordersPerSecond: 0 is not a number from 1; leave it out for the usual value
    "#]]
    .assert_eq(&refused(&["simulate", text(&plan)]));
}

#[test]
fn a_plan_without_securities_and_prices_takes_them_from_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let prices = folder.path().join("minutes.csv");
    said(&rialto(&["simulate", "generate", text(&prices), "--kind", "MIN_1", "--rows", "5000", "--seed", "3"]));
    let plan = folder.path().join("plan.toml");
    let lines = "[[data]]\nfile = 'minutes.csv'\nsecurity = 'AAPL'\nkind = 'bar'\nbarSize = 'MIN_1'\n[[strategy]]\n\
                 name = 'MINE'\nsample = 'moving-average-cross'\nparameters = { fast = 10, slow = 30, quantity = 100 }\n";
    fs::write(&plan, lines).unwrap();
    let summary = said(&rialto(&["simulate", text(&plan)]));
    assert!(!summary.contains("no order was placed"), "{summary}");
    assert!(folder.path().join("plan-results/report.html").exists());
}

#[test]
fn a_bad_row_ends_the_run_with_file_line_column_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("bars.csv"),
        "dateTime,open,high,low,close\n1735689600000,1,2,1,2\n1735689660000,1,2,x,2\n",
    )
    .unwrap();
    let plan = folder.path().join("plan.toml");
    fs::write(&plan, "[[data]]\nfile = 'bars.csv'\nsecurity = 1\nkind = 'bar'\nbarSize = 'MIN_1'\n").unwrap();
    expect![[r#"
        rialto: bars.csv line 3, column low: 'x' is not a decimal number
    "#]]
    .assert_eq(&refused(&["simulate", text(&plan)]));
    assert!(!folder.path().join("plan-results").exists());
}

#[test]
fn a_refused_run_leaves_the_results_of_the_run_before_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let bars =
        |last: &str| format!("dateTime,open,high,low,close\n1735689600000,1,2,1,2\n1735689660000,1,2,{last},2\n");
    let plan = folder.path().join("plan.toml");
    fs::write(&plan, "[[data]]\nfile = 'bars.csv'\nsecurity = 1\nkind = 'bar'\nbarSize = 'MIN_1'\n").unwrap();
    fs::write(folder.path().join("bars.csv"), bars("1")).unwrap();
    said(&rialto(&["simulate", text(&plan)]));
    let before = files(&folder.path().join("plan-results"));
    fs::write(folder.path().join("bars.csv"), bars("x")).unwrap();
    refused(&["simulate", text(&plan)]);
    assert_eq!(files(&folder.path().join("plan-results")), before);
}

/// Each file of a folder with what is in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn mistakes_in_a_plan_are_told_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    fs::write(folder.path().join("a.csv"), "dateTime,last\n1735689600000,1\n").unwrap();
    fs::write(&plan, "[[data]]\nfile = 'a.csv'\nsecurity = 'NOPE'\nkind = 'tick'\n").unwrap();
    expect![[r#"
        rialto: the configuration can't be used:
          data 1, security: 'NOPE' is not the symbol or the id of a security
    "#]]
    .assert_eq(&refused(&["simulate", text(&plan)]));
    let strategy =
        "[[data]]\nfile = 'a.csv'\nsecurity = 'AAPL'\nkind = 'tick'\n[[strategy]]\nname = 'A'\nsample = 'lucky'\n";
    fs::write(&plan, strategy).unwrap();
    assert!(refused(&["simulate", text(&plan)]).contains("strategy A: no strategy is called lucky"));
}

#[test]
fn a_folder_without_a_journal_cannot_be_replayed() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refused(&["simulate", "--from-journal", text(folder.path())]).contains("there is no journal in"));
}
