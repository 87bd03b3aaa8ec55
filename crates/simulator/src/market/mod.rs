//! The market of a run: an exchange that is always open, three stocks, two accounts with cash, a simulated venue for each, a strategy.
//! It is a small world of its own, or made from what the data folder of an earlier release has.

pub(crate) mod hosted_venue;
pub(crate) mod seed_traits;

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::command::{Command, MarketDataSubscription, ReferenceChange};
use domain::query::{Answer, Filter};
use domain::risk::{BurstLimit, EngineSettings, RiskLimits, SelfTradePrevention};
use domain::{
    Account, AccountId, AdapterName, Amount, Decimal, Exchange, Mark, Price, Quantity, Query, ReferenceData, Security,
    SecurityId, SecurityKind, SeededRng, StrategyId, StrategyRecord, Text, Timestamp,
};
use engine::Engine;
use venue_sim::{
    Faults, ListedSecurity, OpeningQuotes, ParticipantActivity, SelfTradeRule, UnitCosts, VenueConfig, VenueFees,
};

use crate::market::seed_traits::{SeedTraits, VENUE_COUNT};

const STOCK_COUNT: usize = 3;
/// Number, symbol and opening price in cents of the small world.
const STOCKS: [(u64, &str, i64); STOCK_COUNT] = [(1, "ALPHA", 1_000), (2, "BRAVO", 5_000), (3, "CHARLIE", 20_000)];
const ACCOUNTS: [u64; VENUE_COUNT] = [1, 2];
const VENUES: [&str; VENUE_COUNT] = ["ALPHA", "BRAVO"];
const ADAPTER_TYPE: &str = "SIMULATED";
const FIX_ADAPTER_TYPE: &str = "FIX";
/// The same for both, so that they give the same execution ids, as venues do that know nothing of each other.
const VENUE_PREFIX: &str = "SIM";
const STRATEGY: StrategyId = StrategyId(2);
const STRATEGY_NAME: &str = "SEEDED";
/// Of runs in which clients ask for what is wrong.
pub(crate) const UNTRADED_SECURITY: SecurityId = SecurityId(4);
pub(crate) const INACTIVE_ACCOUNT: AccountId = AccountId(3);
/// The stock whose orders have a smallest and a largest quantity there.
const BOUNDED: u64 = 2;
const BOUNDS: (i64, i64) = (5, 120);
/// What each account has at first.
pub(crate) const CASH: i64 = 2_000_000;
/// How late a request may arrive.
const REQUEST_LIFE_NANOS: i64 = 5_000_000_000;
const LATENCY_NANOS: i64 = 2_000_000;

/// What is traded where by whom.
#[derive(Debug)]
pub(crate) struct Market {
    exchange: Arc<Exchange>,
    pub(crate) stocks: Vec<Stock>,
    /// Securities that nobody trades: they are held, or what is held is valued by them.
    valued: Vec<(Arc<Security>, Price)>,
    /// Where the orders of each go: to the venue of the same place.
    pub(crate) accounts: [AccountId; VENUE_COUNT],
    adapters: [AdapterName; VENUE_COUNT],
    adapter_types: [Text; VENUE_COUNT],
    /// Of the ids that a venue gives.
    prefixes: [Text; VENUE_COUNT],
    pub(crate) strategy: StrategyRecord,
    /// With an account that is not active, a security that cannot be traded, and bounds of the quantity of one that can; clients ask for
    /// what is wrong.
    pub(crate) is_odd: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Stock {
    pub(crate) security: Arc<Security>,
    /// In cents.
    pub(crate) opening: i64,
}

impl Market {
    pub(crate) fn small_world(lab_venue: Option<usize>, is_odd: bool) -> Self {
        let adapter_type = |venue| if lab_venue == Some(venue) { FIX_ADAPTER_TYPE } else { ADAPTER_TYPE };
        let stock = |(id, symbol, opening): (u64, &str, i64)| {
            let bounds = [BOUNDS.0, BOUNDS.1].map(|bound| (is_odd && id == BOUNDED).then(|| Quantity::from(bound)));
            let security = Security { min_qty: bounds[0], max_qty: bounds[1], ..samples::stock(id, symbol) };
            Stock { security: Arc::new(security), opening }
        };
        Self {
            exchange: Arc::new(samples::exchange()),
            stocks: STOCKS.map(stock).into(),
            valued: vec![],
            accounts: ACCOUNTS.map(AccountId),
            adapters: std::array::from_fn(|venue| AdapterName::new(adapter_type(venue), Some(VENUES[venue]))),
            adapter_types: std::array::from_fn(adapter_type).map(Into::into),
            prefixes: [VENUE_PREFIX; VENUE_COUNT].map(Into::into),
            strategy: StrategyRecord { id: STRATEGY, name: STRATEGY_NAME.into(), auto_activate: true },
            is_odd,
        }
    }

    /// Made from what an engine has, at the last prices that it was told.
    pub(crate) fn of_engine(engine: &Engine, marks: &BTreeMap<SecurityId, Mark>) -> Result<Self, String> {
        let reference = engine.reference();
        let hours = samples::exchange().trading_hours;
        let exchange = reference.exchanges.values().find(|exchange| exchange.trading_hours == hours);
        let exchange = exchange.ok_or("no exchange is always open")?.clone();
        let price = |security: &Security| marks.get(&security.id).and_then(Mark::mid).map(|mid| on_tick(mid, security));
        let base = engine.settings().base_currency;
        let is_traded = |security: &&Arc<Security>| {
            let is_stock = security.kind == SecurityKind::Stock && security.tradeable;
            is_stock && security.exchange == exchange.id && security.currency == base
        };
        let stock = |security: &Arc<Security>| {
            let cents = i64::try_from((price(security)?.0 * Decimal::ONE_HUNDRED).trunc());
            Some(Stock { security: security.clone(), opening: cents.ok()? })
        };
        let stocks = reference.securities.values().filter(is_traded).filter_map(stock).take(STOCK_COUNT);
        let stocks: Vec<Stock> = stocks.collect();
        if stocks.is_empty() {
            return Err("no stock has a price".to_owned());
        }
        let is_stock = |security: &Security| stocks.iter().any(|stock| stock.security.id == security.id);
        let held = held(engine).into_iter().filter(|security| !is_stock(security));
        let valued = held.flat_map(|held| {
            let rate = pair(reference, &held, base);
            [Some(held), rate].into_iter().flatten()
        });
        let valued = valued.filter_map(|security| price(&security).map(|price| (security, price))).collect();
        let accounts = trading_accounts(reference).ok_or("there are no two accounts at two venues")?;
        let prefix = |account: &Account| account.session_qualifier.clone().unwrap_or_else(|| VENUE_PREFIX.into());
        let strategy = reference.strategies.values().find(|strategy| strategy.id != StrategyId::SERVER);
        Ok(Self {
            exchange,
            stocks,
            valued,
            accounts: accounts.each_ref().map(|account| account.id),
            adapters: accounts.each_ref().map(|account| adapter_of(account)),
            adapter_types: accounts.each_ref().map(|account| account.adapter_type.clone()),
            prefixes: accounts.each_ref().map(|account| prefix(account)),
            strategy: StrategyRecord::clone(strategy.ok_or("there is no strategy")?),
            is_odd: false,
        })
    }

    pub(crate) fn draw_stock(&self, rng: &mut SeededRng) -> &Stock {
        rng.pick(&self.stocks).unwrap_or(&self.stocks[0])
    }

    pub(crate) fn adapter(&self, venue: usize) -> &AdapterName {
        &self.adapters[venue]
    }

    /// The name of a venue in the configuration of the platform.
    pub(crate) fn venue_name(&self, venue: usize) -> &'static str {
        VENUES[venue]
    }

    /// The file name of a venue's ledger, as the server gives it.
    pub(crate) fn ledger_name(&self, venue: usize) -> String {
        format!("{}.ledger", self.adapters[venue])
    }

    /// Where the orders of an account go.
    pub(crate) fn venue_of(&self, account: AccountId) -> usize {
        self.accounts.iter().position(|id| *id == account).unwrap_or(0)
    }

    /// The account of a client.
    pub(crate) fn account_of(&self, client: usize) -> AccountId {
        self.accounts[client % self.accounts.len()]
    }

    /// What the server tells the engine at every start, and what only at the first.
    pub(crate) fn startup(&self, is_first: bool, traits: &SeedTraits) -> Vec<Command> {
        let settings = EngineSettings { sample_seconds: traits.sample_seconds, ..settings() };
        let mut commands = vec![Command::Configure(settings)];
        if is_first {
            commands.push(Command::Reference(self.reference()));
            commands.extend(self.accounts.map(|account| Command::Record(samples::credit(account.0, CASH))));
        }
        let listed = self.stocks.iter().map(|stock| &stock.security).chain(self.valued.iter().map(|(held, _)| held));
        let subscribe = |security: &Arc<Security>| {
            Command::Subscribe(MarketDataSubscription { strategy: StrategyId::SERVER, security: security.id })
        };
        commands.extend(listed.map(subscribe));
        commands
    }

    fn reference(&self) -> Vec<ReferenceChange> {
        let stocks = self.stocks.iter().map(|stock| ReferenceChange::Security(Security::clone(&stock.security)));
        let accounts = self.accounts.map(|id| {
            let venue = self.venue_of(id);
            let (session_qualifier, adapter_type) = (Some(VENUES[venue].into()), self.adapter_types[venue].clone());
            let account = samples::account(id.0, &format!("account {id}"));
            ReferenceChange::Account(Account { session_qualifier, adapter_type, ..account })
        });
        let exchange = ReferenceChange::Exchange(Exchange::clone(&self.exchange));
        let first = [exchange, ReferenceChange::Strategy(self.strategy.clone())];
        let odd: Vec<_> = if self.is_odd { unusable().into() } else { vec![] };
        first.into_iter().chain(stocks).chain(accounts).chain(odd).collect()
    }

    pub(crate) fn venue(&self, venue: usize, seed: u64, has_late_requests: bool, traits: &SeedTraits) -> VenueConfig {
        // Each has a market of its own.
        let seed = seed.wrapping_add(venue as u64);
        let stocks = self.stocks.iter().map(|stock| self.listing(&stock.security, cents(stock.opening)));
        let valued = self.valued.iter().map(|(security, opening)| self.listing(security, *opening));
        VenueConfig {
            name: self.prefixes[venue].clone(),
            feed: VENUES[venue].into(),
            exchange: self.exchange.clone(),
            listings: stocks.chain(valued).collect(),
            seed,
            activity: ParticipantActivity::Calm,
            latency_nanos: LATENCY_NANOS,
            request_life_nanos: if has_late_requests { REQUEST_LIFE_NANOS } else { 0 },
            deposits: vec![],
            replace: traits.replace[venue],
            fees: Some(VenueFees { maker: Decimal::new(1, 4), taker: Decimal::new(3, 4) }),
            self_trade: SelfTradeRule::CancelNewest,
            faults: Faults { seed, ..Faults::default() },
        }
    }
}

impl Market {
    /// A venue lists only what belongs to its exchange.
    fn listing(&self, security: &Security, mid: Price) -> ListedSecurity {
        let quotes = OpeningQuotes { mid, spread_ticks: 2, size: Quantity::from(400), volatility: Decimal::new(3, 1) };
        let security = Security { exchange: self.exchange.id, ..security.clone() };
        ListedSecurity { security: Arc::new(security), opening: quotes, costs: UnitCosts::default() }
    }
}

/// What an order may name and must not.
fn unusable() -> [ReferenceChange; 2] {
    let untraded = samples::stock(UNTRADED_SECURITY.0, "DELTA");
    let account = samples::account(INACTIVE_ACCOUNT.0, "closed account");
    [
        ReferenceChange::Security(Security { tradeable: false, ..untraded }),
        ReferenceChange::Account(Account { active: false, session_qualifier: Some(VENUES[0].into()), ..account }),
    ]
}

pub(crate) fn cents(cents: i64) -> Price {
    Price(Decimal::new(cents, 2))
}

fn on_tick(price: Price, security: &Security) -> Price {
    Price((price.0 / security.price_incr).trunc() * security.price_incr)
}

fn adapter_of(account: &Account) -> AdapterName {
    AdapterName::new(&account.adapter_type, account.session_qualifier.as_deref())
}

/// The first two active accounts that are at different venues.
fn trading_accounts(reference: &ReferenceData) -> Option<[Arc<Account>; VENUE_COUNT]> {
    let mut active = reference.accounts.values().filter(|account| account.active);
    let first = active.next()?;
    let second = active.find(|account| adapter_of(account) != adapter_of(first))?;
    Some([first.clone(), second.clone()])
}

fn held(engine: &Engine) -> Vec<Arc<Security>> {
    let Ok(Answer::Positions(positions)) = engine.answer(Timestamp(0), 0, &Query::Positions(Filter::default())) else {
        return vec![];
    };
    let security = |id: &SecurityId| engine.reference().securities.get(id).cloned();
    positions.iter().filter_map(|position| security(&position.security)).collect()
}

/// The pair by which the currency of a security is worth something.
fn pair(reference: &ReferenceData, held: &Security, base: domain::Currency) -> Option<Arc<Security>> {
    let kind = SecurityKind::Forex { base: held.currency, transaction: base };
    reference.securities.values().find(|security| security.kind == kind).cloned()
}

fn settings() -> EngineSettings {
    let platform_limits = RiskLimits {
        max_order_quantity: Some(Quantity::from(1_000)),
        price_collar_percent: Some(Amount::from(20)),
        max_open_orders: Some(60),
        cash_check: Some(true),
        orders_per_second: Some(50),
        reject_breaker: Some(BurstLimit { count: 20, millis: 10_000 }),
        self_trade: Some(SelfTradePrevention::RejectNewest),
        ..RiskLimits::default()
    };
    EngineSettings { platform_limits, ..EngineSettings::default() }
}
