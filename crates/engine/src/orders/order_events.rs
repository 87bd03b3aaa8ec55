//! Order events: the order and a status event for each change.

use std::sync::Arc;

use domain::order::{ClientView, ExecType, Order, OrderRequest, OrderStatus};
use domain::{Event, Fill, Text, Timestamp};

use crate::outbox::{Moment, Outbox};

/// A change to publish.
pub(crate) struct OrderChange<'a> {
    pub(crate) exec_type: ExecType,
    pub(crate) fill: Option<&'a Fill>,
    pub(crate) ext_at: Option<Timestamp>,
    /// The request that this answers.
    pub(crate) request: Option<OrderRequest>,
    /// The ClOrdID that was accepted last, where this change replaced it.
    pub(crate) previous_cl_ord_id: Option<Text>,
    /// The venue's id of the execution that is busted or corrected.
    pub(crate) exec_ref_id: Option<Text>,
    /// The reason, where it differs from the order's own.
    pub(crate) reason: Option<Text>,
}

impl OrderChange<'_> {
    pub(crate) fn plain(exec_type: ExecType) -> Self {
        Self {
            exec_type,
            fill: None,
            ext_at: None,
            request: None,
            previous_cl_ord_id: None,
            exec_ref_id: None,
            reason: None,
        }
    }

    pub(crate) fn from_venue(step: ExecType, ext_at: Option<Timestamp>) -> Self {
        Self { ext_at, ..Self::plain(step) }
    }

    pub(crate) fn for_request(self, request: Option<OrderRequest>) -> Self {
        Self { request, ..self }
    }

    pub(crate) fn with_previous_cl_ord_id(self, accepted_before: Option<Text>) -> Self {
        Self { previous_cl_ord_id: accepted_before, ..self }
    }

    pub(crate) fn with_reason(self, reason: Text) -> Self {
        Self { reason: Some(reason), ..self }
    }
}

pub(crate) fn publish_order(moment: Moment, order: &Arc<Order>, change: OrderChange<'_>, out: &mut Outbox) {
    out.publish(Event::Order(order.clone()));
    out.publish(Event::OrderStatus(Arc::new(status(moment, order, change))));
}

fn status(moment: Moment, order: &Order, change: OrderChange<'_>) -> OrderStatus {
    OrderStatus {
        order: order.id,
        int_id: order.int_id.clone(),
        ext_id: order.ext_id.clone(),
        strategy: order.strategy,
        at: moment.at,
        ext_at: change.ext_at,
        sequence: moment.sequence,
        status: order.status(),
        exec_type: change.exec_type,
        filled: order.filled,
        remaining: order.remaining(),
        last_quantity: change.fill.map(|fill| fill.quantity),
        last_price: change.fill.map(|fill| fill.price),
        avg_price: order.avg_price(),
        reason: change.reason.as_ref().or(order.reason.as_ref()).cloned(),
        request: change.request.as_ref().and_then(|request| request.cl_ord_id.clone()),
        client: Some(Box::new(client_view(order, &change))),
    }
}

/// A session may need to send it later: that of the order, or a drop copy.
fn client_view(order: &Order, change: &OrderChange<'_>) -> ClientView {
    let session = order.source.session();
    ClientView {
        comp_id: session.cloned(),
        cl_ord_id: change.previous_cl_ord_id.as_ref().or(order.cl_ord_id.as_ref()).cloned(),
        side: order.side,
        security: order.security,
        account: order.account,
        terms: order.terms,
        requested_by: change.request.as_ref().map(|request| request.source.clone()),
        on_behalf_of: change.request.as_ref().and_then(|request| request.requested_by.clone()),
        exec_id: change.fill.map(|fill| fill.ext_id.clone()),
        exec_ref_id: change.exec_ref_id.clone(),
        properties: order.properties,
        liquidity: change.fill.and_then(|fill| fill.liquidity),
        interface: session.is_none().then(|| order.source.clone()),
    }
}
