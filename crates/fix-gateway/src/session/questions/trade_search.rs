//! Search of the history for the executions of a client.

use std::collections::BTreeMap;
use std::sync::Arc;

use bus::history::{ChangePage, History, HistoryError, TradedSearch};
use domain::{Order, OrderStatus, Quantity, Text, Timestamp};

use crate::limits::{CAPTURED_ORDERS_MAX, CAPTURED_TRADES_MAX, HISTORY_PAGE};
use crate::translate::{CapturedTrade, ExecIds, MessageReject, TradeRefusal, TradeRequest, captured_trades};

/// What was found: the trades, or why they are not told.
pub(super) type Found = Result<Vec<CapturedTrade>, NotCaptured>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotCaptured {
    TooManyOrders,
    TooManyTrades,
    /// The history begins after the first executions of this order.
    Incomplete(Text),
}

impl NotCaptured {
    pub(super) fn refusal(&self) -> TradeRefusal {
        let (code, text) = match self {
            Self::TooManyOrders => (
                "too-many-orders",
                format!(
                    "more than {CAPTURED_ORDERS_MAX} orders with executions changed since: name one (11) or a later time (580)"
                ),
            ),
            Self::TooManyTrades => (
                "too-many-trades",
                format!(
                    "more than {CAPTURED_TRADES_MAX} match: name an order (11), a security (48) or times (580), or ask for parts (7007)"
                ),
            ),
            Self::Incomplete(order) => (
                "history-incomplete",
                format!("the history does not go back to all executions of order {order}: ask for later times (580)"),
            ),
        };
        TradeRefusal::from(MessageReject::other(code, &text))
    }
}

/// A search of the history for trades.
pub(super) struct TradeSearch<'a> {
    pub(super) history: &'a dyn History,
    pub(super) as_of: u64,
    pub(super) wanted: &'a TradeRequest,
    pub(super) ids: ExecIds,
}

impl TradeSearch<'_> {
    /// The orders of a client that can have such trades, oldest first. History goes on meanwhile: an order that changes comes again, and
    /// counts once. A page that is not full is the last one, so that a client that trades all the time gets an answer too.
    pub(super) fn orders_of(&self, source: String) -> Result<Result<Vec<Arc<Order>>, NotCaptured>, HistoryError> {
        let search = TradedSearch { source, security: self.wanted.security };
        let (mut found, mut after) = (BTreeMap::new(), (self.wanted.from.unwrap_or(Timestamp(i64::MIN)), 0));
        loop {
            let page = ChangePage { after, limit: HISTORY_PAGE };
            let page = self.history.traded_orders(self.as_of, &search, page)?;
            let is_last = page.len() < HISTORY_PAGE;
            for order in page {
                after = (order.changed_at, order.id.0);
                found.insert(order.id, order);
            }
            if found.len() > CAPTURED_ORDERS_MAX {
                return Ok(Err(NotCaptured::TooManyOrders));
            }
            if is_last {
                return Ok(Ok(found.into_values().collect()));
            }
        }
    }

    /// In the order in which they happened. Of a part no more are kept than it can have.
    pub(super) fn trades_of(&self, orders: &[Arc<Order>]) -> Result<Found, HistoryError> {
        let mut trades = Vec::new();
        for order in orders.iter().filter(|order| self.wanted.covers(order)) {
            let events = self.history.order_events(self.as_of, order.int_id.as_str())?;
            match self.trades_of_order(order, &events) {
                Ok(of_order) => trades.extend(of_order),
                Err(reason) => return Ok(Err(reason)),
            }
            match self.wanted.part {
                Some(part) if trades.len() > part.saturating_mul(2) => keep_oldest(&mut trades, part),
                None if trades.len() > CAPTURED_TRADES_MAX => return Ok(Err(NotCaptured::TooManyTrades)),
                Some(_) | None => {}
            }
        }
        keep_oldest(&mut trades, self.wanted.part.unwrap_or(CAPTURED_TRADES_MAX));
        Ok(Ok(trades))
    }

    /// Where they do not add up to what the order has filled, the first ones happened before the history begins. What happened after the
    /// question is left out: an order that was read before could have had its own then, and the next question begins behind the last one.
    fn trades_of_order(&self, order: &Order, events: &[OrderStatus]) -> Result<Vec<CapturedTrade>, NotCaptured> {
        let mut trades = captured_trades(events, self.ids);
        let mut counting = trades.iter().filter(|trade| trade.counts());
        let filled = counting.try_fold(Quantity::ZERO, |sum, trade| sum.plus(trade.quantity).ok());
        if filled.is_none_or(|filled| filled < order.filled) && self.is_wanted_from_before(events) {
            return Err(NotCaptured::Incomplete(order.int_id.as_str().into()));
        }
        trades.retain(|trade| trade.sequence <= self.as_of && self.wanted.covers_time(trade.at));
        Ok(trades)
    }

    fn is_wanted_from_before(&self, events: &[OrderStatus]) -> bool {
        let begun = events.first().map(|first| first.at);
        self.wanted.from.is_none_or(|from| begun.is_none_or(|begun| from < begun))
    }
}

fn keep_oldest(trades: &mut Vec<CapturedTrade>, count: usize) {
    trades.sort_by_key(|trade| trade.at);
    trades.truncate(count);
}

#[cfg(test)]
mod tests {
    use domain::order::{ClientView, ExecType};
    use domain::{Event, OrderId, PublishedEvent, SecurityId, Source, Timestamp};
    use storage::journal::InstanceId;
    use storage::lock::DataDirLock;
    use storage::read_model::ReadModel;
    use tempfile::TempDir;

    use super::*;

    /// A history, with all that happened to the orders of the client BANK and of another one.
    struct History {
        model: ReadModel,
        sequence: u64,
        _folder: TempDir,
    }

    impl History {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let lock = DataDirLock::acquire(folder.path()).unwrap();
            let model = ReadModel::open(&lock, InstanceId([7; 16]), 0).unwrap();
            Self { model, sequence: 0, _folder: folder }
        }

        /// So many of one share each, a second after another from an instant on; the execution is named after it.
        fn fills(&mut self, order: &mut Order, from: i64, count: i64) {
            for second in from..from + count {
                order.filled = order.filled.plus(1.into()).unwrap();
                self.happens(order, second, ExecType::PartialFill, None);
            }
        }

        fn happens(&mut self, order: &mut Order, second: i64, exec_type: ExecType, referred: Option<&str>) {
            self.sequence += 1;
            order.changed_at = at(second);
            let status = status(order, self.sequence, exec_type, referred);
            let events = [Event::Order(Arc::new(order.clone())), Event::OrderStatus(Arc::new(status))];
            let (sequence, at) = (self.sequence, order.changed_at);
            self.model.append(sequence, &events.map(|event| PublishedEvent { sequence, at, event }));
        }

        /// Without an execution: placed, or cancelled.
        fn changes(&mut self, order: &Order) {
            self.sequence += 1;
            let (sequence, at, event) = (self.sequence, order.changed_at, Event::Order(Arc::new(order.clone())));
            self.model.append(sequence, &[PublishedEvent { sequence, at, event }]);
        }

        /// The seconds at which the trades happened, or why they are not told.
        fn asked(&self, wanted: &TradeRequest) -> Result<Vec<i64>, String> {
            // Everything is applied then, on any machine.
            self.model.stop().unwrap();
            let search = TradeSearch { history: &self.model, as_of: self.sequence, wanted, ids: ExecIds(1) };
            let orders = search.orders_of("FIX:BANK".to_owned()).unwrap();
            let found = orders.and_then(|orders| search.trades_of(&orders).unwrap());
            let second = |trade: &CapturedTrade| trade.at.0 / 1_000_000_000;
            found
                .map(|trades| trades.iter().map(second).collect())
                .map_err(|reason| reason.refusal().reject.display_text())
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp(second * 1_000_000_000)
    }

    fn order(id: u64, client: &str) -> Order {
        let mut order = samples::order(id);
        order.source = Source::Fix(client.into());
        order.terms.quantity = 1_000_000.into();
        order
    }

    fn status(order: &Order, sequence: u64, exec_type: ExecType, referred: Option<&str>) -> OrderStatus {
        let view = ClientView {
            comp_id: Some("BANK".into()),
            cl_ord_id: None,
            side: order.side,
            security: order.security,
            account: order.account,
            terms: order.terms,
            requested_by: None,
            on_behalf_of: None,
            exec_id: Some(format!("e{}", order.changed_at.0 / 1_000_000_000).into()),
            exec_ref_id: referred.map(Text::from),
            properties: order.properties,
            liquidity: None,
            interface: None,
        };
        OrderStatus {
            order: order.id,
            int_id: order.int_id.clone(),
            ext_id: None,
            strategy: order.strategy,
            at: order.changed_at,
            ext_at: None,
            sequence,
            status: order.status(),
            exec_type,
            filled: order.filled,
            remaining: order.remaining(),
            last_quantity: Some(1.into()),
            last_price: Some(10.into()),
            avg_price: None,
            reason: None,
            request: None,
            client: Some(Box::new(view)),
        }
    }

    fn since(second: i64) -> TradeRequest {
        TradeRequest { from: Some(at(second)), ..TradeRequest::default() }
    }

    /// The first order was not looked at, and trades before the second one does: told without it, the second fill would hide the first from a
    /// client that asks from the last one on.
    #[test]
    fn what_happens_while_a_list_is_made_is_in_the_next_one() {
        let mut history = History::new();
        let (mut first, mut second) = (order(1, "BANK"), order(2, "BANK"));
        history.fills(&mut first, 1, 1);
        history.fills(&mut second, 5, 1);
        let (wanted, as_of) = (since(5), history.sequence);
        let search = TradeSearch { history: &history.model, as_of, wanted: &wanted, ids: ExecIds(1) };
        let orders = search.orders_of("FIX:BANK".to_owned()).unwrap().unwrap();
        history.fills(&mut first, 6, 1);
        history.fills(&mut second, 7, 1);
        history.model.stop().unwrap();
        let search = TradeSearch { history: &history.model, as_of, wanted: &wanted, ids: ExecIds(1) };
        let told = search.trades_of(&orders).unwrap().unwrap();
        assert_eq!(told.iter().map(|trade| trade.at).collect::<Vec<_>>(), [at(5)]);
        assert_eq!(history.asked(&since(5)), Ok(vec![5, 6, 7]));
    }

    #[test]
    fn orders_without_executions_are_not_counted() {
        let mut history = History::new();
        let mut traded = order(1, "BANK");
        history.fills(&mut traded, 1, 1);
        for id in 0..=CAPTURED_ORDERS_MAX as u64 {
            history.changes(&Order { changed_at: at(2), ..order(2 + id, "BANK") });
        }
        assert_eq!(history.asked(&since(1)), Ok(vec![1]));
    }

    /// An order that was placed first and traded last is among them.
    #[test]
    fn executions_since_an_instant_are_those_of_orders_that_changed_since() {
        let mut history = History::new();
        let (mut old, mut other) = (order(1, "BANK"), order(2, "OTHER"));
        history.fills(&mut old, 1, 1);
        (3..=1_500_u32).for_each(|id| history.fills(&mut order(id.into(), "BANK"), id.into(), 1));
        history.fills(&mut other, 1_501, 1);
        history.fills(&mut old, 1_502, 1);
        assert_eq!(history.asked(&since(1_499)), Ok(vec![1_499, 1_500, 1_502]));
        let day = TradeRequest { to: Some(at(1_500)), ..since(1_499) };
        assert_eq!(history.asked(&day), Ok(vec![1_499, 1_500]));
        assert_eq!(history.asked(&since(1_503)), Ok(vec![]));
        let elsewhere = TradeRequest { security: Some(SecurityId(99)), ..since(1) };
        assert_eq!(history.asked(&elsewhere), Ok(vec![]));
        assert_eq!(history.asked(&TradeRequest::default()).unwrap().len(), 1_500);
    }

    #[test]
    fn a_part_has_the_oldest_and_the_next_one_begins_with_its_last() {
        let mut history = History::new();
        let (mut first, mut second) = (order(1, "BANK"), order(2, "BANK"));
        history.fills(&mut second, 1, 3);
        history.fills(&mut first, 4, 3);
        history.fills(&mut second, 7, 3);
        let part = |from| TradeRequest { part: Some(4), ..since(from) };
        assert_eq!(history.asked(&part(1)), Ok(vec![1, 2, 3, 4]));
        assert_eq!(history.asked(&part(4)), Ok(vec![4, 5, 6, 7]));
        assert_eq!(history.asked(&part(7)), Ok(vec![7, 8, 9]));
    }

    #[test]
    fn more_than_an_answer_can_have_is_refused_as_a_whole_or_told_in_parts() {
        let mut history = History::new();
        let mut long = order(1, "BANK");
        history.fills(&mut long, 1, 10_001);
        let refused = "too-many-trades: more than 10000 match: name an order (11), a security (48) or times (580), or ask for parts (7007)";
        assert_eq!(history.asked(&since(1)), Err(refused.to_owned()));
        assert_eq!(history.asked(&since(2)).unwrap().len(), 10_000);
        assert_eq!(history.asked(&TradeRequest { part: Some(3), ..since(1) }), Ok(vec![1, 2, 3]));
    }

    /// As where the history was built again from a journal that was pruned.
    #[test]
    fn executions_from_before_the_history_are_not_left_out_in_silence() {
        let mut history = History::new();
        let mut older = order(1, "BANK");
        older.filled = 5.into();
        history.fills(&mut older, 10, 2);
        let refused =
            "history-incomplete: the history does not go back to all executions of order 1: ask for later times (580)";
        let name = older.int_id.as_str();
        let refused = refused.replace("order 1", &format!("order {name}"));
        assert_eq!(history.asked(&TradeRequest::default()), Err(refused.clone()));
        assert_eq!(history.asked(&since(9)), Err(refused));
        assert_eq!(history.asked(&since(10)), Ok(vec![10, 11]));
    }

    #[test]
    fn an_execution_that_was_taken_back_later_is_not_told() {
        let mut history = History::new();
        let mut traded = order(1, "BANK");
        history.fills(&mut traded, 1, 3);
        traded.filled = 2.into();
        history.happens(&mut traded, 9, ExecType::TradeCancel, Some("e2"));
        let early = TradeRequest { to: Some(at(3)), ..since(1) };
        assert_eq!(history.asked(&early), Ok(vec![1, 3]));
        // Later it is told that it was.
        assert_eq!(history.asked(&since(1)), Ok(vec![1, 3, 9]));
        assert_eq!(history.asked(&since(4)), Ok(vec![9]));
        assert_eq!(traded.id, OrderId(1));
    }

    /// Of most orders the first execution is the only one, and the report of its bust may be lost.
    #[test]
    fn the_bust_of_the_only_execution_of_an_order_is_told() {
        let mut history = History::new();
        let mut traded = order(1, "BANK");
        history.fills(&mut traded, 1, 1);
        traded.filled = Quantity::ZERO;
        history.happens(&mut traded, 9, ExecType::TradeCancel, Some("e1"));
        history.changes(&Order { changed_at: at(10), ..traded.clone() });
        assert_eq!(history.asked(&since(4)), Ok(vec![9]));
        assert_eq!(history.asked(&since(1)), Ok(vec![9]));
        assert_eq!(history.asked(&since(11)), Ok(vec![]));
    }
}
