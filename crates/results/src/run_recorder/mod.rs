//! Run recorder: collects results in bounded memory. Memory grows with days and securities, never with events: curves
//! are downsampled, fills beyond what a page can show are only counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{
    Currency, Event, Fill, PortfolioValue, Price, ReferenceData, SecurityId, Side, StrategyId, Text, Timestamp,
    Transaction, TransactionKind,
};

use crate::figures;
use crate::position_tracker::PositionTracker;
use crate::rates::{Rates, to_f64};
use crate::round_trips::{MissingRate, RoundTrip, RoundTrips, TripBooking, costs};
use crate::run_results::{
    Assumptions, Figures, Month, ProfitLoss, ReportedFill, ResultRow, RunResults, Trades, Unconverted, strategy_name,
    symbol,
};
use crate::series::{Curve, DayValue, Downsampled, Drawdown};

/// Fills in the table of a report.
const FILLS_SHOWN_MAX: usize = 200;
/// Fills of one security and side that are marked on its price chart.
const MARKS_MAX: usize = 250;
/// Securities with a price chart.
pub(crate) const CHARTS_MAX: usize = 12;

pub struct RunRecorder {
    assumptions: Assumptions,
    base: Currency,
    reference: Arc<ReferenceData>,
    rates: Rates,
    from: Timestamp,
    to: Timestamp,
    start_value: f64,
    value: f64,
    strategy_values: BTreeMap<StrategyId, f64>,
    holdings: PositionTracker,
    equity: Curve,
    drawdowns: Curve,
    exposure: Curve,
    drawdown: Drawdown,
    days: Vec<DayValue>,
    /// Time-weighted: value × nanoseconds.
    value_time: f64,
    prices: BTreeMap<SecurityId, Curve>,
    totals: ResultTotals,
    round_trips: RoundTrips,
    trades: Trades,
    fills: Vec<ReportedFill>,
    /// By side: downsampling both together could drop all of one side.
    marks: BTreeMap<(SecurityId, bool), Downsampled<ReportedFill>>,
    fill_count: u64,
    /// Ended round trips that were not drained yet.
    trips: Vec<RoundTrip>,
    unconverted: BTreeMap<Currency, Unconverted>,
}

#[derive(Debug, Default)]
struct ResultTotals {
    securities: BTreeMap<SecurityId, ResultTotal>,
    strategies: BTreeMap<StrategyId, ResultTotal>,
    traded: f64,
    costs: f64,
}

#[derive(Debug, Clone, Default)]
struct ResultTotal {
    deals: u64,
    traded: f64,
    costs: f64,
    trades: Trades,
}

impl RunRecorder {
    /// Trading begins at `from` with `value` in base currency.
    pub fn new(
        assumptions: Assumptions,
        base: Currency,
        reference: Arc<ReferenceData>,
        from: Timestamp,
        value: f64,
    ) -> Self {
        let mut record = Self {
            assumptions,
            base,
            reference,
            rates: Rates::new(base),
            from,
            to: from,
            start_value: value,
            value,
            strategy_values: BTreeMap::from([(StrategyId::SERVER, value)]),
            holdings: PositionTracker::default(),
            equity: Curve::default(),
            drawdowns: Curve::default(),
            exposure: Curve::default(),
            drawdown: Drawdown::default(),
            // The start is before the first day's value, so that the first day has a return.
            days: vec![DayValue { day: DayValue::day_of(from) - 1, at: from, value }],
            value_time: 0.0,
            prices: BTreeMap::new(),
            totals: ResultTotals::default(),
            round_trips: RoundTrips::default(),
            trades: Trades::default(),
            fills: Vec::new(),
            marks: BTreeMap::new(),
            fill_count: 0,
            trips: Vec::new(),
            unconverted: BTreeMap::new(),
        };
        record.sample_drawdown(from);
        record
    }

    /// All events of one engine input.
    pub fn on_events(&mut self, at: Timestamp, events: &[Event]) {
        let mut is_valued = false;
        for event in events {
            match event {
                Event::Fill(fill) => self.on_fill(fill),
                Event::Transaction(booked) => self.on_transaction(booked),
                Event::Position(position) => {
                    self.holdings.update(position, self.contract_size(position.security), &self.rates);
                }
                Event::Portfolio(value) => is_valued |= self.on_value(value),
                _ => {}
            }
        }
        if is_valued {
            self.sample(at);
        }
    }

    /// A sample of the price of a security as trading sees it.
    pub fn on_price(&mut self, at: Timestamp, security: SecurityId, price: Price) {
        if let Some(described) = self.reference.securities.get(&security) {
            self.rates.update(described, price);
        }
        if self.prices.len() < CHARTS_MAX || self.prices.contains_key(&security) {
            self.prices.entry(security).or_default().push(at, to_f64(price.0));
        }
    }

    /// A day with data is over. An unchanged value is not published again, so the day has the value of the day before.
    pub fn on_day_end(&mut self, at: Timestamp) {
        DayValue::record(&mut self.days, at, self.value);
        self.drawdown.update(at, self.value);
    }

    fn on_fill(&mut self, fill: &Fill) {
        self.fill_count += 1;
        self.totals.securities.entry(fill.security).or_default().deals += 1;
        self.totals.strategies.entry(fill.strategy).or_default().deals += 1;
        let deal = deal(fill);
        if self.prices.contains_key(&fill.security) {
            let key = (fill.security, fill.side == Side::Buy);
            self.marks.entry(key).or_insert_with(|| Downsampled::new(MARKS_MAX)).push(deal.clone());
        }
        if self.fills.len() < FILLS_SHOWN_MAX {
            self.fills.push(deal);
        }
    }

    fn on_transaction(&mut self, booked: &Transaction) {
        let Some(security) = booked.security else { return };
        if !matches!(booked.kind, TransactionKind::Buy | TransactionKind::Sell | TransactionKind::Expiration) {
            return;
        }
        let contract_size = self.contract_size(security);
        // An expiration ends a round trip, but is not a trade.
        let is_traded = booked.kind != TransactionKind::Expiration;
        let value = to_f64(booked.quantity.0.abs()) * to_f64(booked.price.0) * contract_size;
        let notional = if is_traded { value } else { 0.0 };
        let rate = self.rates.in_base(1.0, booked.currency);
        match rate {
            Some(rate) => self.totals.add(security, booked.strategy, notional * rate, costs(booked) * rate),
            None => self.unconverted.entry(booked.currency).or_default().add(notional, costs(booked)),
        }
        match self.round_trips.book(TripBooking { booked, security, contract_size, rate }) {
            Some(Ok(trip)) => self.on_round_trip(trip),
            // Neither a winner nor a loser.
            Some(Err(MissingRate)) => self.unconverted.entry(booked.currency).or_default().trips += 1,
            None => {}
        }
    }

    fn contract_size(&self, security: SecurityId) -> f64 {
        self.reference.securities.get(&security).map_or(1.0, |known| to_f64(known.contract_size))
    }

    fn on_round_trip(&mut self, trip: RoundTrip) {
        self.trades.add(&trip);
        self.totals.securities.entry(trip.security).or_default().trades.add(&trip);
        self.totals.strategies.entry(trip.strategy).or_default().trades.add(&trip);
        self.trips.push(trip);
    }

    /// The round trips that ended since the last call; they stay in memory until they are drained.
    pub fn drain_round_trips(&mut self) -> impl Iterator<Item = RoundTrip> + '_ {
        self.trips.drain(..)
    }

    fn on_value(&mut self, value: &PortfolioValue) -> bool {
        if let Some(worth) = value.net_liq_value {
            self.strategy_values.insert(value.strategy, to_f64(worth.0));
        }
        value.net_liq_value.is_some()
    }

    fn sample(&mut self, at: Timestamp) {
        self.value_time += self.value * at.nanos_since(self.to) as f64;
        self.to = at;
        self.value = self.strategy_values.values().sum();
        DayValue::record(&mut self.days, at, self.value);
        self.sample_drawdown(at);
    }

    fn sample_drawdown(&mut self, at: Timestamp) {
        self.drawdown.update(at, self.value);
        self.equity.push(at, self.value);
        self.drawdowns.push(at, 0.0 - self.drawdown.present(self.value));
        let gross = self.holdings.gross_value(&self.rates);
        self.exposure.push(at, figures::ratio(gross, self.value).unwrap_or(0.0));
    }

    /// The run is over; the last value counts until then.
    pub fn finish(mut self, at: Timestamp) -> RunResults {
        self.sample(at.max(self.to));
        let months = months(&self.days);
        let figures = self.figures(&months);
        let reference = self.reference.clone();
        RunResults {
            currency: self.base.to_string(),
            figures,
            securities: self.security_lines(),
            strategies: self.strategy_lines(),
            open: self.holdings.open(&self.rates, &reference),
            prices: self.prices.iter().map(|(id, curve)| (*id, symbol(&reference, *id), curve.points())).collect(),
            equity: self.equity.points(),
            drawdown: self.drawdowns.points(),
            exposure: self.exposure.points(),
            days: self.days,
            months,
            fills: self.fills,
            marked_fills: marks(&self.marks),
            fill_count: self.fill_count,
            unconverted: self.unconverted,
        }
    }

    fn figures(&self, months: &[Month]) -> Figures {
        let lasted = self.to.nanos_since(self.from) as f64;
        let average = figures::ratio(self.value_time, lasted).unwrap_or(self.start_value);
        Figures {
            from: self.from,
            to: self.to,
            start_value: self.start_value,
            end_value: self.value,
            total_return: figures::growth(self.start_value, self.value),
            profit_loss: self.holdings.profit_loss(&self.rates, |_| true),
            yearly: figures::yearly(&self.days, &self.drawdown, &self.assumptions),
            monthly: figures::monthly(months, &self.drawdown, &self.assumptions),
            max_drawdown: 0.0 - self.drawdown.deepest,
            max_drawdown_days: self.drawdown.longest_days(),
            trades: self.trades,
            traded: self.totals.traded,
            turnover: figures::ratio(self.totals.traded, average),
            costs: self.totals.costs,
        }
    }

    fn security_lines(&self) -> Vec<ResultRow> {
        let line = |(id, tally): (&SecurityId, &ResultTotal)| {
            let brought = self.holdings.profit_loss(&self.rates, |held| held.security == *id);
            tally.line(symbol(&self.reference, *id), brought)
        };
        self.totals.securities.iter().map(line).collect()
    }

    fn strategy_lines(&self) -> Vec<ResultRow> {
        let line = |(id, tally): (&StrategyId, &ResultTotal)| {
            let brought = self.holdings.profit_loss(&self.rates, |held| held.strategy == *id);
            tally.line(strategy_name(&self.reference, *id), brought)
        };
        self.totals.strategies.iter().map(line).collect()
    }
}

impl ResultTotals {
    fn add(&mut self, security: SecurityId, strategy: StrategyId, notional: f64, costs: f64) {
        self.traded += notional;
        self.costs += costs;
        self.securities.entry(security).or_default().add(notional, costs);
        self.strategies.entry(strategy).or_default().add(notional, costs);
    }
}

impl ResultTotal {
    fn add(&mut self, notional: f64, costs: f64) {
        self.traded += notional;
        self.costs += costs;
    }

    fn line(&self, name: Text, brought: ProfitLoss) -> ResultRow {
        let Self { deals, traded, costs, trades } = self.clone();
        ResultRow { name, fills: deals, traded, costs, trades, profit_loss: brought }
    }
}

/// In order of time.
fn marks(marks: &BTreeMap<(SecurityId, bool), Downsampled<ReportedFill>>) -> Vec<ReportedFill> {
    let mut all: Vec<ReportedFill> = marks.values().flat_map(Downsampled::items).cloned().collect();
    all.sort_by_key(|deal| deal.at);
    all
}

/// A fill for a report. Its execution id begins with the fill rule.
pub(crate) fn deal(fill: &Fill) -> ReportedFill {
    let (rule, _) = fill.ext_id.split_once(':').unwrap_or(("", ""));
    ReportedFill {
        at: fill.at,
        strategy: fill.strategy,
        security: fill.security,
        order: fill.int_id.as_str().into(),
        side: fill.side,
        quantity: fill.quantity,
        price: fill.price,
        rule: rule.into(),
        execution: fill.ext_id.clone(),
    }
}

/// The return of each month: its last value against the last one before it.
fn months(days: &[DayValue]) -> Vec<Month> {
    let mut months: Vec<(domain::Date, f64)> = Vec::new();
    let Some((first, rest)) = days.split_first() else { return Vec::new() };
    for day in rest {
        let date = first_of_month(day.begins());
        match months.last_mut() {
            Some((month, value)) if *month == date => *value = day.value,
            _ => months.push((date, day.value)),
        }
    }
    let befores = std::iter::once(first.value).chain(months.iter().map(|(_, value)| *value));
    let grown = months.iter().zip(befores).filter_map(|((first, value), before)| {
        Some(Month { first: *first, performance: figures::growth(before, *value)? })
    });
    grown.collect()
}

fn first_of_month(at: Timestamp) -> domain::Date {
    let date = domain::calendar::date_in("UTC", at).expect("every table of zones has UTC");
    domain::Date(date.0.first_of_month())
}

#[cfg(test)]
mod tests;
