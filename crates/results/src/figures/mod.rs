//! Figures of a run, each by its definition in `docs/simulation.md`. A figure that cannot be computed is absent, not
//! zero.

use domain::Timestamp;

use crate::round_trips::RoundTrip;
use crate::run_results::{Assumptions, Month, Monthly, Trades, Yearly};
use crate::series::{DayValue, Drawdown};

const SECONDS_PER_YEAR: f64 = 365.25 * 86_400.0;
const NANOS_PER_SECOND: f64 = 1e9;
const MONTHS_PER_YEAR: f64 = 12.0;

/// For a shorter run a compound yearly rate would be an extrapolation.
const YEARS_MIN: f64 = 1.0 / MONTHS_PER_YEAR;
/// A ratio of return to risk needs that many returns.
const RETURNS_MIN: usize = 2;

impl Trades {
    pub fn add(&mut self, trip: &RoundTrip) {
        self.count += 1;
        self.days_held += trip.days();
        if trip.net > 0.0 {
            self.won += 1;
            self.profit += trip.net;
            self.largest_win = self.largest_win.max(trip.net);
        } else if trip.net < 0.0 {
            self.lost += 1;
            self.loss -= trip.net;
            self.largest_loss = self.largest_loss.max(-trip.net);
        }
    }

    /// Winners among all round trips.
    pub fn win_rate(&self) -> Option<f64> {
        ratio(self.won as f64, self.count as f64)
    }

    /// Gain of the winners per unit of loss of the losers.
    pub fn profit_factor(&self) -> Option<f64> {
        ratio(self.profit, self.loss)
    }

    pub fn average_win(&self) -> Option<f64> {
        ratio(self.profit, self.won as f64)
    }

    /// Positive.
    pub fn average_loss(&self) -> Option<f64> {
        ratio(self.loss, self.lost as f64)
    }

    /// Average result of a round trip.
    pub fn expectancy(&self) -> Option<f64> {
        ratio(self.profit - self.loss, self.count as f64)
    }

    pub fn average_days(&self) -> Option<f64> {
        ratio(self.days_held, self.count as f64)
    }
}

/// Yearly figures from one value a day; the first value is the start of the run.
pub fn yearly(days: &[DayValue], drawdown: &Drawdown, assumptions: &Assumptions) -> Yearly {
    let (Some(first), Some(last)) = (days.first(), days.last()) else { return Yearly::default() };
    let returns: Vec<f64> = days.windows(2).filter_map(|pair| growth(pair[0].value, pair[1].value)).collect();
    let per_year = assumptions.days_per_year;
    let daily_rate = assumptions.risk_free_rate / per_year;
    let excess: Vec<f64> = returns.iter().map(|daily| daily - daily_rate).collect();
    let cagr = cagr(first, last);
    let scaled = |deviation: Option<f64>| Some(mean(&excess)? / deviation.filter(|it| *it > 0.0)? * per_year.sqrt());
    Yearly {
        cagr,
        volatility: deviation(&returns).map(|daily| daily * per_year.sqrt()),
        sharpe: scaled(deviation(&excess)),
        sortino: scaled(downside(&excess)),
        calmar: cagr.and_then(|rate| ratio(rate, drawdown.deepest)),
    }
}

/// Monthly figures, as usual in trading platforms of this kind.
pub fn monthly(months: &[Month], drawdown: &Drawdown, assumptions: &Assumptions) -> Monthly {
    let returns: Vec<f64> = months.iter().map(|month| month.performance).collect();
    let average_year = geometric_mean(&returns).map(|mean| mean.powf(MONTHS_PER_YEAR) - 1.0);
    let deviation = deviation(&returns);
    let deviation_year = deviation.map(|monthly| monthly * MONTHS_PER_YEAR.sqrt());
    let excess = average_year.map(|average| average - assumptions.risk_free_rate);
    Monthly {
        months: returns.len(),
        average: mean(&returns),
        deviation,
        average_year,
        deviation_year,
        sharpe: excess.zip(deviation_year).and_then(|(excess, deviation)| ratio(excess, deviation)),
        calmar: average_year
            .filter(|_| returns.len() >= RETURNS_MIN)
            .and_then(|average| ratio(average, drawdown.deepest)),
        best: returns.iter().copied().reduce(f64::max),
        worst: returns.iter().copied().reduce(f64::min),
    }
}

/// Growth from one value to the next, as a fraction; absent from zero.
pub fn growth(from: f64, to: f64) -> Option<f64> {
    (from > 0.0).then(|| to / from - 1.0)
}

/// A quotient, absent where it is not a finite number.
pub fn ratio(dividend: f64, divisor: f64) -> Option<f64> {
    (divisor != 0.0).then(|| dividend / divisor).filter(|quotient| quotient.is_finite())
}

pub fn years(from: Timestamp, to: Timestamp) -> f64 {
    to.nanos_since(from) as f64 / NANOS_PER_SECOND / SECONDS_PER_YEAR
}

fn cagr(first: &DayValue, last: &DayValue) -> Option<f64> {
    let years = years(first.at, last.at);
    let is_long_enough = years >= YEARS_MIN && first.value > 0.0 && last.value > 0.0;
    is_long_enough.then(|| (last.value / first.value).powf(1.0 / years) - 1.0)
}

fn mean(values: &[f64]) -> Option<f64> {
    ratio(values.iter().sum(), values.len() as f64)
}

/// Of a sample: divided by one less than their number.
fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    ratio(squares, values.len() as f64 - 1.0).map(f64::sqrt)
}

/// The root of the mean square of the values below zero, over all values; a single value has no deviation.
fn downside(values: &[f64]) -> Option<f64> {
    if values.len() < RETURNS_MIN {
        return None;
    }
    let squares: f64 = values.iter().map(|value| value.min(0.0).powi(2)).sum();
    ratio(squares, values.len() as f64).map(f64::sqrt)
}

fn geometric_mean(returns: &[f64]) -> Option<f64> {
    if returns.is_empty() || returns.iter().any(|monthly| *monthly <= -1.0) {
        return None;
    }
    let product: f64 = returns.iter().map(|monthly| 1.0 + monthly).product();
    Some(product.powf(1.0 / returns.len() as f64))
}

#[cfg(test)]
mod tests;
