//! Portfolio tests: scripts of bookings and prices, compared with what is published.

mod bookings;
mod days;
mod model;
mod trades;
mod values;

use std::sync::Arc;

use domain::market::Mark;
use domain::query::Filter;
use domain::reference::OptionRight;
use domain::{
    AccountId, Amount, Currency, Event, Price, Quantity, ReferenceData, RiskScope, SecurityId, SecurityKind,
    StrategyId, StrategyRecord, Timestamp, Transaction, TransactionId, TransactionKind, Uuid,
};
use expect_test::Expect;

use super::{Portfolio, Valuer};
use crate::marks::Marks;
use crate::outbox::Outbox;
use crate::samples;

/// Test portfolio driven by a script: every line books, marks or queries, and returns what was published.
pub(super) struct PortfolioFixture {
    pub(super) portfolio: Portfolio,
    marks: Marks,
    pub(super) reference: ReferenceData,
    now: Timestamp,
    asked: u64,
    pub(super) recorded: Vec<Transaction>,
}

impl Default for PortfolioFixture {
    fn default() -> Self {
        let mut desk = Self {
            portfolio: Portfolio::default(),
            marks: Marks::default(),
            reference: securities(),
            now: Timestamp::default().plus_seconds(100),
            asked: 0,
            recorded: Vec::new(),
        };
        desk.marks.index_pairs(&desk.reference);
        desk
    }
}

impl PortfolioFixture {
    pub(super) fn tell(&mut self, story: &str) -> String {
        let lines = story.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(|line| self.line(line)).collect()
    }

    fn line(&mut self, line: &str) -> String {
        let mut out = Outbox::default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let refusal = match words[..] {
            ["mark", security, bid, ask] => self.mark(security, bid, ask, &mut out),
            ["wait", seconds] => {
                self.now = self.now.plus_seconds(seconds.parse().unwrap());
                String::new()
            }
            ["roll"] => {
                let Self { portfolio, marks, reference, now, .. } = self;
                portfolio.roll(*now, &valuer(marks, reference, *now));
                String::new()
            }
            ["list"] => self.list(),
            ["values"] => self.values(),
            ["day", scope] => self.day(scope.parse().unwrap()),
            _ => self.book(&words, &mut out),
        };
        let events: String = out.events.iter().map(|event| format!("    {}\n", shown(event))).collect();
        format!("{line}\n{refusal}{events}")
    }

    fn book(&mut self, words: &[&str], out: &mut Outbox) -> String {
        self.asked += 1;
        let transaction = transaction(words, self.asked, self.now);
        let security = transaction.security.and_then(|id| self.reference.securities.get(&id).cloned());
        match self.portfolio.plan(transaction, security.as_deref()) {
            Ok(booking) => {
                self.recorded.push(Transaction::clone(booking.transaction()));
                let Self { portfolio, marks, reference, now, .. } = self;
                portfolio.commit(booking, &valuer(marks, reference, *now), out);
                String::new()
            }
            Err(refusal) => format!("    refused {}: {refusal}\n", refusal.code()),
        }
    }

    fn mark(&mut self, security: &str, bid: &str, ask: &str, out: &mut Outbox) -> String {
        let price = |text: &str| text.parse::<Price>().ok();
        let security = SecurityId(id_of(security).0);
        let mark = Mark { security, bid: price(bid), ask: price(ask), last: None, at: self.now, stale: None };
        self.marks.update(&[mark]);
        let Self { portfolio, marks, reference, now, .. } = self;
        portfolio.revalue(&[mark], &valuer(marks, reference, *now), out);
        String::new()
    }

    fn list(&self) -> String {
        let positions = self.portfolio.positions(Filter::default()).into_iter().map(Arc::new).map(Event::Position);
        let balances = self.portfolio.balances(Filter::default()).into_iter().map(Arc::new).map(Event::Cash);
        positions.chain(balances).map(|event| format!("    {}\n", shown(&event))).collect()
    }

    fn values(&self) -> String {
        let values = self.portfolio.values(&self.valuer(), None).into_iter().map(Arc::new).map(Event::Portfolio);
        values.map(|event| format!("    {}\n", shown(&event))).collect()
    }

    fn day(&self, scope: RiskScope) -> String {
        let valuer = self.valuer();
        let result = text(self.portfolio.day_result(scope, &valuer));
        format!("    result {result}, below its best {}\n", text(self.portfolio.drawdown(scope, &valuer)))
    }

    pub(super) fn valuer(&self) -> Valuer<'_> {
        valuer(&self.marks, &self.reference, self.now)
    }
}

fn valuer<'a>(marks: &'a Marks, reference: &'a ReferenceData, at: Timestamp) -> Valuer<'a> {
    Valuer { marks, reference, base: Currency::USD, at }
}

const SYMBOLS: [(&str, &str, &str); 9] = [
    ("AAPL", "USD", "1"),
    ("EUR.USD", "USD", "1"),
    ("ES", "USD", "50"),
    ("CALL", "USD", "100"),
    ("SPX", "USD", "1"),
    ("BUND", "EUR", "10"),
    ("GOLD", "USD", "1"),
    ("FUND", "CHF", "1"),
    ("BTC.PERP", "USD", "0.001"),
];

fn securities() -> ReferenceData {
    let expiration = "2027-03-19".parse().unwrap();
    let kind = |symbol: &str| match symbol {
        "EUR.USD" => SecurityKind::Forex { base: "EUR".parse().unwrap(), transaction: Currency::USD },
        "ES" => SecurityKind::Future { expiration, month_year: "202703".into(), first_notice: None },
        "CALL" => SecurityKind::Option { expiration, strike: Price::from(10), right: OptionRight::Call },
        "SPX" => SecurityKind::Index,
        "BUND" => SecurityKind::Bond { maturity: expiration, coupon: domain::Decimal::ONE, coupon_frequency: 1 },
        "GOLD" => SecurityKind::Commodity,
        "FUND" => SecurityKind::Fund,
        "BTC.PERP" => SecurityKind::PerpetualSwap,
        _ => SecurityKind::Stock,
    };
    let mut reference = ReferenceData::default();
    for (symbol, currency, size) in SYMBOLS {
        let id = id_of(symbol);
        reference.securities.insert(id, Arc::new(samples::security(id.0, kind(symbol), currency, size)));
    }
    for (id, name) in [(1, "SERVER"), (2, "ALPHA")] {
        let strategy = StrategyRecord { id: StrategyId(id), name: name.into(), auto_activate: false };
        reference.strategies.insert(strategy.id, Arc::new(strategy));
    }
    reference
}

fn id_of(symbol: &str) -> SecurityId {
    let place = SYMBOLS.iter().position(|(known, ..)| *known == symbol).expect("a symbol of the desk");
    SecurityId(place as u64 + 1)
}

fn symbol_of(id: SecurityId) -> &'static str {
    SYMBOLS[usize::try_from(id.0).unwrap() - 1].0
}

fn currency_of(id: SecurityId) -> &'static str {
    SYMBOLS[usize::try_from(id.0).unwrap() - 1].1
}

/// `buy 100 AAPL @ 10`, `credit 500 EUR`; then any of `fee 1`, `in EUR`, `for 2` (strategy), `at 2` (account), `uuid …`.
fn transaction(words: &[&str], id: u64, at: Timestamp) -> Transaction {
    let after = |report: &str| words.iter().position(|known| *known == report).map(|place| words[place + 1]);
    let kind = *TransactionKind::ALL.iter().find(|kind| kind.name().eq_ignore_ascii_case(words[0])).unwrap();
    let number: Quantity = words[1].parse().unwrap();
    let is_cash = kind.cash_sign().is_some();
    let quantity = match kind {
        TransactionKind::Sell => number.negated(),
        _ => kind.cash_sign().unwrap_or(number),
    };
    let security = (!is_cash).then(|| id_of(words[2]));
    let currency = if is_cash { words[2] } else { after("in").unwrap_or(currency_of(security.unwrap())) };
    Transaction {
        id: TransactionId(id),
        uuid: after("uuid").map_or(Uuid::mint(7, id), |text| text.parse().unwrap()),
        at,
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind,
        quantity,
        price: if is_cash { Price(number.0) } else { after("@").unwrap().parse().unwrap() },
        execution_commission: Amount::ZERO,
        clearing_commission: Amount::ZERO,
        fee: after("fee").map_or(Amount::ZERO, |fee| fee.parse().unwrap()),
        currency: currency.parse().unwrap(),
        account: AccountId(after("at").map_or(1, |id| id.parse().unwrap())),
        security,
        strategy: StrategyId(after("for").map_or(1, |id| id.parse().unwrap())),
        description: None,
        charges: vec![],
        venue_kind: None,
        liquidity: None,
    }
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or("?".into(), |value| value.to_string())
}

fn shown(event: &Event) -> String {
    match event {
        Event::Transaction(booked) => format!("transaction {}", booked.id),
        Event::Position(position) => format!(
            "position {} of {}/{}: {} {}, cost {} avg {}, realised {}, unrealised {}, worth {} {}",
            position.id,
            position.strategy,
            position.account,
            position.quantity,
            symbol_of(position.security),
            position.cost,
            text(position.avg_price),
            position.realized_pl,
            text(position.unrealized_pl),
            text(position.market_value),
            position.currency,
        ),
        Event::Cash(cash) => {
            format!("cash {} of {}/{}: {} {}", cash.id, cash.strategy, cash.account, cash.amount, cash.currency)
        }
        Event::Portfolio(value) => format!(
            "strategy {}: {} {} = cash {} + market {}; realised {}, unrealised {}, {} open",
            value.strategy,
            text(value.net_liq_value),
            value.currency,
            text(value.cash_balance),
            text(value.market_value),
            text(value.realized_pl),
            text(value.unrealized_pl),
            value.open_positions,
        ),
        Event::Alarm(alarm) => format!("alarm {}: {}", alarm.code, alarm.text),
        other => panic!("a portfolio does not publish {other:?}"),
    }
}

#[track_caller]
fn check(story: &str, expected: Expect) {
    expected.assert_eq(&PortfolioFixture::default().tell(story));
}
