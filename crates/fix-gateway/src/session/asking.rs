//! Order status requests (H, AF), with `ExtendedMessages=Y`. Answers belong to the connection of the request; after a
//! disconnect the client has to request again.

use std::iter;
use std::sync::Arc;

use bus::{Allowance, Closed};
use domain::query::Filter;
use domain::{Answer, Order, Query, Source, Text, Timestamp};
use fix::{Outgoing, tag};
use fix_net::SessionHandle;

use super::desk::unavailable;
use crate::house::House;
use crate::words::{Complaint, Memo, Scope, field, not_answered, not_available, standing, unknown_order};

/// A status request, and where its answer goes.
pub(crate) struct Question {
    pub(crate) house: Arc<House>,
    pub(crate) handle: SessionHandle,
    pub(crate) comp_id: Text,
    /// Differs for each message, so that no two answers have the same id.
    pub(crate) occasion: String,
    pub(crate) memo: Memo,
    /// MsgSeqNum (34) of the message.
    pub(crate) number: u64,
    /// Or why it cannot be answered.
    pub(crate) scope: Result<Scope, Complaint>,
}

/// Orders of the session, and the sequence of that state.
struct Seen {
    sequence: u64,
    orders: Vec<Arc<Order>>,
}

impl Question {
    /// Any number of reports: each is made when the session has room for it.
    pub(crate) async fn answer(self) {
        let sent = match self.memo.get(tag::MSG_TYPE) {
            Some("H") => self.handle.send_all(iter::once(self.status().await)).await,
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

    async fn status(&self) -> Outgoing {
        let name = self.memo.get(field::CL_ORD_ID).or(self.memo.get(field::ORDER_ID)).unwrap_or_default();
        let seen = self.query(Query::OwnOrder(Source::Fix(self.comp_id.clone()), name.into())).await;
        let answer = match &seen {
            Ok(Seen { sequence, orders }) => match orders.first() {
                Some(order) => self.picture(*sequence, order),
                None => self.nothing(*sequence),
            },
            Err(complaint) => return self.not_available(complaint),
        };
        self.echo(answer, field::ORD_STATUS_REQ_ID)
    }

    /// A report on each order, made on demand; a single one where there is no order.
    fn mass_status(&self, seen: Seen) -> impl Iterator<Item = Outgoing> + Send + use<'_> {
        let Seen { sequence, orders } = seen;
        let total = orders.len();
        let none = orders.is_empty().then(|| self.numbered(self.nothing(sequence), 0, total));
        let pictures = orders.into_iter().enumerate();
        let pictures = pictures.map(move |(at, order)| self.numbered(self.picture(sequence, &order), at + 1, total));
        none.into_iter().chain(pictures)
    }

    fn numbered(&self, mut answer: Outgoing, at: usize, total: usize) -> Outgoing {
        answer.number(field::TOT_NUM_REPORTS, total as u64);
        answer.field(field::LAST_RPT_REQUESTED, if at == total { "Y" } else { "N" });
        self.echo(answer, field::MASS_STATUS_REQ_ID)
    }

    async fn open_orders(&self) -> Result<Seen, Outgoing> {
        let scope = self.scope.as_ref().map_err(|complaint| not_answered(&self.memo, self.number, complaint))?;
        let seen = self.query(Query::OpenOrders(Filter::default())).await;
        let mut seen = seen.map_err(|complaint| self.not_available(&complaint))?;
        seen.orders.retain(|order| scope.covers(order));
        Ok(seen)
    }

    /// The session's own orders within the scope.
    async fn query(&self, query: Query) -> Result<Seen, Complaint> {
        let ticket = self.house.bus.inbox.query_when_free(query, Allowance::default()).await;
        let ticket = ticket.map_err(|closed| unavailable(&closed))?;
        let reply = ticket.reply().await.map_err(|_| unavailable(&Closed::Stopped))?;
        let orders = match reply.outcome {
            Ok(Answer::Orders(orders)) => orders,
            Ok(_) | Err(_) => vec![],
        };
        let own = |order: &Arc<Order>| order.source == Source::Fix(self.comp_id.clone());
        Ok(Seen { sequence: reply.sequence, orders: orders.into_iter().filter(own).collect() })
    }

    fn not_available(&self, complaint: &Complaint) -> Outgoing {
        not_available(&self.memo, self.number, complaint)
    }

    fn picture(&self, sequence: u64, order: &Order) -> Outgoing {
        let exec_id = self.house.ids.of_state(&self.occasion, sequence, order.id.0);
        standing(order, self.now(), &self.house.bus.catalogue.now(), &exec_id)
    }

    fn nothing(&self, sequence: u64) -> Outgoing {
        let exec_id = self.house.ids.of_state(&self.occasion, sequence, 0);
        unknown_order(&self.memo, self.now(), &exec_id)
    }

    fn echo(&self, mut answer: Outgoing, id: tag::Tag) -> Outgoing {
        if let Some(value) = self.memo.get(id) {
            answer.field(id, value);
        }
        answer
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.house.clock.now().nanos())
    }
}
