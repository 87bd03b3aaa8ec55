//! Price files, valid and invalid.

use std::fs;
use std::path::Path;

use domain::BarSize;

use super::*;

fn file(folder: &Path, name: &str, kind: PriceFileKind, text: &str) -> PriceFileSpec {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    PriceFileSpec { path, name: name.into(), kind, security: SecurityId(1), feed: "CSV".into(), may_be_negative: false }
}

fn all(source: &mut dyn PriceSource) -> Result<Vec<PriceRecord>, String> {
    let mut found = Vec::new();
    while let Some(recorded) = source.next().map_err(|bad| bad.to_string())? {
        found.push(recorded);
    }
    Ok(found)
}

fn read(kind: PriceFileKind, text: &str) -> Result<Vec<PriceRecord>, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = file(folder.path(), "a.csv", kind, text);
    all(&mut CsvSource::open(&file).map_err(|bad| bad.to_string())?)
}

fn refused(kind: PriceFileKind, text: &str) -> String {
    read(kind, text).unwrap_err()
}

const BARS: PriceFileKind = PriceFileKind::Bar(BarSize::Min1);

#[test]
fn bars_are_found_by_header_name_in_any_order_and_other_columns_are_passed_over() {
    let found =
        read(BARS, "close,openInterest,dateTime,open,low,high,vol\n10.5,7,1735689660000,10,9.5,11,100\n").unwrap();
    let [PriceRecord::Bar(bar)] = &found[..] else { panic!("{found:?}") };
    let prices = [bar.open, bar.high, bar.low, bar.close].map(|price| price.to_string());
    assert_eq!(
        (bar.at, prices.join(" "), bar.vol),
        (Timestamp(1_735_689_660_000_000_000), "10 11 9.5 10.5".into(), 100.into())
    );
}

#[test]
fn daily_bars_are_taken_as_data_vendors_and_spreadsheets_write_them() {
    let text = "Date,Open,High,Low,Close,Adj Close,Volume\n2022-01-03,10,11,9.5,10.5,10.2,100\n2022-01-04,10.5,12,10,11,10.9,50\n";
    let found = read(PriceFileKind::Bar(BarSize::Day1), text).unwrap();
    let bars = found.iter().map(|recorded| match recorded {
        PriceRecord::Bar(bar) => {
            format!("{} {} {} {} {} vol {}", bar.at, bar.open, bar.high, bar.low, bar.close, bar.vol)
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(
        bars.collect::<Vec<_>>(),
        ["2022-01-03T00:00:00Z 10 11 9.5 10.5 vol 100", "2022-01-04T00:00:00Z 10.5 12 10 11 vol 50"]
    );
    assert_eq!(
        refused(PriceFileKind::Bar(BarSize::Day1), "Date,Open,High,Low,Close\n01/03/2022,10,11,9.5,10.5\n"),
        "a.csv line 2, column Date: '01/03/2022' is not epoch milliseconds such as 1735689600000, \
         2025-01-01T00:00:00Z, or a date such as 2025-01-01"
    );
}

#[test]
fn a_tick_may_lack_what_its_feed_does_not_know() {
    let found =
        read(PriceFileKind::Tick, "dateTime,bid,ask,last,volBid\n1735689600001,1.1,1.2,,\n1735689600002,,,1.15,\n")
            .unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|recorded| match recorded {
            PriceRecord::Tick(tick) => (tick.bid.is_some(), tick.ask.is_some(), tick.last.is_some(), tick.vol_bid),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(shown, [(true, true, false, None), (false, false, true, None)]);
}

#[test]
fn a_trade_has_the_aggressor_side_where_the_file_has_it() {
    let found = read(
        PriceFileKind::Trade,
        "dateTime,price,quantity,aggressorSide\n1735689600001,10,5,SELL\n1735689600002,10,5,\n",
    )
    .unwrap();
    let sides: Vec<_> = found
        .iter()
        .map(|recorded| match recorded {
            PriceRecord::Trade(trade) => trade.aggressor,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(sides, [Some(domain::Side::Sell), None]);
}

#[test]
fn a_book_has_as_many_levels_as_are_filled_in() {
    let header = "dateTime,bid1,volBid1,ask1,volAsk1,bid2,volBid2,ask2,volAsk2";
    let found = read(
        PriceFileKind::Book,
        &format!("{header}\n1735689600001,10,5,11,6,9,7,12,8\n1735689600002,10,5,11,6,,,,\n"),
    )
    .unwrap();
    let depths: Vec<_> = found
        .iter()
        .map(|recorded| match recorded {
            PriceRecord::Book(book) => (book.bids.len(), book.asks.len()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(depths, [(2, 2), (1, 1)]);
}

#[test]
fn a_bad_bar_is_refused_with_file_line_column_and_reason() {
    let bars = "dateTime,open,high,low,close,vol\n1735689660000,10,11,9,10,1\n";
    let cases = [
        (
            BARS,
            "dateTime,open,high,low\n",
            "a.csv line 1, column close: is missing; the header has dateTime, open, high, low",
        ),
        (
            BARS,
            &format!("{bars}1735689720000,ten,11,9,10,1\n"),
            "a.csv line 3, column open: 'ten' is not a decimal number",
        ),
        (
            BARS,
            &format!("{bars}1735689720000,10,11,9,,1\n"),
            "a.csv line 3, column close: is blank, but must be a decimal number",
        ),
        (
            BARS,
            &format!("{bars}1735689720000,10,9.9,9,9,1\n"),
            "a.csv line 3, column high: 9.9 is not the highest of the bar",
        ),
        (
            BARS,
            &format!("{bars}1735689720000,10,11,10.5,11,1\n"),
            "a.csv line 3, column low: 10.5 is not the lowest of the bar",
        ),
        (
            BARS,
            &format!("{bars}1735689720000,10,11,-9,10,1\n"),
            "a.csv line 3, column low: '-9' is not a price above 0",
        ),
        (
            BARS,
            &format!("{bars}1735689720000,10,11,9,10,-1\n"),
            "a.csv line 3, column vol: '-1' is not a quantity from 0",
        ),
        (
            BARS,
            &format!("{bars}1735689660000,10,11,9,10,1\n"),
            "a.csv line 3, column dateTime: is not after the line before it",
        ),
        (BARS, &format!("{bars}1735689720000,10,11\n"), "a.csv line 3: has 3 cells, but the header has 6"),
        (
            BARS,
            &format!("{bars}noon,10,11,9,10,1\n"),
            "a.csv line 3, column dateTime: 'noon' is not epoch milliseconds such as 1735689600000, 2025-01-01T00:00:00Z, \
             or a date such as 2025-01-01",
        ),
        (
            BARS,
            &format!("{bars}1735689719999,10,11,9,10,1\n"),
            "a.csv line 3, column dateTime: is less than a bar of MIN_1 after the line before it",
        ),
        (BARS, "dateTime,open,high,low,close,open\n", "a.csv line 1, column open: stands in the header twice"),
    ];
    for (kind, text, wanted) in cases {
        assert_eq!(refused(kind, text), wanted);
    }
}

#[test]
fn so_is_a_bad_tick_trade_or_book() {
    let cases = [
        (
            PriceFileKind::Tick,
            "dateTime,bid,ask\n1735689600001,10,11\n1735689600000,10,11\n",
            "a.csv line 3, column dateTime: is before the line before it",
        ),
        (
            PriceFileKind::Tick,
            "dateTime,bid,ask\n1735689600001,,\n",
            "a.csv line 2, column last: is blank, and so are bid and ask",
        ),
        (
            PriceFileKind::Tick,
            "dateTime,settlement\n1735689600001,10\n",
            "a.csv line 1, column last: is missing; the header has dateTime, settlement",
        ),
        (
            PriceFileKind::Trade,
            "dateTime,price,quantity\n1735689600001,10,0\n",
            "a.csv line 2, column quantity: '0' is not a quantity above 0",
        ),
        (
            PriceFileKind::Trade,
            "dateTime,price,quantity,aggressorSide\n1735689600001,10,1,B\n",
            "a.csv line 2, column aggressorSide: 'B' is not BUY or SELL",
        ),
        (
            PriceFileKind::Book,
            "dateTime,bid1,volBid1,ask1,volAsk1,bid2,volBid2\n1735689600001,10,5,11,6,10.5,7\n",
            "a.csv line 2, column bid1: the bids do not fall from level to level",
        ),
        (
            PriceFileKind::Tick,
            "dateTime,last\n1735689600,10\n",
            "a.csv line 2, column dateTime: '1735689600' is not in 1990 or later: a number is epoch milliseconds, not \
             seconds; an earlier time is written as a date",
        ),
        (
            BARS,
            "dateTime,open,high,low,close\n9999-03-03T10:00:00Z,1,1,1,1\n",
            "a.csv line 2, column dateTime: '9999-03-03T10:00:00Z': its year is not from 1678 to 2261",
        ),
        (
            PriceFileKind::Tick,
            "dateTime,last,lastDateTime\n1735689600000,10,1600-01-01T00:00:00Z\n",
            "a.csv line 2, column lastDateTime: '1600-01-01T00:00:00Z': its year is not from 1678 to 2261",
        ),
        (
            PriceFileKind::Tick,
            "dateTime,bid,ask\n1735689600000,10,10\n1735689600001,10.1,10\n",
            "a.csv line 3, column bid: 10.1 is above the ask of 10",
        ),
        (
            PriceFileKind::Book,
            "dateTime,bid1,volBid1,ask1,volAsk1\n1735689600000,11,5,10,6\n",
            "a.csv line 2, column bid1: 11 is above the ask of 10",
        ),
    ];
    for (kind, text, wanted) in cases {
        assert_eq!(refused(kind, text), wanted);
    }
}

#[test]
fn blank_lines_are_passed_over_and_counted() {
    for end in ["\n", "\r\n"] {
        let good = format!("dateTime,last{end}1735689600000,10{end}");
        let text = |bad: &str| format!("{end}{good}{end}{end}{bad}{end}");
        assert_eq!(read(PriceFileKind::Tick, &text("1735689600001,11")).map(|rows| rows.len()), Ok(2));
        let refused = |bad: &str| refused(PriceFileKind::Tick, &text(bad));
        assert_eq!(refused("1735689600001,x"), "a.csv line 6, column last: 'x' is not a decimal number");
        assert_eq!(refused("1735689600001"), "a.csv line 6: has 1 cells, but the header has 2");
    }
}

#[test]
fn a_row_of_long_ago_is_written_as_a_date() {
    let found = read(PriceFileKind::Tick, "dateTime,last\n1987-10-19T14:30:00Z,282.7\n").unwrap();
    assert_eq!(found[0].at().to_string(), "1987-10-19T14:30:00Z");
}

#[test]
fn a_missing_file_is_an_error_with_its_name() {
    let missing = PriceFileSpec {
        path: "nowhere/a.csv".into(),
        name: "a.csv".into(),
        kind: BARS,
        security: SecurityId(1),
        feed: "CSV".into(),
        may_be_negative: false,
    };
    let bad = CsvSource::open(&missing).err().unwrap();
    assert_eq!(bad.to_string(), "a.csv: cannot be read: No such file or directory (os error 2)");
}

#[test]
fn ticks_of_one_instant_pass_and_keep_their_order() {
    let found =
        read(PriceFileKind::Tick, "dateTime,last\n1735689600001,10\n1735689600001,11\n1735689600001,12\n").unwrap();
    assert_eq!(found.len(), 3);
}

fn merged(files: &[PriceFileSpec]) -> MergedPrices {
    MergedPrices::new(files.iter().map(|file| CsvSource::open(file).unwrap()).collect()).unwrap()
}

#[test]
fn bars_of_one_security_and_size_may_come_from_files_that_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let bars = |name: &str, minutes: &[i64]| {
        let row = |minute: &i64| format!("{},1,1,1,1\n", 1_735_689_600_000 + minute * 60_000);
        let rows: String = minutes.iter().map(row).collect();
        file(folder.path(), name, BARS, &format!("dateTime,open,high,low,close\n{rows}"))
    };
    let together = |files: &[PriceFileSpec]| all(&mut merged(files)).map(|rows| rows.len());
    let (first, second) = (bars("a.csv", &[0, 1, 2]), bars("b.csv", &[3, 4]));
    assert_eq!(together(&[second.clone(), first.clone()]), Ok(5));
    let within = "line 3, column dateTime: is within a bar of MIN_1 of the same security from";
    assert_eq!(together(&[second, bars("c.csv", &[2, 4])]), Err(format!("c.csv {within} b.csv")));
    let again = "b.csv line 2, column dateTime: is within a bar of MIN_1 of the same security from a.csv";
    assert_eq!(together(&[first.clone(), bars("b.csv", &[0])]), Err(again.into()));
    let other = |kind, security| PriceFileSpec { kind, security, ..first.clone() };
    let beside = [
        other(BARS, SecurityId(2)),
        other(PriceFileKind::Bar(BarSize::Sec1), SecurityId(1)),
        other(BARS, SecurityId(1)),
    ];
    assert_eq!(together(&beside), Ok(9));
}

#[test]
fn files_are_merged_by_time_and_at_one_instant_in_the_order_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = file(
        folder.path(),
        "a.csv",
        PriceFileKind::Tick,
        "dateTime,last\n1735689600001,10\n1735689600005,11\n1735689600005,12\n1735689600009,13\n",
    );
    let mut second = file(
        folder.path(),
        "b.csv",
        PriceFileKind::Trade,
        "dateTime,price,quantity\n1735689600000,20,1\n1735689600005,21,1\n1735689600007,22,1\n",
    );
    (first.security, second.security) = (SecurityId(1), SecurityId(2));
    let mut merge = merged(&[first, second]);
    let found = all(&mut merge).unwrap();
    let order: Vec<_> =
        found.iter().map(|recorded| (recorded.at().millis() - 1_735_689_600_000, recorded.security().0)).collect();
    assert_eq!(order, [(0, 2), (1, 1), (5, 1), (5, 1), (5, 2), (7, 2), (9, 1)]);
    let (read, total) = merge.progress();
    assert_eq!(read, total);
}

#[test]
fn synthetic_prices_are_the_same_for_the_same_seed_and_can_be_read_back() {
    for kind in [PriceFileKind::Tick, PriceFileKind::Trade, PriceFileKind::Book, BARS] {
        let folder = tempfile::tempdir().unwrap();
        let plan = |seed| synthetic::SyntheticPlan { kind, seed, rows: 500, ..synthetic::SyntheticPlan::default() };
        let write = |plan: &synthetic::SyntheticPlan| {
            let mut bytes = Vec::new();
            synthetic::write(plan, &mut bytes).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        let text = write(&plan(7));
        assert_eq!(text, write(&plan(7)));
        assert_ne!(text, write(&plan(8)));
        let file = file(folder.path(), "a.csv", kind, &text);
        assert_eq!(all(&mut CsvSource::open(&file).unwrap()).unwrap().len(), 500);
    }
}
