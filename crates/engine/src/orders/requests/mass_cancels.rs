//! Mass cancels of a session, carried out once however often they are sent.

use std::sync::Arc;

use domain::command::MassCancelRequest;
use domain::event::MassCancelReport;
use domain::order::Order;
use domain::query::{Answer, EngineResult};
use domain::{Caller, Event, MessageOrigin, Timestamp};

use crate::orders::requests::mass_cancel_results::MassCancelResult;
use crate::orders::transitions::{RequestKind, may_request};
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

impl Trading {
    /// Cancels the open orders of a session, all or those of one security. Orders whose venue is not connected or takes no cancels stay.
    pub(crate) fn mass_cancel(
        &mut self,
        moment: Moment,
        caller: &Caller,
        ask: &MassCancelRequest,
        out: &mut Outbox,
    ) -> EngineResult {
        if let Some(obeyed) = self.previous_result(caller, ask) {
            publish_result(caller, obeyed, out);
            return Ok(Answer::Done);
        }
        ask.cl_ord_id.as_ref().map_or(Ok(()), |name| self.check_cl_ord_id_unused(moment, caller, name))?;
        let (orders, out_of_reach) = self.own_orders(caller, ask);
        if let Some(order) = out_of_reach.first().filter(|_| orders.is_empty()) {
            self.check_cancel(order)?;
        }
        let (affected, out_of_reach) = (orders.len() as u64, out_of_reach.len() as u64);
        let obeyed = MassCancelResult { at: moment.at, affected, not_cancellable: out_of_reach };
        ask.cl_ord_id.iter().for_each(|name| self.mass_cancels.insert(&caller.source, name, obeyed));
        publish_result(caller, obeyed, out);
        for order in &orders {
            self.request_cancel(moment, caller, order, None, out);
        }
        Ok(Answer::Done)
    }

    /// A repeated PossResend request gets the same answer. Orders entered since then are not cancelled.
    fn previous_result(&self, caller: &Caller, ask: &MassCancelRequest) -> Option<MassCancelResult> {
        let may_be_known = caller.origin.as_ref().is_some_and(|origin| origin.poss_resend);
        let name = ask.cl_ord_id.as_ref().filter(|_| may_be_known)?;
        self.mass_cancels.get(&caller.source, name)
    }

    /// Orders that can be cancelled, and orders whose venue is not connected or takes no cancels.
    fn own_orders(&self, caller: &Caller, ask: &MassCancelRequest) -> (Vec<Arc<Order>>, Vec<Arc<Order>>) {
        let is_meant = |order: &&Arc<Order>| {
            order.source == caller.source && ask.security.is_none_or(|security| security == order.security)
        };
        let can_be = |order: &&Arc<Order>| order.state.is_working() && may_request(&order.pending, RequestKind::Cancel);
        let orders = self.orders.open().filter(is_meant).filter(can_be).cloned();
        orders.partition(|order| self.check_cancel(order).is_ok())
    }

    /// Drops old ones and keeps only the fact that their ids were used.
    pub(crate) fn retire_mass_cancels(&mut self, kept_since: Timestamp) {
        for (session, name) in self.mass_cancels.remove_older_than(kept_since) {
            self.orders.retire_name(&session, &name);
        }
    }
}

fn publish_result(caller: &Caller, obeyed: MassCancelResult, out: &mut Outbox) {
    if let Some(origin) = &caller.origin {
        let MassCancelResult { affected, not_cancellable: out_of_reach, .. } = obeyed;
        let (origin, source) = (MessageOrigin::clone(origin), caller.source.clone());
        out.publish(Event::MassCancel(Arc::new(MassCancelReport {
            origin,
            source,
            affected,
            not_cancellable: out_of_reach,
        })));
    }
}
