//! Questions about orders (H, AF): the session setting `ExtendedMessages=Y` offers them. An answer belongs to the connection
//! on which it was asked for; whoever loses that asks again.

use std::sync::Arc;

use bus::Closed;
use domain::query::Filter;
use domain::{Answer, Order, Query, Refusal, Source, Text, Timestamp};
use fix::{Outgoing, tag};
use fix_net::SessionHandle;

use super::desk::unavailable;
use crate::house::House;
use crate::patience::patiently;
use crate::words::{Complaint, Memo, Scope, field, not_answered, not_available, standing, unknown_order};

/// A question that came in a message, and where its answer goes.
pub(crate) struct Question {
    pub(crate) house: Arc<House>,
    pub(crate) handle: SessionHandle,
    pub(crate) comp_id: Text,
    /// Differs for each message, so that no two answers have the same id.
    pub(crate) occasion: String,
    pub(crate) memo: Memo,
    /// MsgSeqNum (34) of the message.
    pub(crate) number: u64,
    /// Or why it can't be answered.
    pub(crate) scope: Result<Scope, Complaint>,
}

/// Orders of the session, and as of which input.
struct Seen {
    sequence: u64,
    orders: Vec<Arc<Order>>,
}

impl Question {
    pub(crate) async fn answer(self) {
        let answers = match self.memo.get(tag::MSG_TYPE) {
            Some("H") => self.status().await,
            _ => self.mass_status().await,
        };
        // Nothing is said about orders that nobody could look at.
        let answers = answers.unwrap_or_else(|reject| vec![reject]);
        for answer in answers {
            if self.handle.send(answer).is_err() {
                tracing::warn!(session = %self.comp_id, "an answer found no place in the session's queue");
            }
        }
    }

    async fn status(&self) -> Result<Vec<Outgoing>, Outgoing> {
        let name = self.memo.get(field::CL_ORD_ID).or(self.memo.get(field::ORDER_ID)).unwrap_or_default();
        let seen = self.query(Query::Order(name.into())).await.map_err(|complaint| self.not_available(&complaint))?;
        let answer = match seen.orders.iter().max_by_key(|order| order.id) {
            Some(order) => self.picture(seen.sequence, order),
            None => self.nothing(seen.sequence),
        };
        Ok(vec![self.echo(answer, field::ORD_STATUS_REQ_ID)])
    }

    async fn mass_status(&self) -> Result<Vec<Outgoing>, Outgoing> {
        let scope = self.scope.as_ref().map_err(|complaint| not_answered(&self.memo, self.number, complaint))?;
        let seen = self.open_orders(*scope).await.map_err(|complaint| self.not_available(&complaint))?;
        let Seen { sequence, orders } = seen;
        let (total, last) = (orders.len() as u64, orders.len().saturating_sub(1));
        if orders.is_empty() {
            let mut answer = self.nothing(sequence);
            answer.number(field::TOT_NUM_REPORTS, 0).field(field::LAST_RPT_REQUESTED, "Y");
            return Ok(vec![self.echo(answer, field::MASS_STATUS_REQ_ID)]);
        }
        let number = |(at, order): (usize, &Arc<Order>)| {
            let mut answer = self.picture(sequence, order);
            answer.number(field::TOT_NUM_REPORTS, total);
            answer.field(field::LAST_RPT_REQUESTED, if at == last { "Y" } else { "N" });
            self.echo(answer, field::MASS_STATUS_REQ_ID)
        };
        Ok(orders.iter().enumerate().map(number).collect())
    }

    async fn open_orders(&self, scope: Scope) -> Result<Seen, Complaint> {
        let mut seen = self.query(Query::OpenOrders(Filter::default())).await?;
        seen.orders.retain(|order| scope.covers(order));
        Ok(seen)
    }

    /// This session's own of what is asked for.
    async fn query(&self, query: Query) -> Result<Seen, Complaint> {
        let ticket = patiently(|| self.house.bus.inbox.query(query.clone())).await;
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
        let name = self.memo.get(field::CL_ORD_ID).unwrap_or(field::NONE);
        let refusal = Refusal::UnknownOrder(name.into());
        let complaint = Complaint::other(refusal.code(), &refusal.to_string());
        unknown_order(&self.memo, &complaint.text, self.now(), &exec_id)
    }

    fn echo(&self, mut answer: Outgoing, id: tag::Tag) -> Outgoing {
        if let Some(value) = self.memo.get(id) {
            answer.field(id, value);
        }
        answer
    }

    fn now(&self) -> Timestamp {
        Timestamp(fix_net::now().nanos())
    }
}
