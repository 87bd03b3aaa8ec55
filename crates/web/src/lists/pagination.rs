//! Pagination: `after`, `limit`, `sort`.

use std::str::FromStr;

use bus::history::{PageRequest, SortOrder};
use wire::fields::ID_LIMIT;

use crate::extract::QueryParameters;
use crate::problem::Problem;

/// Default page size.
const PAGE_LIMIT_DEFAULT: usize = 100;
/// Largest page size.
pub(crate) const PAGE_LIMIT_MAX: usize = 1_000;
/// The key after which a page begins: an id or a sequence.
const KEY: &str = "a whole number from 0 below 2^53";

impl QueryParameters {
    /// `after` and `limit`.
    pub(crate) fn page(&self) -> Result<PageRequest, Problem> {
        self.page_of(SortOrder::Oldest)
    }

    /// `after` and `limit` where one of them is given: lists that are whole by default.
    pub(crate) fn wanted_page(&self) -> Result<Option<PageRequest>, Problem> {
        let is_wanted = self.get("after").is_some() || self.get("limit").is_some();
        is_wanted.then(|| self.page()).transpose()
    }

    /// `sort`, and `after` and `limit` in that direction.
    pub(crate) fn sorted_page(&self) -> Result<(SortOrder, PageRequest), Problem> {
        let sort = match self.get("sort") {
            None | Some("OLDEST") => SortOrder::Oldest,
            Some("NEWEST") => SortOrder::Newest,
            Some(_) => return Err(Problem::bad_parameter("sort", "OLDEST or NEWEST")),
        };
        Ok((sort, self.page_of(sort)?))
    }

    fn page_of(&self, sort: SortOrder) -> Result<PageRequest, Problem> {
        let after = self.number("after", KEY)?;
        if after.is_some_and(|after| after >= ID_LIMIT) {
            return Err(Problem::bad_parameter("after", KEY));
        }
        Ok(PageRequest { after: after.unwrap_or(sort.start()), limit: self.page_limit()? })
    }

    pub(crate) fn page_limit(&self) -> Result<usize, Problem> {
        let expected = format!("a whole number from 1 to {PAGE_LIMIT_MAX}");
        let limit = self.number("limit", &expected)?.unwrap_or(PAGE_LIMIT_DEFAULT);
        if !(1..=PAGE_LIMIT_MAX).contains(&limit) {
            return Err(Problem::bad_parameter("limit", &expected));
        }
        Ok(limit)
    }

    /// A number in digits alone.
    pub(crate) fn number<T: FromStr>(&self, name: &'static str, expected: &str) -> Result<Option<T>, Problem> {
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let read = |text| number(text).ok_or_else(|| Problem::bad_parameter(name, expected));
        self.get(name).map(read).transpose()
    }

    /// Comma-separated values; empty where the parameter is absent.
    pub(crate) fn comma_separated<T>(
        &self,
        name: &'static str,
        read: impl Fn(&str) -> Result<T, Problem>,
    ) -> Result<Vec<T>, Problem> {
        self.get(name).map_or(Ok(vec![]), |values| values.split(',').map(str::trim).map(read).collect())
    }

    pub(crate) fn required(&self, name: &'static str) -> Result<&str, Problem> {
        let missing = || Problem::new("missing-parameter", format!("the parameter {name} is needed"));
        self.get(name).ok_or_else(missing)
    }
}

impl Problem {
    pub(crate) fn bad_parameter(name: &str, expected: &str) -> Self {
        Self::new("malformed-parameter", format!("the parameter {name} must be {expected}"))
    }
}
