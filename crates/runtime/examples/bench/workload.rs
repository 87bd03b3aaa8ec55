//! Setup of the benchmarks: 1,000 stocks, four accounts with cash, four strategies, the demo's limits.

use domain::command::{MarketData, PlaceOrder, RecordTransaction, ReferenceChange};
use domain::order::{OrderKind, Side};
use domain::reference::{Account, Exchange, Security, SecurityFamily, SecurityKind, StrategyRecord, TradingHours};
use domain::report::{
    AdapterCapabilities, RefusesRepeatedIds, Report, ReportKind, SessionState, VenueFill, VenueSnapshot,
};
use domain::risk::{BurstLimit, EngineSettings, RiskLimits, SelfTradePrevention};
use domain::time::TimeOfDay;
use domain::{
    AccountId, AdapterName, Amount, Caller, Command, CommandEnvelope, Currency, Decimal, ExchangeId, FamilyId, Mark,
    OrderId, Price, Quantity, SecurityId, Source, StrategyId, Text, Tick, TimeInForce, Timestamp, TransactionKind,
};

pub(crate) const SECURITIES: u64 = 1_000;
pub(crate) const ADAPTER: &str = "BENCH";
const ACCOUNTS: u64 = 4;
const STRATEGIES: u64 = 4;
const EXCHANGE: ExchangeId = ExchangeId(1);
const FAMILY: FamilyId = FamilyId(1);
const QUANTITY: i64 = 100;
const CASH: i64 = 1_000_000_000_000;
/// A Wednesday in 2026, at noon: the first instant of every measurement.
pub(crate) const OPENING: Timestamp = Timestamp(1_795_003_200_000_000_000);

/// Commands before the first order.
pub(crate) fn opening(orders_per_second: u32) -> Vec<CommandEnvelope> {
    let settings = EngineSettings { platform_limits: limits(orders_per_second), ..EngineSettings::default() };
    let credits = (1..=ACCOUNTS).map(|account| Command::Record(credit(AccountId(account))));
    [Command::Configure(settings), Command::Reference(reference())].into_iter().chain(credits).map(envelope).collect()
}

pub(crate) fn marks() -> Vec<Mark> {
    (1..=SECURITIES).map(|security| mark(SecurityId(security))).collect()
}

/// Reports of an adapter until it is logged on.
pub(crate) fn logon() -> Vec<Report> {
    let profile = AdapterCapabilities {
        exchanges: vec![EXCHANGE],
        expires_orders: true,
        refuses_repeated_ids: RefusesRepeatedIds::Never,
        simulated: true,
        ..AdapterCapabilities::default()
    };
    let picture = VenueSnapshot { complete: true, ..VenueSnapshot::default() };
    [
        ReportKind::Attached(profile),
        ReportKind::Session(SessionState::Connected),
        ReportKind::Snapshot(picture),
        ReportKind::Session(SessionState::LoggedOn),
    ]
    .map(report)
    .into()
}

/// The limits of a server as it is installed; how many orders a second are let through is chosen by the measurement.
fn limits(orders_per_second: u32) -> RiskLimits {
    RiskLimits {
        price_collar_percent: Some(Amount::from(50)),
        cash_check: Some(true),
        orders_per_second: Some(orders_per_second),
        reject_breaker: Some(BurstLimit { count: 100, millis: 10_000 }),
        self_trade: Some(SelfTradePrevention::RejectNewest),
        ..RiskLimits::default()
    }
}

fn envelope(command: Command) -> CommandEnvelope {
    CommandEnvelope { caller: Caller::new(Source::Rest, Some("trader".into())), command }
}

/// The `number`-th order, counted from 0. Accounts, strategies and securities take turns; buys lie below the market, sells above it.
pub(crate) fn order(number: u64) -> CommandEnvelope {
    let security = SecurityId(number % SECURITIES + 1);
    let side = side(number);
    envelope(Command::Place(PlaceOrder {
        int_id: None,
        cl_ord_id: None,
        security,
        account: Some(AccountId(security.0 % ACCOUNTS + 1)),
        strategy: Some(StrategyId(security.0 / ACCOUNTS % STRATEGIES + 1)),
        exchange: None,
        side,
        quantity: QUANTITY.into(),
        kind: OrderKind::Limit { limit: limit(side) },
        tif: TimeInForce::Day,
        exchange_order: false,
        reference: None,
        properties: domain::OrderProperties::default(),
        pass_through: None,
    }))
}

fn side(number: u64) -> Side {
    if (number / SECURITIES).is_multiple_of(2) { Side::Buy } else { Side::Sell }
}

fn limit(side: Side) -> Price {
    match side {
        Side::Buy => Price(Decimal::new(9_995, 2)),
        Side::Sell => Price(Decimal::new(10_005, 2)),
    }
}

/// The number that the engine gives it.
pub(crate) fn id(number: u64) -> OrderId {
    OrderId(number + 1)
}

pub(crate) fn accepted(order: OrderId) -> Report {
    report(ReportKind::Accepted { order, ext_id: Some(format!("V{order}").into()) })
}

/// The `number`-th order is filled as a whole, at its limit.
pub(crate) fn filled(number: u64) -> Report {
    report(ReportKind::Filled(VenueFill {
        order: id(number),
        exec_id: format!("X{number}").into(),
        quantity: QUANTITY.into(),
        price: limit(side(number)),
        at: None,
        fee: None,
        charges: vec![],
        ext_order: None,
        liquidity: None,
    }))
}

fn report(said: ReportKind) -> Report {
    Report { adapter: AdapterName(ADAPTER.into()), ext_at: None, kind: said }
}

/// A quote, and with every fourth a trade.
pub(crate) fn tick(number: u64, feed: &Text) -> MarketData {
    let cents = i64::try_from(number * 7_919 % 100).expect("below a hundred");
    let price = |cents: i64| Some(Price(Decimal::new(10_000 + cents, 2)));
    MarketData::Tick(Tick {
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
        stale: None,
    })
}

fn mark(security: SecurityId) -> Mark {
    let price = |cents: i64| Some(Price(Decimal::new(cents, 2)));
    Mark { security, bid: price(9_999), ask: price(10_001), last: price(10_000), at: OPENING, stale: None }
}

fn credit(account: AccountId) -> RecordTransaction {
    RecordTransaction {
        uuid: None,
        at: None,
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: TransactionKind::Credit,
        quantity: None,
        price: Price::from(CASH),
        execution_commission: None,
        clearing_commission: None,
        fee: None,
        currency: Some(Currency::USD),
        account: Some(account),
        security: None,
        strategy: None,
        description: None,
    }
}

fn reference() -> Vec<ReferenceChange> {
    let mut changes = vec![ReferenceChange::Exchange(exchange()), ReferenceChange::Family(family())];
    changes.extend((1..=SECURITIES).map(|id| ReferenceChange::Security(stock(SecurityId(id)))));
    changes.extend((1..=ACCOUNTS).map(|id| ReferenceChange::Account(account(AccountId(id)))));
    changes.extend((2..=STRATEGIES).map(|id| ReferenceChange::Strategy(strategy(StrategyId(id)))));
    changes
}

/// Open round the clock.
fn exchange() -> Exchange {
    Exchange {
        id: EXCHANGE,
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

/// With commissions and a fee, as the families of the demo have them.
fn family() -> SecurityFamily {
    SecurityFamily {
        id: FAMILY,
        name: "stocks".into(),
        symbol_root: None,
        isin_root: None,
        ric_root: None,
        currency: Currency::USD,
        contract_size: Decimal::ONE,
        price_incr: Decimal::new(1, 2),
        underlying: None,
        exchange: Some(EXCHANGE),
        execution_commission: Amount(Decimal::new(5, 3)),
        clearing_commission: Amount(Decimal::new(1, 3)),
        fee: Amount(Decimal::new(2, 4)),
        settlement: None,
    }
}

fn stock(id: SecurityId) -> Security {
    Security {
        id,
        kind: SecurityKind::Stock,
        symbol: format!("S{id}").into(),
        description: None,
        isin: None,
        bbgid: None,
        ric: None,
        conid: None,
        adapter_ticker: None,
        underlying: None,
        family: Some(FAMILY),
        exchange: EXCHANGE,
        currency: Currency::USD,
        contract_size: Decimal::ONE,
        min_qty: None,
        max_qty: None,
        qty_incr: Decimal::ONE,
        min_price: None,
        max_price: None,
        price_incr: Decimal::new(1, 2),
        min_notional: None,
        tradeable: true,
        venue_symbols: Default::default(),
    }
}

fn account(id: AccountId) -> Account {
    Account {
        id,
        name: format!("A{id}").into(),
        active: true,
        adapter_type: ADAPTER.into(),
        session_qualifier: None,
        ext_account: None,
        ext_account_group: None,
        ext_allocation_profile: None,
        ext_clearing_account: None,
    }
}

fn strategy(id: StrategyId) -> StrategyRecord {
    StrategyRecord { id, name: format!("strategy {id}").into(), auto_activate: false }
}
