//! Checks between rows: ids and names are unique, and references exist.

use std::collections::BTreeMap;
use std::fmt::Display;

use domain::{Exchange, ExchangeId, FamilyId, Security, SecurityFamily, SecurityId, SecurityKind, Settlement};

use super::sheet::{SheetRows, cell_location};
use crate::input_problem::Problems;

/// No two rows have the same key.
pub(super) fn unique<T, K: Ord>(rows: &SheetRows<T>, column: &str, key: impl Fn(&T) -> K, problems: &mut Problems) {
    let mut first_lines = BTreeMap::new();
    for (line, item) in &rows.rows {
        let first = first_lines.entry(key(item)).or_insert(*line);
        if first != line {
            problems.add(cell_location(rows.file, *line, column), format!("stands in line {first} already"));
        }
    }
}

/// The rows that others may refer to.
pub(super) struct RowIndex<'a, K, T> {
    by_id: BTreeMap<K, &'a T>,
    rows: &'a SheetRows<T>,
}

impl<'a, K: Ord + Display, T> RowIndex<'a, K, T> {
    pub(super) fn by(rows: &'a SheetRows<T>, id: impl Fn(&T) -> K) -> Self {
        Self { by_id: rows.rows.iter().map(|(_, item)| (id(item), item)).collect(), rows }
    }

    /// The row of that id; a missing row is not reported where its file has errors.
    pub(super) fn find(&self, id: K, place: &str, problems: &mut Problems) -> Option<&'a T> {
        let found = self.by_id.get(&id).copied();
        if found.is_none() && self.rows.complete {
            problems.add(place, format!("{id} is not in {}", self.rows.file));
        }
        found
    }
}

/// Families and securities refer to each other and to exchanges.
pub(super) fn listings(
    exchanges: &SheetRows<Exchange>,
    families: &SheetRows<SecurityFamily>,
    securities: &SheetRows<Security>,
    problems: &mut Problems,
) {
    let known = Listings {
        exchanges: RowIndex::by(exchanges, |exchange| exchange.id),
        families: RowIndex::by(families, |family| family.id),
        securities: RowIndex::by(securities, |security| security.id),
    };
    for (line, family) in &families.rows {
        known.check_family(family, |column| cell_location(families.file, *line, column), problems);
    }
    for (line, security) in &securities.rows {
        known.check_security(security, |column| cell_location(securities.file, *line, column), problems);
    }
}

struct Listings<'a> {
    exchanges: RowIndex<'a, ExchangeId, Exchange>,
    families: RowIndex<'a, FamilyId, SecurityFamily>,
    securities: RowIndex<'a, SecurityId, Security>,
}

impl Listings<'_> {
    fn check_family(&self, family: &SecurityFamily, at: impl Fn(&'static str) -> String, problems: &mut Problems) {
        if let Some(exchange) = family.exchange {
            self.exchanges.find(exchange, &at("exchangeId"), problems);
        }
        if let Some(underlying) = family.underlying {
            self.securities.find(underlying, &at("underlyingId"), problems);
        }
    }

    fn check_security(&self, security: &Security, at: impl Fn(&'static str) -> String, problems: &mut Problems) {
        self.exchanges.find(security.exchange, &at("exchangeId"), problems);
        if let Some(underlying) = security.underlying {
            self.securities.find(underlying, &at("underlyingId"), problems);
        }
        let family = security.family.and_then(|id| self.families.find(id, &at("securityFamilyId"), problems));
        if let Some(family) = family {
            self.check_delivery(security, family, &at, problems);
            check_family_match(security, family, at, problems);
        }
    }

    /// The delivered security must exist, and have the same currency.
    fn check_delivery(
        &self,
        security: &Security,
        family: &SecurityFamily,
        at: impl Fn(&'static str) -> String,
        problems: &mut Problems,
    ) {
        let expires = matches!(security.kind, SecurityKind::Future { .. } | SecurityKind::Option { .. });
        if !expires || family.settlement != Some(Settlement::Physical) || !self.securities.rows.complete {
            return;
        }
        let underlying = security.underlying.or(family.underlying).and_then(|id| self.securities.by_id.get(&id));
        let is_deliverable =
            |known: &&&Security| known.kind != SecurityKind::Index && known.currency == security.currency;
        if underlying.filter(is_deliverable).is_none() {
            let reason = format!(
                "its family {} is settled PHYSICAL, so it must be a security in {} that can be delivered",
                family.id, security.currency
            );
            problems.add(at("underlyingId"), reason);
        }
    }
}

/// Listing and prices of a security must match its family.
fn check_family_match(
    security: &Security,
    family: &SecurityFamily,
    at: impl Fn(&'static str) -> String,
    problems: &mut Problems,
) {
    if let Some(exchange) = family.exchange.filter(|exchange| *exchange != security.exchange) {
        problems.add(at("exchangeId"), format!("its family {} is listed on exchange {exchange}", family.id));
    }
    if security.currency != family.currency {
        problems.add(at("currency"), format!("its family {} has {}", family.id, family.currency));
    }
}
