//! Simulation inputs from a plan: reference data, venues, files, strategies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::command::{Command, RecordTransaction};
use domain::reference::TradingHours;
use domain::risk::EngineSettings;
use domain::time::TimeOfDay;
use domain::{
    AccountId, AdapterName, Amount, BarSize, Currency, Exchange, ExchangeId, Price, ReferenceData, RiskLimits,
    RiskScope, Security, SecurityFamily, SecurityId, SecurityKind, StrategyId, TransactionKind,
};
use runtime::simulation::{OpeningCash, SimulationSetup, VenueSetup};
use storage::price_files::{CsvSource, MergedPrices, PriceFileKind, PriceFileSpec};
use strategy::{StrategyIdentity, StrategyRegistry, StrategyRunner};
use venue_sim::replay::{FillRule, ReplayConfig, ReplayVenue};

use super::missing_data::RecordedData;
use super::plan::{PlannedStrategy, PriceFile, SimulationPlan};
use crate::compose::strategies::explain;
use crate::exit_failure::{Exit, ExitFailure};
use crate::input_problem::Problems;
use crate::reference;
use wire::nearest::hint;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Interval of valuations, where the data has only shorter bars.
const VALUATION_OF_BARS_SECONDS: i64 = 900;

pub(super) struct SimulationInputs {
    pub(super) setup: SimulationSetup,
    pub(super) source: MergedPrices,
    pub(super) recorded: RecordedData,
}

impl SimulationInputs {
    pub(super) fn prepare(plan: &SimulationPlan, registry: &StrategyRegistry) -> Result<Self, ExitFailure> {
        let mut reference =
            reference::read(&plan.reference).map_err(|problems| ExitFailure::reference(&problems))?.data;
        if !plan.market.uses_trading_hours {
            reference.exchanges.values_mut().for_each(|exchange| *exchange = Arc::new(always_open(exchange)));
        }
        if plan.market.fee_rate.is_some() {
            reference.families.values_mut().for_each(|family| *family = Arc::new(without_charges(family)));
        }
        let files = files(plan, &reference)?;
        let mut problems = Problems::default();
        check_rule(plan, &files, &reference, &mut problems);
        check_rates(plan, &files, &reference, &mut problems);
        problems.none_or(()).map_err(|problems| ExitFailure::configuration(&problems))?;
        let ids = name_strategies(plan, &mut reference);
        let reference = Arc::new(reference);
        let seats = runners(plan, &ids, &files, registry, &reference)?;
        let venues = venues(plan, &files, &reference)?;
        let source = open(&files)?;
        Ok(Self { setup: setup(plan, &reference, &files, venues, seats), source, recorded: RecordedData::of(&files) })
    }
}

fn setup(
    plan: &SimulationPlan,
    reference: &ReferenceData,
    files: &[PriceFileSpec],
    venues: Vec<VenueSetup>,
    seats: Vec<StrategyRunner>,
) -> SimulationSetup {
    let changes = reference::differences(&ReferenceData::default(), reference);
    let mut commands: Vec<Command> = reference::commands(&changes).map(|envelope| envelope.command).collect();
    commands.extend(
        plan.orders_per_second
            .into_iter()
            .flat_map(|rate| seats.iter().map(move |seat| rate_limit_command(seat, rate))),
    );
    let settings = EngineSettings {
        base_currency: plan.base_currency,
        // A simulated venue always answers, however late.
        venue_timeout_seconds: 0,
        ..EngineSettings::default()
    };
    SimulationSetup {
        settings,
        commands,
        opening_cash: opening_cash(plan, &venues, reference),
        venues,
        runners: seats,
        on_failure: plan.on_failure,
        from: plan.start,
        until: plan.end,
        feed_latency_nanos: plan.market.feed_latency_nanos,
        valuation_nanos: valuation_seconds(plan, files).saturating_mul(NANOS_PER_SECOND),
        recorded_bars: files.iter().filter_map(recorded_bar).collect(),
        priced: files.iter().filter(|file| recorded_bar(file).is_none()).map(|file| file.security).collect(),
        progress: Arc::default(),
    }
}

/// As in live trading, where every strategy has a rate limit at the risk gate.
fn rate_limit_command(seat: &StrategyRunner, orders_per_second: u32) -> Command {
    let limits = RiskLimits { orders_per_second: Some(orders_per_second), ..RiskLimits::default() };
    Command::SetLimits { scope: RiskScope::Strategy(seat.identity().id), limits }
}

/// Each file with its security.
fn files(plan: &SimulationPlan, reference: &ReferenceData) -> Result<Vec<PriceFileSpec>, ExitFailure> {
    let mut problems = Problems::default();
    let mut files = Vec::new();
    for (place, data) in plan.data.iter().enumerate() {
        match find(&data.security, reference) {
            Ok(security) => files.push(file(data, security)),
            Err(reason) => problems.add(format!("data {}, security", place + 1), reason),
        }
    }
    check_duplicates(&files, &mut problems);
    problems.none_or(files).map_err(|problems| ExitFailure::configuration(&problems))
}

/// Prices that are given twice would be traded on twice.
fn check_duplicates(files: &[PriceFileSpec], problems: &mut Problems) {
    for (place, file) in files.iter().enumerate() {
        if files[..place].contains(file) {
            problems.add("data", format!("{} is there twice, for the same security and as the same kind", file.name));
        }
    }
}

fn file(data: &PriceFile, security: &Security) -> PriceFileSpec {
    let may_be_negative = matches!(security.kind, SecurityKind::Future { .. } | SecurityKind::Commodity);
    PriceFileSpec {
        path: data.path.clone(),
        name: data.name.clone(),
        kind: data.kind,
        security: security.id,
        feed: "RECORDED".into(),
        may_be_negative,
    }
}

fn find<'a>(written: &str, reference: &'a ReferenceData) -> Result<&'a Security, String> {
    if let Some(known) = written.parse().ok().and_then(|id| reference.securities.get(&SecurityId(id))) {
        return Ok(known);
    }
    let named: Vec<_> = reference.securities.values().filter(|security| &*security.symbol == written).collect();
    match named[..] {
        [only] => Ok(only),
        [] => {
            let hint = hint(written, reference.securities.values().map(|security| &*security.symbol));
            Err(format!("'{written}' is not the symbol or the id of a security{hint}"))
        }
        _ => Err(format!("'{written}' is the symbol of several securities: say which by its id")),
    }
}

fn recorded_bar(file: &PriceFileSpec) -> Option<(SecurityId, BarSize)> {
    match file.kind {
        PriceFileKind::Bar(size) => Some((file.security, size)),
        PriceFileKind::Tick | PriceFileKind::Trade | PriceFileKind::Book => None,
    }
}

fn open(files: &[PriceFileSpec]) -> Result<MergedPrices, ExitFailure> {
    let refused = |error: storage::price_files::InvalidPriceData| ExitFailure::new(Exit::Refused, error.to_string());
    let sources = files.iter().map(CsvSource::open).collect::<Result<_, _>>().map_err(refused)?;
    MergedPrices::new(sources).map_err(refused)
}

/// The id of each instance; a name that reference data does not have is added.
fn name_strategies(plan: &SimulationPlan, reference: &mut ReferenceData) -> Vec<StrategyId> {
    let mut ids = Vec::new();
    for instance in &plan.strategies {
        let known = reference.strategy_named(&instance.name).map(|strategy| strategy.id);
        let next = StrategyId(reference.strategies.keys().next_back().map_or(StrategyId::SERVER.0, |id| id.0) + 1);
        let id = known.unwrap_or(next);
        let strategy = domain::StrategyRecord { id, name: instance.name.as_str().into(), auto_activate: true };
        reference.strategies.insert(id, Arc::new(strategy));
        ids.push(id);
    }
    ids
}

fn runners(
    plan: &SimulationPlan,
    ids: &[StrategyId],
    files: &[PriceFileSpec],
    registry: &StrategyRegistry,
    reference: &Arc<ReferenceData>,
) -> Result<Vec<StrategyRunner>, ExitFailure> {
    let mut problems = Problems::default();
    let mut seats = Vec::new();
    for (instance, id) in plan.strategies.iter().zip(ids) {
        let written = with_default_parameters(instance, files, registry);
        match registry.build(&instance.of, &written, reference) {
            Ok(strategy) => {
                let who = StrategyIdentity { id: *id, name: instance.name.as_str().into(), run: 1 };
                seats.push(StrategyRunner::new(who, strategy, reference.clone()));
            }
            Err(reason) => problems.add(format!("strategy {}", instance.name), explain(&reason, registry)),
        }
    }
    problems.none_or(seats).map_err(|problems| ExitFailure::configuration(&problems))
}

/// Missing parameters of a strategy follow from the data: the first security, and the kind of prices that exists.
fn with_default_parameters(
    instance: &PlannedStrategy,
    files: &[PriceFileSpec],
    registry: &StrategyRegistry,
) -> BTreeMap<String, String> {
    let mut written = instance.written.clone();
    let Ok(blueprint) = registry.get(&instance.of) else { return written };
    let has = |name: &str| blueprint.parameters.iter().any(|parameter| parameter.name == name);
    let Some(first) = files.first() else { return written };
    if has("security") {
        written.entry("security".into()).or_insert_with(|| first.security.to_string());
    }
    let has_ticks = files.iter().any(|file| !matches!(file.kind, PriceFileKind::Bar(_)));
    for name in ["prices", "bars"] {
        if let (true, false, Some((_, size))) = (has(name), has_ticks, recorded_bar(first)) {
            written.entry(name.into()).or_insert_with(|| size.name().to_owned());
        }
    }
    written
}

/// One venue for each exchange whose securities have data. The first exchange is assigned to the adapter of the first
/// account, and so on; exchanges beyond the accounts share the last one.
fn venues(
    plan: &SimulationPlan,
    files: &[PriceFileSpec],
    reference: &ReferenceData,
) -> Result<Vec<VenueSetup>, ExitFailure> {
    let mut adapters: Vec<AdapterName> = Vec::new();
    for account in reference.accounts.values().filter(|account| account.active) {
        if !adapters.contains(&account.adapter()) {
            adapters.push(account.adapter());
        }
    }
    let Some(last) = adapters.last().cloned() else {
        return Err(ExitFailure::new(Exit::Refused, "the reference data has no active account"));
    };
    let mut setups: BTreeMap<AdapterName, VenueSetup> = BTreeMap::new();
    for (place, exchange) in reference.exchanges.values().enumerate() {
        let adapter = adapters.get(place).unwrap_or(&last).clone();
        let securities = securities_on(exchange.id, files, reference);
        if securities.is_empty() {
            continue;
        }
        let setup = setups.entry(adapter.clone()).or_insert_with(|| empty_venue(plan, adapter));
        setup.exchanges.push(exchange.id);
        for security in securities {
            setup.venue.list_security(&reference.securities[&security], exchange);
            setup.securities.push(security);
        }
    }
    Ok(setups.into_values().collect())
}

fn empty_venue(plan: &SimulationPlan, adapter: AdapterName) -> VenueSetup {
    let config = ReplayConfig {
        name: adapter.0.clone(),
        rule: fill_rule(plan),
        order_latency_nanos: plan.market.order_latency_nanos,
        slippage_ticks: plan.market.slippage_ticks,
        fee_rate: plan.market.fee_rate,
    };
    VenueSetup { adapter, exchanges: vec![], securities: vec![], venue: ReplayVenue::new(config) }
}

/// Where the plan has none: the best that the data supports.
pub(super) fn fill_rule(plan: &SimulationPlan) -> FillRule {
    let has = |wanted: fn(&PriceFileKind) -> bool| plan.data.iter().any(|data| wanted(&data.kind));
    let by_data = if has(|kind| *kind == PriceFileKind::Book) {
        FillRule::Depth
    } else if has(|kind| matches!(kind, PriceFileKind::Tick | PriceFileKind::Trade)) {
        FillRule::Touch
    } else {
        FillRule::NextBarOpen
    };
    plan.market.fill_rule.unwrap_or(by_data)
}

/// A rule that needs data which is not there would fill nothing, or guess.
fn check_rule(plan: &SimulationPlan, files: &[PriceFileSpec], reference: &ReferenceData, problems: &mut Problems) {
    let rule = fill_rule(plan);
    let securities: BTreeSet<SecurityId> = files.iter().map(|file| file.security).collect();
    for security in securities {
        let has = |wanted: fn(&PriceFileKind) -> bool| {
            files.iter().any(|file| file.security == security && wanted(&file.kind))
        };
        let (is_there, needed) = match rule {
            FillRule::NextBarOpen => (has(|kind| matches!(kind, PriceFileKind::Bar(_))), "bars"),
            FillRule::Depth | FillRule::QueuePosition => {
                (has(|kind| matches!(kind, PriceFileKind::Book | PriceFileKind::Tick)), "order books or ticks")
            }
            FillRule::Touch | FillRule::Cross => continue,
        };
        if !is_there {
            let symbol = &reference.securities[&security].symbol;
            problems.add("market.fillRule", format!("{rule} needs {needed}, and the data has none of {symbol}"));
        }
    }
}

/// Without an exchange rate nothing could be valued, and costs would be added up across currencies.
fn check_rates(plan: &SimulationPlan, files: &[PriceFileSpec], reference: &ReferenceData, problems: &mut Problems) {
    let traded = files.iter().map(|file| &reference.securities[&file.security]);
    let pairs: BTreeSet<(Currency, Currency)> = traded.clone().filter_map(|security| pair(security)).collect();
    let has = |from, to| from == to || pairs.contains(&(from, to)) || pairs.contains(&(to, from));
    for security in traded {
        let (currency, base) = (security.currency, plan.base_currency);
        let has_rate = has(currency, base) || (has(currency, Currency::USD) && has(Currency::USD, base));
        if !has_rate {
            let symbol = &security.symbol;
            let text = format!("{symbol} is in {currency}: without prices of {currency}.{base} nothing can be valued");
            problems.add("data", text);
        }
    }
}

fn pair(security: &Security) -> Option<(Currency, Currency)> {
    match security.kind {
        SecurityKind::Forex { base, transaction } => Some((base, transaction)),
        _ => None,
    }
}

fn securities_on(exchange: ExchangeId, files: &[PriceFileSpec], reference: &ReferenceData) -> BTreeSet<SecurityId> {
    let listed = |security: &SecurityId| reference.securities[security].exchange == exchange;
    files.iter().map(|file| file.security).filter(listed).collect()
}

/// For each active account with a venue where something can be bought: an index cannot.
fn opening_cash(plan: &SimulationPlan, venues: &[VenueSetup], reference: &ReferenceData) -> Vec<OpeningCash> {
    let is_tradeable = |security: &SecurityId| reference.securities[security].tradeable;
    let mut all = Vec::new();
    for account in reference.accounts.values().filter(|account| account.active) {
        let venue = venues.iter().find(|venue| venue.adapter == account.adapter());
        all.extend(venue.map(|venue| OpeningCash {
            securities: venue.securities.iter().copied().filter(is_tradeable).collect(),
            credit: Command::Record(credit(plan, account.id)),
        }));
    }
    all
}

fn credit(plan: &SimulationPlan, account: AccountId) -> RecordTransaction {
    RecordTransaction {
        uuid: None,
        at: None,
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: TransactionKind::Credit,
        quantity: None,
        price: Price(plan.cash.0),
        execution_commission: None,
        clearing_commission: None,
        fee: None,
        currency: Some(plan.base_currency),
        account: Some(account),
        security: None,
        strategy: None,
        description: Some("opening cash".into()),
    }
}

fn valuation_seconds(plan: &SimulationPlan, files: &[PriceFileSpec]) -> i64 {
    let finest = files.iter().map(|file| recorded_bar(file).map_or(1, |(_, size)| size.seconds())).min().unwrap_or(1);
    let usual = if finest == 1 { 1 } else { finest.max(VALUATION_OF_BARS_SECONDS) };
    plan.valuation_seconds.map_or(usual, i64::from)
}

/// A fee rate in the plan replaces all charges.
fn without_charges(family: &SecurityFamily) -> SecurityFamily {
    let none = Amount::ZERO;
    SecurityFamily { execution_commission: none, clearing_commission: none, fee: none, ..family.clone() }
}

/// The exchange trades whenever there is data: its own hours would refuse market orders at the close of a bar.
fn always_open(exchange: &Exchange) -> Exchange {
    let all_day = TradingHours { open: TimeOfDay(0), close: TimeOfDay(1_440), days: (1..=7).collect() };
    Exchange {
        trading_hours: vec![all_day],
        holidays: vec![],
        opening_auction_minutes: 0,
        closing_auction_minutes: 0,
        ..exchange.clone()
    }
}
