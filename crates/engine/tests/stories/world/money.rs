//! Words of a venue about money: entries and statements.

use domain::report::{ReportKind, VenueBalance, VenueEntry, VenuePosition, VenueStatement};
use domain::{AccountId, EntryKind, Timestamp};

use super::fixture::security;

/// `books ID KIND ACCOUNT AMOUNT CURRENCY [of [QUANTITY] SYMBOL]` and `states ACCOUNT SECONDS ago PARTS`.
pub(super) fn said(now: Timestamp, words: &[&str]) -> Option<ReportKind> {
    match words {
        ["books", id, kind, account, amount, currency, rest @ ..] => {
            Some(entry((id, kind), account, (amount, currency), rest))
        }
        ["states", account, seconds, "ago", parts @ ..] => Some(statement(now, account, seconds, parts)),
        _ => None,
    }
}

fn entry((id, kind): (&str, &str), account: &str, (amount, currency): (&str, &str), rest: &[&str]) -> ReportKind {
    let (security, quantity) = match rest {
        [] => (None, None),
        ["of", symbol] => (Some(security(symbol)), None),
        ["of", quantity, symbol] => (Some(security(symbol)), Some(quantity.parse().unwrap())),
        other => panic!("not an entry: {other:?}"),
    };
    ReportKind::Entry(VenueEntry {
        ext_id: id.into(),
        kind: EntryKind::ALL.into_iter().find(|known| known.name() == kind).unwrap(),
        account: AccountId(account.parse().unwrap()),
        currency: currency.parse().unwrap(),
        amount: amount.parse().unwrap(),
        security,
        quantity,
        at: None,
    })
}

/// `USD:99000:locked:50 ES:2`, and `partly` where the statement is not complete.
fn statement(now: Timestamp, account: &str, seconds_ago: &str, parts: &[&str]) -> ReportKind {
    let seconds: i64 = seconds_ago.parse().unwrap();
    let is_complete = !parts.contains(&"partly");
    let mut statement = VenueStatement {
        as_of: now.plus_seconds(-seconds),
        account: AccountId(account.parse().unwrap()),
        cash: vec![],
        positions: vec![],
        cash_complete: is_complete,
        positions_complete: is_complete,
    };
    for part in parts.iter().filter(|part| part.contains(':')) {
        match part.split(':').collect::<Vec<_>>()[..] {
            [currency, total, "locked", locked] => statement.cash.push(VenueBalance {
                currency: currency.parse().unwrap(),
                total: total.parse().unwrap(),
                locked: locked.parse().unwrap(),
            }),
            [symbol, quantity] => statement
                .positions
                .push(VenuePosition { security: security(symbol), quantity: quantity.parse().unwrap() }),
            _ => panic!("not a part of a statement: {part}"),
        }
    }
    ReportKind::Statement(statement)
}
