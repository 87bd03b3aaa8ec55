//! Strategy scope: a caller with the role strategy may only touch orders and positions of its own strategy.

use access::UserRole;
use domain::command::PlaceOrder;
use domain::query::Filter;
use domain::{Answer, Command, IntId, PositionId, Query, ReferenceData, RiskScope, StrategyId};

use crate::middleware::caller::HttpCaller;
use crate::problem::Problem;

pub(crate) const FOREIGN_STRATEGY: &str = "foreign-strategy";

/// The strategy that a caller is bound to.
pub(crate) struct StrategyScope(StrategyId);

impl StrategyScope {
    /// `None` for a caller without that restriction.
    pub(crate) fn for_caller(caller: &HttpCaller, reference: &ReferenceData) -> Result<Option<Self>, Problem> {
        let UserRole::Strategy(name) = &caller.identity.role else { return Ok(None) };
        let strategy = reference.strategy_named(name).map(|strategy| Self(strategy.id));
        strategy.map(Some).ok_or_else(|| foreign_strategy(&format!("your strategy {name} is not known here")))
    }

    /// The query that the check of a command needs.
    pub(crate) fn required_query(command: &Command) -> Option<Query> {
        match command {
            Command::Modify(change) => Some(Query::Order(change.int_id.as_str().into())),
            Command::Cancel(cancel) => Some(Query::Order(cancel.int_id.as_str().into())),
            Command::Reduce(_) => Some(Query::Positions(Filter::default())),
            _ => None,
        }
    }

    /// The command as far as this caller may give it; `known` is the answer to the query.
    pub(crate) fn restrict(&self, command: Command, known: Option<&Answer>) -> Result<Command, Problem> {
        match &command {
            Command::Place(order) => return self.restrict_order(order.clone()).map(Command::Place),
            Command::Modify(change) => self.check_order(&change.int_id, known)?,
            Command::Cancel(cancel) => self.check_order(&cancel.int_id, known)?,
            Command::Reduce(reduce) => self.check_position(reduce.position, known)?,
            Command::Subscribe(request) | Command::Unsubscribe(request) => self.check_strategy(request.strategy)?,
            Command::EnterPhase { strategy, .. } => self.check_strategy(*strategy)?,
            Command::Publish(event) => self.check_strategy(event.strategy)?,
            Command::Kill { scope: RiskScope::Strategy(strategy), .. }
            | Command::ArmDeadMan { scope: RiskScope::Strategy(strategy), .. }
            | Command::DisarmDeadMan { scope: RiskScope::Strategy(strategy) } => self.check_strategy(*strategy)?,
            Command::NextOrderId(_) => {}
            _ => return Err(foreign_strategy("this is not about your own strategy")),
        }
        Ok(command)
    }

    /// An order without a strategy is for the caller's own.
    fn restrict_order(&self, order: PlaceOrder) -> Result<PlaceOrder, Problem> {
        self.check_strategy(order.strategy.unwrap_or(self.0))?;
        Ok(PlaceOrder { strategy: Some(self.0), ..order })
    }

    /// An unknown order is left to the engine to refuse.
    fn check_order(&self, int_id: &IntId, known: Option<&Answer>) -> Result<(), Problem> {
        let Some(Answer::Orders(orders)) = known else { return Err(Problem::unexpected_answer()) };
        let order = orders.iter().find(|order| order.int_id == *int_id);
        order.map_or(Ok(()), |order| self.check_strategy(order.strategy))
    }

    fn check_position(&self, position: PositionId, known: Option<&Answer>) -> Result<(), Problem> {
        let Some(Answer::Positions(positions)) = known else { return Err(Problem::unexpected_answer()) };
        let position = positions.iter().find(|known| known.id == position);
        position.map_or(Ok(()), |position| self.check_strategy(position.strategy))
    }

    fn check_strategy(&self, strategy: StrategyId) -> Result<(), Problem> {
        if strategy == self.0 { Ok(()) } else { Err(foreign_strategy("this belongs to another strategy than yours")) }
    }
}

fn foreign_strategy(detail: &str) -> Problem {
    Problem::new(FOREIGN_STRATEGY, detail)
}
