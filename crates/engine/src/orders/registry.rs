//! Where orders and executions are kept and found. Open orders and those of today are whole; of older ones only a
//! fingerprint of their id remains, so that no id is ever taken twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::index::fingerprint;
use domain::order::Order;
use domain::{AccountId, AdapterName, Index, IntId, OrderId, Price, Quantity, SecurityId, Text, Timestamp};
use minicbor::{Decode, Decoder, Encode, Encoder};

#[derive(Debug, Clone, Default)]
pub(crate) struct Registry {
    orders: BTreeMap<OrderId, Arc<Order>>,
    /// ClOrdIDs of whole chains; several orders may share one.
    chains: BTreeMap<Text, Vec<OrderId>>,
    executions: BTreeMap<u128, Execution>,
    /// Fingerprints of ids and executions whose orders are no longer kept.
    retired_ids: BTreeSet<u128>,
    retired_executions: BTreeSet<u128>,
    /// How many executions came twice.
    pub(crate) repeated_executions: u64,
    // Derived from the orders, not on disk.
    open: BTreeSet<OrderId>,
    open_by_market: BTreeMap<(AccountId, SecurityId), BTreeSet<OrderId>>,
    open_counts: Index<SecurityId, usize>,
    by_int_id: Index<IntId, OrderId>,
}

/// An execution that was booked.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Execution {
    #[n(0)]
    pub(crate) order: OrderId,
    #[n(1)]
    pub(crate) quantity: Quantity,
    #[n(2)]
    pub(crate) price: Price,
    /// Taken back since.
    #[n(3)]
    pub(crate) busted: bool,
}

/// The key of an execution: what a venue repeats is the same execution.
pub(crate) fn execution_key(adapter: &AdapterName, account: AccountId, exec_id: &str) -> u128 {
    fingerprint(&[adapter.0.as_bytes(), &account.0.to_le_bytes(), exec_id.as_bytes()])
}

impl Registry {
    pub(crate) fn is_taken(&self, id: &IntId) -> bool {
        self.by_int_id.contains(id) || self.retired_ids.contains(&id_key(id))
    }

    pub(crate) fn insert(&mut self, order: Arc<Order>) {
        if let Some(cl_ord_id) = &order.cl_ord_id {
            self.chain(cl_ord_id.clone(), order.id);
        }
        self.index(&order);
        self.orders.insert(order.id, order);
    }

    /// Remembers one more name of an order.
    pub(crate) fn chain(&mut self, cl_ord_id: Text, order: OrderId) {
        let chain = self.chains.entry(cl_ord_id).or_default();
        if !chain.contains(&order) {
            chain.push(order);
        }
    }

    pub(crate) fn get(&self, id: OrderId) -> Option<&Arc<Order>> {
        self.orders.get(&id)
    }

    pub(crate) fn by_int_id(&self, id: &IntId) -> Option<&Arc<Order>> {
        self.by_int_id.get(id).and_then(|id| self.orders.get(id))
    }

    /// By intId, else by any ClOrdID of its chain.
    pub(crate) fn named(&self, name: &str) -> Vec<Arc<Order>> {
        let ids = match self.by_int_id.get(name) {
            Some(id) => std::slice::from_ref(id),
            None => self.chains.get(name).map_or(&[][..], Vec::as_slice),
        };
        ids.iter().filter_map(|id| self.orders.get(id)).cloned().collect()
    }

    /// Changes an order in place; those who hold the old one keep it.
    pub(crate) fn change(&mut self, id: OrderId, edit: impl FnOnce(&mut Order)) -> Arc<Order> {
        let slot = self.orders.get_mut(&id).expect("only orders that were found are changed");
        let was_open = slot.is_open();
        edit(Arc::make_mut(slot));
        let order = slot.clone();
        if was_open != order.is_open() {
            self.index(&order);
        }
        order
    }

    pub(crate) fn open(&self) -> impl Iterator<Item = &Arc<Order>> {
        self.open.iter().filter_map(|id| self.orders.get(id))
    }

    /// Open orders of one account in one security.
    pub(crate) fn open_in(&self, account: AccountId, security: SecurityId) -> impl Iterator<Item = &Arc<Order>> {
        let ids = self.open_by_market.get(&(account, security));
        ids.into_iter().flatten().filter_map(|id| self.orders.get(id))
    }

    pub(crate) fn has_open(&self, security: SecurityId) -> bool {
        self.open_counts.get(&security).is_some_and(|count| *count > 0)
    }

    pub(crate) fn is_used(&self, security: SecurityId) -> bool {
        self.orders.values().any(|order| order.security == security)
    }

    pub(crate) fn knows_execution(&self, key: u128) -> bool {
        self.executions.contains_key(&key) || self.retired_executions.contains(&key)
    }

    pub(crate) fn execution(&self, key: u128) -> Option<&Execution> {
        self.executions.get(&key)
    }

    pub(crate) fn execution_mut(&mut self, key: u128) -> Option<&mut Execution> {
        self.executions.get_mut(&key)
    }

    pub(crate) fn remember_execution(&mut self, key: u128, execution: Execution) {
        self.executions.insert(key, execution);
    }

    /// Forgets orders that ended before `day_start`, all but the fact that their ids are taken.
    pub(crate) fn retire(&mut self, day_start: Timestamp) {
        let old = |order: &Order| !order.is_open() && order.changed_at < day_start;
        let ids: BTreeSet<OrderId> = self.orders.values().filter(|order| old(order)).map(|order| order.id).collect();
        for id in &ids {
            self.forget(*id);
        }
        self.chains.retain(|_, chain| {
            chain.retain(|id| !ids.contains(id));
            !chain.is_empty()
        });
        let retired = self.executions.extract_if(.., |_, execution| ids.contains(&execution.order));
        self.retired_executions.extend(retired.map(|(key, _)| key));
    }

    fn forget(&mut self, id: OrderId) {
        if let Some(order) = self.orders.remove(&id) {
            self.by_int_id.remove(&order.int_id);
            self.retired_ids.insert(id_key(&order.int_id));
        }
    }

    fn index(&mut self, order: &Order) {
        let market = self.open_by_market.entry((order.account, order.security)).or_default();
        let count = self.open_counts.get(&order.security).copied().unwrap_or(0);
        if order.is_open() && self.open.insert(order.id) {
            market.insert(order.id);
            self.open_counts.insert(order.security, count + 1);
        } else if !order.is_open() && self.open.remove(&order.id) {
            market.remove(&order.id);
            self.open_counts.insert(order.security, count - 1);
        }
        self.by_int_id.insert(order.int_id.clone(), order.id);
    }
}

fn id_key(id: &IntId) -> u128 {
    fingerprint(&[id.as_str().as_bytes()])
}

impl<C> Encode<C> for Registry {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.array(6)?;
        crate::codec::encode_shared(self.orders.values(), e, ctx)?;
        self.chains.encode(e, ctx)?;
        crate::codec::encode_keyed(&self.executions, e, ctx)?;
        crate::codec::encode_keys(&self.retired_ids, e)?;
        crate::codec::encode_keys(&self.retired_executions, e)?;
        self.repeated_executions.encode(e, ctx)
    }
}

impl<'b, C> Decode<'b, C> for Registry {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        d.array()?;
        let mut registry = Self {
            orders: crate::codec::decode_shared(d, ctx, |order: &Order| order.id)?,
            chains: BTreeMap::decode(d, ctx)?,
            executions: crate::codec::decode_keyed(d, ctx)?,
            retired_ids: crate::codec::decode_keys(d)?,
            retired_executions: crate::codec::decode_keys(d)?,
            repeated_executions: u64::decode(d, ctx)?,
            ..Self::default()
        };
        let orders: Vec<_> = registry.orders.values().cloned().collect();
        orders.iter().for_each(|order| registry.index(order));
        Ok(registry)
    }
}
