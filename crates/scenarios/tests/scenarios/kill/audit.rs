//! Three records compared: responses to clients, the journal, the venues' ledgers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use domain::{AccountId, Decimal, OrderId, Quantity, SecurityId, Text, TransactionKind};
use scenarios::http::HttpClient;
use serde_json::{Value, json};

use super::log::{Attempt, ClientLog, Outcome};
use crate::evidence::{ExternalId, JournalEvidence, LedgerExecution, VenueLedgers, digest_in_snapshot};
use crate::test_platform::{TraderClient, int_id_in};

/// While the server is dead. That the journal holds no number, id or execution twice, and a ledger no order and no
/// execution, was checked when they were read.
pub(crate) fn after_a_kill(log: &ClientLog, journal: &JournalEvidence, ledgers: &VenueLedgers) {
    for attempt in &log.orders {
        check_attempt(attempt, journal);
    }
    let given: BTreeSet<_> = log.ids.iter().collect();
    assert_eq!(given.len(), log.ids.len(), "a client was given an id twice");
    for id in given {
        assert!(journal.minted.contains(id.as_str()), "{id} was given and forgotten");
    }
    for order in ledgers.own() {
        assert!(journal.placed.contains_key(order), "order {order:?} reached a venue before it was durable");
    }
    let adopted = at_venues(journal, ledgers);
    for fill in journal.fills.values() {
        let at_venue = ledgers.executions.get(&fill.ext_id);
        let order = adopted.get(&fill.order).copied().unwrap_or(fill.order);
        let booked = LedgerExecution { order, quantity: fill.quantity, price: fill.price };
        assert_eq!(at_venue, Some(&booked), "a fill was booked that no venue made");
    }
}

/// The venues' numbers of the orders that were adopted, by ours.
fn at_venues(journal: &JournalEvidence, ledgers: &VenueLedgers) -> BTreeMap<OrderId, OrderId> {
    let at_venue = |id: &ExternalId| *ledgers.external.get(id).unwrap_or_else(|| panic!("{id:?} is at no venue"));
    journal.external.iter().map(|(id, order)| (*order, at_venue(id))).collect()
}

fn check_attempt(attempt: &Attempt, journal: &JournalEvidence) {
    let taken = journal.noted.get(attempt.note.as_str()).map_or(&[][..], Vec::as_slice);
    match &attempt.outcome {
        Outcome::Acknowledged { int_id } => {
            let [taken] = taken else { panic!("acknowledged, but not in the journal once: {attempt:?} {taken:?}") };
            assert_eq!(journal.placed[taken].int_id.as_str(), int_id, "{attempt:?}");
        }
        Outcome::Refused { .. } | Outcome::TurnedOutNever => assert_eq!(taken, [], "it must not exist: {attempt:?}"),
        Outcome::Unknown => assert!(taken.len() <= 1, "doubled: {attempt:?}"),
        Outcome::TurnedOutTaken => assert_eq!(taken.len(), 1, "it existed before: {attempt:?}"),
    }
}

/// Asks the restarted server for an order, and gives what is known of it now.
pub(crate) fn after_a_restart(client: &mut HttpClient, attempt: &Attempt, journal: &JournalEvidence) -> Outcome {
    match &attempt.outcome {
        Outcome::Acknowledged { int_id } => assert_eq!(client.order(int_id)["reference"], json!(attempt.note)),
        Outcome::Unknown => return settle(client, attempt, journal),
        Outcome::Refused { .. } | Outcome::TurnedOutTaken | Outcome::TurnedOutNever => {
            if let Some(int_id) = attempt.brought_id() {
                let response = client.get(&format!("/rest/execution/order/{int_id}")).unwrap();
                assert_eq!(response.status, 404, "{attempt:?}: {response:?}");
            }
        }
    }
    attempt.outcome.clone()
}

/// Unknown outcomes are queried; a client with its own id may simply retry.
fn settle(client: &mut HttpClient, attempt: &Attempt, journal: &JournalEvidence) -> Outcome {
    let was_taken = journal.noted.contains_key(attempt.note.as_str());
    let Some(int_id) = attempt.brought_id() else { return turned_out(was_taken) };
    let found = client.get(&format!("/rest/execution/order/{int_id}")).unwrap();
    assert_eq!(found.status, if was_taken { 200 } else { 404 }, "{attempt:?}: {found:?}");
    let is_retried = attempt.note.ends_with(['0', '2', '4', '6', '8']);
    if !is_retried {
        return turned_out(was_taken);
    }
    let again = client.submit(&attempt.order);
    assert_eq!(again.status == 409, was_taken, "{attempt:?}: {again:?}");
    match again.status {
        200 => Outcome::Acknowledged { int_id: int_id_in(&again) },
        _ => turned_out(was_taken),
    }
}

fn turned_out(taken: bool) -> Outcome {
    if taken { Outcome::TurnedOutTaken } else { Outcome::TurnedOutNever }
}

/// After an orderly stop, when no venue has anything more to say.
pub(crate) fn at_the_end(log: &ClientLog, journal: &JournalEvidence, ledgers: &VenueLedgers, shown: &Value) {
    after_a_kill(log, journal, ledgers);
    let booked: BTreeSet<&Text> = journal.fills.keys().collect();
    let made: BTreeSet<&Text> = ledgers.executions.keys().collect();
    assert_eq!(booked, made, "every venue fill is booked once");
    let positions = held(journal);
    assert_eq!(positions, ledgers.positions(), "positions are the fold of fills");
    assert_eq!(positions, in_json(shown), "and the door shows them");
    assert_eq!(journal.cash(), cash_from_transactions(journal), "cash is the fold of transactions");
    let filled = |order: &OrderId| -> Decimal {
        ledgers.executions.values().filter(|execution| execution.order == *order).map(|e| e.quantity.0).sum()
    };
    for (number, order) in &journal.placed {
        let [now] = &journal.order(order.int_id.as_str())[..] else { panic!("{:?} is lost", order.int_id) };
        assert_eq!(now.filled.0, filled(number), "{now:?}");
        assert!(!now.in_doubt, "{now:?}");
    }
}

fn held(journal: &JournalEvidence) -> BTreeMap<(AccountId, SecurityId), Quantity> {
    let held = journal.positions().into_iter();
    sums(held.map(|position| ((position.account, position.security), position.quantity)))
}

/// Over all strategies of an account.
fn sums(
    positions: impl Iterator<Item = ((AccountId, SecurityId), Quantity)>,
) -> BTreeMap<(AccountId, SecurityId), Quantity> {
    let mut sums: BTreeMap<_, Quantity> = BTreeMap::new();
    for (key, quantity) in positions {
        let sum = sums.entry(key).or_insert(Quantity::ZERO);
        *sum = sum.plus(quantity).unwrap();
    }
    sums.retain(|_, quantity| !quantity.is_zero());
    sums
}

fn in_json(positions: &Value) -> BTreeMap<(AccountId, SecurityId), Quantity> {
    let number = |value: &Value| value.as_u64().expect("an id");
    let held = positions.as_array().unwrap().iter().map(|position| {
        let key = (AccountId(number(&position["accountId"])), SecurityId(number(&position["securityId"])));
        (key, Quantity(position["quantity"].to_string().parse().expect("a decimal")))
    });
    sums(held)
}

/// Stocks of contract size 1, and the opening credit.
fn cash_from_transactions(journal: &JournalEvidence) -> BTreeMap<(AccountId, String), Decimal> {
    let mut cash = BTreeMap::new();
    for transaction in &journal.transactions {
        let costs = transaction.execution_commission.0 + transaction.clearing_commission.0 + transaction.fee.0;
        let amount = match transaction.kind {
            TransactionKind::Credit => transaction.price.0,
            _ => -(transaction.quantity.0 * transaction.price.0) - costs,
        };
        *cash.entry((transaction.account, transaction.currency.to_string())).or_default() += amount;
    }
    cash
}

/// The server came to its state over snapshots and many starts; the journal alone leads to the same.
pub(crate) fn state_is_that_of_a_full_replay(data: &Path, journal: &JournalEvidence) {
    assert_eq!(digest_in_snapshot(data), journal.digest());
}
