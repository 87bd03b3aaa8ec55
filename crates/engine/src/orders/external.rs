//! Orders at a venue that were not placed here: from the venue's own screen, by a liquidation, by another program. The first
//! report adopts such an order under the strategy EXTERNAL; later ones update it.

use std::sync::Arc;

use domain::command::ReferenceChange;
use domain::lookup_map::fingerprint;
use domain::order::{BaseState, ExecType, Order, PendingRequest};
use domain::report::{ExternalOrder, VenueOrderState};
use domain::{
    AdapterName, Amount, ExchangeId, IntId, OrderId, OrderProperties, Quantity, Refusal, Source, StrategyId,
    StrategyRecord, Text, Timestamp, WireId,
};

use super::order_events::{OrderChange, publish_order};
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

/// Identifies such an order at its venue.
pub(crate) fn external_key(adapter: &AdapterName, seen: &ExternalOrder) -> u128 {
    fingerprint(&[adapter.0.as_bytes(), &seen.account.0.to_le_bytes(), seen.ext_id.as_bytes()])
}

impl Trading {
    pub(crate) fn on_external(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        seen: &ExternalOrder,
        ext_at: Option<Timestamp>,
        out: &mut Outbox,
    ) {
        let known = self.orders.external(external_key(adapter, seen));
        if let Some(order) = known.or_else(|| self.adopt(moment, adapter, seen, ext_at, out)) {
            self.update_external(moment, adapter, order, seen, out);
        }
    }

    /// In the order in which any order is reconciled: terms, fills, how it ended.
    fn update_external(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        order: OrderId,
        seen: &ExternalOrder,
        out: &mut Outbox,
    ) {
        let (seen, fills) = seen.under(order);
        self.apply_venue_order(moment, &seen, out);
        for fill in &fills {
            self.on_fill(moment, adapter, fill, fill.at, out);
        }
        self.apply_final_state(moment, &seen, None, out);
    }

    /// The number that it has here from now on; `None` where it cannot be kept, or where nothing is left to keep.
    fn adopt(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        seen: &ExternalOrder,
        ext_at: Option<Timestamp>,
        out: &mut Outbox,
    ) -> Option<OrderId> {
        let has_ended = seen.state != VenueOrderState::Live;
        if has_ended && seen.fills.is_empty() {
            return None;
        }
        let exchange = match self.check_external(adapter, seen) {
            Ok(exchange) => exchange,
            Err(why) => {
                self.warn_not_adopted(adapter, seen, &why, out);
                return None;
            }
        };
        self.ensure_external_strategy(moment, out);
        let (int_id, id) = (self.mint_int_id(seen.account), OrderId(self.ids.next_order()));
        let order = Arc::new(external_order(moment, adapter, seen, (id, int_id), exchange));
        self.orders.insert_external(external_key(adapter, seen), &order);
        self.reserve_again(&order);
        let text = format!("order {}: {adapter} has it as {}, and nobody placed it here", order.int_id, seen.ext_id);
        out.warn("external-order", text);
        publish_order(moment, &order, OrderChange::from_venue(ExecType::New, ext_at), out);
        Some(id)
    }

    /// The exchange of the order, or why it is none that can be adopted.
    fn check_external(&self, adapter: &AdapterName, seen: &ExternalOrder) -> Result<ExchangeId, String> {
        let unknown = |refusal: Refusal| refusal.to_string();
        let route = self.reference.adapter_of(seen.account).map_err(unknown)?;
        if route != adapter {
            return Err(format!("account {} is at {route}", seen.account));
        }
        let exchange = self.reference.security(seen.security).map_err(unknown)?.exchange;
        match self.own_order(adapter, seen) {
            Some(own) => Err(format!("it is our own order {}", own.int_id)),
            None => Ok(exchange),
        }
    }

    /// Our own order, where the venue's id or the client id is that of one, also where it has ended: a venue may list it under the
    /// id of its cancel. Numbers of a venue may be of one security only, and be given again.
    fn own_order(&self, adapter: &AdapterName, seen: &ExternalOrder) -> Option<&Arc<Order>> {
        let wire_id = seen.client_id.as_ref().and_then(|id| id.parse::<WireId>().ok());
        let ours = wire_id.filter(|id| id.instance == self.settings.instance).and_then(|id| self.orders.get(id.order));
        // Where numbers are of one symbol, those of orders from elsewhere have it before them.
        let number = seen.ext_id.rsplit_once(':').map(|(_, number)| Text::from(number));
        let is_same = |order: &&Arc<Order>| {
            (order.account, order.security, order.side) == (seen.account, seen.security, seen.side)
                && order.adapter == *adapter
                && order.source != Source::External
                && (order.has_leg(&seen.ext_id) || number.as_ref().is_some_and(|number| order.has_leg(number)))
        };
        ours.or_else(|| self.orders.iter().find(is_same))
    }

    /// Once for each order, since a venue lists it again and again.
    fn warn_not_adopted(&mut self, adapter: &AdapterName, seen: &ExternalOrder, why: &str, out: &mut Outbox) {
        if self.orders.mark_not_adopted(external_key(adapter, seen)) {
            let text = format!("{adapter}: order {} that nobody placed here is not adopted: {why}", seen.ext_id);
            out.error("external-not-adopted", text);
        }
    }

    fn ensure_external_strategy(&mut self, moment: Moment, out: &mut Outbox) {
        if self.reference.strategy(StrategyId::EXTERNAL).is_ok() {
            return;
        }
        let strategy =
            StrategyRecord { id: StrategyId::EXTERNAL, name: StrategyRecord::EXTERNAL.into(), auto_activate: false };
        self.apply_reference_changes(moment, &[ReferenceChange::Strategy(strategy)], |_| false, out);
    }
}

fn external_order(
    moment: Moment,
    adapter: &AdapterName,
    seen: &ExternalOrder,
    (id, int_id): (OrderId, IntId),
    exchange: ExchangeId,
) -> Order {
    Order {
        id,
        int_id,
        ext_id: Some(seen.ext_id.clone()),
        cl_ord_id: None,
        at: moment.at,
        side: seen.side,
        terms: seen.terms,
        exchange_order: false,
        exchange,
        security: seen.security,
        account: seen.account,
        strategy: StrategyId::EXTERNAL,
        adapter: adapter.clone(),
        properties: OrderProperties::default(),
        state: BaseState::New,
        pending: PendingRequest::Nothing,
        filled: Quantity::ZERO,
        turnover: Amount::ZERO,
        revision: 0,
        reason: None,
        in_doubt: false,
        reference: seen.client_id.clone(),
        source: Source::External,
        submitted_by: None,
        changed_at: moment.at,
        request: 0,
        legs: None,
        pass_through: None,
    }
}
