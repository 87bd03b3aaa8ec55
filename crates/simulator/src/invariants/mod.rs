//! The invariants, checked against the clients' own logs and the venues' ledgers: after every restart, at the end, and, without the ledgers,
//! every few seconds while the platform runs.

pub(crate) mod broken_invariant;
pub(crate) mod books;
pub(crate) mod venue_books;
mod lab_books;
pub(crate) mod ledgers;
mod inferred_fills;
pub(crate) mod panics;
mod venue_checks;
pub(crate) mod progress;
pub(crate) mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::order::{BaseState, PendingRequest};
use domain::query::{Answer, Filter};
use domain::{
    CashBalance, Decimal, Event, Order, OrderId, Query, Source, TimeInForce, Timestamp, Transaction, TransactionKind,
};
use runtime::simulation::RunDigest;

use crate::client::SeededClient;
use crate::fix_sessions::{CANCELED_ON_DISCONNECT, COMP_IDS, FixClient};
use crate::invariants::books::{JournalBooks, named_order};
use crate::invariants::broken_invariant::{InvariantResult, broken, ensure};
use crate::invariants::progress::CheckProgress;
use crate::invariants::venue_books::VenueBooks;
use crate::lab_venue::LabMachine;
use crate::market::{CASH, Market};
use crate::platform::FoundState;
use crate::read_model::SimulatedReadModel;
use crate::releases::EarlierFolder;
use crate::request_log::{Intent, LogEntry, RequestOutcome};
use crate::schedule::DAY;
use crate::submissions::Submissions;

const NOT_THE_CASH: &str = "cash is not the sum of transactions";
/// So long after its end an order has ended, once nothing goes wrong.
const DAY_END_GRACE_SECONDS: i64 = 60;
/// What reaches the platform so shortly before midnight may reach the venue behind it.
const MIDNIGHT_SECONDS: i64 = 10;

/// What all checks look at.
pub(crate) struct Evidence<'a> {
    pub(crate) books: &'a JournalBooks,
    pub(crate) venue: &'a VenueBooks,
    pub(crate) clients: &'a [SeededClient],
    pub(crate) fix_clients: &'a [FixClient],
    pub(crate) read_model: &'a SimulatedReadModel,
    pub(crate) market: &'a Market,
    pub(crate) earlier: Option<&'a EarlierFolder>,
    /// Where a venue is the lab.
    pub(crate) lab: Option<&'a LabMachine>,
    pub(crate) submissions: &'a Submissions,
    pub(crate) end: u64,
}

impl Evidence<'_> {
    /// Holds at any moment, however the process ended before.
    pub(crate) fn check(&self, progress: &mut CheckProgress) -> InvariantResult {
        self.requests_and_orders(progress)?;
        self.venue_saw_each_order_once()?;
        self.fills_are_booked_once()?;
        self.reports_and_sums(progress)
    }

    /// The same without the venues' ledgers: what is durable of a platform that runs.
    pub(crate) fn check_journal(&self, progress: &mut CheckProgress) -> InvariantResult {
        self.requests_and_orders(progress)?;
        self.reports_and_sums(progress)
    }

    fn requests_and_orders(&self, progress: &mut CheckProgress) -> InvariantResult {
        self.released_stays(progress)?;
        self.answers_stay(progress)?;
        self.ids_are_unique(progress)?;
        self.no_order_without_a_client(progress)?;
        self.refused_stays_refused(progress)
    }

    fn reports_and_sums(&self, progress: &mut CheckProgress) -> InvariantResult {
        self.unanswered_is_in_doubt(progress)?;
        for client in self.fix_clients {
            client.check(self.books, progress)?;
        }
        self.positions_and_cash(progress)?;
        progress.values.extend(self.books, progress.through)?;
        progress.entries = self.clients.iter().map(|client| answered(&client.log)).collect();
        progress.through = self.end;
        Ok(())
    }

    /// I7: no report of a FIX client is missing, and none came twice.
    pub(crate) fn no_report_is_missing(&self) -> InvariantResult {
        self.fix_clients.iter().try_for_each(|client| client.check_complete(self.books))
    }

    /// I6, I8: what left the platform once is what a replay gives.
    fn released_stays(&self, progress: &CheckProgress) -> InvariantResult {
        self.read_model.for_each_released(progress.through, |sequence, events| {
            ensure(sequence <= self.end, "released before it was durable", || {
                format!("events of input {sequence} were published, the journal ends at {}", self.end)
            })?;
            let replayed = self.books.events.get(&sequence);
            ensure(replayed == Some(events), "replay differs", || {
                format!("input {sequence}: {events:?} was published, a replay gives {replayed:?}")
            })
        })
    }

    /// Requests that were not looked at before.
    fn entries(&self, progress: &CheckProgress) -> Vec<&LogEntry> {
        let seen = progress.entries.iter().copied().chain(std::iter::repeat(0));
        self.clients.iter().zip(seen).flat_map(|(client, seen)| &client.log[seen..]).collect()
    }

    /// Orders as they became by events that were not looked at before.
    fn changed_orders(&self, behind: u64) -> impl Iterator<Item = &Arc<Order>> {
        self.books.events.range(behind + 1..).flat_map(|(_, events)| events).filter_map(changed_order)
    }

    /// I1: what a client was told is in the journal, with the order that it named and the terms that it asked for.
    fn answers_stay(&self, progress: &CheckProgress) -> InvariantResult {
        for entry in self.entries(progress) {
            let (RequestOutcome::Accepted { sequence, .. } | RequestOutcome::Refused { sequence, .. }) = entry.outcome
            else {
                continue;
            };
            let command = self.books.inputs.commands.get(&sequence);
            ensure(command.is_some(), "acknowledged and lost", || format!("{}: {}", entry.intent, entry.outcome))?;
            let told = || format!("{}: {}, but input {sequence} is {command:?}", entry.intent, entry.outcome);
            ensure(command.and_then(named_order) == entry.intent.order(), "acknowledged and lost", told)?;
            let is_as_asked = command.is_some_and(|command| entry.intent.is_asked_by(command));
            ensure(is_as_asked, "the journal has other terms than its client asked for", told)?;
            self.answer_is_its_effect(entry, sequence)?;
        }
        Ok(())
    }

    /// I1, I5: what was accepted changed its order, or made it; what was refused changed nothing of it.
    fn answer_is_its_effect(&self, entry: &LogEntry, sequence: u64) -> InvariantResult {
        let Some(int_id) = entry.intent.order() else { return Ok(()) };
        let caused = self.books.events.get(&sequence).into_iter().flatten();
        let has_changed = caused.filter_map(changed_order).any(|order| order.int_id == *int_id);
        let is_accepted = matches!(entry.outcome, RequestOutcome::Accepted { .. });
        ensure(has_changed == is_accepted, "an answer is not what became of its request", || {
            format!(
                "{}: {}, and its order {}",
                entry.intent,
                entry.outcome,
                if has_changed { "changed" } else { "did not change" }
            )
        })
    }

    /// One order per id of a client, one id per order, and the number that the client was told.
    fn ids_are_unique(&self, progress: &mut CheckProgress) -> InvariantResult {
        for order in self.changed_orders(progress.through) {
            let before = progress.numbers.insert(order.int_id.clone(), order.id).filter(|before| *before != order.id);
            ensure(before.is_none(), "an id was given twice", || {
                format!("{}: {before:?} and {}", order.int_id, order.id)
            })?;
        }
        for entry in self.entries(progress) {
            let (Intent::Place(_, int_id), RequestOutcome::Accepted { order: Some(number), .. }) =
                (&entry.intent, &entry.outcome)
            else {
                continue;
            };
            let other = progress.told_numbers.insert(*number, int_id.clone()).filter(|other| other != int_id);
            ensure(other.is_none(), "an id was given twice", || {
                format!("order number {number}: {other:?} and {int_id}")
            })?;
            let journalled = progress.numbers.get(int_id);
            ensure(journalled == Some(number), "acknowledged and lost", || {
                format!("{int_id} was accepted as number {number}, the journal has {journalled:?}")
            })?;
        }
        Ok(())
    }

    /// No phantom: every order was asked for.
    fn no_order_without_a_client(&self, progress: &mut CheckProgress) -> InvariantResult {
        for entry in self.entries(progress) {
            let Some(int_id) = entry.placed() else { continue };
            let refused = entry.outcome.is_refusal();
            *progress.may_exist.entry(int_id.clone()).or_default() |= !refused;
        }
        // Those of FIX clients and of the strategy are compared with what they sent.
        let is_other = |order: &Order| matches!(order.source, Source::Fix(_) | Source::Strategy);
        let is_earlier = |order: &Order| self.earlier.is_some_and(|earlier| earlier.has_order(&order.int_id));
        let is_known =
            |order: &Order| is_other(order) || progress.may_exist.contains_key(&order.int_id) || is_earlier(order);
        let unknown = self.changed_orders(progress.through).find(|order| !is_known(order));
        ensure(unknown.is_none(), "an order that nobody placed", || format!("{unknown:?}"))
    }

    /// I5: what every answer refused does not exist.
    fn refused_stays_refused(&self, progress: &CheckProgress) -> InvariantResult {
        let is_refused = |order: &&Arc<Order>| progress.may_exist.get(&order.int_id) == Some(&false);
        let order = self.changed_orders(progress.through).find(is_refused);
        ensure(order.is_none(), "refused and there all the same", || format!("{order:?}"))
    }

    /// I9, the half that holds always: a request that was not answered when the line was lost may have arrived or not, and its order
    /// says so until the venue does.
    fn unanswered_is_in_doubt(&self, progress: &mut CheckProgress) -> InvariantResult {
        let (books, behind, awaiting) = (self.books, progress.through + 1, &mut progress.awaiting);
        let mut events = books.events.range(behind..).peekable();
        for (sequence, adapter) in books.inputs.lines_lost.range(behind..) {
            while let Some((_, of_input)) = events.next_if(|(at, _)| *at <= sequence) {
                await_venue(awaiting, of_input);
            }
            let certain = awaiting.values().find(|order| order.adapter == *adapter && !order.in_doubt);
            ensure(certain.is_none(), "an unknown outcome is not marked", || {
                format!("the line of {adapter} is lost by input {sequence}, and then there is {certain:?}")
            })?;
        }
        events.for_each(|(_, of_input)| await_venue(awaiting, of_input));
        Ok(())
    }

    /// I9 and liveness: no order hangs between the platform and the venue.
    pub(crate) fn no_order_is_undecided(&self) -> InvariantResult {
        for order in self.books.orders.values() {
            let hangs = order.in_doubt || order.pending != PendingRequest::Nothing || order.state.is_working();
            ensure(!hangs, "an order stays undecided", || {
                let at_venue = self.venue.orders.get(&(order.id, self.market.venue_of(order.account)));
                format!(
                    "{}: {:?}, in doubt {}, at the venue {at_venue:?}",
                    order.int_id,
                    order.status(),
                    order.in_doubt
                )
            })?;
        }
        Ok(())
    }

    /// An order for a day, or until an instant, has ended when that is over and all was quiet for a while: at this input.
    pub(crate) fn no_order_outlives_its_day(&self, rested: u64) -> InvariantResult {
        let Some((_, now)) = self.books.times.range(..=rested).next_back() else { return Ok(()) };
        let orders = self.orders_at(rested);
        let is_over =
            |order: &Order| good_until(order).is_some_and(|end| end.plus_seconds(DAY_END_GRACE_SECONDS) < *now);
        let old = orders.values().find(|order| order.is_open() && is_over(order));
        ensure(old.is_none(), "an order outlives its day", || format!("it is {now}, and there is {old:?}"))
    }

    /// Orders of a client that was away for long enough have ended, where that is agreed: at this input.
    pub(crate) fn no_order_outlives_its_connection(&self, rested: u64) -> InvariantResult {
        let comp_id = COMP_IDS[CANCELED_ON_DISCONNECT];
        let is_own = |order: &Order| matches!(&order.source, Source::Fix(name) if **name == *comp_id);
        let orders = self.orders_at(rested);
        let left = orders.values().find(|order| order.is_open() && is_own(order));
        ensure(left.is_none(), "an order outlives its connection", || {
            format!("{comp_id} is away, and there is {left:?}")
        })
    }

    /// Orders as they were after an input.
    fn orders_at(&self, sequence: u64) -> BTreeMap<OrderId, &Arc<Order>> {
        let events = self.books.events.range(..=sequence).flat_map(|(_, events)| events);
        events.filter_map(changed_order).map(|order| (order.id, order)).collect()
    }

    /// No phantom: beside trades each account has its opening cash, once.
    fn only_opening_cash_is_credited(&self) -> InvariantResult {
        let is_trade = |kind| matches!(kind, TransactionKind::Buy | TransactionKind::Sell);
        let mut credited = BTreeSet::new();
        let others = self.books.transactions.iter().filter(|transaction| !is_trade(transaction.kind));
        for other in others {
            let is_opening = other.kind == TransactionKind::Credit && cash_effect(other) == Decimal::from(CASH);
            let is_first = credited.insert(other.account);
            ensure(is_opening && is_first, "a booking that nobody asked for", || format!("{other:?}"))?;
        }
        Ok(())
    }

    /// I4: positions and cash follow from the transactions, to the last digit.
    fn positions_and_cash(&self, progress: &mut CheckProgress) -> InvariantResult {
        progress.add_transactions(&self.books.transactions)?;
        if self.earlier.is_none() {
            self.only_opening_cash_is_credited()?;
        }
        let (at, engine) = (self.books.recovered.at, &self.books.engine);
        let ask = |query: Query| engine.answer(at, self.end, &query);
        let Ok(Answer::Positions(positions)) = ask(Query::Positions(Filter::default())) else {
            return Err(broken("positions are not the sum of fills", "the question was not answered"));
        };
        let Ok(Answer::Balances(balances)) = ask(Query::Balances(Filter::default())) else {
            return Err(broken(NOT_THE_CASH, "the question was not answered"));
        };
        let mut held = progress.held.clone();
        for position in &positions {
            let expected = held.remove(&(position.strategy, position.account, position.security)).unwrap_or_default();
            ensure(position.quantity.0 == expected, "positions are not the sum of fills", || {
                format!(
                    "{} in account {}: {} instead of {expected}",
                    position.security, position.account, position.quantity
                )
            })?;
        }
        // Positions that were closed on an earlier day are no longer listed.
        let missing = held.iter().find(|(_, quantity)| !quantity.is_zero());
        ensure(missing.is_none(), "positions are not the sum of fills", || format!("{missing:?} is not held"))?;
        progress.is_cash(&balances)
    }
}

/// I8: a snapshot and the end of the journal give the same state as the whole journal.
pub(crate) fn same_state(found: &FoundState, books: &JournalBooks) -> InvariantResult {
    let states: Vec<_> = books.states().filter(|(state, _)| *state == found.state).collect();
    ensure(!states.is_empty(), "a snapshot differs from the journal", || {
        format!("recovered from snapshot {} to {}", found.recovered.snapshot, found.recovered.last_sequence)
    })?;
    ensure(found.admin == books.admin(), "users differ from the journal", || {
        format!(
            "recovered from snapshot {}: {:?} instead of {:?}",
            found.recovered.snapshot,
            found.admin,
            books.admin()
        )
    })?;
    let is_known = states.iter().any(|(_, digest)| **digest == found.recovered.digest);
    ensure(is_known, "the digest differs", || format!("recovered from snapshot {}", found.recovered.snapshot))
}

/// I8: the platform that runs has the state and the digest that a replay of its journal gives.
pub(crate) fn same_running_state(
    (state, digest): &(Vec<u8>, &Option<RunDigest>),
    books: &JournalBooks,
) -> InvariantResult {
    let states: Vec<_> = books.states().filter(|(replayed, _)| replayed == state).collect();
    let end = books.recovered.last_sequence;
    ensure(!states.is_empty(), "the running state differs from the journal", || format!("behind input {end}"))?;
    ensure(states.iter().any(|(_, replayed)| replayed == digest), "the digest differs", || {
        format!("behind input {end}")
    })
}

impl CheckProgress {
    /// These are all balances, to the last digit.
    fn is_cash(&self, balances: &[CashBalance]) -> InvariantResult {
        let mut cash = self.cash.clone();
        for balance in balances {
            let expected = cash.remove(&(balance.strategy, balance.account, balance.currency)).unwrap_or_default();
            ensure(balance.amount.0 == expected, NOT_THE_CASH, || {
                format!("account {}: {} instead of {expected}", balance.account, balance.amount)
            })?;
        }
        let missing = cash.iter().find(|(_, amount)| !amount.is_zero());
        ensure(missing.is_none(), NOT_THE_CASH, || format!("{missing:?} is not listed"))
    }

    /// Sums up the bookings that are new. Each has a number and a uuid of its own.
    fn add_transactions(&mut self, all: &[Arc<Transaction>]) -> InvariantResult {
        for transaction in &all[self.transactions..] {
            let is_new = self.booked_ids.insert(transaction.id) && self.uuids.insert(transaction.uuid);
            ensure(is_new, "a transaction has the id of another", || format!("{transaction:?}"))?;
            let place = (transaction.strategy, transaction.account, transaction.currency);
            *self.cash.entry(place).or_default() += cash_effect(transaction);
            if let Some(security) = transaction.security {
                *self.held.entry((transaction.strategy, transaction.account, security)).or_default() +=
                    transaction.quantity.0;
            }
        }
        self.transactions = all.len();
        Ok(())
    }
}

/// Until when an order is good, where that is an instant. The day of an order that came at midnight is not known for sure.
fn good_until(order: &Order) -> Option<Timestamp> {
    match order.terms.tif {
        TimeInForce::Day => Some(Timestamp((order.at.plus_seconds(MIDNIGHT_SECONDS).0 / DAY + 1) * DAY)),
        TimeInForce::Gtd { until } => Some(until),
        TimeInForce::Gtc | TimeInForce::Ato | TimeInForce::Ioc | TimeInForce::Fok | TimeInForce::Atc => None,
    }
}

/// How many requests of a log need not be looked at again: their answers do not change any more.
fn answered(log: &[LogEntry]) -> usize {
    log.iter().position(|entry| entry.outcome == RequestOutcome::Waiting).unwrap_or(log.len())
}

/// Keeps the orders that await their venue.
fn await_venue(awaiting: &mut BTreeMap<OrderId, Arc<Order>>, of_input: &[Event]) {
    for order in of_input.iter().filter_map(changed_order) {
        if awaits_venue(order) {
            awaiting.insert(order.id, order.clone());
        } else {
            awaiting.remove(&order.id);
        }
    }
}

fn changed_order(event: &Event) -> Option<&Arc<Order>> {
    match event {
        Event::Order(order) => Some(order),
        _ => None,
    }
}

fn awaits_venue(order: &Order) -> bool {
    order.is_open() && (order.state == BaseState::PendingNew || order.pending != PendingRequest::Nothing)
}

fn cash_effect(transaction: &Transaction) -> Decimal {
    let costs = transaction.execution_commission.0 + transaction.clearing_commission.0 + transaction.fee.0;
    let value = transaction.quantity.0 * transaction.price.0;
    let is_trade = matches!(transaction.kind, TransactionKind::Buy | TransactionKind::Sell);
    if is_trade { -value - costs } else { value - costs }
}

#[cfg(test)]
mod tests {
    use domain::{AccountId, Amount, BalanceId, Currency, Price, Quantity, StrategyId, TransactionId, Uuid};

    use super::*;

    /// A credit of so many dollars.
    fn credit(id: u64, uuid: u128, dollars: i64) -> Arc<Transaction> {
        Arc::new(Transaction {
            id: TransactionId(id),
            uuid: Uuid(uuid),
            at: Timestamp(0),
            settlement_date: None,
            ext_id: None,
            int_order_id: None,
            ext_order_id: None,
            kind: TransactionKind::Credit,
            quantity: Quantity::from(1),
            price: Price::from(dollars),
            execution_commission: Amount::ZERO,
            clearing_commission: Amount::ZERO,
            fee: Amount::ZERO,
            currency: Currency::USD,
            account: AccountId(1),
            security: None,
            strategy: StrategyId::SERVER,
            description: None,
            charges: vec![],
            venue_kind: None,
            liquidity: None,
        })
    }

    fn balance(dollars: i64) -> CashBalance {
        CashBalance {
            id: BalanceId(1),
            strategy: StrategyId::SERVER,
            account: AccountId(1),
            currency: Currency::USD,
            amount: Amount::from(dollars),
            venue_total: None,
            venue_locked: None,
        }
    }

    #[test]
    fn a_balance_that_is_wrong_or_not_listed_breaks_the_promise() {
        let mut progress = CheckProgress::default();
        progress.add_transactions(&[credit(1, 1, 40), credit(2, 2, 2)]).unwrap();
        let told = |balances: &[CashBalance]| progress.is_cash(balances).map_err(|broken| broken.invariant);
        assert_eq!(told(&[balance(42)]), Ok(()));
        assert_eq!(told(&[balance(40)]), Err(NOT_THE_CASH));
        assert_eq!(told(&[]), Err(NOT_THE_CASH));
    }

    #[test]
    fn two_transactions_with_one_number_or_one_uuid_break_the_promise() {
        let added = |second| {
            let mut progress = CheckProgress::default();
            progress.add_transactions(&[credit(1, 1, 40)]).unwrap();
            progress.add_transactions(&[credit(1, 1, 40), second]).map_err(|broken| broken.invariant)
        };
        assert_eq!(added(credit(2, 2, 2)), Ok(()));
        assert_eq!(added(credit(1, 2, 2)), Err("a transaction has the id of another"));
        assert_eq!(added(credit(2, 1, 2)), Err("a transaction has the id of another"));
    }
}
