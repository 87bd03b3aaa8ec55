//! Every query of the engine must give what the model computes.

use std::collections::BTreeMap;

use domain::query::Answer;
use domain::{Decimal, OrderId, Query, Refusal, TradingState};

use crate::books::{Books, Lot, PositionKey};
use crate::model::Order;
use crate::trial::Trial;

impl Trial {
    pub(crate) fn compare(&self) {
        self.model.orders.iter().for_each(|order| self.compare_order(order));
        self.compare_open();
        self.compare_books();
        self.compare_states();
    }

    fn compare_order(&self, order: &Order) {
        let Some(seen) = self.engine_order(order) else {
            assert!(order.is_forgotten, "order {} is gone", order.int_id);
            let refusal = self.query(&Query::Order(order.int_id.as_str().into()));
            return assert_eq!(refusal, Err(Refusal::UnknownOrder(order.int_id.as_str().into())));
        };
        assert!(!order.is_forgotten, "order {} should be forgotten", order.int_id);
        assert_eq!(
            (seen.id, seen.status(), seen.filled.0, seen.remaining().0, seen.avg_price().map(|price| price.0)),
            (order.id, order.status(), order.filled(), order.remaining(), order.avg_price()),
            "{seen:?}"
        );
        assert_eq!(
            (seen.terms, seen.properties.reduce_only, seen.is_open()),
            (order.terms, order.reduce_only, order.is_open())
        );
        assert_eq!(seen.ext_id.is_some(), order.is_named_there, "the venue's id of {}", order.int_id);
    }

    fn compare_open(&self) {
        let Ok(Answer::Orders(open)) = self.query(&Query::OpenOrders(Default::default())) else { panic!() };
        let seen: Vec<OrderId> = open.iter().map(|order| order.id).collect();
        let open = self.model.orders.iter().filter(|order| order.is_open());
        assert_eq!(seen, open.map(|order| order.id).collect::<Vec<_>>(), "open orders");
    }

    /// Closed positions of earlier days are not listed.
    fn compare_books(&self) {
        let Ok(Answer::Positions(positions)) = self.query(&Query::Positions(Default::default())) else { panic!() };
        let Ok(Answer::Balances(balances)) = self.query(&Query::Balances(Default::default())) else { panic!() };
        let lots = positions.iter().map(|held| {
            let lot = Lot { quantity: held.quantity.0, cost: held.cost.0, realized: held.realized_pl.0 };
            ((held.strategy, held.account, held.security), lot)
        });
        let lots: BTreeMap<_, _> = lots.collect();
        let expected = self.model.books();
        let is_listed = |key: &PositionKey, lot: &Lot| !lot.quantity.is_zero() || lots.contains_key(key);
        let expected = Books {
            positions: expected.positions.into_iter().filter(|(key, lot)| is_listed(key, lot)).collect(),
            ..expected
        };
        let balances = balances.iter().filter(|held| !held.amount.is_zero());
        let cash: BTreeMap<_, Decimal> =
            balances.map(|held| ((held.strategy, held.account, held.currency), held.amount.0)).collect();
        assert_eq!(Books { positions: lots, cash }, expected);
    }

    fn compare_states(&self) {
        let Ok(Answer::TradingStates(changes)) = self.query(&Query::TradingStates) else { panic!() };
        let seen: BTreeMap<_, TradingState> = changes.iter().map(|change| (change.scope, change.state)).collect();
        assert_eq!(seen, self.model.states, "trading states");
    }
}
