//! Order status requests (H, AF), with `ExtendedMessages=Y`. Answers belong to the connection of the request; after a
//! disconnect the client has to request again.

use std::iter;
use std::sync::Arc;

use bus::{InFlightPermit, InboxError};
use domain::query::Filter;
use domain::{Answer, Order, Query, Source, Text, Timestamp};
use fix::{OutgoingMessage, tag};
use fix_net::SessionHandle;

use super::command_submission::engine_unavailable;
use crate::session::GatewayContext;
use crate::translate::{
    MessageReject, RequestEcho, RequestMeaning, RequestScope, StatusClass, application_not_available, field,
    order_status_report, status_request_rejected, unknown_order,
};

/// A status request, and where its answer goes.
pub(crate) struct StatusRequest {
    pub(crate) context: Arc<GatewayContext>,
    pub(crate) handle: SessionHandle,
    pub(crate) comp_id: Text,
    /// Differs for each message, so that no two answers have the same id.
    pub(crate) exec_id_seed: String,
    pub(crate) echo: RequestEcho,
    /// MsgSeqNum (34) of the message.
    pub(crate) msg_seq_num: u64,
    /// Or why it cannot be answered.
    pub(crate) scope: Result<RequestScope, MessageReject>,
}

/// Orders of the session, and the sequence of that state.
struct QueriedOrders {
    sequence: u64,
    orders: Vec<Arc<Order>>,
}

impl StatusRequest {
    /// Any number of reports: each is made when the session has room for it.
    pub(crate) async fn handle(self) {
        let sent = match self.echo.becomes() {
            Some(RequestMeaning::Status(StatusClass::OneOrder)) => {
                self.handle.send_all(iter::once(self.status().await)).await
            }
            _ => match self.open_orders().await {
                Ok(seen) => self.handle.send_all(self.mass_status(seen)).await,
                // Without a result nothing is reported about the orders.
                Err(reject) => self.handle.send_all(iter::once(reject)).await,
            },
        };
        if sent.is_err() {
            tracing::warn!(session = %self.comp_id, "status request not answered: the session has ended");
        }
    }

    async fn status(&self) -> OutgoingMessage {
        let name = self.echo.get(field::CL_ORD_ID).or(self.echo.get(field::ORDER_ID)).unwrap_or_default();
        let seen = self.query(Query::ClientOrder(Source::Fix(self.comp_id.clone()), name.into())).await;
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

    async fn open_orders(&self) -> Result<QueriedOrders, OutgoingMessage> {
        let scope =
            self.scope.as_ref().map_err(|reject| status_request_rejected(&self.echo, self.msg_seq_num, reject))?;
        let seen = self.query(Query::OpenOrders(Filter::default())).await;
        let mut seen = seen.map_err(|reject| self.not_available(&reject))?;
        seen.orders.retain(|order| scope.covers(order));
        Ok(seen)
    }

    /// The session's own orders within the scope.
    async fn query(&self, query: Query) -> Result<QueriedOrders, MessageReject> {
        let ticket = self.context.bus.inbox.query_when_free(query, InFlightPermit::default()).await;
        let ticket = ticket.map_err(|closed| engine_unavailable(&closed))?;
        let reply = ticket.recv().await.map_err(|_| engine_unavailable(&InboxError::Stopped))?;
        let orders = match reply.outcome {
            Ok(Answer::Orders(orders)) => orders,
            Ok(_) | Err(_) => vec![],
        };
        let own = |order: &Arc<Order>| order.source == Source::Fix(self.comp_id.clone());
        Ok(QueriedOrders { sequence: reply.sequence, orders: orders.into_iter().filter(own).collect() })
    }

    fn not_available(&self, reject: &MessageReject) -> OutgoingMessage {
        application_not_available(&self.echo, self.msg_seq_num, reject)
    }

    fn order_status(&self, sequence: u64, order: &Order) -> OutgoingMessage {
        let exec_id = self.context.exec_ids.for_state(&self.exec_id_seed, sequence, order.id.0);
        order_status_report(order, self.now(), &self.context.bus.catalogue.current(), &exec_id)
    }

    fn unknown_order(&self, sequence: u64) -> OutgoingMessage {
        let exec_id = self.context.exec_ids.for_state(&self.exec_id_seed, sequence, 0);
        unknown_order(&self.echo, self.now(), &exec_id)
    }

    fn with_request_id(&self, mut answer: OutgoingMessage, id: tag::Tag) -> OutgoingMessage {
        if let Some(value) = self.echo.get(id) {
            answer.field(id, value);
        }
        answer
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.context.clock.now().nanos())
    }
}
