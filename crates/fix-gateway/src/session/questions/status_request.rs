//! Status of one order (H), or of all (AF).

use std::iter;
use std::sync::Arc;

use bus::history::{History, HistoryError, OrderSearch, PageRequest, SortOrder, SourceSearch};
use domain::query::Filter;
use domain::{Answer, Order, Query, Text};
use fix::{OutgoingMessage, tag};
use fix_net::SessionQueueFull;

use super::Question;
use crate::limits::{ENDED_ORDERS_MAX, ENDED_ORDERS_SECONDS, HISTORY_PAGE};
use crate::translate::{
    MessageReject, RequestScope, field, order_status_report, status_request_rejected, unknown_order,
};

/// Orders of the session, and the sequence of that state.
struct QueriedOrders {
    sequence: u64,
    orders: Vec<Arc<Order>>,
}

impl Question {
    pub(super) async fn send_order_status(&self) -> Result<(), SessionQueueFull> {
        self.handle.send_all(iter::once(self.status().await)).await
    }

    pub(super) async fn send_mass_status(
        &self,
        scope: Result<&RequestScope, &MessageReject>,
        with_ended: bool,
    ) -> Result<(), SessionQueueFull> {
        match self.orders(scope, with_ended).await {
            Ok(seen) => self.handle.send_all(self.mass_status(seen)).await,
            // Without a result nothing is reported about the orders.
            Err(reject) => self.handle.send_all(iter::once(reject)).await,
        }
    }

    async fn status(&self) -> OutgoingMessage {
        let name = self.echo.get(field::CL_ORD_ID).or(self.echo.get(field::ORDER_ID)).unwrap_or_default();
        let seen = self.own_orders(Query::ClientOrder(self.source(), Text::from(name))).await;
        let answer = match &seen {
            Ok(QueriedOrders { sequence, orders }) => match orders.first() {
                Some(order) => self.order_status(*sequence, order),
                None => self.unknown_order(*sequence),
            },
            Err(reject) => return self.not_available(reject),
        };
        self.with_request_id(answer, field::ORD_STATUS_REQ_ID)
    }

    /// A report on each order, made on demand; a single one where there is no order.
    fn mass_status(&self, seen: QueriedOrders) -> impl Iterator<Item = OutgoingMessage> + Send + use<'_> {
        let QueriedOrders { sequence, orders } = seen;
        let total = orders.len();
        let none = orders.is_empty().then(|| self.with_report_totals(self.unknown_order(sequence), 0, total));
        let pictures = orders.into_iter().enumerate();
        let pictures = pictures
            .map(move |(at, order)| self.with_report_totals(self.order_status(sequence, &order), at + 1, total));
        none.into_iter().chain(pictures)
    }

    fn with_report_totals(&self, mut answer: OutgoingMessage, at: usize, total: usize) -> OutgoingMessage {
        answer.number(field::TOT_NUM_REPORTS, total as u64);
        answer.field(field::LAST_RPT_REQUESTED, if at == total { "Y" } else { "N" });
        self.with_request_id(answer, field::MASS_STATUS_REQ_ID)
    }

    /// Open ones, and where they are wanted those that have ended.
    async fn orders(
        &self,
        scope: Result<&RequestScope, &MessageReject>,
        with_ended: bool,
    ) -> Result<QueriedOrders, OutgoingMessage> {
        let scope = *scope.map_err(|reject| status_request_rejected(&self.echo, self.msg_seq_num, reject))?;
        let seen = self.own_orders(Query::OpenOrders(Filter::default())).await;
        let mut seen = seen.map_err(|reject| self.not_available(&reject))?;
        if with_ended {
            let ended = self.ended_orders(seen.sequence).await;
            seen.orders.extend(ended.map_err(|reject| self.not_available(&reject))?);
        }
        seen.orders.retain(|order| scope.covers(order));
        Ok(seen)
    }

    /// The session's own orders within the scope.
    async fn own_orders(&self, query: Query) -> Result<QueriedOrders, MessageReject> {
        let reply = self.query(query).await?;
        let orders = match reply.outcome {
            Ok(Answer::Orders(orders)) => orders,
            Ok(_) | Err(_) => vec![],
        };
        let source = self.source();
        let own = |order: &Arc<Order>| order.source == source;
        Ok(QueriedOrders { sequence: reply.sequence, orders: orders.into_iter().filter(own).collect() })
    }

    /// Of those that were placed lately.
    async fn ended_orders(&self, sequence: u64) -> Result<Vec<Arc<Order>>, MessageReject> {
        let search = OrderSearch {
            sources: vec![SourceSearch::Exactly(self.source().to_string())],
            from: Some(self.now().plus_seconds(-ENDED_ORDERS_SECONDS)),
            ..OrderSearch::default()
        };
        self.history(move |history| newest_ended(history, sequence, &search)).await
    }

    fn order_status(&self, sequence: u64, order: &Order) -> OutgoingMessage {
        let exec_id = self.context.exec_ids.for_state(&self.id_seed, sequence, order.id.0);
        order_status_report(order, self.now(), &self.context.bus.catalogue.current(), &exec_id)
    }

    fn unknown_order(&self, sequence: u64) -> OutgoingMessage {
        let exec_id = self.context.exec_ids.for_state(&self.id_seed, sequence, 0);
        unknown_order(&self.echo, self.now(), &exec_id)
    }

    fn with_request_id(&self, mut answer: OutgoingMessage, id: tag::Tag) -> OutgoingMessage {
        if let Some(value) = self.echo.get(id) {
            answer.field(id, value);
        }
        answer
    }
}

/// Newest first, up to the limit.
fn newest_ended(history: &dyn History, as_of: u64, search: &OrderSearch) -> Result<Vec<Arc<Order>>, HistoryError> {
    let (mut ended, mut after) = (Vec::new(), SortOrder::Newest.start());
    while ended.len() < ENDED_ORDERS_MAX {
        let page = history.orders(as_of, search, SortOrder::Newest, PageRequest { after, limit: HISTORY_PAGE })?;
        let Some(last) = page.last() else { break };
        after = last.id.0;
        ended.extend(page.into_iter().filter(|order| !order.is_open()));
    }
    ended.truncate(ENDED_ORDERS_MAX);
    Ok(ended)
}
