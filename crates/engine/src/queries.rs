//! Queries: the match over all of those that the trading half answers.

use std::sync::Arc;

use domain::query::{Answer, EngineResult};
use domain::{Order, Query, Refusal};

use crate::outbox::Moment;
use crate::trading::Trading;

impl Trading {
    /// Changes nothing. The market half answers the queries for prices.
    pub(crate) fn query(&self, moment: Moment, query: &Query) -> EngineResult {
        Ok(match query {
            Query::OpenOrders(filter) => {
                let fits = |order: &&Arc<Order>| filter.matches(order.strategy, order.account, Some(order.security));
                Answer::Orders(self.orders.open().filter(fits).cloned().collect())
            }
            Query::Order(name) => match self.orders.by_any_id(name) {
                orders if orders.is_empty() => return Err(Refusal::UnknownOrder(name.clone())),
                orders => Answer::Orders(orders),
            },
            Query::ClientOrder(client, name) => {
                let own = self.orders.by_used_id(name).filter(|order| order.source == *client);
                let found = own.max_by_key(|order| (order.is_open(), order.id));
                Answer::Orders(vec![found.cloned().ok_or_else(|| Refusal::UnknownOrder(name.clone()))?])
            }
            Query::Positions(filter) => Answer::Positions(self.portfolio.positions(*filter)),
            Query::Balances(filter) => Answer::Balances(self.portfolio.balances(*filter)),
            Query::PortfolioValue(strategy) => {
                Answer::PortfolioValues(self.portfolio.values(&self.valuer(moment.at), *strategy))
            }
            Query::DailyTransactions(filter) => {
                Answer::Transactions(self.portfolio.dated_in(&self.platform_day(moment.at), *filter))
            }
            Query::Transaction(id) => {
                let found = self.portfolio.transaction(*id).ok_or(Refusal::UnknownTransaction(*id))?;
                Answer::Transaction(found)
            }
            Query::TradingStates => Answer::TradingStates(self.risk.states()),
            Query::DeadManTimers => Answer::DeadManTimers(self.risk.dead_man_timers()),
            Query::Limits => Answer::Limits(self.risk.limits()),
            Query::CheckOrder(ask, caller) => Answer::PreTradeCheck(self.pre_trade_check(moment, caller, ask)),
            Query::CheckModify(ask, caller) => Answer::PreTradeCheck(self.pre_trade_check_modify(moment, caller, ask)),
            Query::Subscriptions => Answer::Subscriptions(self.subscriptions.list()),
            Query::Breaks => Answer::Breaks(self.breaks()),
            Query::Break(id) => Answer::Break(self.find_break(*id)?.clone()),
            Query::ReconciliationLags => Answer::ReconciliationLags(self.listings.lags(moment.at)),
            Query::Phases => Answer::Phases(self.phases()),
            Query::ProcessRun(strategy) => Answer::ProcessRun(self.process_run(*strategy)),
            Query::Marks => Answer::Marks(self.marks.all().copied().collect()),
            Query::State => Answer::State(self.encode_state()),
            Query::Ticks(_) | Query::Book(_) | Query::Bars(..) | Query::Adapters => {
                unreachable!("answered by the engine as a whole")
            }
        })
    }
}
