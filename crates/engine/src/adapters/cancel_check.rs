//! Venues that take no cancels: a cancel is refused before it is accepted, nothing is planned that would need one, and where
//! the platform itself wants an order to end, that it stays is an alarm.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::order::{Order, OrderTerms};
use domain::report::{CancelKind, ListingRefusal};
use domain::{AdapterName, OrderProperties, Refusal};

use crate::adapters::listed_orders::first_names;
use crate::orders::terms_check::may_rest;
use crate::outbox::Outbox;
use crate::trading::Trading;

impl Trading {
    /// Whether the order can be cancelled now. One that waits here is not at the venue, so it ends without it.
    pub(crate) fn check_cancel(&self, order: &Order) -> Result<(), Refusal> {
        if self.waiting_orders.contains(order.id) {
            return Ok(());
        }
        self.check_takes_cancels(&order.adapter)?;
        self.check_adapter(&order.adapter)
    }

    /// Whether the order can be cancelled once its venue is reached.
    pub(crate) fn can_cancel(&self, order: &Order) -> bool {
        self.check_takes_cancels(&order.adapter).is_ok() || self.waiting_orders.contains(order.id)
    }

    pub(crate) fn check_takes_cancels(&self, adapter: &AdapterName) -> Result<(), Refusal> {
        match self.adapters.cancel_kind(adapter) {
            CancelKind::WhileOpen => Ok(()),
            CancelKind::None => Err(Refusal::Listing { adapter: adapter.clone(), refusal: ListingRefusal::NoCancel }),
        }
    }

    /// A reduce-only order that rests is cancelled when others close the position.
    pub(crate) fn check_can_reduce(
        &self,
        adapter: &AdapterName,
        terms: &OrderTerms,
        properties: &OrderProperties,
    ) -> Result<(), Refusal> {
        let needs_cancels = properties.reduce_only && may_rest(terms);
        if needs_cancels && self.check_takes_cancels(adapter).is_err() {
            return Err(Refusal::PropertyNotOffered { property: "reduceOnly", adapter: adapter.clone() });
        }
        Ok(())
    }

    /// Tells which orders are to end and stay.
    pub(crate) fn alarm_uncancelled(&self, kept: &[Arc<Order>], why: &str, out: &mut Outbox) {
        let mut by_adapter: BTreeMap<&AdapterName, Vec<String>> = BTreeMap::new();
        for order in kept {
            by_adapter.entry(&order.adapter).or_default().push(order.int_id.to_string());
        }
        for (adapter, names) in by_adapter {
            let names = first_names(&names);
            let text = format!(
                "{why}, but the venue of {adapter} takes no cancels; these orders stay until it fills or ends them: {names}"
            );
            out.error("venue-no-cancel", text);
        }
    }

    /// The venue was configured anew. Orders whose time is over and that could not be cancelled are due again where it takes cancels now.
    pub(super) fn on_cancel_kind(&mut self, adapter: &AdapterName, before: CancelKind, out: &mut Outbox) {
        let now = self.adapters.cancel_kind(adapter);
        if before == now {
            return;
        }
        let open = self.orders.open().filter(|order| order.adapter == *adapter && order.state.is_working());
        let orders: Vec<Arc<Order>> = open.filter(|order| !self.waiting_orders.contains(order.id)).cloned().collect();
        match now {
            CancelKind::WhileOpen => orders.iter().for_each(|order| self.schedule_expiry(order)),
            CancelKind::None => self.alarm_uncancelled(&orders, "orders are open", out),
        }
    }
}
