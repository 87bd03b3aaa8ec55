//! Statements with the values of their parameters.

use bus::history::{ChangePage, OrderSearch, PageRequest, SortOrder, SourceSearch, TextSearch, TradedSearch};
use domain::query::Filter;
use storage::read_model::search_columns::source_bounds;
use tokio_postgres::types::{ToSql, Type};

use crate::cell::{bound, storable};

/// A value of a parameter.
enum Parameter {
    Long(i64),
    Text(String),
    Texts(Vec<String>),
    Longs(Vec<i64>),
}

impl Parameter {
    fn value(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Long(number) => (number, Type::INT8),
            Self::Text(text) => (text, Type::TEXT),
            Self::Texts(texts) => (texts, Type::TEXT_ARRAY),
            Self::Longs(numbers) => (numbers, Type::INT8_ARRAY),
        }
    }
}

/// A statement that grows by conditions.
pub(crate) struct SearchQuery {
    text: String,
    parameters: Vec<Parameter>,
}

impl SearchQuery {
    /// `rows` is a SELECT that ends with a WHERE; the page begins after its key.
    pub(crate) fn new(rows: &str, key: &str, sort: SortOrder, page: PageRequest) -> Self {
        let beyond = match sort {
            SortOrder::Oldest => ">",
            SortOrder::Newest => "<",
        };
        let mut statement = Self { text: rows.to_owned(), parameters: vec![] };
        let after = statement.long(bound(page.after));
        statement.text.push_str(&format!(" {key} {beyond} {after}"));
        statement
    }

    /// Of those that have or had executions a page by last change, as their index has them. `rows` is a SELECT that ends with a WHERE.
    pub(crate) fn of_traded(rows: &str, search: &TradedSearch, page: ChangePage) -> Self {
        let mut statement = Self { text: format!("{rows} (filled > 0 OR emptied)"), parameters: vec![] };
        let source = statement.parameter(Parameter::Text(storable(&search.source)));
        let (at, id) = (statement.long(page.after.0.0), statement.long(bound(page.after.1)));
        statement.and(&format!("source = {source} AND (changed_at, id) > ({at}, {id})"));
        let mut statement = statement.filter(Filter { security: search.security, ..Filter::default() });
        let limit = statement.long(i64::try_from(page.limit).unwrap_or(i64::MAX));
        statement.text.push_str(&format!(" ORDER BY changed_at, id LIMIT {limit}"));
        statement
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn values(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.parameters.iter().map(Parameter::value).collect()
    }

    /// So many rows, and those that share the key of the last one.
    pub(crate) fn finish(mut self, key: &str, sort: SortOrder, page: PageRequest) -> Self {
        let direction = match sort {
            SortOrder::Oldest => "ASC",
            SortOrder::Newest => "DESC",
        };
        let limit = self.long(i64::try_from(page.limit).unwrap_or(i64::MAX));
        self.text.push_str(&format!(" ORDER BY {key} {direction} FETCH FIRST {limit} ROWS WITH TIES"));
        self
    }

    pub(crate) fn filter(mut self, filter: Filter) -> Self {
        let ids = [
            ("strategy", filter.strategy.map(|id| id.0)),
            ("account", filter.account.map(|id| id.0)),
            ("security", filter.security.map(|id| id.0)),
        ];
        for (column, id) in ids {
            if let Some(id) = id {
                let value = self.long(bound(id));
                self.and(&format!("{column} = {value}"));
            }
        }
        self
    }

    pub(crate) fn search(self, search: &OrderSearch) -> Self {
        let mut statement = self.filter(search.filter);
        let bounds = [("at >=", search.from), ("at <", search.to)];
        for (condition, at) in bounds {
            if let Some(at) = at {
                let value = statement.long(at.0);
                statement.and(&format!("{condition} {value}"));
            }
        }
        if !search.statuses.is_empty() {
            let names = search.statuses.iter().map(|status| status.name().to_owned()).collect();
            let value = statement.parameter(Parameter::Texts(names));
            statement.and(&format!("status = ANY({value})"));
        }
        statement.filter_by_source(search);
        statement.filter_by_text(search.text.as_ref())
    }

    fn filter_by_source(&mut self, search: &OrderSearch) {
        if search.exclude_strategies {
            self.and("source <> 'STRATEGY'");
        }
        if let [SourceSearch::Exactly(source)] = &search.sources[..] {
            let value = self.parameter(Parameter::Text(storable(source)));
            return self.and(&format!("source = {value}"));
        }
        let any: Vec<_> = search.sources.iter().map(source_bounds).map(|bounds| self.between(bounds)).collect();
        if !any.is_empty() {
            self.and(&format!("({})", any.join(" OR ")));
        }
    }

    fn between(&mut self, bounds: [String; 2]) -> String {
        let [first, last] = bounds.map(|bound| self.parameter(Parameter::Text(storable(&bound))));
        format!("source BETWEEN {first} AND {last}")
    }

    pub(crate) fn filter_by_text(mut self, text: Option<&TextSearch>) -> Self {
        let Some(text) = text else { return self };
        let part = self.parameter(Parameter::Text(storable(&text.part)));
        let ids = self.parameter(Parameter::Longs(text.securities.iter().map(|id| bound(id.0)).collect()));
        self.and(&format!("(strpos(words, {part}) > 0 OR security = ANY({ids}))"));
        self
    }

    fn and(&mut self, condition: &str) {
        self.text.push_str(" AND ");
        self.text.push_str(condition);
    }

    fn long(&mut self, number: i64) -> String {
        self.parameter(Parameter::Long(number))
    }

    /// The name of a parameter with this value.
    fn parameter(&mut self, value: Parameter) -> String {
        self.parameters.push(value);
        format!("${}", self.parameters.len())
    }
}
