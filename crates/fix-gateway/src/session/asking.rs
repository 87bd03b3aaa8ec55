//! Questions about orders (H, AF) and mass cancels (q): the session setting `ExtendedMessages=Y` offers them.

use std::sync::Arc;

use domain::command::CancelOrder;
use domain::query::Filter;
use domain::{Answer, Caller, Command, Envelope, Order, Query, Refusal, Source, Text, Timestamp};
use fix::{Outgoing, tag};
use fix_net::SessionHandle;

use crate::house::House;
use crate::words::{Complaint, Memo, field, mass_cancel_report, standing, unknown_order};

/// A question that came in a message, and where its answer goes.
pub(crate) struct Question {
    pub(crate) house: Arc<House>,
    pub(crate) handle: SessionHandle,
    pub(crate) comp_id: Text,
    /// Differs for each message, so that no two answers have the same id.
    pub(crate) occasion: String,
    pub(crate) memo: Memo,
}

/// All orders of the session, or those of one security.
enum Scope {
    All,
    Security(u64),
}

impl Question {
    pub(crate) async fn answer(self) {
        let answers = match self.memo.get(tag::MSG_TYPE) {
            Some("H") => self.status().await,
            Some("AF") => self.mass_status().await,
            _ => self.mass_cancel().await,
        };
        for answer in answers {
            if self.handle.send(answer).is_err() {
                tracing::warn!(session = %self.comp_id, "an answer found no place in the session's queue");
            }
        }
    }

    async fn status(&self) -> Vec<Outgoing> {
        let name = self.memo.get(field::CL_ORD_ID).or(self.memo.get(field::ORDER_ID)).unwrap_or_default();
        let (sequence, orders) = self.query(Query::Order(name.into())).await;
        let answer = match orders.iter().max_by_key(|order| order.id) {
            Some(order) => self.picture(sequence, order),
            None => self.nothing(sequence),
        };
        vec![self.echo(answer, field::ORD_STATUS_REQ_ID)]
    }

    async fn mass_status(&self) -> Vec<Outgoing> {
        let (sequence, orders) = self.open_orders(field::MASS_STATUS_REQ_TYPE).await;
        let (total, last) = (orders.len() as u64, orders.len().saturating_sub(1));
        if orders.is_empty() {
            let mut answer = self.nothing(sequence);
            answer.number(field::TOT_NUM_REPORTS, 0).field(field::LAST_RPT_REQUESTED, "Y");
            return vec![self.echo(answer, field::MASS_STATUS_REQ_ID)];
        }
        let number = |(at, order): (usize, &Arc<Order>)| {
            let mut answer = self.picture(sequence, order);
            answer.number(field::TOT_NUM_REPORTS, total);
            answer.field(field::LAST_RPT_REQUESTED, if at == last { "Y" } else { "N" });
            self.echo(answer, field::MASS_STATUS_REQ_ID)
        };
        orders.iter().enumerate().map(number).collect()
    }

    /// The report of the mass cancel comes first; what becomes of each order is told as for any change.
    async fn mass_cancel(&self) -> Vec<Outgoing> {
        let wanted = self.memo.get(field::MASS_CANCEL_REQUEST_TYPE).unwrap_or_default();
        if self.scope(field::MASS_CANCEL_REQUEST_TYPE).is_none() {
            let text = "not-offered: MassCancelRequestType (530) is 1 (by security, with 48) or 7 (all)";
            return vec![mass_cancel_report(&self.memo, wanted, Err(text), self.now())];
        }
        let (_, orders) = self.open_orders(field::MASS_CANCEL_REQUEST_TYPE).await;
        let report = mass_cancel_report(&self.memo, wanted, Ok(orders.len() as u64), self.now());
        for order in &orders {
            self.cancel(order);
        }
        vec![report]
    }

    fn cancel(&self, order: &Order) {
        let command = Command::Cancel(CancelOrder { int_id: order.int_id.clone(), cl_ord_id: None });
        let caller = Caller { source: Source::Fix(self.comp_id.clone()), user: None, origin: None };
        if self.house.bus.inbox.command(Envelope { caller, command }).is_err() {
            tracing::warn!(order = %order.int_id, "the engine had no time to cancel it");
        }
    }

    async fn open_orders(&self, kind: tag::Tag) -> (u64, Vec<Arc<Order>>) {
        let (sequence, mut orders) = self.query(Query::OpenOrders(Filter::default())).await;
        match self.scope(kind) {
            Some(Scope::All) => {}
            Some(Scope::Security(id)) => orders.retain(|order| order.security.0 == id),
            None => orders.clear(),
        }
        (sequence, orders)
    }

    fn scope(&self, kind: tag::Tag) -> Option<Scope> {
        match self.memo.get(kind)? {
            "7" => Some(Scope::All),
            "1" => self.memo.get(field::SECURITY_ID)?.parse().ok().map(Scope::Security),
            _ => None,
        }
    }

    /// This session's own of what is asked for.
    async fn query(&self, query: Query) -> (u64, Vec<Arc<Order>>) {
        let Ok(ticket) = self.house.bus.inbox.query(query) else { return (0, vec![]) };
        let Ok(reply) = ticket.reply().await else { return (0, vec![]) };
        let orders = match reply.outcome {
            Ok(Answer::Orders(orders)) => orders,
            Ok(_) | Err(_) => vec![],
        };
        let own = |order: &Arc<Order>| order.source == Source::Fix(self.comp_id.clone());
        (reply.sequence, orders.into_iter().filter(own).collect())
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
