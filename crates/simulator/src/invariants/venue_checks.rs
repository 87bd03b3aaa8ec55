//! The platform against the venues' ledgers: what was sent, what was traded, and how orders ended.

use std::collections::BTreeMap;

use domain::order::{BaseState, OrderTerms};
use domain::{
    Command, Decimal, IntId, Order, OrderId, OrderKind, Source, Text, Timestamp, Transaction, TransactionKind,
};
use engine::NEVER_ARRIVED;

use super::Evidence;
use super::books::ShownOrders;
use super::broken_invariant::{InvariantResult, broken, ensure};
use super::inferred_fills::{InferredFills, inferred_order};
use super::venue_books::{OrderAtVenue, VenueEnd};
use crate::schedule::LabFault;
use crate::submissions::RepeatedSubmission;

const SENT_TWICE: &str = "sent to the venue twice";
const NOT_AS_ITS_ORDER: &str = "a fill is not booked as its order says";
const ENDS_DIFFER: &str = "an order ended otherwise at the venue";

impl Evidence<'_> {
    /// I2: the venue has each order once, with the terms of the journal, and none that the journal does not know.
    pub(super) fn venue_saw_each_order_once(&self) -> InvariantResult {
        for ((number, venue), at_venue) in &self.venue.orders {
            match at_venue.leg_of {
                None => self.was_sent_once((*number, *venue), at_venue)?,
                Some(order) => ensure(
                    self.venue.orders.contains_key(&(order, *venue)),
                    "a leg of an order that the venue does not have",
                    || format!("{number}: {at_venue:?}"),
                )?,
            }
        }
        self.submissions.repeated.iter().try_for_each(|repeated| self.may_be_sent_again(repeated))?;
        let repeated = self.venue.repeated_executions.first();
        ensure(repeated.is_none(), "the venue gave an execution id twice", || format!("{repeated:?}"))
    }

    /// Decision 0003: an order is sent again only where its venue was asked since, has shown everything, and does not have it. A simulated
    /// venue swallows an order that it knows, so its ledger alone does not tell.
    fn may_be_sent_again(&self, repeated: &RepeatedSubmission) -> InvariantResult {
        let RepeatedSubmission { order, before, now, at_venue } = repeated;
        let at_venue = at_venue.as_ref().map_err(|reason| broken("the venue's ledger cannot be read", reason))?;
        ensure(at_venue.is_none(), SENT_TWICE, || format!("{order:?}, the venue had {at_venue:?}"))?;
        let behind = self.books.inputs.snapshots.range(before + 1..);
        let mut shown = behind.take_while(|(sequence, _)| *sequence <= now).map(|(_, shown)| shown);
        // What it showed earlier says nothing of a request that came behind it.
        let sent_at = self.books.times.range(..=before).next_back().map(|(_, at)| *at);
        let is_newer = |as_of: Option<Timestamp>| as_of.is_none() || as_of >= sent_at;
        let lacks_it = |shown: &ShownOrders| {
            shown.adapter == order.adapter && !shown.orders.contains(&order.id) && is_newer(shown.as_of)
        };
        let was_asked = shown.any(lacks_it);
        ensure(was_asked, "sent again before its venue was asked", || {
            format!("{order:?}, sent at input {before} and at input {now}")
        })
    }

    fn was_sent_once(&self, (number, venue): (OrderId, usize), at_venue: &OrderAtVenue) -> InvariantResult {
        let times = at_venue.times;
        ensure(times == 1, SENT_TWICE, || format!("order number {number}: {times} times"))?;
        let accepted = self.books.accepted.get(&number);
        ensure(accepted.is_some(), "the venue has an order that is not in the journal", || {
            format!("order number {number}")
        })?;
        let is_its_venue = accepted.is_some_and(|order| self.market.venue_of(order.account) == venue);
        ensure(is_its_venue, "sent to the wrong venue", || format!("{} has {accepted:?}", self.market.adapter(venue)))?;
        let is_same = accepted
            .is_some_and(|order| at_venue.submission.is_of(order) || self.is_at_new_price(order, at_venue, venue));
        ensure(is_same, "the venue has other terms than the journal", || {
            format!("{at_venue:?}, accepted: {accepted:?}")
        })
    }

    /// The lab tells of an order the price that a replace has given it, which a client has asked for.
    fn is_at_new_price(&self, order: &Order, at_venue: &OrderAtVenue, venue: usize) -> bool {
        let is_lab = self.lab.is_some_and(|lab| lab.venue == venue);
        let new_limit = |command: &Command| match command {
            Command::Modify(change) if change.int_id == order.int_id => change.limit,
            _ => None,
        };
        let has_limit = |limit| {
            let terms = OrderTerms { kind: OrderKind::Limit { limit }, ..order.terms };
            at_venue.submission.is_of(&Order { terms, ..order.clone() })
        };
        is_lab && self.books.inputs.commands.values().filter_map(new_limit).any(has_limit)
    }

    /// I3, the half that holds always: nothing is booked twice, and nothing that the venue does not have. What the venue took back is
    /// undone once, to the last digit.
    pub(super) fn fills_are_booked_once(&self) -> InvariantResult {
        let mut booked = BTreeMap::new();
        let mut inferred = InferredFills::default();
        for transaction in self.books.transactions.iter().filter(|transaction| is_trade(transaction)) {
            let exec_id = transaction.ext_id.clone().unwrap_or_else(|| "".into());
            let key = (self.market.venue_of(transaction.account), exec_id);
            if inferred.add(key.0, &key.1, transaction) {
                self.is_of_its_order(inferred_order(&key.1), transaction)?;
                continue;
            }
            let before: &mut Vec<&Transaction> = booked.entry(key.clone()).or_default();
            self.is_booked_once(&key, before, transaction)?;
            before.push(transaction);
        }
        let is_booked = |key: &(usize, Text)| booked.contains_key(key);
        inferred.are_of_venue(self.venue, &is_booked)?;
        inferred.were_lost(self.venue, &|key| is_booked(key) || !self.is_lost(key))
    }

    fn is_booked_once(&self, key: &(usize, Text), before: &[&Transaction], booked: &Transaction) -> InvariantResult {
        let exec_id = &key.1;
        if let [first] = before
            && self.venue.revised.contains(key)
        {
            return ensure(undoes(first, booked), "a bust is not the opposite of its fill", || {
                format!("execution {exec_id}: {first:?}, then {booked:?}")
            });
        }
        ensure(before.is_empty(), "a fill was booked twice", || format!("execution {exec_id}"))?;
        let fill = self.venue.executions.get(key);
        let is_as_reported =
            fill.is_some_and(|fill| fill.price == booked.price && fill.quantity.0 == booked.quantity.0.abs());
        ensure(is_as_reported, "a fill that the venue does not have", || {
            format!("execution {exec_id}: booked {booked:?}, at the venue {fill:?}")
        })?;
        let has_its_fee = fill.and_then(|fill| fill.fee).is_none_or(|fee| fee == booked.fee);
        ensure(has_its_fee, "a fill is booked with another fee", || {
            format!("execution {exec_id}: booked {booked:?}, at the venue {fill:?}")
        })?;
        self.is_of_its_order(fill.map(|fill| fill.order), booked)
    }

    /// Whether the venue cannot report the execution any more. Every report comes again until the journal has it, unless the venue has begun
    /// its sequence numbers anew, or was killed before it has sent it.
    fn is_lost(&self, (venue, exec_id): &(usize, Text)) -> bool {
        self.lab.is_some_and(|lab| lab.venue == *venue && lab.has_lost(exec_id))
    }

    /// How many fills the platform inferred.
    pub(crate) fn inferred_fills(&self) -> u64 {
        let ids = self.books.transactions.iter().filter_map(|transaction| transaction.ext_id.as_deref());
        ids.filter(|id| inferred_order(id).is_some()).count() as u64
    }

    /// Side, security, account and strategy of a booking are those of its order.
    fn is_of_its_order(&self, number: Option<OrderId>, booked: &Transaction) -> InvariantResult {
        let order = number.and_then(|number| self.books.orders.get(&number));
        ensure(order.is_some_and(|order| is_booked_as(order, booked)), NOT_AS_ITS_ORDER, || {
            format!("booked {booked:?} of {order:?}")
        })
    }

    /// I3, the other half: once all is quiet every fill of the venue is booked, and none that it took back.
    pub(crate) fn no_fill_is_missing(&self) -> InvariantResult {
        let mut booked: BTreeMap<(usize, Text), Decimal> = BTreeMap::new();
        let mut inferred = InferredFills::default();
        for transaction in &self.books.transactions {
            let Some(exec_id) = transaction.ext_id.clone() else { continue };
            inferred.add(self.market.venue_of(transaction.account), &exec_id, transaction);
            *booked.entry((self.market.venue_of(transaction.account), exec_id)).or_default() += transaction.quantity.0;
        }
        let is_booked = |key: &(usize, Text)| booked.get(key).is_some_and(|quantity| !quantity.is_zero());
        let is_told = |key: &(usize, Text), order| is_booked(key) || inferred.has(key.0, order);
        let missing = self
            .venue
            .executions
            .iter()
            .find(|(key, fill)| !is_told(key, fill.order) && !self.venue.revised.contains(*key));
        ensure(missing.is_none(), "a fill is missing", || format!("the venue has {missing:?}"))?;
        inferred.are_whole(self.venue, &is_booked)?;
        let kept = self.venue.revised.iter().find(|key| is_booked(key));
        ensure(kept.is_none(), "a bust is not booked", || format!("the venue took back {kept:?}"))
    }

    /// Once all is quiet nothing of an order is in the market: of none that has one leg, and of none that the venue cancelled and
    /// placed anew.
    pub(crate) fn nothing_stays_in_the_market(&self) -> InvariantResult {
        let with_legs: Vec<_> = self.venue.legs().filter_map(|((_, venue), leg)| Some((leg.leg_of?, *venue))).collect();
        for (key, at_venue) in self.venue.orders.iter().filter(|(_, order)| order.is_live()) {
            let is_leg = at_venue.leg_of.is_some() || with_legs.contains(key);
            let promise = if is_leg { "a leg stays in the market" } else { "an order stays in the market" };
            ensure(false, promise, || {
                format!("{key:?}: {at_venue:?}, here it is {:?}", self.books.orders.get(&key.0))
            })?;
        }
        Ok(())
    }

    /// Once all is quiet each order has ended as it did at its venue, and has been filled as far.
    pub(crate) fn venue_agrees(&self) -> InvariantResult {
        let filled = self.venue.filled();
        let with_legs: Vec<_> = self.venue.legs().filter_map(|(_, leg)| leg.leg_of).collect();
        let lab_venue = self.lab.map(|lab| lab.venue);
        let mut said_canceled = 0;
        for order in self.books.orders.values().filter(|order| order.source != Source::External) {
            let key = (order.id, self.market.venue_of(order.account));
            let traded = filled.get(&key).copied().unwrap_or_default();
            ensure(order.filled.0 == traded, "filled otherwise than at the venue", || {
                format!("{order:?}, the venue has traded {traded} of it")
            })?;
            match self.venue.orders.get(&key) {
                Some(_) if with_legs.contains(&order.id) => ended_by_legs(order)?,
                Some(at_venue) if lab_venue == Some(key.1) && is_canceled_here_alone(order, at_venue) => {
                    said_canceled += 1;
                }
                Some(at_venue) => ended_alike(order, at_venue)?,
                None => never_reached(order)?,
            }
        }
        // The lab said that it was cancelled, and filled it all the same: its cancel stays, and the fill is booked.
        let struck = self.struck(LabFault::FillAfterCancel);
        ensure(said_canceled <= struck, ENDS_DIFFER, || {
            format!("{said_canceled} orders were filled that are canceled here, and the lab said so of {struck}")
        })
    }

    fn struck(&self, fault: LabFault) -> u64 {
        self.lab.map_or(0, |lab| lab.struck().get(fault.name()).copied().unwrap_or(0))
    }
}

fn is_canceled_here_alone(order: &Order, at_venue: &OrderAtVenue) -> bool {
    at_venue.ended.is_none() && order.state == BaseState::Canceled
}

/// How an order of several legs ended follows from all of them, which are in the market no more.
fn ended_by_legs(order: &Order) -> InvariantResult {
    let told = || format!("{order:?} has several legs at the venue");
    ensure(order.reason.as_deref() != Some(NEVER_ARRIVED), "an order has reached the venue that never did", told)?;
    let is_filled = order.filled == order.terms.quantity;
    ensure(is_filled == (order.state == BaseState::Filled), ENDS_DIFFER, told)
}

fn ended_alike(order: &Order, at_venue: &OrderAtVenue) -> InvariantResult {
    let told = || format!("{order:?}, at the venue {at_venue:?}");
    ensure(order.reason.as_deref() != Some(NEVER_ARRIVED), "an order has reached the venue that never did", told)?;
    ensure(order.state == state_after(at_venue.ended), ENDS_DIFFER, told)?;
    // Nothing tells of a replace any more that took effect right before the cancel and whose answer was lost.
    let may_differ = order.state == BaseState::Canceled;
    ensure(may_differ || order.terms.quantity == at_venue.quantity, "the venue has other terms in the end", told)
}

/// The state of an order that is not in the market.
fn state_after(end: Option<VenueEnd>) -> BaseState {
    match end {
        None => BaseState::Filled,
        Some(VenueEnd::Rejected) => BaseState::Rejected,
        Some(VenueEnd::Canceled | VenueEnd::Expired | VenueEnd::Busted) => BaseState::Canceled,
    }
}

/// The venue does not have it.
fn never_reached(order: &Order) -> InvariantResult {
    let is_over = matches!(order.state, BaseState::Rejected | BaseState::Canceled);
    ensure(is_over, ENDS_DIFFER, || format!("{order:?}, and the venue does not have it"))?;
    // An order has the venue's id once the venue has accepted it.
    ensure(order.ext_id.is_none(), "an order was accepted that the venue does not have", || format!("{order:?}"))
}

fn is_trade(transaction: &Transaction) -> bool {
    matches!(transaction.kind, TransactionKind::Buy | TransactionKind::Sell)
}

fn is_booked_as(order: &Order, booked: &Transaction) -> bool {
    let bought = booked.quantity.0 > Decimal::ZERO;
    let kind = if bought { TransactionKind::Buy } else { TransactionKind::Sell };
    let is_buy = order.side == domain::Side::Buy;
    let place = (booked.account, booked.security, booked.strategy, booked.int_order_id.as_ref());
    let due: (_, _, _, Option<&IntId>) = (order.account, Some(order.security), order.strategy, Some(&order.int_id));
    bought == is_buy && booked.kind == kind && place == due
}

/// Whether the second takes back all of the first: quantity, price and costs.
fn undoes(first: &Transaction, second: &Transaction) -> bool {
    let values = |of: &Transaction| [of.execution_commission.0, of.clearing_commission.0, of.fee.0, of.quantity.0];
    let place = |of: &Transaction| (of.strategy, of.account, of.security, of.currency, of.price);
    place(first) == place(second) && values(first) == values(second).map(|value| -value)
}
