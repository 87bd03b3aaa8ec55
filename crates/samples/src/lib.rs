//! Sample domain objects for tests and benchmarks, each with plain defaults: `Security { tradeable: false, ..stock(7,
//! "TEST") }` is a stock that differs in one field.

mod null_history;

pub use null_history::NullHistory;

use domain::command::RecordTransaction;
use domain::order::{BaseState, OrderTerms, PendingRequest};
use domain::reference::TradingHours;
use domain::time::TimeOfDay;
use domain::{
    Account, AccountId, AdapterName, Amount, Currency, Date, Decimal, Exchange, ExchangeId, FamilyId, Order, OrderId,
    OrderKind, Price, Quantity, RiskScope, Security, SecurityFamily, SecurityId, SecurityKind, Side, Source,
    StrategyId, Tick, TimeInForce, Timestamp, TransactionKind, ValueSample,
};

/// The default exchange.
pub const EXCHANGE: ExchangeId = ExchangeId(1);

/// Open round the clock, in UTC, without auctions.
pub fn exchange() -> Exchange {
    Exchange {
        id: EXCHANGE,
        name: "Test Exchange".into(),
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

/// Without commissions.
pub fn family(id: u64, name: &str) -> SecurityFamily {
    SecurityFamily {
        id: FamilyId(id),
        name: name.into(),
        symbol_root: None,
        isin_root: None,
        ric_root: None,
        currency: Currency::USD,
        contract_size: Decimal::ONE,
        price_incr: cent(),
        underlying: None,
        exchange: Some(EXCHANGE),
        execution_commission: Amount::ZERO,
        clearing_commission: Amount::ZERO,
        fee: Amount::ZERO,
        settlement: None,
    }
}

/// In dollars and whole shares, priced in cents.
pub fn stock(id: u64, symbol: &str) -> Security {
    Security {
        id: SecurityId(id),
        kind: SecurityKind::Stock,
        symbol: symbol.into(),
        description: None,
        isin: None,
        bbgid: None,
        ric: None,
        conid: None,
        adapter_ticker: None,
        underlying: None,
        family: None,
        exchange: EXCHANGE,
        currency: Currency::USD,
        contract_size: Decimal::ONE,
        min_qty: None,
        max_qty: None,
        qty_incr: Decimal::ONE,
        min_price: None,
        max_price: None,
        price_incr: cent(),
        min_notional: None,
        tradeable: true,
        venue_symbols: Default::default(),
    }
}

/// Active, at the simulated adapter.
pub fn account(id: u64, name: &str) -> Account {
    Account {
        id: AccountId(id),
        name: name.into(),
        active: true,
        adapter_type: "SIMULATED".into(),
        session_qualifier: None,
        ext_account: None,
        ext_account_group: None,
        ext_allocation_profile: None,
        ext_clearing_account: None,
    }
}

/// A day market order of the server for one share, not accepted yet.
pub fn order(id: u64) -> Order {
    Order {
        id: OrderId(id),
        int_id: format!("TEST-{id}").parse().expect("it is short and printable"),
        ext_id: None,
        cl_ord_id: None,
        at: Timestamp(0),
        side: Side::Buy,
        terms: OrderTerms { quantity: Quantity::from(1), kind: OrderKind::Market, tif: TimeInForce::Day },
        exchange_order: false,
        exchange: EXCHANGE,
        security: SecurityId(1),
        account: AccountId(1),
        strategy: StrategyId::SERVER,
        adapter: AdapterName::new("SIMULATED", None),
        properties: domain::OrderProperties::default(),
        state: BaseState::PendingNew,
        pending: PendingRequest::Nothing,
        filled: Quantity::ZERO,
        turnover: Amount::ZERO,
        revision: 0,
        reason: None,
        in_doubt: false,
        reference: None,
        source: Source::Rest,
        submitted_by: None,
        changed_at: Timestamp(0),
        request: 0,
        legs: None,
        pass_through: None,
    }
}

/// An empty tick.
pub fn tick(security: u64) -> Tick {
    Tick { feed: "test".into(), ..Tick::empty(SecurityId(security)) }
}

/// Cash in dollars for an account.
pub fn credit(account: u64, dollars: i64) -> RecordTransaction {
    RecordTransaction {
        uuid: None,
        at: None,
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: TransactionKind::Credit,
        quantity: None,
        price: Price::from(dollars),
        execution_commission: None,
        clearing_commission: None,
        fee: None,
        currency: Some(Currency::USD),
        account: Some(AccountId(account)),
        security: None,
        strategy: None,
        description: None,
    }
}

fn cent() -> Decimal {
    Decimal::new(1, 2)
}

/// What a scope is worth: 1,000 in cash, and 100 in positions that gained 10 on that day.
pub fn value_sample(scope: RiskScope, date: Date, at: Timestamp) -> ValueSample {
    let amount = |amount: i64| Some(Amount::from(amount));
    ValueSample {
        scope,
        at,
        date,
        is_close: false,
        currency: Currency::USD,
        net_liq_value: amount(1_100),
        market_value: amount(100),
        cash_balance: amount(1_000),
        long_exposure: amount(100),
        short_exposure: amount(0),
        realized_pl: amount(0),
        unrealized_pl: amount(10),
        commissions: amount(0),
        fees: amount(0),
        day_result: amount(10),
        day_flow: amount(0),
    }
}
