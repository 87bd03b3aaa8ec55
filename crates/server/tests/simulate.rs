//! Simulation Mode as a shell sees it: plans and data in, summaries and reports out. The results of the demo's plans are
//! golden: a change of the engine, of a fill rule or of a figure shows here.

// The lint knows test functions only, not what they share.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::{expect, expect_file};

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
    expect_file!["../../../contract/simulation/trend.json"].assert_eq(&results);
    let (_, again) = run_demo("trend.toml");
    assert_eq!(digest(&summary), digest(&again));
    assert!(results.contains(digest(&summary)));
}

#[test]
fn the_demo_of_market_making_comes_out_as_it_always_did() {
    let (folder, _) = run_demo("maker.toml");
    let results = fs::read_to_string(folder.path().join("results.json")).unwrap();
    expect_file!["../../../contract/simulation/maker.json"].assert_eq(&results);
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
    let unfilled = rows.iter().filter(|row| row[8] == "0").count();
    assert!(rows.iter().all(|row| row[8] != "0" || row[9] != "EXECUTED"), "{orders}");
    assert!(summary.contains(&format!("{unfilled} orders ended unfilled; orders.csv tells why")), "{summary}");
}

#[test]
fn everything_that_a_run_leaves_is_there() {
    let (folder, summary) = run_demo("trend.toml");
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["equity.csv", "fills.csv", "orders.csv", "report.html", "results.json", "trades.csv"]);
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    for part in ["Equity", "Drawdown", "Monthly returns", "Exposure", "Trades on price", "By strategy", "By security"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains(digest(&summary)) && page.contains("next-bar-open"));
    let orders = fs::read_to_string(folder.path().join("orders.csv")).unwrap();
    let first: Vec<&str> = orders.lines().take(2).collect();
    expect![[r#"
        dateTime,ended,strategy,security,intId,side,orderType,quantity,filled,status,reason
        1709683200000,1709683200000,TREND,AAPL,TREND-1-1,BUY,MarketOrder,1000,1000,EXECUTED,"#]]
    .assert_eq(&first.join("\n"));
    assert!(!summary.contains("unfilled"), "{summary}");
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
