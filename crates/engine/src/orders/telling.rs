//! Order events: the order and a status event for each change.

use std::sync::Arc;

use domain::order::{ClientView, Order, OrderStatus, Request, Step};
use domain::{Event, Fill, Source, Text, Timestamp};

use crate::moment::Moment;
use crate::outbox::Outbox;

/// A change to publish.
pub(crate) struct Change<'a> {
    pub(crate) step: Step,
    pub(crate) fill: Option<&'a Fill>,
    pub(crate) ext_at: Option<Timestamp>,
    /// The request that this answers.
    pub(crate) request: Option<Request>,
    /// The ClOrdID that was accepted last, where this change replaced it.
    pub(crate) accepted_before: Option<Text>,
    /// The venue's id of the execution that is busted or corrected.
    pub(crate) undoes: Option<Text>,
    /// The reason, where it differs from the order's own.
    pub(crate) reason: Option<Text>,
}

impl Change<'_> {
    pub(crate) fn plain(step: Step) -> Self {
        Self { step, fill: None, ext_at: None, request: None, accepted_before: None, undoes: None, reason: None }
    }

    pub(crate) fn at_venue(step: Step, ext_at: Option<Timestamp>) -> Self {
        Self { ext_at, ..Self::plain(step) }
    }

    pub(crate) fn answering(self, request: Option<Request>) -> Self {
        Self { request, ..self }
    }

    pub(crate) fn replacing(self, accepted_before: Option<Text>) -> Self {
        Self { accepted_before, ..self }
    }

    pub(crate) fn because(self, reason: Text) -> Self {
        Self { reason: Some(reason), ..self }
    }
}

pub(crate) fn tell(moment: Moment, order: &Arc<Order>, change: Change<'_>, out: &mut Outbox) {
    out.publish(Event::Order(order.clone()));
    out.publish(Event::OrderStatus(Arc::new(status(moment, order, change))));
}

fn status(moment: Moment, order: &Order, change: Change<'_>) -> OrderStatus {
    OrderStatus {
        order: order.id,
        int_id: order.int_id.clone(),
        ext_id: order.ext_id.clone(),
        strategy: order.strategy,
        at: moment.at,
        ext_at: change.ext_at,
        sequence: moment.sequence,
        status: order.status(),
        step: change.step,
        filled: order.filled,
        remaining: order.remaining(),
        last_quantity: change.fill.map(|fill| fill.quantity),
        last_price: change.fill.map(|fill| fill.price),
        avg_price: order.avg_price(),
        reason: change.reason.as_ref().or(order.reason.as_ref()).cloned(),
        request: change.request.as_ref().and_then(|request| request.cl_ord_id.clone()),
        client: client_view(order, &change).map(Box::new),
    }
}

/// Only a FIX session may need to send it later; other orders are spared the size.
fn client_view(order: &Order, change: &Change<'_>) -> Option<ClientView> {
    let Source::Fix(comp_id) = &order.source else { return None };
    Some(ClientView {
        comp_id: comp_id.clone(),
        cl_ord_id: change.accepted_before.as_ref().or(order.cl_ord_id.as_ref()).cloned(),
        side: order.side,
        security: order.security,
        account: order.account,
        terms: order.terms,
        asked_by: change.request.as_ref().map(|request| request.source.clone()),
        in_the_name_of: change.request.as_ref().and_then(|request| request.by.clone()),
        execution: change.fill.map(|fill| fill.ext_id.clone()),
        undoes: change.undoes.clone(),
    })
}
