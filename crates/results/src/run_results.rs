//! Run results: everything that a report shows.

use std::collections::BTreeMap;

use domain::{Currency, Date, Price, Quantity, ReferenceData, SecurityId, Side, StrategyId, Text, Timestamp};

use crate::series::{DayValue, Point};

/// Heading of a report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReportHeading {
    pub title: String,
    /// Names and values, in the order in which they are shown: data, rules, costs, latency.
    pub settings: Vec<(String, String)>,
    pub events: u64,
    pub orders: OrderOutcomes,
    /// Refused commands.
    pub refusals: RefusalSummary,
    /// Duration of the run in seconds; only in the HTML report, since it differs every time.
    pub took: f64,
    /// Strategies that failed and were stopped.
    pub stopped: Vec<StrategyStop>,
    /// Data that strategies waited for and the recording does not have: one sentence each.
    pub missing_data: Vec<String>,
    pub digest: String,
}

/// Orders by outcome; together they are all accepted orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrderOutcomes {
    /// Filled in full.
    pub executed: u64,
    /// Filled partially, and then cancelled or expired.
    pub partially_filled: u64,
    /// Without any fill, like the two that follow.
    pub canceled: u64,
    pub expired: u64,
    /// By the venue.
    pub rejected: u64,
    /// Still open at the end of the run.
    pub open: u64,
}

impl OrderOutcomes {
    pub fn all(&self) -> u64 {
        let Self { executed, partially_filled: partly, canceled, expired, rejected, open } = self;
        executed + partly + canceled + expired + rejected + open
    }

    /// All outcomes with their names, also those with a count of zero.
    pub fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("executed", self.executed),
            ("partly filled", self.partially_filled),
            ("canceled", self.canceled),
            ("expired", self.expired),
            ("rejected", self.rejected),
            ("open", self.open),
        ]
    }

    /// `12: 7 executed, 5 canceled`.
    pub fn summary(&self) -> String {
        let some = self.named().into_iter().filter(|(_, count)| *count > 0);
        let parts: Vec<String> = some.map(|(name, count)| format!("{count} {name}")).collect();
        if parts.is_empty() { "0".into() } else { format!("{}: {}", self.all(), parts.join(", ")) }
    }
}

/// Commands of strategies that the platform refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RefusalSummary {
    /// New orders among them.
    pub orders: u64,
    pub by_code: BTreeMap<&'static str, u64>,
    /// The first one: time, strategy and reason.
    pub first: Option<String>,
}

impl RefusalSummary {
    pub fn all(&self) -> u64 {
        self.by_code.values().sum()
    }
}

/// A strategy that the platform stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyStop {
    pub at: Timestamp,
    pub strategy: Text,
    /// What it did, as the end of a sentence about it.
    pub reason: Text,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunResults {
    pub currency: String,
    pub figures: Figures,
    pub months: Vec<Month>,
    pub equity: Vec<Point>,
    /// Fractions of the peak, zero or below.
    pub drawdown: Vec<Point>,
    /// Gross value of all positions as a fraction of the equity.
    pub exposure: Vec<Point>,
    /// One value a day; the first is the start of the run.
    pub days: Vec<DayValue>,
    /// Positions that were open at the end of the run.
    pub open: Vec<OpenPosition>,
    pub securities: Vec<ResultRow>,
    pub strategies: Vec<ResultRow>,
    /// By security: its price over time.
    pub prices: Vec<(SecurityId, Text, Vec<Point>)>,
    /// The first fills, as many as a page can show; all are in the CSV file.
    pub fills: Vec<ReportedFill>,
    /// A sample of the fills of each security and side over the whole run, in order of time, to be marked on the price
    /// chart.
    pub marked_fills: Vec<ReportedFill>,
    pub fill_count: u64,
    /// Trades in a currency without a known rate; they are in no other figure.
    pub unconverted: BTreeMap<Currency, Unconverted>,
}

/// Amounts in their own currency.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Unconverted {
    pub traded: f64,
    pub costs: f64,
    pub trips: u64,
}

impl Unconverted {
    pub(crate) fn add(&mut self, traded: f64, costs: f64) {
        self.traded += traded;
        self.costs += costs;
    }
}

/// A month with its return, as a fraction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Month {
    pub first: Date,
    pub performance: f64,
}

/// A fill, with its fill rule.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportedFill {
    pub at: Timestamp,
    pub strategy: StrategyId,
    pub security: SecurityId,
    pub order: Text,
    pub side: Side,
    pub quantity: Quantity,
    pub price: Price,
    pub rule: Text,
    pub execution: Text,
}

/// A row of the tables by security and by strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRow {
    pub name: Text,
    pub fills: u64,
    pub traded: f64,
    pub costs: f64,
    /// After costs.
    pub trades: Trades,
    /// Before costs.
    pub profit_loss: ProfitLoss,
}

impl ResultRow {
    /// After costs.
    pub fn result(&self) -> f64 {
        self.profit_loss.realized + self.profit_loss.unrealized - self.costs
    }
}

/// In base currency, before costs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProfitLoss {
    /// Of closed quantity.
    pub realized: f64,
    /// Of open quantity, at its last price.
    pub unrealized: f64,
}

/// An open position; prices in the security's currency, the amount in base currency.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenPosition {
    pub strategy: Text,
    pub security: Text,
    pub quantity: Quantity,
    pub average_price: Option<Price>,
    /// Its valuation price: the other side's quote, else the last price.
    pub price: Option<Price>,
    pub unrealized: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    pub from: Timestamp,
    pub to: Timestamp,
    pub start_value: f64,
    pub end_value: f64,
    pub total_return: Option<f64>,
    /// Before costs.
    pub profit_loss: ProfitLoss,
    pub yearly: Yearly,
    pub monthly: Monthly,
    pub max_drawdown: f64,
    pub max_drawdown_days: f64,
    /// After costs.
    pub trades: Trades,
    pub traded: f64,
    pub turnover: Option<f64>,
    pub costs: f64,
}

/// Round trips, counted as they end.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Trades {
    pub count: u64,
    pub won: u64,
    pub lost: u64,
    pub profit: f64,
    /// Positive.
    pub loss: f64,
    pub largest_win: f64,
    /// Positive.
    pub largest_loss: f64,
    pub days_held: f64,
}

/// From daily values, scaled to a year.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Yearly {
    pub cagr: Option<f64>,
    pub volatility: Option<f64>,
    pub sharpe: Option<f64>,
    pub sortino: Option<f64>,
    pub calmar: Option<f64>,
}

/// From the performance of each month.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Monthly {
    pub months: usize,
    pub average: Option<f64>,
    pub deviation: Option<f64>,
    pub average_year: Option<f64>,
    pub deviation_year: Option<f64>,
    pub sharpe: Option<f64>,
    pub calmar: Option<f64>,
    pub best: Option<f64>,
    pub worst: Option<f64>,
}

/// Assumptions of the figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assumptions {
    /// A year, as a fraction.
    pub risk_free_rate: f64,
    pub days_per_year: f64,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self { risk_free_rate: 0.0, days_per_year: 252.0 }
    }
}

pub(crate) fn symbol(reference: &ReferenceData, id: SecurityId) -> Text {
    reference.securities.get(&id).map_or_else(|| id.to_string().into(), |security| security.symbol.clone())
}

pub(crate) fn strategy_name(reference: &ReferenceData, id: StrategyId) -> Text {
    reference.strategies.get(&id).map_or_else(|| id.to_string().into(), |strategy| strategy.name.clone())
}
