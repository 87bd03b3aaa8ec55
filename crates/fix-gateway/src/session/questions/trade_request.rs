//! Executions of the client's own orders (AD): an acknowledgement (AQ), and a report (AE) for each.

use std::iter;
use std::sync::Arc;

use bus::history::{History, HistoryError, OrderSearch, PageRequest, SortOrder, SourceSearch};
use domain::query::Filter;
use domain::{Answer, Order, Query};
use fix::OutgoingMessage;
use fix_net::SessionQueueFull;

use super::Question;
use crate::limits::{CAPTURED_ORDERS_MAX, CAPTURED_TRADES_MAX, HISTORY_PAGE};
use crate::translate::{
    CapturedTrade, ExecIds, MessageReject, ReportPlace, TradeRefusal, TradeRequest, captured_trades, trade_report,
    trades_ack,
};

/// What was found: the trades, or which limit they exceed.
type Found = Result<Vec<CapturedTrade>, TradesLimit>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TradesLimit {
    Orders,
    Trades,
}

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
            Ok(Err(limit)) => {
                let refusal = limit.refusal();
                self.handle.send_all(iter::once(trades_ack(&self.echo, Err(&refusal)))).await
            }
            Err(reject) => self.handle.send_all(iter::once(self.not_available(&reject))).await,
        }
    }

    async fn trades(&self, wanted: &TradeRequest) -> Result<Found, MessageReject> {
        let query = match &wanted.order {
            Some(order) => Query::ClientOrder(self.source(), order.clone()),
            None => Query::OpenOrders(Filter::default()),
        };
        let reply = self.query(query).await?;
        let (sequence, source) = (reply.sequence, self.source());
        let named = match (&wanted.order, reply.outcome) {
            (None, _) => None,
            (Some(_), Ok(Answer::Orders(orders))) => {
                Some(orders.into_iter().filter(|order| order.source == source).collect())
            }
            (Some(_), _) => Some(Vec::new()),
        };
        let (wanted, ids) = (wanted.clone(), self.context.exec_ids);
        let sources = vec![SourceSearch::Exactly(source.to_string())];
        self.history(move |history| {
            let search = OrderSearch { sources, ..OrderSearch::default() };
            let orders =
                named.map_or_else(|| own_orders(history, sequence, &search, &wanted), |named| Ok(Ok(named)))?;
            match orders {
                Ok(orders) => trades_of(history, sequence, &orders, &wanted, ids),
                Err(limit) => Ok(Err(limit)),
            }
        })
        .await
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

impl TradesLimit {
    fn refusal(self) -> TradeRefusal {
        let (code, text) = match self {
            Self::Orders => (
                "too-many-orders",
                format!("the session has more than {CAPTURED_ORDERS_MAX} orders: name one by ClOrdID (11)"),
            ),
            Self::Trades => (
                "too-many-trades",
                format!("more than {CAPTURED_TRADES_MAX} match: name an order (11), a security (48) or times (580)"),
            ),
        };
        TradeRefusal::from(MessageReject::other(code, &text))
    }
}

/// The orders of the session that can have such trades, oldest first.
fn own_orders(
    history: &dyn History,
    as_of: u64,
    search: &OrderSearch,
    wanted: &TradeRequest,
) -> Result<Result<Vec<Arc<Order>>, TradesLimit>, HistoryError> {
    let (mut found, mut seen, mut after) = (Vec::new(), 0, SortOrder::Oldest.start());
    loop {
        let page = history.orders(as_of, search, SortOrder::Oldest, PageRequest { after, limit: HISTORY_PAGE })?;
        let Some(last) = page.last() else { return Ok(Ok(found)) };
        (after, seen) = (last.id.0, seen + page.len());
        if seen > CAPTURED_ORDERS_MAX {
            return Ok(Err(TradesLimit::Orders));
        }
        found.extend(page.into_iter().filter(|order| wanted.covers(order)));
    }
}

/// In the order in which they happened.
fn trades_of(
    history: &dyn History,
    as_of: u64,
    orders: &[Arc<Order>],
    wanted: &TradeRequest,
    ids: ExecIds,
) -> Result<Found, HistoryError> {
    let mut trades = Vec::new();
    for order in orders.iter().filter(|order| wanted.covers(order)) {
        let of_order = captured_trades(&history.order_events(as_of, order.int_id.as_str())?, ids);
        trades.extend(of_order.into_iter().filter(|trade| wanted.covers_time(trade.at)));
        if trades.len() > CAPTURED_TRADES_MAX {
            return Ok(Err(TradesLimit::Trades));
        }
    }
    trades.sort_by_key(|trade| trade.at);
    Ok(Ok(trades))
}
