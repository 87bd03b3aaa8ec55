//! Order registry: open orders and those of today and yesterday in full; of older ones only a fingerprint of the id, so
//! that no id is used twice, and the account.

mod cl_ord_ids;
mod orders_by_id;
pub(crate) mod retired_keys;
mod forgetting;
pub(crate) mod resting;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::lookup_map::fingerprint;
use domain::order::{ExecType, Order, OrderRequest, Side};
use domain::{AccountId, IntId, LookupMap, OrderId, RecalledKeys, SecurityId, Source, StrategyId, Text, Timestamp};
use minicbor::{Decode, Decoder, Encode, Encoder};

use self::cl_ord_ids::ClOrdIdIndex;
use self::orders_by_id::OrdersById;
use self::resting::{RestingOrders, WorkingClass, WorkingOrders};
use self::retired_keys::{IndexedOrders, RetiredKeys, RetiredOrderKeys};
use super::fills::executions::ExecutionStore;
use super::transitions::RequestKind;
use crate::shared::shared_map::SharedMap;
use crate::shared::shared_set::SharedSet;

#[derive(Debug, Default)]
pub(crate) struct OrderRegistry {
    orders: OrdersById,
    cl_ord_ids: ClOrdIdIndex,
    pub(crate) executions: ExecutionStore,
    retired: RetiredOrderKeys,
    /// Orders that were not placed here, also those that are no longer kept, by the key of the venue's order.
    external: SharedMap<u128, OrderId>,
    /// Keys of such orders that could not be adopted, and of which that was told.
    not_adopted: SharedSet<u128>,
    /// How many executions were reported twice.
    pub(crate) repeated_executions: u64,
    // Derived from the orders, not on disk.
    open: BTreeSet<OrderId>,
    open_counts: LookupMap<SecurityId, usize>,
    resting: RestingOrders,
    /// Working orders that may only reduce a position.
    reduce_only: BTreeMap<PositionSide, BTreeSet<OrderId>>,
    /// By the fingerprint of the id.
    by_int_id: LookupMap<u128, OrderId>,
}

/// A position, and the side of the orders that could close or increase it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PositionSide {
    pub(crate) strategy: StrategyId,
    pub(crate) account: AccountId,
    pub(crate) security: SecurityId,
    pub(crate) side: Side,
}

impl PositionSide {
    pub(crate) fn of_order(order: &Order) -> Self {
        let Order { strategy, account, security, side, .. } = *order;
        Self { strategy, account, security, side }
    }

    pub(crate) fn opposite(self) -> Self {
        Self { side: self.side.opposite(), ..self }
    }
}

/// Index entries of an order while it is open.
#[derive(Clone, Copy, PartialEq)]
struct IndexEntry {
    is_open: bool,
    class: Option<WorkingClass>,
}

impl IndexEntry {
    /// Entries of an order that is not kept.
    const NONE: Self = Self { is_open: false, class: None };

    fn from_order(order: &Order) -> Self {
        Self { is_open: order.is_open(), class: WorkingClass::from_order(order) }
    }
}

impl OrderRegistry {
    pub(crate) fn contains_id(&self, id: &IntId) -> bool {
        let key = id_key(id.as_str());
        self.by_int_id.contains(&key) || self.retired.contains_id(key)
    }

    /// What is written to disk: indexes are made from it.
    pub(crate) fn copy_for_disk(&self) -> Self {
        Self {
            orders: self.orders.clone(),
            cl_ord_ids: self.cl_ord_ids.clone(),
            executions: self.executions.copy_for_disk(),
            retired: self.retired.clone(),
            external: self.external.clone(),
            not_adopted: self.not_adopted.clone(),
            repeated_executions: self.repeated_executions,
            ..Self::default()
        }
    }

    /// How many orders are kept in full.
    pub(crate) fn kept(&self) -> usize {
        self.orders.len()
    }

    pub(crate) fn insert(&mut self, order: Arc<Order>) {
        if let Some(cl_ord_id) = &order.cl_ord_id {
            self.cl_ord_ids.assign(cl_ord_id, order.id);
        }
        self.index(&order);
        self.orders.push(order);
    }

    /// Our number of an order that was not placed here.
    pub(crate) fn external(&self, key: u128) -> Option<OrderId> {
        self.external.get(&key).copied()
    }

    pub(crate) fn insert_external(&mut self, key: u128, order: &Arc<Order>) {
        self.external.insert(key, order.id);
        self.not_adopted.remove(&key);
        self.insert(order.clone());
    }

    /// Returns whether that is new.
    pub(crate) fn mark_not_adopted(&mut self, key: u128) -> bool {
        self.not_adopted.insert(key)
    }

    /// A request uses its ClOrdID: that of a replace names the order from now on, that of a cancel never does.
    pub(crate) fn record_request(&mut self, at: Timestamp, ask: RequestKind, cl_ord_id: Option<&Text>, order: OrderId) {
        let Some(cl_ord_id) = cl_ord_id else { return };
        self.cl_ord_ids.record_request(cl_ord_id, order, at);
        match ask {
            RequestKind::Replace => self.cl_ord_ids.assign(cl_ord_id, order),
            RequestKind::Cancel => self.cl_ord_ids.mark_used(cl_ord_id, order),
        }
    }

    /// A request was refused: the ClOrdID of a replace stays used, but no longer names the order.
    pub(crate) fn record_rejection(&mut self, step: ExecType, request: &OrderRequest, order: OrderId, reason: &Text) {
        let Some(cl_ord_id) = &request.cl_ord_id else { return };
        self.cl_ord_ids.record_rejection(cl_ord_id, order, reason);
        if step == ExecType::ReplaceRejected {
            self.cl_ord_ids.revoke(cl_ord_id, order);
        }
    }

    /// When an id was used for an order, by a request or by the order itself.
    pub(crate) fn used_at(&self, name: &str, order: &Order) -> Timestamp {
        self.cl_ord_ids.request(name, order.id).map_or(order.at, |asked| asked.at)
    }

    /// Why the request with that id was refused.
    pub(crate) fn reject_reason(&self, name: &str, order: OrderId) -> Option<&Text> {
        self.cl_ord_ids.request(name, order).and_then(|asked| asked.reject_reason.as_ref())
    }

    pub(crate) fn get(&self, id: OrderId) -> Option<&Arc<Order>> {
        self.orders.get(id)
    }

    pub(crate) fn by_int_id(&self, id: &IntId) -> Option<&Arc<Order>> {
        self.by_id(id.as_str())
    }

    /// By intId, else by any ClOrdID that was used for it.
    pub(crate) fn by_any_id(&self, name: &str) -> Vec<Arc<Order>> {
        match self.by_id(name) {
            Some(order) => vec![order.clone()],
            None => self.orders_by_ids(self.cl_ord_ids.orders_using(name)).cloned().collect(),
        }
    }

    /// All orders with this id, as intId or as a ClOrdID that is accepted or pending.
    pub(crate) fn by_cl_ord_id(&self, name: &str) -> impl Iterator<Item = &Arc<Order>> {
        self.by_id(name).into_iter().chain(self.orders_by_ids(self.cl_ord_ids.orders_with(name)))
    }

    /// All orders that an id was used for, by the order itself or by a request on it.
    pub(crate) fn by_used_id(&self, name: &str) -> impl Iterator<Item = &Arc<Order>> {
        self.by_id(name).into_iter().chain(self.orders_by_ids(self.cl_ord_ids.orders_using(name)))
    }

    /// Two ids can share a fingerprint; then the later one was refused as used, and only the first is meant here.
    pub(crate) fn by_id(&self, id: &str) -> Option<&Arc<Order>> {
        let order = self.by_int_id.get(&id_key(id)).and_then(|id| self.orders.get(*id));
        order.filter(|order| order.int_id.as_str() == id)
    }

    fn orders_by_ids(&self, ids: impl Iterator<Item = OrderId>) -> impl Iterator<Item = &Arc<Order>> {
        ids.filter_map(|id| self.orders.get(id))
    }

    /// Changes an order in place; readers that hold the old one keep it.
    pub(crate) fn change(&mut self, id: OrderId, edit: impl FnOnce(&mut Order)) -> Arc<Order> {
        let slot = self.orders.get_mut(id).expect("only orders that were found are changed");
        let before = IndexEntry::from_order(slot);
        edit(Arc::make_mut(slot));
        let order = slot.clone();
        self.update_indexes(&order, before);
        order
    }

    /// All that are kept in full, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Order>> {
        self.orders.iter()
    }

    pub(crate) fn open(&self) -> impl Iterator<Item = &Arc<Order>> {
        self.open.iter().filter_map(|id| self.orders.get(*id))
    }

    /// The orders of an account in a security that could trade with an incoming one from the other side, best priced
    /// first. Market orders rest only during an auction call.
    pub(crate) fn resting(
        &self,
        account: AccountId,
        security: SecurityId,
        side: Side,
        in_call: bool,
    ) -> impl Iterator<Item = &Arc<Order>> {
        let working = self.resting.get(account, security, side).into_iter();
        self.orders_by_ids(working.flat_map(move |working| working.best_priced_first(in_call)))
    }

    /// All working orders of an account in a security.
    pub(crate) fn working(
        &self,
        account: AccountId,
        security: SecurityId,
        side: Side,
    ) -> impl Iterator<Item = &Arc<Order>> {
        let working = self.resting.get(account, security, side).into_iter();
        self.orders_by_ids(working.flat_map(WorkingOrders::all))
    }

    pub(crate) fn has_reduce_only(&self) -> bool {
        !self.reduce_only.is_empty()
    }

    pub(crate) fn reduce_only_sides(&self) -> Vec<PositionSide> {
        self.reduce_only.keys().copied().collect()
    }

    /// Working orders that may only reduce this position.
    pub(crate) fn reduce_only(&self, side: PositionSide) -> impl Iterator<Item = &Arc<Order>> {
        self.orders_by_ids(self.reduce_only.get(&side).into_iter().flatten().copied())
    }

    pub(crate) fn has_open(&self, security: SecurityId) -> bool {
        self.open_counts.get(&security).is_some_and(|count| *count > 0)
    }

    pub(crate) fn is_used(&self, security: SecurityId) -> bool {
        self.orders.iter().any(|order| order.security == security)
    }

    /// The account of an order that is no longer kept.
    pub(crate) fn retired_account(&self, id: OrderId) -> Option<AccountId> {
        self.retired.accounts.get(&id).copied()
    }

    /// Whether an order was kept once.
    pub(crate) fn is_retired(&self, id: OrderId) -> bool {
        self.retired.is_known(id)
    }

    /// Whether only the index on disk knows more of an order than its number.
    pub(crate) fn is_forgotten(&self, id: OrderId) -> bool {
        self.retired.is_forgotten(id)
    }

    /// Whether a session used this ClOrdID for something that is no longer kept.
    pub(crate) fn is_retired_name(&self, source: &Source, name: &str) -> bool {
        source.session().is_some_and(|session| self.retired.names.contains(&name_key(session, name)))
    }

    pub(crate) fn retire_name(&mut self, session: &str, name: &str) {
        self.retired.names.insert(name_key(session, name));
    }

    /// Drops orders that ended before `kept_since` and keeps only the fact that their ids are used.
    pub(crate) fn retire(&mut self, sequence: u64, kept_since: Timestamp, notes_taken_back: bool) {
        self.retired.mark_added(sequence);
        let retired = self.orders.remove_where(|order| !order.is_open() && order.changed_at < kept_since);
        for order in &retired {
            let key = id_key(order.int_id.as_str());
            self.by_int_id.remove(&key);
            self.retired.insert(key, order);
        }
        let ids: BTreeSet<OrderId> = retired.iter().map(|order| order.id).collect();
        let of_session = |order: &'_ Arc<Order>| Some((order.id, order.source.session()?.clone()));
        let sessions: BTreeMap<OrderId, Text> = retired.iter().filter_map(of_session).collect();
        for (name, order) in self.cl_ord_ids.retire(&ids) {
            sessions.get(&order).iter().for_each(|session| self.retire_name(session, &name));
        }
        self.executions.retire(&ids, notes_taken_back);
    }

    /// From here on an index takes the keys of retired orders.
    pub(crate) fn begin_index(&mut self) {
        self.retired.begin();
    }

    pub(crate) fn has_index(&self) -> bool {
        self.retired.indexed.is_some()
    }

    /// What the index has to take; absent where that is nothing.
    pub(crate) fn keys_to_store(&self) -> Option<RetiredKeys> {
        let through = self.retired.to_store()?;
        let others = self.retired.other_keys().chain(self.executions.retired_keys()).collect();
        Some(RetiredKeys { through, ids: self.retired.ids.iter().copied().collect(), others })
    }

    pub(crate) fn stores_through(&self) -> Option<u64> {
        self.retired.to_store()
    }

    pub(crate) fn forgotten_through(&self) -> u64 {
        self.retired.forgotten_through()
    }

    /// The index has all keys up to a sequence. Returns the numbers that no generated id may have.
    pub(crate) fn forget(&mut self, through: u64) -> Option<BTreeMap<Text, u64>> {
        let numbers = self.retired.forget(through)?;
        self.executions.forget();
        Some(numbers)
    }

    pub(crate) fn recall(&mut self, keys: &RecalledKeys) {
        self.retired.recall(keys);
        self.executions.recall(&keys.executions.0);
    }

    /// The key of an id that is not known here.
    pub(crate) fn unknown_id_key(&self, id: &str) -> Option<u128> {
        let key = id_key(id);
        (!self.by_int_id.contains(&key) && !self.retired.contains_id(key)).then_some(key)
    }

    /// The key of a ClOrdID, where the source is a session.
    pub(crate) fn session_name_key(&self, source: &Source, name: &str) -> Option<u128> {
        source.session().map(|session| name_key(session, name))
    }

    fn index(&mut self, order: &Order) {
        self.by_int_id.insert(id_key(order.int_id.as_str()), order.id);
        self.update_indexes(order, IndexEntry::NONE);
    }

    fn index_reduce_only(&mut self, order: &Order, is_working: bool) {
        let side = PositionSide::of_order(order);
        let orders = self.reduce_only.entry(side).or_default();
        if is_working {
            orders.insert(order.id);
        } else {
            orders.remove(&order.id);
        }
        if orders.is_empty() {
            self.reduce_only.remove(&side);
        }
    }

    fn update_indexes(&mut self, order: &Order, before: IndexEntry) {
        let after = IndexEntry::from_order(order);
        self.resting.update(order, before.class, after.class);
        if order.properties.reduce_only && before.class.is_some() != after.class.is_some() {
            self.index_reduce_only(order, after.class.is_some());
        }
        if before.is_open == after.is_open {
            return;
        }
        let count = self.open_counts.or_default(order.security);
        if after.is_open {
            self.open.insert(order.id);
            *count += 1;
        } else {
            self.open.remove(&order.id);
            *count -= 1;
        }
    }
}

fn id_key(id: &str) -> u128 {
    fingerprint(&[id.as_bytes()])
}

fn name_key(session: &str, name: &str) -> u128 {
    fingerprint(&[session.as_bytes(), name.as_bytes()])
}

impl<C> Encode<C> for OrderRegistry {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.array(if self.retired.indexed.is_some() { 12 } else { 11 })?;
        crate::codec::encode_shared(self.orders.iter(), e, ctx)?;
        self.cl_ord_ids.active.encode(e, ctx)?;
        self.executions.encode(e, ctx)?;
        crate::codec::encode_keys(&self.retired.ids, e)?;
        self.retired.accounts.encode(e, ctx)?;
        self.repeated_executions.encode(e, ctx)?;
        self.cl_ord_ids.used.encode(e, ctx)?;
        crate::codec::encode_keys(&self.retired.names, e)?;
        self.cl_ord_ids.requests.encode(e, ctx)?;
        let external: Vec<_> = self.external.iter().map(|(key, order)| (*key, *order)).collect();
        crate::codec::encode_keyed(external.iter(), e, ctx)?;
        crate::codec::encode_keys(&self.not_adopted, e)?;
        self.retired.indexed.iter().try_for_each(|indexed| indexed.encode(e, ctx))
    }
}

impl<'b, C> Decode<'b, C> for OrderRegistry {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        let parts = d.array()?;
        let mut registry = Self {
            orders: crate::codec::decode_shared(d, ctx)?,
            cl_ord_ids: ClOrdIdIndex { active: SharedMap::decode(d, ctx)?, ..ClOrdIdIndex::default() },
            executions: ExecutionStore::decode(d, ctx)?,
            retired: RetiredOrderKeys {
                ids: crate::codec::decode_keys(d)?,
                accounts: SharedMap::decode(d, ctx)?,
                ..RetiredOrderKeys::default()
            },
            repeated_executions: u64::decode(d, ctx)?,
            ..Self::default()
        };
        // Older snapshots end here, or before the next two, or before the last two.
        if parts.is_none_or(|parts| parts > 6) {
            registry.cl_ord_ids.used = SharedMap::decode(d, ctx)?;
        }
        if parts.is_none_or(|parts| parts > 7) {
            registry.retired.names = crate::codec::decode_keys(d)?;
            registry.cl_ord_ids.requests = SharedMap::decode(d, ctx)?;
        }
        if parts.is_none_or(|parts| parts > 9) {
            registry.external = crate::codec::decode_keyed(d, ctx)?;
            registry.not_adopted = crate::codec::decode_keys(d)?;
        }
        // Without an index, and in older snapshots, it is absent.
        if parts.is_some_and(|parts| parts > 11) {
            registry.retired.indexed = Some(IndexedOrders::decode(d, ctx)?);
        }
        let orders: Vec<_> = registry.orders.iter().cloned().collect();
        orders.iter().for_each(|order| registry.index(order));
        Ok(registry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_with_an_index_is_read_as_it_was_written() {
        let mut registry = OrderRegistry::default();
        registry.begin_index();
        registry.retired.mark_added(7);
        let written = minicbor::to_vec(&registry).unwrap();
        assert_eq!(written[0], 0x8c, "twelve parts");
        let read: OrderRegistry = minicbor::decode(&written).unwrap();
        assert_eq!((read.has_index(), read.stores_through()), (true, Some(7)));
        assert_eq!(minicbor::to_vec(&read).unwrap(), written);
    }

    #[test]
    fn snapshots_of_older_builds_can_be_read() {
        let mut registry = OrderRegistry::default();
        registry.cl_ord_ids.assign(&"X".into(), OrderId(1));
        let now = minicbor::to_vec(&registry).unwrap();
        // An array of eleven parts, the last five of them empty: older ones had nine, seven or six.
        assert_eq!((now[0], &now[now.len() - 5..]), (0x8b, &[0xa0, 0x80, 0xa0, 0xa0, 0x80][..]));
        for (head, missing) in [(0x89, 2), (0x87, 4), (0x86, 5)] {
            let mut before = now[..now.len() - missing].to_vec();
            before[0] = head;
            let read: OrderRegistry = minicbor::decode(&before).unwrap();
            assert_eq!(minicbor::to_vec(&read).unwrap(), now);
        }
    }
}
