//! Search of the value history: scope, time and period, and the rows of a page.

use bus::History;
use bus::history::{HistoryError, PageRequest, StoredSample, ValueRows, ValueSearch};
use domain::query::Filter;
use domain::{ReferenceData, RiskScope, ValueHistory, ValueHistoryRow, ValuePeriod};

use super::order_search::instant;
use crate::extract::QueryParameters;
use crate::problem::Problem;

/// Rows that a client asked for.
pub(crate) struct ValueHistorySearch {
    period: ValuePeriod,
    search: ValueSearch,
    page: PageRequest,
}

impl ValueHistorySearch {
    pub(crate) fn from_parameters(parameters: &QueryParameters, reference: &ReferenceData) -> Result<Self, Problem> {
        let (from, to) = (instant(parameters, "from")?, instant(parameters, "to")?);
        if from.zip(to).is_some_and(|(from, to)| from >= to) {
            return Err(conflict("the parameter to must be later than from"));
        }
        let (scope, period) = (scope(parameters.filter(reference)?)?, period(parameters)?);
        let rows = if period == ValuePeriod::Sample { ValueRows::All } else { ValueRows::DayEnds };
        Ok(Self { period, search: ValueSearch { scope, from, to, through: None, rows }, page: parameters.page()? })
    }

    pub(crate) fn rows(&self, history: &dyn History, as_of: u64) -> Result<Vec<ValueHistoryRow>, HistoryError> {
        match self.period {
            ValuePeriod::Sample => self.samples(history, as_of),
            ValuePeriod::Day | ValuePeriod::Week | ValuePeriod::Month => self.periods(history, as_of),
        }
    }

    /// There is one sample a day, so all of them are read: a week and a drawdown need those before the page.
    fn periods(&self, history: &dyn History, as_of: u64) -> Result<Vec<ValueHistoryRow>, HistoryError> {
        let mut rows = ValueHistory::new(self.period);
        for StoredSample { sequence, sample } in history.value_samples(as_of, &self.search, all_after(0))? {
            rows.push(sequence, sample);
        }
        let behind = rows.into_rows().into_iter().filter(|row| row.sequence > self.page.after);
        Ok(behind.take(self.page.limit).collect())
    }

    fn samples(&self, history: &dyn History, as_of: u64) -> Result<Vec<ValueHistoryRow>, HistoryError> {
        let page = history.value_samples(as_of, &self.search, self.page)?;
        let mut rows = ValueHistory::new(self.period);
        if let Some(first) = page.first().filter(|_| self.page.after > 0) {
            self.skip_before(first, &mut rows, |search, page| history.value_samples(as_of, search, page))?;
        }
        page.into_iter().for_each(|row| rows.push(row.sequence, row.sample));
        Ok(rows.into_rows())
    }

    /// What the drawdown of a page depends on: the ends of earlier days, and the earlier samples of its first day.
    fn skip_before(
        &self,
        first: &StoredSample,
        rows: &mut ValueHistory,
        query: impl Fn(&ValueSearch, PageRequest) -> Result<Vec<StoredSample>, HistoryError>,
    ) -> Result<(), HistoryError> {
        let through = Some(self.page.after);
        let days = query(&ValueSearch { through, rows: ValueRows::DayEnds, ..self.search }, all_after(0))?;
        let days = days.into_iter().take_while(|day| day.sample.date != first.sample.date);
        let mut day_end = 0;
        for day in days {
            rows.skip(&day.sample);
            day_end = day.sequence;
        }
        let earlier = query(&ValueSearch { through, ..self.search }, all_after(day_end))?;
        earlier.iter().for_each(|row| rows.skip(&row.sample));
        Ok(())
    }
}

fn all_after(after: u64) -> PageRequest {
    PageRequest { after, limit: usize::MAX }
}

fn scope(filter: Filter) -> Result<RiskScope, Problem> {
    match (filter.strategy, filter.account, filter.security) {
        (None, None, None) => Ok(RiskScope::Platform),
        (Some(strategy), None, None) => Ok(RiskScope::Strategy(strategy)),
        (None, Some(account), None) => Ok(RiskScope::Account(account)),
        (None, None, Some(security)) => Ok(RiskScope::Security(security)),
        _ => Err(conflict("of the parameters strategy, account and security only one may be given")),
    }
}

/// Each parameter alone is well-formed.
fn conflict(detail: &str) -> Problem {
    Problem::new("conflicting-fields", detail)
}

fn period(parameters: &QueryParameters) -> Result<ValuePeriod, Problem> {
    let Some(wanted) = parameters.get("period") else { return Ok(ValuePeriod::Sample) };
    let known = ValuePeriod::ALL.into_iter().find(|period| period.name() == wanted);
    known.ok_or_else(|| {
        Problem::bad_parameter("period", &format!("one of {}", ValuePeriod::ALL.map(ValuePeriod::name).join(", ")))
    })
}
