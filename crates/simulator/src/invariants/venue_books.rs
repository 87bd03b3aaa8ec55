//! What the venues have done, by their own ledgers.

use std::collections::{BTreeMap, BTreeSet};

use domain::order::{OrderKind, TimeInForce};
use domain::report::{VenueFill, VenueOrderState};
use domain::{AccountId, Decimal, Order, OrderId, Quantity, SecurityId, Side, Text};
use storage::append_log::AppendLog;
use venue_sim::record::{ExecutionRevision, SubmittedOrder, VenueTrade};
use venue_sim::{ClientOrder, VenueRecord};

use crate::machine::Machine;
use crate::market::seed_traits::VENUE_COUNT;

#[derive(Default)]
pub(crate) struct VenueBooks {
    /// The one that is being read.
    venue: usize,
    /// Orders by our number, legs behind the first one by the venue's own; and by venue.
    pub(crate) orders: BTreeMap<(OrderId, usize), OrderAtVenue>,
    /// By venue and id: venues give the same ids.
    pub(crate) executions: BTreeMap<(usize, Text), VenueFill>,
    pub(crate) repeated_executions: Vec<Text>,
    /// Those of them that were busted or corrected since.
    pub(crate) revised: BTreeSet<(usize, Text)>,
}

/// An order at a venue, or a leg that the venue placed for a replace.
#[derive(Debug, Clone)]
pub(crate) struct OrderAtVenue {
    pub(crate) submission: Submission,
    /// How often it reached the venue.
    pub(crate) times: u64,
    /// The order that it is a later leg of.
    pub(crate) leg_of: Option<OrderId>,
    /// As replaces have made it.
    pub(crate) quantity: Quantity,
    pub(crate) traded: Decimal,
    pub(crate) ended: Option<VenueEnd>,
}

/// What reached the venue, as far as its ledger tells it.
#[derive(Debug, Clone)]
pub(crate) struct Submission {
    pub(crate) side: Side,
    pub(crate) security: SecurityId,
    pub(crate) account: Option<AccountId>,
    pub(crate) quantity: Option<Quantity>,
    pub(crate) kind: Option<OrderKind>,
    pub(crate) tif: Option<TimeInForce>,
}

/// How an order left the market before all of it was traded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VenueEnd {
    Rejected,
    Canceled,
    Expired,
    /// It was filled, and a fill was busted then.
    Busted,
}

impl VenueBooks {
    pub(crate) fn read(machine: &Machine) -> Result<Self, String> {
        let mut books = Self::default();
        for venue in 0..VENUE_COUNT {
            books.venue = venue;
            let path = machine.ledger(venue);
            let mut visit = |payload: &[u8]| {
                VenueRecord::decode_batch(payload)?.into_iter().for_each(|record| books.apply(record));
                Ok(())
            };
            if path.exists() {
                AppendLog::read(&path, &mut visit).map_err(|error| machine.text(&error))?;
            }
        }
        Ok(books)
    }

    /// The legs of an order behind its first one.
    pub(crate) fn legs(&self) -> impl Iterator<Item = (&(OrderId, usize), &OrderAtVenue)> {
        self.orders.iter().filter(|(_, order)| order.leg_of.is_some())
    }

    /// What was traded of each order and counts, all its legs together.
    pub(crate) fn filled(&self) -> BTreeMap<(OrderId, usize), Decimal> {
        let mut filled = BTreeMap::new();
        for (key, fill) in self.executions.iter().filter(|(key, _)| !self.revised.contains(*key)) {
            *filled.entry((fill.order, key.0)).or_default() += fill.quantity.0;
        }
        filled
    }

    fn apply(&mut self, record: VenueRecord) {
        match record {
            VenueRecord::Submitted(submission) => self.submit(&submission),
            VenueRecord::Traded(trade) => self.trade(trade),
            VenueRecord::Rejected { order, .. } => self.end(order, VenueEnd::Rejected),
            VenueRecord::Canceled { order, .. } => self.end(order, VenueEnd::Canceled),
            VenueRecord::Expired { order, .. } => self.end(order, VenueEnd::Expired),
            VenueRecord::Replaced { order, terms, .. } => {
                self.orders.entry((order, self.venue)).and_modify(|known| known.quantity = terms.quantity);
            }
            VenueRecord::Kept(held) => self.keep(&held),
            VenueRecord::Revised(revision) => self.revise(*revision),
            VenueRecord::Accepted { .. }
            | VenueRecord::Activated { .. }
            | VenueRecord::Opened { .. }
            | VenueRecord::Accounts(_)
            | VenueRecord::Compacted(_) => {}
        }
    }

    fn submit(&mut self, submitted: &SubmittedOrder) {
        let (number, leg_of, quantity) = (submitted.order, submitted.leg_of, submitted.terms.quantity);
        self.add_order(number, leg_of, quantity, Submission::of(submitted));
    }

    fn trade(&mut self, trade: VenueTrade) {
        for execution in trade.executions {
            let fill = VenueFill {
                order: self.count_fill(execution.order, trade.quantity),
                exec_id: execution.exec_id,
                quantity: trade.quantity,
                price: trade.price,
                at: Some(trade.at),
                fee: execution.fee,
                charges: vec![],
                ext_order: None,
                liquidity: None,
            };
            self.add_fill(fill);
        }
    }

    /// An order of a compacted ledger; so few orders are traded here that the venue keeps them all.
    fn keep(&mut self, held: &ClientOrder) {
        let (submitted, venue) = (held.submission(), self.venue);
        self.add_order(submitted.order, submitted.leg_of, held.terms().quantity, Submission::of(submitted));
        for fill in held.fills() {
            self.count_fill(submitted.order, fill.quantity);
        }
        let revised = || held.revised_fills().map(|revised| &revised.fill);
        let order = submitted.leg_of.unwrap_or(submitted.order);
        let known = |fill: &VenueFill| ((venue, fill.exec_id.clone()), VenueFill { order, ..fill.clone() });
        self.executions.extend(held.fills().chain(revised()).map(known));
        self.revised.extend(revised().map(|fill| (venue, fill.exec_id.clone())));
        match held.final_state().0 {
            VenueOrderState::Live => {}
            VenueOrderState::Rejected => self.end(submitted.order, VenueEnd::Rejected),
            VenueOrderState::Canceled => self.end(submitted.order, VenueEnd::Canceled),
            VenueOrderState::Expired => self.end(submitted.order, VenueEnd::Expired),
        }
    }

    /// A bust ends its order at the venue, or finds it ended.
    fn revise(&mut self, revision: ExecutionRevision) {
        let key = (self.venue, revision.exec_id);
        let fill = self.executions.get(&key).cloned();
        self.revised.insert(key);
        match revision.by.zip(fill.clone()) {
            Some((by, fill)) => self.add_fill(VenueFill { exec_id: by.exec_id, price: by.price, ..fill }),
            None => self.bust(revision.order, fill.map_or(Decimal::ZERO, |fill| fill.quantity.0)),
        }
    }

    fn bust(&mut self, number: OrderId, quantity: Decimal) {
        self.orders.entry((number, self.venue)).and_modify(|order| {
            order.traded -= quantity;
            order.ended.get_or_insert(VenueEnd::Busted);
        });
    }

    /// The order of the client, of which the number may be a leg.
    fn count_fill(&mut self, number: OrderId, quantity: Quantity) -> OrderId {
        let Some(order) = self.orders.get_mut(&(number, self.venue)) else { return number };
        order.traded += quantity.0;
        order.leg_of.unwrap_or(number)
    }

    fn end(&mut self, number: OrderId, how: VenueEnd) {
        self.orders.entry((number, self.venue)).and_modify(|order| order.ended = Some(how));
    }
}

/// As the lab tells it, too.
impl VenueBooks {
    /// What follows is of that venue.
    pub(super) fn begin_venue(&mut self, venue: usize) {
        self.venue = venue;
    }

    pub(super) fn add_order(
        &mut self,
        number: OrderId,
        leg_of: Option<OrderId>,
        quantity: Quantity,
        submission: Submission,
    ) {
        let new = OrderAtVenue { submission, times: 0, leg_of, quantity, traded: Decimal::ZERO, ended: None };
        self.orders.entry((number, self.venue)).or_insert(new).times += 1;
    }

    pub(super) fn end_order(&mut self, number: OrderId, traded: Decimal, how: Option<VenueEnd>) {
        self.orders
            .entry((number, self.venue))
            .and_modify(|order| (order.traded, order.ended) = (traded, how.or(order.ended)));
    }

    pub(super) fn add_fill(&mut self, fill: VenueFill) {
        let exec_id = fill.exec_id.clone();
        if self.executions.insert((self.venue, exec_id.clone()), fill).is_some() {
            self.repeated_executions.push(exec_id);
        }
    }
}

impl OrderAtVenue {
    /// Whether it can still trade.
    pub(crate) fn is_live(&self) -> bool {
        self.ended.is_none() && self.traded < self.quantity.0
    }
}

impl Submission {
    fn of(submitted: &SubmittedOrder) -> Self {
        Self {
            side: submitted.side,
            security: submitted.security,
            account: Some(submitted.account),
            quantity: Some(submitted.terms.quantity),
            kind: Some(submitted.terms.kind),
            tif: Some(submitted.terms.tif),
        }
    }

    /// Whether this is the order, as it was accepted.
    pub(crate) fn is_of(&self, order: &Order) -> bool {
        self.side == order.side
            && self.security == order.security
            && self.account.is_none_or(|account| account == order.account)
            && self.quantity.is_none_or(|quantity| quantity == order.terms.quantity)
            && self.kind.is_none_or(|kind| kind == order.terms.kind)
            && self.tif.is_none_or(|tif| tif == order.terms.tif)
    }
}

#[cfg(test)]
mod tests {
    use domain::order::OrderTerms;
    use domain::{ExchangeId, OrderProperties, Price, Timestamp};
    use venue_sim::record::VenueExecution;

    use super::*;

    const ORDER: (OrderId, usize) = (OrderId(7), 0);

    fn terms(quantity: i64) -> OrderTerms {
        OrderTerms { quantity: quantity.into(), kind: OrderKind::Market, tif: TimeInForce::Gtc }
    }

    /// An order of 100, of which 40 were traded.
    fn traded() -> VenueBooks {
        let mut books = VenueBooks::default();
        books.apply(VenueRecord::Submitted(SubmittedOrder {
            at: Timestamp(1),
            order: ORDER.0,
            account: AccountId(1),
            exchange: ExchangeId(1),
            security: SecurityId(1),
            side: Side::Buy,
            terms: terms(100),
            properties: OrderProperties::default(),
            leg_of: None,
        }));
        let execution = VenueExecution { order: ORDER.0, exec_id: "X-1".into(), fee: None, settlement: None };
        books.apply(VenueRecord::Traded(VenueTrade {
            at: Timestamp(2),
            security: SecurityId(1),
            price: Price(Decimal::TEN),
            quantity: 40.into(),
            aggressor: None,
            executions: vec![execution],
        }));
        books
    }

    #[test]
    fn an_order_is_in_the_market_until_all_of_its_newest_quantity_is_traded() {
        let mut books = traded();
        assert!(books.orders[&ORDER].is_live());
        books.apply(VenueRecord::Replaced { at: Timestamp(3), order: ORDER.0, terms: terms(40) });
        assert!(!books.orders[&ORDER].is_live());
        assert_eq!((books.orders[&ORDER].ended, books.filled()), (None, [(ORDER, 40.into())].into()));
    }

    #[test]
    fn a_busted_fill_counts_no_longer_and_ends_its_order() {
        let mut books = traded();
        let (at, order, security, exec_id) = (Timestamp(3), ORDER.0, SecurityId(1), "X-1".into());
        let bust = ExecutionRevision { at, order, security, exec_id, settlement: None, by: None };
        books.apply(VenueRecord::Revised(Box::new(bust)));
        assert_eq!((books.orders[&ORDER].ended, books.filled()), (Some(VenueEnd::Busted), BTreeMap::new()));
    }
}
