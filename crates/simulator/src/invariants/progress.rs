//! What the checks have looked at already, so that each record is looked at once and not at every start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::{AccountId, Currency, Decimal, IntId, Order, OrderId, SecurityId, StrategyId, TransactionId, Uuid};

use crate::invariants::values::ValueSums;
use crate::users::AdminRecords;

/// Belongs to the books that it was made with: what is read anew is checked from its first record on, as at the end of every run.
#[derive(Default)]
pub(crate) struct CheckProgress {
    /// Of the events.
    pub(crate) through: u64,
    /// Requests of each client.
    pub(super) entries: Vec<usize>,
    /// Ids that a client has named, and whether any answer allows an order.
    pub(super) may_exist: BTreeMap<IntId, bool>,
    /// What clients were told.
    pub(super) told_numbers: BTreeMap<OrderId, IntId>,
    /// What the journal has.
    pub(crate) numbers: BTreeMap<IntId, OrderId>,
    /// Orders that await their venue.
    pub(super) awaiting: BTreeMap<OrderId, Arc<Order>>,
    /// Bookings that are in the sums.
    pub(super) transactions: usize,
    pub(super) booked_ids: BTreeSet<TransactionId>,
    pub(super) uuids: BTreeSet<Uuid>,
    pub(super) held: BTreeMap<(StrategyId, AccountId, SecurityId), Decimal>,
    pub(super) cash: BTreeMap<(StrategyId, AccountId, Currency), Decimal>,
    pub(crate) values: ValueSums,
    pub(crate) fix: BTreeMap<&'static str, FixProgress>,
    pub(crate) admin: AdminRecords,
    /// Of the records of administration.
    pub(crate) admin_through: u64,
}

/// Of one FIX client.
#[derive(Default)]
pub(crate) struct FixProgress {
    /// The last messages that were looked at.
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// New orders, by ClOrdID.
    pub(crate) placed: BTreeMap<String, PlacedOverFix>,
}

/// What a FIX client sent under a ClOrdID.
#[derive(Default)]
pub(crate) struct PlacedOverFix {
    /// The sequence number of the first message.
    pub(crate) first: u64,
    /// Under how many sequence numbers.
    pub(crate) times: u64,
    /// How often it was told that there is no such order, for another reason than that there is one already.
    pub(crate) refused: u64,
}
