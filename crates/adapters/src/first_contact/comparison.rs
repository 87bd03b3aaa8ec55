//! Comparisons of what was sent with what the venue tells.

use std::collections::BTreeSet;

use domain::Amount;
use domain::order::OrderTerms;
use domain::report::{VenueOrder, VenueOrderState, VenueStatement};

/// For people: `buy 0.001 BTCUSDT at 36000`.
pub(super) fn terms_text(terms: &OrderTerms, symbol: &str) -> String {
    match terms.kind.limit() {
        Some(limit) => format!("buy {} {symbol} at {limit}", terms.quantity),
        None => format!("buy {} {symbol}", terms.quantity),
    }
}

pub(super) fn is_open(order: &VenueOrder) -> bool {
    order.state == VenueOrderState::Live
}

pub(super) fn compare_terms(sent: &OrderTerms, seen: &OrderTerms) -> Result<(), String> {
    let mut differences = Vec::new();
    if sent.quantity != seen.quantity {
        differences.push(format!("quantity {} instead of {}", seen.quantity, sent.quantity));
    }
    if sent.kind != seen.kind {
        differences.push(format!("{:?} instead of {:?}", seen.kind, sent.kind));
    }
    if sent.tif != seen.tif {
        differences.push(format!("{} instead of {}", seen.tif.name(), sent.tif.name()));
    }
    if differences.is_empty() { Ok(()) } else { Err(format!("the venue has {}", differences.join(", "))) }
}

/// Totals and locked amounts; an asset that is absent is nothing.
pub(super) fn compare_balances(before: &VenueStatement, after: &VenueStatement) -> Result<(), String> {
    let of = |statement: &VenueStatement, currency| {
        statement.balance(currency).map_or((Amount::ZERO, Amount::ZERO), |held| (held.total, held.locked))
    };
    let currencies: BTreeSet<_> = before.cash.iter().chain(&after.cash).map(|held| held.currency).collect();
    let differences: Vec<String> = currencies
        .into_iter()
        .filter(|currency| of(before, *currency) != of(after, *currency))
        .map(|currency| {
            let ((old, old_locked), (new, new_locked)) = (of(before, currency), of(after, currency));
            format!("{currency} {old} (locked {old_locked}) became {new} (locked {new_locked})")
        })
        .collect();
    if differences.is_empty() { Ok(()) } else { Err(differences.join(", ")) }
}
