//! Samples: one of everything, as the engine publishes it.

use std::sync::Arc;

use domain::command::GenericEvent;
use domain::market::BookLevel;
use domain::order::{BaseState, ExecType, LegState, OrderLeg, OrderLegs, OrderRequest, OrderTerms, PendingRequest};
use domain::query::{AdapterStatus, LineStatus};
use domain::reference::{Holiday, OptionRight, TradingHours};
use domain::report::{CancelKind, LineKind, LineState, OpenFor, ReplaceKind, SessionState};
use domain::risk::{BurstLimit, SelfTradePrevention};
use domain::*;

pub(crate) fn number(digits: &str) -> Decimal {
    digits.parse().unwrap()
}

fn price(digits: &str) -> Price {
    Price(number(digits))
}

fn quantity(digits: &str) -> Quantity {
    Quantity(number(digits))
}

fn amount(digits: &str) -> Amount {
    Amount(number(digits))
}

fn currency(code: &str) -> Currency {
    code.parse().unwrap()
}

fn date(text: &str) -> Date {
    text.parse().unwrap()
}

/// Seconds after 2026-11-16T14:30:00Z, with nanoseconds that the wire must cut off.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp(1_794_839_400_000_000_000 + 123_456_789).plus_seconds(seconds)
}

pub(crate) fn reference_data() -> ReferenceData {
    let mut data = ReferenceData::default();
    data.accounts.insert(AccountId(1), Arc::new(account()));
    data.exchanges.insert(ExchangeId(2), Arc::new(exchange()));
    for security in securities() {
        data.securities.insert(security.id, Arc::new(security));
    }
    for (id, name) in [(1, "SERVER"), (2, "MOMENTUM")] {
        let strategy = StrategyRecord { id: StrategyId(id), name: name.into(), auto_activate: id == 2 };
        data.strategies.insert(strategy.id, Arc::new(strategy));
    }
    data
}

fn account() -> Account {
    Account {
        session_qualifier: Some("ALPHA".into()),
        ext_account: Some("U123".into()),
        ..::samples::account(1, "ALPHA")
    }
}

fn exchange() -> Exchange {
    Exchange {
        id: ExchangeId(2),
        name: "Rialto Day".into(),
        code: Some("RDAY".into()),
        mic: Some("XRIA".into()),
        trading_hours: vec![TradingHours {
            open: "00:10".parse().unwrap(),
            close: "23:50".parse().unwrap(),
            days: vec![1, 2, 3, 4, 5],
        }],
        holidays: vec![
            Holiday { date: date("2026-12-25"), open: None, close: None },
            Holiday { date: date("2026-12-24"), open: "00:10".parse().ok(), close: "12:00".parse().ok() },
        ],
        opening_auction_minutes: 5,
        closing_auction_minutes: 5,
        ..::samples::exchange()
    }
}

pub(crate) fn family() -> SecurityFamily {
    SecurityFamily {
        isin_root: Some("US".into()),
        price_incr: number("0.0100"),
        exchange: Some(ExchangeId(2)),
        execution_commission: amount("0.005"),
        fee: amount("0.0001"),
        settlement: Some(Settlement::Physical),
        ..::samples::family(1, "US stocks")
    }
}

pub(crate) fn securities() -> Vec<Security> {
    let expiration = date("2027-03-19");
    [
        ("AAPL", SecurityKind::Stock),
        ("EUR.USD", SecurityKind::Forex { base: currency("EUR"), transaction: Currency::USD }),
        ("ESH7", SecurityKind::Future { expiration, month_year: "202703".into(), first_notice: None }),
        ("AAPL C280", SecurityKind::Option { expiration, strike: price("280.00"), right: OptionRight::Call }),
        ("SPX", SecurityKind::Index),
        ("T 4.25", SecurityKind::Bond { maturity: date("2035-11-15"), coupon: number("4.25"), coupon_frequency: 2 }),
        ("XAU", SecurityKind::Commodity),
        ("VTI", SecurityKind::Fund),
        ("BTC-PERP", SecurityKind::PerpetualSwap),
    ]
    .into_iter()
    .zip(1..)
    .map(|((symbol, kind), id)| security(id, symbol, kind))
    .collect()
}

fn security(id: u64, symbol: &str, kind: SecurityKind) -> Security {
    Security {
        kind,
        description: Some(format!("{symbol}, a sample").into()),
        underlying: (id == 4).then_some(SecurityId(1)),
        family: Some(FamilyId(1)),
        exchange: ExchangeId(2),
        min_qty: Some(quantity("1")),
        min_price: Some(price("0.01")),
        tradeable: symbol != "SPX",
        venue_symbols: VenueSymbols([("MAIN".into(), symbol.replace('.', "").into())].into()),
        ..::samples::stock(id, symbol)
    }
}

/// An order that the venue replaced by another one.
fn legs() -> OrderLegs {
    let kind = OrderKind::Limit { limit: price("272.40") };
    let terms = OrderTerms { quantity: quantity("100"), kind, tif: TimeInForce::Gtc };
    let first = OrderLeg { state: LegState::Ended, ..OrderLeg::live("V1".into(), terms) };
    OrderLegs(vec![first, OrderLeg { filled: quantity("30"), ..OrderLeg::live("V2".into(), terms) }])
}

pub(crate) fn orders() -> Vec<Order> {
    let (limit, stop) = (price("272.40"), price("270.00"));
    let none = OrderProperties::default();
    let properties = OrderProperties { min_quantity: Some(quantity("50")), ..none };
    let market = Order { source: Source::Ui, properties, ..order(1, OrderKind::Market, TimeInForce::Ioc) };
    let limit_order = Order {
        cl_ord_id: Some("C-17".into()),
        source: Source::Fix("CLIENT".into()),
        state: BaseState::PartiallyFilled,
        filled: quantity("30"),
        turnover: amount("8171.1"),
        properties: OrderProperties { post_only: true, display_quantity: Some(quantity("25")), ..none },
        legs: Some(Box::new(legs())),
        ..order(2, OrderKind::Limit { limit }, TimeInForce::Gtc)
    };
    let until = at(86_400);
    let stop_order = Order {
        state: BaseState::New,
        pending: PendingRequest::Cancel(
            Box::new(OrderRequest { cl_ord_id: None, source: Source::Rest, requested_by: None, reason: None }),
            None,
        ),
        ..order(3, OrderKind::Stop { stop }, TimeInForce::Gtd { until })
    };
    let stop_limit = Order {
        in_doubt: true,
        reason: Some("the connection broke before the venue answered".into()),
        source: Source::Strategy,
        properties: OrderProperties::REDUCE_ONLY,
        ..order(4, OrderKind::StopLimit { limit, stop }, TimeInForce::Day)
    };
    vec![market, limit_order, stop_order, stop_limit]
}

fn order(id: u64, kind: OrderKind, tif: TimeInForce) -> Order {
    Order {
        int_id: format!("ALPHA-{id}").parse().unwrap(),
        ext_id: Some(format!("V{id}").into()),
        at: at(0),
        terms: OrderTerms { quantity: quantity("100"), kind, tif },
        exchange: ExchangeId(2),
        strategy: StrategyId(2),
        adapter: AdapterName::new("SIMULATED", Some("ALPHA")),
        reference: Some("my note".into()),
        changed_at: at(1),
        ..::samples::order(id)
    }
}

pub(crate) fn order_status() -> OrderStatus {
    OrderStatus {
        order: OrderId(2),
        int_id: "ALPHA-2".parse().unwrap(),
        ext_id: Some("V2".into()),
        strategy: StrategyId(2),
        at: at(2),
        ext_at: Some(at(1)),
        sequence: 4711,
        status: OrdStatus::PartiallyExecuted,
        exec_type: ExecType::PartialFill,
        filled: quantity("30"),
        remaining: quantity("70"),
        last_quantity: Some(quantity("30")),
        last_price: Some(price("272.37")),
        avg_price: Some(price("272.37")),
        reason: None,
        request: None,
        client: None,
    }
}

pub(crate) fn fill() -> Fill {
    Fill {
        order: OrderId(2),
        int_id: "ALPHA-2".parse().unwrap(),
        strategy: StrategyId(2),
        security: SecurityId(1),
        account: AccountId(1),
        ext_id: "E-99".into(),
        at: at(2),
        ext_at: None,
        sequence: 4711,
        side: Side::Buy,
        quantity: quantity("30.000"),
        price: price("272.37"),
        liquidity: Some(Liquidity::Maker),
    }
}

pub(crate) fn position() -> Position {
    Position {
        id: PositionId(3),
        strategy: StrategyId(2),
        security: SecurityId(1),
        account: AccountId(1),
        quantity: quantity("-30"),
        cost: amount("-8171.1"),
        avg_price: Some(price("272.37")),
        realized_pl: amount("12.500000000001"),
        unrealized_pl: None,
        market_price: None,
        market_value: None,
        currency: Currency::USD,
        changed_at: at(2),
        commissions: amount("0.15"),
        fees: amount("0.003"),
    }
}

pub(crate) fn transaction() -> Transaction {
    Transaction {
        id: TransactionId(8),
        uuid: Uuid::mint(1, 8),
        at: at(2),
        settlement_date: Some(date("2026-11-18")),
        ext_id: Some("E-99".into()),
        int_order_id: "ALPHA-2".parse().ok(),
        ext_order_id: Some("V2".into()),
        kind: TransactionKind::Sell,
        quantity: quantity("-30"),
        price: price("272.37"),
        execution_commission: amount("0.15"),
        clearing_commission: Amount::ZERO,
        fee: amount("0.003"),
        currency: Currency::USD,
        account: AccountId(1),
        security: Some(SecurityId(1)),
        strategy: StrategyId(2),
        description: None,
        charges: vec![Charge { amount: amount("0.0002"), currency: currency("BNB"), kind: ChargeKind::Fee }],
        venue_kind: None,
        liquidity: Some(Liquidity::Maker),
    }
}

pub(crate) fn generic_event() -> GenericEvent {
    GenericEvent { strategy: StrategyId(2), name: "signal".into(), body: "{\"long\": true}".into() }
}

pub(crate) fn adapter_status() -> AdapterStatus {
    AdapterStatus {
        adapter: AdapterName::new("SIMULATED", Some("ALPHA")),
        session: SessionState::Subscribed,
        simulated: true,
        exchanges: vec![ExchangeId(1)],
        order_properties: vec![OrderProperty::PostOnly, OrderProperty::MinQuantity],
        replace: ReplaceKind::CancelReplace,
        cancel: CancelKind::WhileOpen,
        open_for: OpenFor::Reduce,
        lines: LineKind::ALL.map(line_status).to_vec(),
    }
}

/// The private line is down.
fn line_status(line: LineKind) -> LineStatus {
    let (up, reason) = if line == LineKind::Private { (false, Some("no pong for 60 s".into())) } else { (true, None) };
    LineStatus { state: LineState { line, up, reason }, since: Some(at(0)), last_heard: Some(at(0)) }
}

pub(crate) fn cash_balance() -> CashBalance {
    CashBalance {
        id: BalanceId(1),
        strategy: StrategyId(2),
        account: AccountId(1),
        currency: currency("USDT"),
        amount: amount("1000000.00"),
        venue_total: Some(amount("1000250.5")),
        venue_locked: Some(amount("2500")),
    }
}

pub(crate) fn portfolio_value() -> PortfolioValue {
    PortfolioValue {
        strategy: StrategyId(2),
        at: at(3),
        net_liq_value: Some(amount("1000012.5")),
        market_value: Some(amount("-8171.1")),
        cash_balance: Some(amount("1008183.6")),
        realized_pl: Some(amount("12.5")),
        unrealized_pl: None,
        open_positions: 1,
        currency: Currency::USD,
        commissions: Some(amount("0.15")),
        fees: Some(amount("0.003")),
    }
}

pub(crate) fn value_history_row() -> ValueHistoryRow {
    let sample = ValueSample {
        scope: RiskScope::Strategy(StrategyId(2)),
        at: at(3),
        date: date("2026-11-16"),
        is_close: true,
        currency: Currency::USD,
        net_liq_value: Some(amount("1000012.5")),
        market_value: Some(amount("-8171.1")),
        cash_balance: Some(amount("1008183.6")),
        long_exposure: Some(amount("0")),
        short_exposure: Some(amount("8171.1")),
        realized_pl: Some(amount("12.5")),
        unrealized_pl: None,
        commissions: Some(amount("0.15")),
        fees: Some(amount("0.003")),
        day_result: Some(amount("-20.25")),
        day_flow: Some(amount("0")),
    };
    ValueHistoryRow {
        sequence: 1087,
        date: date("2026-11-01"),
        result: Some(amount("12.347")),
        flow: Some(amount("1000000")),
        drawdown: Some(amount("20.25")),
        sample,
    }
}

pub(crate) fn tick() -> Tick {
    Tick {
        security: SecurityId(1),
        feed: "SIMULATED".into(),
        at: at(0),
        last: Some(price("272.40")),
        last_at: Some(at(-1)),
        vol_last: Some(quantity("5")),
        bid: Some(price("272.39")),
        ask: Some(price("272.41")),
        vol_bid: Some(quantity("300")),
        vol_ask: None,
        vol: Some(quantity("120500")),
        stale: None,
    }
}

pub(crate) fn bar() -> Bar {
    Bar {
        security: SecurityId(1),
        feed: "SIMULATED".into(),
        at: at(0),
        size: BarSize::Min15,
        open: price("272.1"),
        high: price("272.9"),
        low: price("271.95"),
        close: price("272.4"),
        vol: quantity("5400"),
        vwap: Some(price("272.333333333333")),
    }
}

pub(crate) fn trade() -> Trade {
    Trade {
        security: SecurityId(1),
        feed: "SIMULATED".into(),
        at: at(0),
        price: price("272.40"),
        quantity: quantity("5"),
        aggressor: Some(Side::Sell),
        ext_id: None,
    }
}

pub(crate) fn order_book() -> OrderBook {
    let level = |digits: &str, size: &str| BookLevel { price: price(digits), quantity: quantity(size) };
    OrderBook {
        security: SecurityId(1),
        feed: "SIMULATED".into(),
        at: at(0),
        bids: vec![level("272.39", "300"), level("272.38", "1200")],
        asks: vec![level("272.41", "150")],
    }
}

pub(crate) fn limits() -> RiskLimits {
    RiskLimits {
        max_order_quantity: Some(quantity("10000")),
        max_order_notional: Some(amount("500000")),
        price_collar_percent: Some(amount("5.5")),
        max_open_orders: Some(200),
        cash_check: Some(true),
        duplicate_guard: Some(BurstLimit { count: 5, millis: 1000 }),
        self_trade: Some(SelfTradePrevention::RejectNewest),
        messages_per_second: Some(2_000),
        execution_breaker: Some(BurstLimit { count: 100, millis: 60_000 }),
        restricted_securities: Some([SecurityId(3), SecurityId(7)].into()),
        ..RiskLimits::default()
    }
}
