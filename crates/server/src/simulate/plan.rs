//! Simulation plan: parsed, then checked. All errors are reported at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use domain::time::InvalidTimestamp;
use domain::{Amount, Currency, Decimal, Timestamp};
use results::Assumptions;
use runtime::strategies::OnFailure;
use serde::Deserialize;
use storage::price_files::PriceFileKind;
use toml::Value;
use venue_sim::replay::FillRule;

use super::arguments::bar_size;
use crate::config::ReferencePath;
use crate::config::values::setting::Setting;
use crate::exit_failure::{Exit, ExitFailure};
use crate::input_problem::Problems;

const NANOS_PER_MICRO: i64 = 1_000;
/// The highest fee, as a part of the traded value: a tenth. A higher one is probably meant as percent or basis points.
const FEE_RATE_MAX: Decimal = Decimal::from_parts(1, 0, 0, false, 1);
/// The highest rate of a year, also below zero: a half. A higher one is probably meant as percent.
const RISK_FREE_RATE_MAX: f64 = 0.5;

/// What is to be simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationPlan {
    pub title: String,
    pub file: PathBuf,
    pub output: PathBuf,
    pub reference: ReferencePath,
    pub base_currency: Currency,
    /// Opening cash of each account that trades, in base currency.
    pub cash: Amount,
    pub start: Option<Timestamp>,
    pub end: Option<Timestamp>,
    pub valuation_seconds: Option<u32>,
    /// Limit of each strategy at the risk gate.
    pub orders_per_second: Option<u32>,
    pub on_failure: OnFailure,
    pub assumptions: Assumptions,
    pub market: MarketModel,
    pub data: Vec<PriceFile>,
    pub strategies: Vec<PlannedStrategy>,
}

/// How orders are matched with recorded prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketModel {
    /// Absent: chosen by the data.
    pub fill_rule: Option<FillRule>,
    pub order_latency_nanos: i64,
    pub feed_latency_nanos: i64,
    pub slippage_ticks: u32,
    pub fee_rate: Option<Decimal>,
    /// Whether orders are checked against the exchange's trading hours; otherwise it trades whenever there are prices.
    pub uses_trading_hours: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceFile {
    pub path: PathBuf,
    /// As in the plan.
    pub name: String,
    /// A symbol or an id.
    pub security: String,
    pub kind: PriceFileKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStrategy {
    pub name: String,
    /// The registered strategy.
    pub of: String,
    pub written: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawPlan {
    title: Option<String>,
    output: Option<PathBuf>,
    reference: Option<PathBuf>,
    base_currency: Option<String>,
    cash: Option<Value>,
    start: Option<Value>,
    end: Option<Value>,
    valuation_seconds: Option<u32>,
    orders_per_second: Option<u32>,
    on_failure: Option<String>,
    risk_free_rate: Option<f64>,
    days_per_year: Option<f64>,
    #[serde(default)]
    market: RawMarket,
    #[serde(default)]
    data: Vec<RawData>,
    #[serde(default)]
    strategy: Vec<RawStrategy>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawMarket {
    fill_rule: Option<String>,
    #[serde(default)]
    order_latency_micros: u32,
    #[serde(default)]
    feed_latency_micros: u32,
    #[serde(default)]
    slippage_ticks: u32,
    fee_rate: Option<Value>,
    hours: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawData {
    file: PathBuf,
    security: Value,
    kind: String,
    bar_size: Option<String>,
}

/// Parameters may be in a table of their own or beside the name.
#[derive(Debug, Deserialize)]
struct RawStrategy {
    name: String,
    #[serde(alias = "strategy")]
    sample: String,
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
    #[serde(flatten)]
    beside: BTreeMap<String, Value>,
}

impl SimulationPlan {
    pub fn read(file: &Path) -> Result<Self, ExitFailure> {
        let text = std::fs::read_to_string(file).map_err(|error| ExitFailure::io("read", file, &error))?;
        Self::parse(&text, file)
    }

    fn parse(text: &str, file: &Path) -> Result<Self, ExitFailure> {
        let raw: RawPlan = toml::from_str(text).map_err(|error| {
            ExitFailure::new(Exit::Refused, format!("{}: {}", file.display(), error.to_string().trim_end()))
        })?;
        let mut problems = Problems::default();
        let plan = Self::check(raw, file, &mut problems);
        problems.none_or(plan).map_err(|problems| ExitFailure::configuration(&problems))
    }

    fn check(raw: RawPlan, file: &Path, problems: &mut Problems) -> Self {
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let stem = file.file_stem().map_or("simulation".into(), |stem| stem.to_string_lossy().into_owned());
        if raw.data.is_empty() {
            problems.add("data", "is missing: a simulation needs at least one [[data]] with file, security and kind");
        }
        let start = raw.start.and_then(|value| instant("start", &value, problems));
        let end = raw.end.and_then(|value| instant("end", &value, problems));
        check_span(start, end, problems);
        Self {
            title: raw.title.unwrap_or_else(|| stem.clone()),
            file: file.to_owned(),
            output: folder.join(raw.output.unwrap_or_else(|| format!("{stem}-results").into())),
            reference: reference(raw.reference, &folder),
            base_currency: base_currency(raw.base_currency, problems),
            cash: cash(raw.cash, problems),
            start,
            end,
            valuation_seconds: from_one("valuationSeconds", raw.valuation_seconds, problems),
            orders_per_second: from_one("ordersPerSecond", raw.orders_per_second, problems),
            on_failure: on_failure(raw.on_failure, problems),
            assumptions: assumptions(raw.risk_free_rate, raw.days_per_year, problems),
            market: MarketModel::check(raw.market, problems),
            data: raw
                .data
                .into_iter()
                .enumerate()
                .filter_map(|(place, data)| data.check(place, &folder, problems))
                .collect(),
            strategies: strategies(raw.strategy, problems),
        }
    }
}

impl MarketModel {
    fn check(raw: RawMarket, problems: &mut Problems) -> Self {
        let rule = raw.fill_rule.and_then(|name| {
            let names = FillRule::ALL.map(FillRule::name).join(", ");
            name.parse().map_err(|_| problems.add("market.fillRule", format!("'{name}' is not one of {names}"))).ok()
        });
        let uses_trading_hours = match raw.hours.as_deref() {
            None | Some("recorded") => false,
            Some("calendar") => true,
            Some(other) => {
                problems.add("market.hours", format!("'{other}' is not recorded or calendar"));
                false
            }
        };
        Self {
            fill_rule: rule,
            order_latency_nanos: i64::from(raw.order_latency_micros) * NANOS_PER_MICRO,
            feed_latency_nanos: i64::from(raw.feed_latency_micros) * NANOS_PER_MICRO,
            slippage_ticks: raw.slippage_ticks,
            fee_rate: raw.fee_rate.map(|rate| fee_rate(rate, problems)),
            uses_trading_hours,
        }
    }
}

impl RawData {
    fn check(self, place: usize, folder: &Path, problems: &mut Problems) -> Option<PriceFile> {
        let at = |key: &str| format!("data {}, {key}", place + 1);
        let kind = match (self.kind.as_str(), self.bar_size.as_deref()) {
            ("tick", _) => PriceFileKind::Tick,
            ("trade", _) => PriceFileKind::Trade,
            ("book", _) => PriceFileKind::Book,
            ("bar", Some(size)) => match bar_size(size) {
                Ok(size) => PriceFileKind::Bar(size),
                Err(reason) => {
                    problems.add(at("barSize"), reason);
                    return None;
                }
            },
            ("bar", None) => {
                problems.add(at("barSize"), "is missing: bars have a size such as MIN_1 or DAY_1");
                return None;
            }
            (other, _) => {
                problems.add(at("kind"), format!("'{other}' is not one of bar, tick, trade, book"));
                return None;
            }
        };
        let name = self.file.display().to_string();
        Some(PriceFile { path: folder.join(self.file), name, security: plain_text(&self.security), kind })
    }
}

impl RawStrategy {
    fn check(self) -> PlannedStrategy {
        let parameters = self.parameters.iter().chain(&self.beside);
        let written = parameters.map(|(name, value)| (name.clone(), plain_text(value))).collect();
        PlannedStrategy { name: self.name, of: self.sample, written }
    }
}

/// Positions and orders are stored by name, so names are unique.
fn strategies(raw: Vec<RawStrategy>, problems: &mut Problems) -> Vec<PlannedStrategy> {
    let instances: Vec<PlannedStrategy> = raw.into_iter().map(RawStrategy::check).collect();
    for (place, instance) in instances.iter().enumerate() {
        let name = &instance.name;
        if instances[..place].iter().any(|earlier| earlier.name == *name) {
            problems.add(format!("strategy {}, name", place + 1), format!("'{name}' is taken by an earlier one"));
        } else if name.is_empty() || name == "SERVER" {
            problems.add(format!("strategy {}, name", place + 1), format!("'{name}' is no name for a strategy"));
        }
    }
    instances
}

fn reference(path: Option<PathBuf>, folder: &Path) -> ReferencePath {
    match path {
        Some(path) if path != Path::new("demo") => ReferencePath::Folder(folder.join(path)),
        _ => ReferencePath::Demo,
    }
}

fn base_currency(text: Option<String>, problems: &mut Problems) -> Currency {
    let Some(text) = text else { return Currency::USD };
    text.parse().unwrap_or_else(|_| {
        problems.add("baseCurrency", format!("'{text}' is not a currency such as USD"));
        Currency::USD
    })
}

fn on_failure(text: Option<String>, problems: &mut Problems) -> OnFailure {
    let read = text.map_or(Ok(OnFailure::Cancel), |text| OnFailure::parse(&text));
    read.unwrap_or_else(|reason| {
        problems.add("onFailure", reason);
        OnFailure::Cancel
    })
}

fn assumptions(risk_free_rate: Option<f64>, days_per_year: Option<f64>, problems: &mut Problems) -> Assumptions {
    let usual = Assumptions::default();
    let days_per_year = days_per_year.unwrap_or(usual.days_per_year);
    if !(1.0..=366.0).contains(&days_per_year) {
        problems.add("daysPerYear", format!("{days_per_year} is not from 1 to 366"));
    }
    let risk_free_rate = risk_free_rate.unwrap_or(usual.risk_free_rate);
    if !(-RISK_FREE_RATE_MAX..=RISK_FREE_RATE_MAX).contains(&risk_free_rate) {
        let percent = risk_free_rate * 100.0;
        let text = format!(
            "{risk_free_rate} is {percent} % a year, and not from -{RISK_FREE_RATE_MAX} to {RISK_FREE_RATE_MAX}"
        );
        problems.add("riskFreeRate", text);
    }
    Assumptions { risk_free_rate, days_per_year }
}

fn decimal(key: &str, value: Option<Value>, default: Decimal, problems: &mut Problems) -> Decimal {
    let Some(value) = value else { return default };
    let text = plain_text(&value);
    match Decimal::from_str_exact(&text) {
        Ok(number) if number >= Decimal::ZERO => number,
        _ => {
            problems.add(key, format!("'{text}' is not a decimal number from 0"));
            default
        }
    }
}

fn fee_rate(value: Value, problems: &mut Problems) -> Decimal {
    let rate = decimal("market.feeRate", Some(value), Decimal::ZERO, problems);
    if rate > FEE_RATE_MAX {
        let (rate, percent) = (rate.normalize(), (rate * Decimal::ONE_HUNDRED).normalize());
        problems.add("market.feeRate", format!("{rate} is {percent} % of the traded value, more than {FEE_RATE_MAX}"));
    }
    rate
}

/// A run must not end before it begins.
fn check_span(start: Option<Timestamp>, end: Option<Timestamp>, problems: &mut Problems) {
    if let (Some(start), Some(end)) = (start, end)
        && end <= start
    {
        problems.add("end", format!("{end} is not after start, which is {start}"));
    }
}

/// An account without cash could not buy, and an opening booking of zero is none.
fn cash(value: Option<Value>, problems: &mut Problems) -> Amount {
    let amount = decimal("cash", value, Decimal::from(1_000_000), problems);
    if amount.is_zero() {
        problems.add("cash", "0 is not a sum to begin with");
    }
    Amount(amount)
}

fn from_one(key: &str, value: Option<u32>, problems: &mut Problems) -> Option<u32> {
    if value == Some(0) {
        problems.add(key, "0 is not a number from 1; leave it out for the usual value");
    }
    value
}

/// A date alone is its midnight in UTC.
fn instant(key: &str, value: &Value, problems: &mut Problems) -> Option<Timestamp> {
    let text = plain_text(value);
    let full = if text.len() == "2025-01-01".len() { format!("{text}T00:00:00Z") } else { text.clone() };
    let told = |reason| match reason {
        InvalidTimestamp::OutOfRange => format!("'{text}': {reason}"),
        InvalidTimestamp::Unreadable(_) => format!("'{text}' is not an instant such as 2025-01-01T00:00:00Z"),
    };
    full.parse().map_err(|reason| problems.add(key, told(reason))).ok()
}

/// Without quotes.
fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use domain::BarSize;

    use super::*;

    fn refused(text: &str) -> String {
        SimulationPlan::parse(text, Path::new("plans/a.toml")).unwrap_err().to_string()
    }

    #[test]
    fn a_plan_needs_little() {
        let text = "
            [[data]]
            file = 'bars.csv'
            security = 'AAPL'
            kind = 'bar'
            barSize = 'DAY_1'
            [[strategy]]
            name = 'TREND'
            sample = 'moving-average-cross'
            parameters = { fast = 5, slow = 20 }
            quantity = 100";
        let plan = SimulationPlan::parse(text, Path::new("plans/a.toml")).unwrap();
        assert_eq!((plan.title.as_str(), plan.output), ("a", PathBuf::from("plans/a-results")));
        assert_eq!(plan.data[0].path, PathBuf::from("plans/bars.csv"));
        assert_eq!(plan.data[0].kind, PriceFileKind::Bar(BarSize::Day1));
        let parameters: Vec<_> =
            plan.strategies[0].written.iter().map(|(name, text)| format!("{name}={text}")).collect();
        assert_eq!(parameters, ["fast=5", "quantity=100", "slow=20"]);
        assert_eq!((plan.cash, plan.market.fill_rule), (Amount::from(1_000_000), None));
    }

    #[test]
    fn all_errors_of_a_plan_are_reported_at_once() {
        let text = "
            start = 'soon'
            cash = -5
            daysPerYear = 400
            onFailure = 'shrug'
            [market]
            fillRule = 'lucky'
            hours = 'always'
            [[data]]
            file = 'a.csv'
            security = 1
            kind = 'candle'
            [[data]]
            file = 'b.csv'
            security = 1
            kind = 'bar'
            [[strategy]]
            name = 'A'
            sample = 'pairs'
            [[strategy]]
            name = 'A'
            sample = 'breakout'
            [[strategy]]
            name = 'SERVER'
            sample = 'breakout'";
        expect_test::expect![[r#"
            the configuration can't be used:
              start: 'soon' is not an instant such as 2025-01-01T00:00:00Z
              cash: '-5' is not a decimal number from 0
              onFailure: 'shrug' is not one of cancel, keep
              daysPerYear: 400 is not from 1 to 366
              market.fillRule: 'lucky' is not one of next-bar-open, touch, cross, depth, queue-position
              market.hours: 'always' is not recorded or calendar
              data 1, kind: 'candle' is not one of bar, tick, trade, book
              data 2, barSize: is missing: bars have a size such as MIN_1 or DAY_1
              strategy 2, name: 'A' is taken by an earlier one
              strategy 3, name: 'SERVER' is no name for a strategy"#]]
        .assert_eq(&refused(text));
        assert!(refused("end = 1600-01-01").contains("end: '1600-01-01': its year is not from 1678 to 2261"));
        assert!(refused("").contains("[[data]]"));
        assert!(refused("tilte = 'a'").contains("tilte"));
    }
}
