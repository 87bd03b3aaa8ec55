//! Faults that strike requests about orders, as they strike those of other faces.

use std::sync::Arc;

use fix::FixMessage;

use super::super::orders::find;
use super::super::reports::RejectedCancel;
use super::super::scope::SessionScope;
use super::super::tags;
use crate::exchange::{
    CancelRequest, ExecutionType, SpotCommand, SpotExchange, SpotExecution, SpotOrder, SpotStatus, strange_orders,
};
use crate::faults::catalogue::Fault;
use crate::sequencer::{CommandResult, Unavailable};

impl SessionScope {
    /// The order is filled, and its cancel is confirmed before the fill is told. Where nothing of it rests it is cancelled as usual.
    pub(crate) fn fill_instead(
        self: &Arc<Self>,
        request: RejectedCancel,
        cancel: CancelRequest,
    ) -> Result<(), Unavailable> {
        let (scope, wanted) = (self.clone(), cancel.order.clone());
        let with_order = move |order: Option<SpotOrder>| {
            let hit = SpotCommand::Hit { order: cancel.order.clone() };
            let told = scope.clone();
            let then = move |applied: CommandResult| match (applied, order) {
                (Ok(_), Some(order)) => told.confirm_cancel(order, cancel),
                // The session is told, or gone.
                _ => drop(told.change(request, cancel.order.clone(), SpotCommand::Cancel(cancel))),
            };
            if scope.exchange.command_then(hit, None, then).is_err() {
                tracing::warn!("the exchange is too busy for a cancel");
            }
        };
        self.exchange.query_then(move |exchange: &SpotExchange| find(exchange, &wanted), with_order)
    }

    /// As if the order, which was open before, had ended without another trade.
    fn confirm_cancel(&self, mut order: SpotOrder, cancel: CancelRequest) {
        order.status = SpotStatus::Canceled;
        let told = SpotExecution {
            kind: ExecutionType::Canceled,
            time_micros: order.update_micros,
            order,
            trade: None,
            cancel_id: cancel.cancel_id,
            execution_id: self.next_reject_number(),
        };
        self.inbox.send(self.report.execution(&told));
    }

    /// After a new order the account also has two from somewhere else.
    pub(crate) fn place_strange_orders(&self, message: &FixMessage<'_>) -> Result<(), Unavailable> {
        if !self.faults.strikes(Fault::Strangers) {
            return Ok(());
        }
        let (symbol, account) = (message.text(tags::SYMBOL).unwrap_or_default().to_owned(), self.account);
        let exchange = self.exchange.clone();
        let make = move |exchange: &SpotExchange| strange_orders(exchange, &symbol, account);
        self.exchange.query_then(make, move |orders| {
            for order in orders.into_iter().flatten() {
                // One that cannot be taken does not come.
                let _ = exchange.command_then(SpotCommand::Place(order), None, drop);
            }
        })
    }
}
