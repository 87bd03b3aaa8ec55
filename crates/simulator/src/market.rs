//! The small world of every run: one exchange that is always open, three stocks, two accounts with cash, a simulated venue for each.

use std::sync::Arc;

use domain::command::{Command, MarketDataSubscription, ReferenceChange};
use domain::report::ReplaceKind;
use domain::risk::{BurstLimit, EngineSettings, RiskLimits, SelfTradePrevention};
use domain::{
    Account, AccountId, AdapterName, Amount, Decimal, Price, Quantity, SecurityId, SeededRng, StrategyId,
    StrategyRecord,
};
use venue_sim::{
    Faults, ListedSecurity, OpeningQuotes, ParticipantActivity, SelfTradeRule, UnitCosts, VenueConfig, VenueFees,
};

/// Number, symbol and opening price in cents.
pub(crate) const STOCKS: [(u64, &str, i64); 3] = [(1, "ALPHA", 1_000), (2, "BRAVO", 5_000), (3, "CHARLIE", 20_000)];
pub(crate) const ACCOUNTS: [u64; 2] = [1, 2];
/// One for each account. Both list every stock and give the same execution ids, as venues do that know nothing of each other.
pub(crate) const VENUES: [&str; 2] = ["ALPHA", "BRAVO"];
/// The strategy of every run.
pub(crate) const STRATEGY: StrategyId = StrategyId(2);
pub(crate) const STRATEGY_NAME: &str = "SEEDED";
const CASH: i64 = 2_000_000;
/// How late a request may arrive.
const REQUEST_LIFE_NANOS: i64 = 5_000_000_000;
const LATENCY_NANOS: i64 = 2_000_000;

/// In one of so many runs values are sampled; the pause between two samples.
const SAMPLES_ONE_IN: u32 = 3;
const SAMPLE_SECONDS: u32 = 30;
/// In one of so many runs a given venue cancels and places anew for a replace.
const CANCEL_REPLACE_ONE_IN: u64 = 6;
/// In one of so many runs days pass.
const DAYS_OFF_ONE_IN: u32 = 4;

/// What differs from seed to seed beside the schedule. Each has a generator of its own, so that what is added here leaves the draws of
/// the others alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeedTraits {
    /// By venue.
    replace: [ReplaceKind; VENUES.len()],
    pub(crate) sample_seconds: Option<u32>,
    /// The machine is switched off for days, once. Orders that had ended are retired then, to an index on the disk.
    pub(crate) has_days_off: bool,
}

impl SeedTraits {
    pub(crate) fn of_seed(seed: u64) -> Self {
        let drawn = SeededRng::new(seed, 924).below(CANCEL_REPLACE_ONE_IN);
        let is_replacing = |venue: usize| drawn == venue as u64;
        let kind = |venue| if is_replacing(venue) { ReplaceKind::CancelReplace } else { ReplaceKind::InPlace };
        let is_sampling = SeededRng::new(seed, 905).one_in(SAMPLES_ONE_IN);
        Self {
            replace: std::array::from_fn(kind),
            sample_seconds: is_sampling.then_some(SAMPLE_SECONDS),
            has_days_off: SeededRng::new(seed, 912).one_in(DAYS_OFF_ONE_IN),
        }
    }
}

pub(crate) fn adapter(venue: usize) -> AdapterName {
    AdapterName::new("SIMULATED", Some(VENUES[venue]))
}

/// Where the orders of an account go.
pub(crate) fn venue_of(account: AccountId) -> usize {
    ACCOUNTS.iter().position(|id| AccountId(*id) == account).unwrap_or(0)
}

pub(crate) fn cents(cents: i64) -> Price {
    Price(Decimal::new(cents, 2))
}

/// What the server tells the engine at every start, and what only at the first.
pub(crate) fn startup(is_first: bool, traits: &SeedTraits) -> Vec<Command> {
    let settings = EngineSettings { sample_seconds: traits.sample_seconds, ..settings() };
    let mut commands = vec![Command::Configure(settings)];
    if is_first {
        commands.push(Command::Reference(reference()));
        commands.extend(ACCOUNTS.map(|account| Command::Record(samples::credit(account, CASH))));
    }
    let subscribe = |(security, ..): (u64, &str, i64)| {
        Command::Subscribe(MarketDataSubscription { strategy: StrategyId::SERVER, security: SecurityId(security) })
    };
    commands.extend(STOCKS.map(subscribe));
    commands
}

fn strategy() -> StrategyRecord {
    StrategyRecord { id: STRATEGY, name: STRATEGY_NAME.into(), auto_activate: true }
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

fn reference() -> Vec<ReferenceChange> {
    let stocks = STOCKS.map(|(id, symbol, _)| ReferenceChange::Security(samples::stock(id, symbol)));
    let accounts = ACCOUNTS.map(|id| {
        let session_qualifier = Some(VENUES[venue_of(AccountId(id))].into());
        ReferenceChange::Account(Account { session_qualifier, ..samples::account(id, &format!("account {id}")) })
    });
    let first = [ReferenceChange::Exchange(samples::exchange()), ReferenceChange::Strategy(strategy())];
    first.into_iter().chain(stocks).chain(accounts).collect()
}

pub(crate) fn venue(venue: usize, seed: u64, has_late_requests: bool, traits: &SeedTraits) -> VenueConfig {
    // Each has a market of its own.
    let seed = seed.wrapping_add(venue as u64);
    VenueConfig {
        name: "SIM".into(),
        feed: VENUES[venue].into(),
        exchange: Arc::new(samples::exchange()),
        listings: STOCKS.map(|(id, symbol, opening)| listing(id, symbol, opening)).into(),
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

fn listing(id: u64, symbol: &str, opening: i64) -> ListedSecurity {
    let quotes = OpeningQuotes {
        mid: cents(opening),
        spread_ticks: 2,
        size: Quantity::from(400),
        volatility: Decimal::new(3, 1),
    };
    ListedSecurity { security: Arc::new(samples::stock(id, symbol)), opening: quotes, costs: UnitCosts::default() }
}

/// The account of a trader.
pub(crate) fn account_of(trader: usize) -> AccountId {
    AccountId(ACCOUNTS[trader % ACCOUNTS.len()])
}
