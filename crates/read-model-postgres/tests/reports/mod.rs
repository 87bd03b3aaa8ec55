//! Views for reports, when trades are taken back, corrected and moved to another strategy.

use super::*;

const CLAIMED_BY: StrategyId = StrategyId(9);

fn bought(id: u64) -> Order {
    Order { side: Side::Buy, ..order(id, BaseState::Filled) }
}

fn sold_outside(id: u64) -> Order {
    Order { side: Side::Sell, strategy: StrategyId::EXTERNAL, ..order(id, BaseState::Filled) }
}

fn execution(sequence: u64, order: &Order, exec_id: &str, (quantity, price): (&str, &str)) -> Event {
    let Event::Fill(fill) = fill(sequence, order) else { unreachable!("it is a fill") };
    let (quantity, price) = (Quantity(quantity.parse().unwrap()), Price(price.parse().unwrap()));
    Event::Fill(Arc::new(Fill { ext_id: exec_id.into(), quantity, price, ..Fill::clone(&fill) }))
}

/// A booking of an order. The engine books what undoes an execution as a trade of the other side, and a claim without the id of the execution.
fn booking(id: u64, order: &Order, exec_id: Option<&str>, (quantity, price): (&str, &str)) -> Event {
    let Event::Transaction(transaction) = booked(id, order) else { unreachable!("it is a transaction") };
    let (quantity, price) = (Quantity(quantity.parse().unwrap()), Price(price.parse().unwrap()));
    let kind = if quantity.is_negative() { TransactionKind::Sell } else { TransactionKind::Buy };
    let (ext_id, at) = (exec_id.map(Into::into), Timestamp(0));
    Event::Transaction(Arc::new(Transaction { ext_id, kind, quantity, price, at, ..Transaction::clone(&transaction) }))
}

/// One trade is busted, one is corrected under its own id, and one is claimed.
fn undone_trades() -> Vec<Input> {
    let (busted, corrected, outside) = (bought(2), bought(4), sold_outside(5));
    let claimed = Order { strategy: CLAIMED_BY, ..outside.clone() };
    let state = |order: &Order| Event::Order(Arc::new(order.clone()));
    let caused = [
        vec![state(&busted), execution(1, &busted, "x1", ("10", "5")), booking(1, &busted, Some("x1"), ("10", "5"))],
        vec![booking(2, &busted, Some("x1"), ("-10", "5"))],
        vec![
            state(&corrected),
            execution(3, &corrected, "x1", ("10", "5")),
            booking(3, &corrected, Some("x1"), ("10", "5")),
        ],
        vec![
            booking(4, &corrected, Some("x1"), ("-10", "5")),
            execution(4, &corrected, "x1", ("8", "6")),
            booking(5, &corrected, Some("x1"), ("8", "6")),
        ],
        vec![state(&outside), execution(5, &outside, "x2", ("4", "7")), booking(6, &outside, Some("x2"), ("-4", "7"))],
        vec![state(&claimed), booking(7, &outside, None, ("4", "7")), booking(8, &claimed, None, ("-4", "7"))],
    ];
    let published = |(sequence, events): (u64, Vec<Event>)| {
        let events = events.into_iter().map(|event| PublishedEvent { sequence, at: time_of(sequence), event });
        (sequence, events.collect())
    };
    (1..).zip(caused).map(published).collect()
}

#[test]
fn reports_leave_out_what_was_undone() {
    let fixture = PostgresFixture::new();
    let (folder, inputs) = (tempfile::tempdir().unwrap(), undone_trades());
    let model = postgres(&fixture.server.url())(folder.path(), 6);
    replay(&model, &inputs);
    wait_for("all inputs", || (model.applied() == 6).then_some(()));
    let query = |statement: &str| fixture.server.query(statement);
    let fills = "SELECT order_id, trim_scale(quantity), trim_scale(price) FROM bi_fills ORDER BY 1";
    assert_eq!(query(fills), "4|8|6\n5|4|7");
    let undone =
        "SELECT string_agg(transaction_id::text, ' ' ORDER BY transaction_id) FROM bi_transactions WHERE undoes";
    assert_eq!(query(undone), "2 4 7");
    // As docs/postgres.md has it: 8 at 6 and 4 at 7.
    let trades = "SELECT trim_scale(sum(turnover)), sum(CASE WHEN undoes THEN -1 ELSE 1 END) FROM bi_transactions
        WHERE kind IN ('BUY', 'SELL')";
    assert_eq!(query(trades), "76|2");
    let days = "SELECT strategy_id, trim_scale(sum(bought)), trim_scale(sum(sold)), trim_scale(sum(change)),
        trim_scale(sum(turnover)), sum(transactions) FROM bi_positions_by_day GROUP BY 1 ORDER BY 1";
    let external = StrategyId::EXTERNAL.0;
    let expected = format!("1|8|0|8|48|3\n2|0|0|0|0|2\n9|0|4|-4|28|1\n{external}|0|0|0|0|2");
    assert_eq!(query(days), expected);
}
