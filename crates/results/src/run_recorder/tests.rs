//! A small run, from its first value to its report.

use domain::{AccountId, Amount, IntId, OrderId, Quantity, Side, StrategyRecord, TransactionId, Uuid};

use super::*;

const DAY: i64 = 86_400_000_000_000;

fn reference() -> Arc<ReferenceData> {
    let (exchange, security) = (samples::exchange(), samples::stock(1, "AAPL"));
    let mut reference = ReferenceData::default();
    reference.exchanges.insert(exchange.id, Arc::new(exchange));
    reference.securities.insert(security.id, Arc::new(security));
    let trend = StrategyRecord { id: StrategyId(2), name: "TREND".into(), auto_activate: true };
    reference.strategies.insert(trend.id, Arc::new(trend));
    Arc::new(reference)
}

fn fill(at: i64, side: Side, price: i64) -> Event {
    let int_id: IntId = "ALPHA-1".parse().unwrap();
    Event::Fill(Arc::new(Fill {
        order: OrderId(1),
        int_id,
        strategy: StrategyId(2),
        security: SecurityId(1),
        account: AccountId(1),
        ext_id: "touch:RCM-1".into(),
        at: Timestamp(at * DAY),
        ext_at: Some(Timestamp(at * DAY - 1_000_000)),
        sequence: 1,
        side,
        quantity: Quantity::from(10),
        price: Price::from(price),
        liquidity: None,
    }))
}

fn booking(at: i64, quantity: i64, price: i64) -> Event {
    Event::Transaction(Arc::new(Transaction {
        id: TransactionId(1),
        uuid: Uuid(1),
        at: Timestamp(at * DAY),
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: if quantity > 0 { TransactionKind::Buy } else { TransactionKind::Sell },
        quantity: Quantity::from(quantity),
        price: Price::from(price),
        execution_commission: Amount::from(1),
        clearing_commission: Amount::ZERO,
        fee: Amount::ZERO,
        currency: Currency::USD,
        account: AccountId(1),
        security: Some(SecurityId(1)),
        strategy: StrategyId(2),
        description: None,
        charges: vec![],
        venue_kind: None,
        liquidity: None,
    }))
}

fn value(at: i64, strategy: u64, worth: i64) -> Event {
    Event::Portfolio(Arc::new(PortfolioValue {
        strategy: StrategyId(strategy),
        at: Timestamp(at * DAY),
        net_liq_value: Some(Amount::from(worth)),
        market_value: None,
        cash_balance: None,
        realized_pl: None,
        unrealized_pl: None,
        open_positions: 0,
        currency: Currency::USD,
        commissions: None,
        fees: None,
    }))
}

/// Buys 10 at 100 on the first day, sells them at 120 on day 40: 198 after costs on 1000.
fn outcome() -> RunResults {
    let mut record =
        RunRecorder::new(Assumptions::default(), Currency::USD, reference(), Timestamp(20_089 * DAY), 1_000.0);
    let start = 20_089;
    record.on_price(Timestamp(start * DAY), SecurityId(1), Price::from(100));
    record.on_events(Timestamp(start * DAY), &[fill(start, Side::Buy, 100), booking(start, 10, 100)]);
    record.on_events(Timestamp((start + 1) * DAY), &[value(start + 1, 2, -101)]);
    record.on_price(Timestamp((start + 40) * DAY), SecurityId(1), Price::from(120));
    record
        .on_events(Timestamp((start + 40) * DAY), &[fill(start + 40, Side::Sell, 120), booking(start + 40, -10, 120)]);
    record.on_events(Timestamp((start + 40) * DAY), &[value(start + 40, 2, 198)]);
    record.finish(Timestamp((start + 40) * DAY))
}

#[test]
fn a_run_is_summed_up() {
    let outcome = outcome();
    let figures = &outcome.figures;
    assert_eq!((figures.start_value, figures.end_value, figures.total_return), (1_000.0, 1_198.0, Some(1.198 - 1.0)));
    assert!((figures.max_drawdown + 0.101).abs() < 1e-12);
    assert_eq!(figures.max_drawdown_days, 40.0);
    assert_eq!((figures.costs, figures.traded, outcome.fill_count), (2.0, 2_200.0, 2));
    assert_eq!((figures.trades.count, figures.trades.won, figures.trades.profit), (1, 1, 198.0));
    // January from 1000 to 899, February from there to 1198.
    let months: Vec<_> = outcome.months.iter().map(|month| (month.first.to_string(), month.performance)).collect();
    assert_eq!(months, [("2025-01-01".into(), 0.899 - 1.0), ("2025-02-01".into(), 1_198.0 / 899.0 - 1.0)]);
    // 39 days at 899 and one at 1000.
    let average = (1_000.0 + 39.0 * 899.0) / 40.0;
    assert!((figures.turnover.unwrap() - 2_200.0 / average).abs() < 1e-9);
    let rows: Vec<_> = outcome.strategies.iter().map(|line| (&*line.name, line.fills, line.costs)).collect();
    assert_eq!(rows, [("TREND", 2, 2.0)]);
}

/// A security of another kind or currency beside AAPL.
fn with(security: domain::Security) -> Arc<ReferenceData> {
    let mut reference = (*reference()).clone();
    reference.securities.insert(security.id, Arc::new(security));
    Arc::new(reference)
}

/// So many of security 5, at a price; what was realised before costs.
fn held(quantity: i64, price: i64, realized: i64, currency: Currency) -> Event {
    Event::Position(Arc::new(domain::Position {
        id: domain::PositionId(1),
        strategy: StrategyId(2),
        security: SecurityId(5),
        account: AccountId(1),
        quantity: Quantity::from(quantity),
        cost: Amount::ZERO,
        avg_price: None,
        realized_pl: Amount::from(realized),
        unrealized_pl: Some(Amount::ZERO),
        market_price: Some(Price::from(price)),
        // For a margined security the engine publishes only the P/L.
        market_value: Some(Amount::ZERO),
        currency,
        changed_at: Timestamp(0),
        commissions: Amount::ZERO,
        fees: Amount::ZERO,
    }))
}

fn booking_of_five(quantity: i64, price: i64, currency: Currency) -> Event {
    let Event::Transaction(booked) = booking(0, quantity, price) else { unreachable!("a booking is a transaction") };
    Event::Transaction(Arc::new(Transaction { security: Some(SecurityId(5)), currency, ..(*booked).clone() }))
}

/// Four of security 5 bought at 10 EUR when a euro is 1 dollar, two sold at 15 when it is 2, two at 12 when it is 3, and at
/// the end it is 7. By hand: gross 2 × 5 × 2 + 2 × 2 × 3 = 32, costs of a euro each time 1 + 2 + 3 = 6.
#[test]
fn one_trade_has_one_result_whatever_rates_did_before_and_after() {
    let euro: Currency = "EUR".parse().unwrap();
    let mut reference = (*with(domain::Security { currency: euro, ..samples::stock(5, "SAP") })).clone();
    let kind = domain::SecurityKind::Forex { base: euro, transaction: Currency::USD };
    let pair = domain::Security { kind, ..samples::stock(6, "EUR.USD") };
    reference.securities.insert(pair.id, Arc::new(pair));
    let mut record =
        RunRecorder::new(Assumptions::default(), Currency::USD, Arc::new(reference), Timestamp(20_089 * DAY), 1_000.0);
    for (rate, quantity, price, left, realized) in [(1, 4, 10, 4, 0), (2, -2, 15, 2, 10), (3, -2, 12, 0, 14)] {
        record.on_price(Timestamp(20_090 * DAY), SecurityId(6), Price::from(rate));
        let events = [booking_of_five(quantity, price, euro), held(left, price, realized, euro)];
        record.on_events(Timestamp(20_090 * DAY), &events);
    }
    record.on_price(Timestamp(20_091 * DAY), SecurityId(6), Price::from(7));
    let trips: Vec<_> = record.drain_round_trips().map(|trip| (trip.gross, trip.costs, trip.net)).collect();
    assert_eq!(trips, [(32.0, 6.0, 26.0)]);
    let figures = record.finish(Timestamp(20_092 * DAY)).figures;
    assert_eq!((figures.profit_loss.realized, figures.costs, figures.trades.profit), (32.0, 6.0, 26.0));
}

/// One contract of 50 at 200 on a value of 40000 is a quarter of it, whatever it has gained.
#[test]
fn the_exposure_of_a_future_is_the_whole_of_its_contracts() {
    let future = domain::Security { contract_size: 50.into(), ..samples::stock(5, "FUTURE") };
    let mut record =
        RunRecorder::new(Assumptions::default(), Currency::USD, with(future), Timestamp(20_089 * DAY), 40_000.0);
    record.on_events(Timestamp(20_090 * DAY), &[held(-1, 200, 0, Currency::USD), value(20_090, 2, 0)]);
    let exposure: Vec<f64> = record.finish(Timestamp(20_091 * DAY)).exposure.iter().map(|point| point.value).collect();
    assert_eq!(exposure, [0.0, 0.25, 0.25]);
}

/// A day below the peak, back at it, and five days without a change, on which nothing is published.
#[test]
fn days_that_stand_at_the_peak_are_no_drawdown() {
    let start = 20_089;
    let mut record =
        RunRecorder::new(Assumptions::default(), Currency::USD, reference(), Timestamp(start * DAY), 1_000.0);
    for (number, told) in [(1, Some(-10)), (2, Some(20)), (3, None), (4, None), (5, None), (6, None), (7, Some(19))] {
        let at = Timestamp((start + number) * DAY - 1);
        if let Some(worth) = told {
            record.on_events(at, &[value(start + number, 2, worth)]);
        }
        record.on_day_end(at);
    }
    let days = record.finish(Timestamp((start + 7) * DAY - 1)).figures.max_drawdown_days;
    assert!((days - 2.0).abs() < 1e-9, "{days}");
}

/// 30 January 2025 to 3 March, one daily bar for each of five days; the value is published only when it changes.
#[test]
fn days_and_months_on_which_nothing_moves_count_as_returns_of_zero() {
    // 20_118 is 30 January; bars close at the midnight after their day, and are published a moment before it.
    let start = 20_118;
    let close = |closes: i64| Timestamp((start + closes) * DAY - 1);
    let mut record =
        RunRecorder::new(Assumptions::default(), Currency::USD, reference(), Timestamp(start * DAY), 1_000.0);
    // 30 January +10 %; 31 January, 3 February and 28 February flat; 3 March -10 %.
    for (closes, told) in [(1, Some(100)), (2, None), (5, None), (30, None), (33, Some(-10))] {
        record.on_price(close(closes), SecurityId(1), Price::from(100));
        if let Some(worth) = told {
            record.on_events(close(closes), &[value(start + closes, 2, worth)]);
        }
        record.on_day_end(close(closes));
    }
    let outcome = record.finish(close(33));
    let months: Vec<_> = outcome.months.iter().map(|month| (month.first.to_string(), month.performance)).collect();
    let wanted = [("2025-01-01", 1.1 - 1.0), ("2025-02-01", 0.0), ("2025-03-01", 0.9 - 1.0)];
    assert_eq!(months, wanted.map(|(first, performance)| (first.to_owned(), performance)));
    // Returns 0.1, 0, 0, 0, -0.1: mean 0; squares 0.02, divided by 4.
    let volatility = outcome.figures.yearly.volatility.unwrap();
    assert!((volatility - (0.02_f64 / 4.0).sqrt() * 252.0_f64.sqrt()).abs() < 1e-12, "{volatility}");
    let sharpe = outcome.figures.yearly.sharpe.unwrap();
    assert!(sharpe.abs() < 1e-12, "{sharpe}");
}

#[test]
fn the_report_stands_alone_and_names_the_rule_of_each_fill() {
    let heading =
        crate::ReportHeading { title: "A <run>".into(), digest: "00ff".into(), ..crate::ReportHeading::default() };
    let page = crate::page::write(&heading, &outcome());
    for wanted in ["<svg", "A &lt;run&gt;", "00ff", "touch", "AAPL", "TREND", "prefers-color-scheme:dark"] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
    for outside in ["http://", "https://", "<script", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "{outside} is not self-contained");
    }
}

#[test]
fn programs_read_the_same_figures() {
    let heading =
        crate::ReportHeading { title: "run".into(), digest: "00ff".into(), ..crate::ReportHeading::default() };
    let document: serde_json::Value = serde_json::from_str(&crate::json::write(&heading, &outcome())).unwrap();
    assert_eq!(document["figures"]["netLiqValue"].as_f64(), Some(1_198.0));
    assert_eq!(document["monthly"]["n"].as_u64(), Some(2));
    assert!(document["figures"]["trades"]["profitFactor"].is_null());
    assert_eq!(document["digest"], "00ff");
}

#[test]
fn spreadsheets_get_every_fill_as_it_happens() {
    let mut file = Vec::new();
    let mut sheet = crate::FillsCsv::new(&mut file, reference()).unwrap();
    sheet.on_events(&[fill(1, Side::Buy, 100), booking(1, 10, 100)]).unwrap();
    sheet.finish().unwrap();
    assert_eq!(
        String::from_utf8(file).unwrap(),
        "dateTime,strategy,security,intId,side,quantity,price,rule,extId,extDateTime,executionCommission,clearingCommission,fee,currency\n\
         86400000,TREND,AAPL,ALPHA-1,BUY,10,100,touch,touch:RCM-1,86399999,1,0,0,USD\n"
    );
}
