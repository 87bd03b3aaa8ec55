//! Rows of the value history, and the statement that reads them. Instants are turned into sequences by an index, because both grow
//! together.

use bus::history::{PageRequest, StoredSample, ValueRows, ValueSearch};
use domain::{Amount, RiskScope, Timestamp, ValueSample};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::cell::{Cell, bound};
use crate::checksum;
use crate::failure::DatabaseFailure;

pub(crate) const COLUMNS: &str = "value_samples (scope, sequence, at, day, payload, checksum, is_close, strategy, account, \
    security, currency, net_liq_value, market_value, cash_balance, long_exposure, short_exposure, realized_pl, \
    unrealized_pl, commissions, fees, day_result, day_flow)";
pub(crate) const TYPES: &[Type] = &[
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::TEXT,
    Type::BYTEA,
    Type::INT8,
    Type::INT2,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::TEXT,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::NUMERIC,
    Type::NUMERIC,
];

const ROWS: &str = "SELECT sequence, payload, checksum, scope, at, day FROM value_samples";

/// A row as it is copied.
pub(crate) fn row(sequence: u64, sample: &ValueSample, payload: &[u8]) -> Vec<Cell> {
    let (sequence, scope, day) = (bound(sequence), sample.scope.to_string(), sample.date.to_string());
    let sum = checksum::of_sample([&scope, &day], sequence, sample.at.0, payload).value();
    let [strategy, account, security] = ids(sample.scope);
    let amount = |amount: Option<Amount>| Cell::optional(amount, |amount| Cell::Number(amount.0));
    vec![
        Cell::Text(scope),
        Cell::Long(sequence),
        Cell::Long(sample.at.0),
        Cell::Text(day),
        Cell::Bytes(payload.to_vec()),
        Cell::Long(sum),
        Cell::Small(sample.is_close.into()),
        strategy,
        account,
        security,
        Cell::text(&sample.currency.to_string()),
        amount(sample.net_liq_value),
        amount(sample.market_value),
        amount(sample.cash_balance),
        amount(sample.long_exposure),
        amount(sample.short_exposure),
        amount(sample.realized_pl),
        amount(sample.unrealized_pl),
        amount(sample.commissions),
        amount(sample.fees),
        amount(sample.day_result),
        amount(sample.day_flow),
    ]
}

fn ids(scope: RiskScope) -> [Cell; 3] {
    let mut ids = [Cell::Null, Cell::Null, Cell::Null];
    match scope {
        RiskScope::Platform => {}
        RiskScope::Strategy(id) => ids[0] = Cell::id(id.0),
        RiskScope::Account(id) => ids[1] = Cell::id(id.0),
        RiskScope::Security(id) => ids[2] = Cell::id(id.0),
    }
    ids
}

/// A statement with its numbers; the first parameter is the scope.
pub(crate) struct ValueQuery {
    text: String,
    scope: String,
    numbers: Vec<i64>,
}

impl ValueQuery {
    pub(crate) fn from_search(search: &ValueSearch, page: PageRequest) -> Self {
        let mut query = Self { text: "scope = $1".into(), scope: search.scope.to_string(), numbers: vec![] };
        if let Some(from) = search.from {
            let first = query.first_at(from);
            query.and(&format!("sequence >= {first}"));
        }
        if let Some(to) = search.to {
            let first = query.first_at(to);
            query.and(&format!("sequence < coalesce({first}, {})", i64::MAX));
        }
        if let Some(through) = search.through {
            let through = query.number(bound(through));
            query.and(&format!("sequence <= {through}"));
        }
        if search.rows == ValueRows::DayEnds {
            let ends = format!("(SELECT max(sequence) FROM value_samples WHERE {} GROUP BY day)", query.text);
            query.text = format!("scope = $1 AND sequence IN {ends}");
        }
        let (after, limit) = (bound(page.after), i64::try_from(page.limit).unwrap_or(i64::MAX));
        let (after, limit) = (query.number(after), query.number(limit));
        query.and(&format!("sequence > {after} ORDER BY sequence LIMIT {limit}"));
        query
    }

    pub(crate) fn text(&self) -> String {
        format!("{ROWS} WHERE {}", self.text)
    }

    pub(crate) fn values(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        let scope: (&(dyn ToSql + Sync), Type) = (&self.scope, Type::TEXT);
        let numbers = self.numbers.iter().map(|number| -> (&(dyn ToSql + Sync), Type) { (number, Type::INT8) });
        std::iter::once(scope).chain(numbers).collect()
    }

    /// The first sample of the scope at an instant or later.
    fn first_at(&mut self, at: Timestamp) -> String {
        let at = self.number(at.0);
        format!("(SELECT sequence FROM value_samples WHERE scope = $1 AND at >= {at} ORDER BY at, sequence LIMIT 1)")
    }

    fn and(&mut self, condition: &str) {
        self.text.push_str(" AND ");
        self.text.push_str(condition);
    }

    fn number(&mut self, number: i64) -> String {
        self.numbers.push(number);
        format!("${}", self.numbers.len() + 1)
    }
}

/// A sample whose checksum matches.
pub(crate) fn decode(row: &Row) -> Result<StoredSample, DatabaseFailure> {
    let (sequence, payload): (i64, &[u8]) = (row.try_get(0)?, row.try_get(1)?);
    let names = [row.try_get(3)?, row.try_get(5)?];
    let sum = checksum::of_sample(names, sequence, row.try_get(4)?, payload);
    sum.check(row.try_get(2)?, format!("value sample {sequence}"))?;
    let unreadable = |reason| DatabaseFailure::DamagedRow(format!("a row cannot be decoded: {reason}"));
    let sample = minicbor::decode(payload).map_err(unreadable)?;
    Ok(StoredSample { sequence: u64::try_from(sequence).unwrap_or(0), sample })
}
