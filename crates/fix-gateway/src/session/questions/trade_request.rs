//! Executions of the client's own orders (AD): an acknowledgement (AQ), and a report (AE) for each. They are looked for in the history, beside
//! the engine: of one order, or of those that changed since the wanted time.

use std::iter;
use std::sync::Arc;

use domain::{Answer, Order, Query, Text};
use fix::OutgoingMessage;
use fix_net::SessionQueueFull;

use super::Question;
use super::trade_search::{Found, TradeSearch};
use crate::translate::{
    CapturedTrade, MessageReject, ReportPlace, TradeRefusal, TradeRequest, trade_report, trades_ack,
};

impl Question {
    pub(super) async fn send_trades(
        &self,
        wanted: Result<&TradeRequest, &TradeRefusal>,
    ) -> Result<(), SessionQueueFull> {
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(refusal) => return self.handle.send_all(iter::once(trades_ack(&self.echo, Err(refusal)))).await,
        };
        match self.trades(wanted).await {
            Ok(Ok(trades)) => self.handle.send_all(self.trade_reports(wanted, trades)).await,
            Ok(Err(reason)) => {
                let refusal = reason.refusal();
                self.handle.send_all(iter::once(trades_ack(&self.echo, Err(&refusal)))).await
            }
            Err(reject) => self.handle.send_all(iter::once(self.not_available(&reject))).await,
        }
    }

    async fn trades(&self, wanted: &TradeRequest) -> Result<Found, MessageReject> {
        let (as_of, named) = match &wanted.order {
            Some(order) => self.named_order(order).await.map(|(sequence, orders)| (sequence, Some(orders)))?,
            // Whatever a report has told is durable. The engine is not asked: it has all open orders of all clients.
            None => (self.context.bus.journal.durable(), None),
        };
        let (wanted, ids, source) = (wanted.clone(), self.context.exec_ids, self.source().to_string());
        self.history(move |history| {
            let search = TradeSearch { history, as_of, wanted: &wanted, ids };
            let orders = match named {
                Some(orders) => Ok(orders),
                None => search.orders_of(source)?,
            };
            orders.map_or_else(|reason| Ok(Err(reason)), |orders| search.trades_of(&orders))
        })
        .await
    }

    /// The order of this client that has the id, where there is one, and the sequence of that state.
    async fn named_order(&self, id: &Text) -> Result<(u64, Vec<Arc<Order>>), MessageReject> {
        let reply = self.query(Query::ClientOrder(self.source(), id.clone())).await?;
        let Ok(Answer::Orders(mut orders)) = reply.outcome else { return Ok((reply.sequence, Vec::new())) };
        let source = self.source();
        orders.retain(|order| order.source == source);
        Ok((reply.sequence, orders))
    }

    fn trade_reports(
        &self,
        wanted: &TradeRequest,
        trades: Vec<CapturedTrade>,
    ) -> impl Iterator<Item = OutgoingMessage> + Send + use<'_> {
        let (total, with_liquidity) = (trades.len(), wanted.with_liquidity);
        let reference = self.context.bus.catalogue.current();
        let reports = trades.into_iter().enumerate().map(move |(at, trade)| {
            trade_report(&self.echo, &trade, ReportPlace { number: at + 1, total }, with_liquidity, &reference)
        });
        iter::once(trades_ack(&self.echo, Ok(total))).chain(reports)
    }
}
