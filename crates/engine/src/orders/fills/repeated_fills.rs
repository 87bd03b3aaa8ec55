//! Executions that are told more than once, by a list or again by the stream: they must be the same.

use domain::order::Order;
use domain::report::VenueFill;
use domain::{AdapterName, Amount, Refusal, Text};

use super::execution_id;
use super::executions::{BookedExecution, ExecutionId};
use crate::orders::ticket::OrderReport;
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

impl Trading {
    /// A fill that the venue lists: most were reported before, and that is no repetition that counts.
    pub(crate) fn on_listed_fill(&mut self, moment: Moment, adapter: &AdapterName, fill: &VenueFill, out: &mut Outbox) {
        let report = OrderReport { moment, order: fill.order, ext_at: fill.at };
        let Some(account) = self.account_of(report, out) else { return };
        let id = execution_id(adapter, account, fill);
        if !self.is_repeated(&id, fill, out) && !self.is_inferred_before(moment, &id, fill, out) {
            self.apply_fill(report, adapter, fill, None, out);
        }
    }

    /// The same execution with another price or quantity is no repetition: one of the two is missing or wrong.
    pub(super) fn is_repeated(&mut self, id: &ExecutionId<'_>, fill: &VenueFill, out: &mut Outbox) -> bool {
        let Some(booked) = self.orders.executions.get(id) else {
            return self.orders.executions.is_retired(id, fill);
        };
        if booked.busted {
            return true;
        }
        let booked = booked.clone();
        if (booked.quantity, booked.price) == (fill.quantity, fill.price) {
            self.compare_costs(&booked, fill);
            return true;
        }
        let text = format!(
            "execution {} of order number {}: {} @ {} is booked, and now it is {} @ {}",
            fill.exec_id, fill.order, booked.quantity, booked.price, fill.quantity, fill.price
        );
        out.error("execution-differs", text);
        self.note_execution_differs(id.adapter, &booked, fill);
        true
    }

    /// A venue that names the costs of an execution is right about them. Charges in other currencies are not compared: the
    /// statement shows what they come to.
    fn compare_costs(&mut self, booked: &BookedExecution, fill: &VenueFill) {
        let has_costs = fill.fee.is_some() || !fill.charges.is_empty();
        let Some(order) = self.orders.get(fill.order).filter(|_| has_costs).cloned() else { return };
        let Ok(security) = self.reference.security(order.security) else { return };
        let theirs = self.costs_of_fill(security, fill).and_then(|costs| Ok(costs.total()?));
        if let (Ok(ours), Ok(theirs)) = (booked.costs.total(), theirs)
            && ours != theirs
        {
            self.note_fee(&order, fill, (ours, theirs));
        }
    }

    /// The costs of a booked execution were corrected.
    pub(crate) fn add_costs(&mut self, order: &Order, exec_id: &Text, amount: Amount) -> Result<(), Refusal> {
        let (adapter, account) = (&order.adapter, order.account);
        let id = ExecutionId::new(adapter, account, order.id, None, exec_id);
        if let Some(execution) = self.orders.executions.get_mut(&id) {
            execution.costs.fee = execution.costs.fee.plus(amount)?;
        }
        Ok(())
    }
}
