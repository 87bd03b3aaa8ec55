//! Value history by period: samples, or days, weeks and months with their results and the drawdown.

use super::value_sample::ValueSample;
use crate::amount::Amount;
use crate::amount::currency::Currency;
use crate::time::Date;

/// What a row of the value history stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValuePeriod {
    /// One sample.
    Sample,
    /// A platform day.
    Day,
    /// Seven platform days from Monday on.
    Week,
    /// The platform days of a month.
    Month,
}

impl ValuePeriod {
    /// All periods, in the order of the enum.
    pub const ALL: [Self; 4] = [Self::Sample, Self::Day, Self::Week, Self::Month];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// The first day of the period that a day belongs to.
    pub fn begin(self, day: Date) -> Date {
        match self {
            Self::Sample | Self::Day => day,
            Self::Week => {
                let since_monday = i64::from(day.0.weekday().to_monday_zero_offset());
                Date(day.0.saturating_sub(jiff::Span::new().days(since_monday)))
            }
            Self::Month => Date(day.0.first_of_month()),
        }
    }
}

/// A row of the value history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueHistoryRow {
    /// The input that caused the last sample of the row, and the row's key.
    pub sequence: u64,
    /// The first day of the period, also where it has no sample.
    pub date: Date,
    /// The last sample of the period.
    pub sample: ValueSample,
    /// What the days of the period gained, after costs; of a sample its day's until then. Absent where that of a day is not known.
    pub result: Option<Amount>,
    /// Paid in less paid out on the days of the period; of a sample on its day until then.
    pub flow: Option<Amount>,
    /// How far the results added up are below their best.
    pub drawdown: Option<Amount>,
}

/// Makes rows of samples, the oldest first. A row other than a sample's is made of the last samples of its days.
#[derive(Debug)]
pub struct ValueHistory {
    period: ValuePeriod,
    curve: ResultCurve,
    rows: Vec<ValueHistoryRow>,
}

impl ValueHistory {
    /// A history without rows.
    pub fn new(period: ValuePeriod) -> Self {
        Self { period, curve: ResultCurve::default(), rows: vec![] }
    }

    /// A sample before those that become rows: it counts for the drawdown.
    pub fn skip(&mut self, sample: &ValueSample) {
        self.curve.add(sample);
    }

    /// The next sample.
    pub fn push(&mut self, sequence: u64, sample: ValueSample) {
        let (drawdown, date) = (self.curve.add(&sample), self.period.begin(sample.date));
        let (result, flow) = (sample.day_result, sample.day_flow);
        let row = ValueHistoryRow { sequence, date, sample, result, flow, drawdown };
        match self.rows.last_mut() {
            Some(last) if self.period != ValuePeriod::Sample && last.date == date => last.extend(row),
            _ => self.rows.push(row),
        }
    }

    /// All rows.
    pub fn into_rows(self) -> Vec<ValueHistoryRow> {
        self.rows
    }
}

impl ValueHistoryRow {
    /// A further day of the same period. Amounts in two currencies have no sum.
    fn extend(&mut self, day: Self) {
        let is_same = self.sample.currency == day.sample.currency;
        let sum = |one: Option<Amount>, other: Option<Amount>| one.filter(|_| is_same)?.plus(other?).ok();
        let (result, flow) = (sum(self.result, day.result), sum(self.flow, day.flow));
        *self = Self { result, flow, ..day };
    }
}

/// The results of days added up. Its best is that of the ends of earlier days, and of the samples of the same day: so it does not
/// depend on the sample at which a list begins to be read. A day whose result is not known is left out. With another base currency
/// it begins anew.
#[derive(Debug, Default)]
struct ResultCurve {
    currency: Option<Currency>,
    day: Option<Date>,
    /// The result of that day so far.
    today: Option<Amount>,
    /// The results of the days before; absent where they do not fit.
    before: Option<Amount>,
    best_of_days: Amount,
    best: Amount,
}

impl ResultCurve {
    /// Returns the drawdown at a sample.
    fn add(&mut self, sample: &ValueSample) -> Option<Amount> {
        if self.currency != Some(sample.currency) {
            *self = Self { currency: Some(sample.currency), before: Some(Amount::ZERO), ..Self::default() };
        }
        if self.day != Some(sample.date) {
            self.end_day();
        }
        (self.day, self.today) = (Some(sample.date), sample.day_result);
        let now = self.before?.plus(self.today?).ok()?;
        self.best = self.best.max(now);
        self.best.minus(now).ok()
    }

    fn end_day(&mut self) {
        let ended = self.today.take().unwrap_or(Amount::ZERO);
        self.before = self.before.and_then(|before| before.plus(ended).ok());
        self.best_of_days = self.best_of_days.max(self.before.unwrap_or(Amount::ZERO));
        self.best = self.best_of_days;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::RiskScope;
    use crate::time::Timestamp;

    fn sample(date: &str, result: Option<i64>, flow: i64) -> ValueSample {
        ValueSample {
            scope: RiskScope::Platform,
            at: Timestamp(0),
            date: date.parse().unwrap(),
            is_close: false,
            currency: Currency::USD,
            net_liq_value: None,
            market_value: None,
            cash_balance: None,
            long_exposure: None,
            short_exposure: None,
            realized_pl: None,
            unrealized_pl: None,
            commissions: None,
            fees: None,
            day_result: result.map(Amount::from),
            day_flow: Some(flow.into()),
        }
    }

    /// Date, result, flow and drawdown of each row.
    fn rows(period: ValuePeriod, samples: &[ValueSample]) -> Vec<String> {
        let mut history = ValueHistory::new(period);
        (1..).zip(samples).for_each(|(sequence, sample)| history.push(sequence, sample.clone()));
        let text = |amount: Option<Amount>| amount.map_or("?".into(), |amount| amount.to_string());
        let row = |row: ValueHistoryRow| {
            let (result, flow, drawdown) = (text(row.result), text(row.flow), text(row.drawdown));
            format!("{} {} {result} {flow} {drawdown}", row.sequence, row.date)
        };
        history.into_rows().into_iter().map(row).collect()
    }

    #[test]
    fn weeks_begin_on_monday_and_months_on_the_first() {
        let begin = |period: ValuePeriod, day: &str| period.begin(day.parse().unwrap()).to_string();
        assert_eq!(begin(ValuePeriod::Week, "2026-11-16"), "2026-11-16");
        assert_eq!(begin(ValuePeriod::Week, "2026-11-22"), "2026-11-16");
        assert_eq!(begin(ValuePeriod::Week, "2027-01-01"), "2026-12-28");
        assert_eq!(begin(ValuePeriod::Month, "2028-02-29"), "2028-02-01");
        assert_eq!(begin(ValuePeriod::Day, "2026-11-22"), "2026-11-22");
    }

    #[test]
    fn a_period_adds_up_its_days() {
        let days = [
            sample("2026-11-27", Some(10), 1000),
            sample("2026-11-30", Some(-4), 0),
            sample("2026-12-01", Some(3), -500),
        ];
        assert_eq!(
            rows(ValuePeriod::Day, &days),
            ["1 2026-11-27 10 1000 0", "2 2026-11-30 -4 0 4", "3 2026-12-01 3 -500 1"]
        );
        assert_eq!(rows(ValuePeriod::Week, &days), ["1 2026-11-23 10 1000 0", "3 2026-11-30 -1 -500 1"]);
        assert_eq!(rows(ValuePeriod::Month, &days), ["2 2026-11-01 6 1000 4", "3 2026-12-01 3 -500 1"]);
    }

    #[test]
    fn a_sample_is_compared_with_the_ends_of_days_and_with_its_own_day() {
        let day = |result| sample("2026-11-16", Some(result), 0);
        let next = |result| sample("2026-11-17", Some(result), 0);
        // 20 was a best within its day only.
        let samples = [day(20), day(5), next(-7), next(10), next(4)];
        assert_eq!(
            rows(ValuePeriod::Sample, &samples),
            [
                "1 2026-11-16 20 0 0",
                "2 2026-11-16 5 0 15",
                "3 2026-11-17 -7 0 7",
                "4 2026-11-17 10 0 0",
                "5 2026-11-17 4 0 6"
            ]
        );
        let mut history = ValueHistory::new(ValuePeriod::Sample);
        samples[1..4].iter().for_each(|sample| history.skip(sample));
        history.push(5, next(4));
        assert_eq!(history.into_rows()[0].drawdown, Some(6.into()), "a page begins where the one before ended");
    }

    #[test]
    fn what_is_not_known_is_no_zero() {
        let days =
            [sample("2026-11-16", Some(10), 0), sample("2026-11-17", None, 5), sample("2026-11-18", Some(-3), 0)];
        assert_eq!(rows(ValuePeriod::Day, &days), ["1 2026-11-16 10 0 0", "2 2026-11-17 ? 5 ?", "3 2026-11-18 -3 0 3"]);
        assert_eq!(rows(ValuePeriod::Week, &days), ["3 2026-11-16 ? 5 3"]);
    }

    #[test]
    fn another_base_currency_begins_anew() {
        let euros = ValueSample { currency: "EUR".parse().unwrap(), ..sample("2026-11-17", Some(-3), 0) };
        let days = [sample("2026-11-16", Some(10), 0), euros];
        assert_eq!(rows(ValuePeriod::Day, &days), ["1 2026-11-16 10 0 0", "2 2026-11-17 -3 0 3"]);
        assert_eq!(rows(ValuePeriod::Week, &days), ["2 2026-11-16 ? ? 3"]);
    }
}
