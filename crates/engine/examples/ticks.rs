//! How many ticks a second the engine takes: 1,000 securities, one core, batches of 100.
//!
//! `cargo run --release -p engine --example ticks`

// A measurement needs a clock; the engine itself has none.
#![allow(clippy::disallowed_methods)]

use std::time::Instant;

use domain::command::{MarketData, ReferenceChange};
use domain::reference::{Exchange, Security, SecurityKind, TradingHours};
use domain::time::TimeOfDay;
use domain::{
    Caller, Command, Currency, Decimal, Envelope, ExchangeId, Input, Price, Quantity, SecurityId, Stamped, Text, Tick,
    Timestamp,
};
use engine::{Engine, Outbox};

const SECURITIES: u64 = 1_000;
const TICKS: u64 = 5_000_000;
const ROUNDS: u64 = 3;
const BATCH: u64 = 100;
/// So far apart that every security closes a bar every second.
const NANOS_BETWEEN: u64 = 200;

fn main() {
    let mut engine = Engine::default();
    list_securities(&mut engine);
    let mut inputs = ticks();
    let mut out = Outbox::default();
    for round in 0..ROUNDS {
        let start = Instant::now();
        let events = feed(&mut engine, &mut inputs, round, &mut out);
        let nanos = start.elapsed().as_nanos() / u128::from(TICKS);
        println!("{nanos} ns a tick, {} ticks/s, {events} events", 1_000_000_000 / nanos.max(1));
    }
}

fn feed(engine: &mut Engine, inputs: &mut [Stamped<Input>], round: u64, out: &mut Outbox) -> usize {
    let mut events = 0;
    let places = (0..inputs.len()).cycle();
    for (sequence, place) in (round * TICKS..(round + 1) * TICKS).zip(places) {
        let input = &mut inputs[place];
        input.sequence = sequence;
        input.at = Timestamp(i64::try_from(sequence * NANOS_BETWEEN).expect("a few seconds"));
        engine.apply(input, out).expect("ticks are not refused");
        if sequence % BATCH == BATCH - 1 {
            events += out.events.len();
            out.events.clear();
        }
    }
    events
}

/// More of them than fit into the nearest cache, each with a price of its own.
fn ticks() -> Vec<Stamped<Input>> {
    let feed = Text::from("sim");
    (0..4_096).map(|number| Stamped { sequence: 0, at: Timestamp(0), what: tick(number, &feed) }).collect()
}

fn tick(number: u64, feed: &Text) -> Input {
    let cents = i64::try_from(number * 7_919 % 100).expect("below a hundred");
    let price = |cents: i64| Some(Price(Decimal::new(10_000 + cents, 2)));
    Input::Market(MarketData::Tick(Tick {
        security: SecurityId(number * 7 % SECURITIES + 1),
        feed: feed.clone(),
        at: Timestamp(0),
        last: if number.is_multiple_of(4) { price(cents) } else { None },
        last_at: None,
        vol_last: None,
        bid: price(cents - 1),
        ask: price(cents + 1),
        vol_bid: Some(Quantity::from(cents + 1)),
        vol_ask: Some(Quantity::from(cents + 2)),
        vol: None,
    }))
}

fn list_securities(engine: &mut Engine) {
    let securities = (1..=SECURITIES).map(|id| ReferenceChange::Security(stock(id)));
    let changes = std::iter::once(ReferenceChange::Exchange(exchange())).chain(securities).collect();
    let envelope = Envelope { caller: Caller::platform(), command: Command::Reference(changes) };
    let input = Stamped { sequence: 0, at: Timestamp(0), what: Input::Command(Box::new(envelope)) };
    engine.apply(&input, &mut Outbox::default()).expect("reference data is taken");
}

fn exchange() -> Exchange {
    Exchange {
        id: ExchangeId(1),
        name: "ONE".into(),
        code: None,
        mic: None,
        bloomberg_code: None,
        time_zone: "UTC".into(),
        trading_hours: vec![TradingHours { open: TimeOfDay(0), close: TimeOfDay(1_440), days: (1..=7).collect() }],
        holidays: vec![],
        opening_auction_minutes: 0,
        closing_auction_minutes: 0,
    }
}

fn stock(id: u64) -> Security {
    Security {
        id: SecurityId(id),
        kind: SecurityKind::Stock,
        symbol: format!("S{id}").into(),
        description: None,
        isin: None,
        bbgid: None,
        ric: None,
        conid: None,
        adapter_ticker: None,
        underlying: None,
        family: None,
        exchange: ExchangeId(1),
        currency: Currency::USD,
        contract_size: Decimal::ONE,
        min_qty: None,
        max_qty: None,
        qty_incr: Decimal::ZERO,
        min_price: None,
        max_price: None,
        price_incr: Decimal::ZERO,
        min_notional: None,
        tradeable: true,
    }
}
