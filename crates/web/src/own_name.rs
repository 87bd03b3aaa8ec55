//! Strategy scope: a caller with the role strategy may only touch orders and positions of its own strategy.

use access::Role;
use domain::command::PlaceOrder;
use domain::query::Filter;
use domain::{Answer, Command, IntId, PositionId, Query, ReferenceData, Scope, StrategyId};

use crate::problem::Problem;
use crate::visitor::Speaker;

pub(crate) const FOREIGN: &str = "foreign-strategy";

/// The strategy that a caller is bound to.
pub(crate) struct OwnName(StrategyId);

impl OwnName {
    /// `None` for a caller without that restriction.
    pub(crate) fn of(speaker: &Speaker, reference: &ReferenceData) -> Result<Option<Self>, Problem> {
        let Role::Strategy(name) = &speaker.identity.role else { return Ok(None) };
        let strategy = reference.strategy_named(name).map(|strategy| Self(strategy.id));
        strategy.map(Some).ok_or_else(|| foreign(&format!("your strategy {name} is not known here")))
    }

    /// The query that the check of a command needs.
    pub(crate) fn question(command: &Command) -> Option<Query> {
        match command {
            Command::Modify(change) => Some(Query::Order(change.int_id.as_str().into())),
            Command::Cancel(cancel) => Some(Query::Order(cancel.int_id.as_str().into())),
            Command::Reduce(_) => Some(Query::Positions(Filter::default())),
            _ => None,
        }
    }

    /// The command as far as this caller may give it; `known` is the answer to the query.
    pub(crate) fn within(&self, command: Command, known: Option<&Answer>) -> Result<Command, Problem> {
        match &command {
            Command::Place(order) => return self.order(order.clone()).map(Command::Place),
            Command::Modify(change) => self.owns_order(&change.int_id, known)?,
            Command::Cancel(cancel) => self.owns_order(&cancel.int_id, known)?,
            Command::Reduce(reduce) => self.owns_position(reduce.position, known)?,
            Command::Subscribe(wish) | Command::Unsubscribe(wish) => self.is(wish.strategy)?,
            Command::EnterPhase { strategy, .. } => self.is(*strategy)?,
            Command::Publish(event) => self.is(event.strategy)?,
            Command::Kill { scope: Scope::Strategy(strategy), .. } => self.is(*strategy)?,
            Command::NextOrderId(_) => {}
            _ => return Err(foreign("this is not about your own strategy")),
        }
        Ok(command)
    }

    /// An order without a strategy is for the caller's own.
    fn order(&self, order: PlaceOrder) -> Result<PlaceOrder, Problem> {
        self.is(order.strategy.unwrap_or(self.0))?;
        Ok(PlaceOrder { strategy: Some(self.0), ..order })
    }

    /// An unknown order is left to the engine to refuse.
    fn owns_order(&self, int_id: &IntId, known: Option<&Answer>) -> Result<(), Problem> {
        let Some(Answer::Orders(orders)) = known else { return Err(Problem::unexpected_answer()) };
        let order = orders.iter().find(|order| order.int_id == *int_id);
        order.map_or(Ok(()), |order| self.is(order.strategy))
    }

    fn owns_position(&self, position: PositionId, known: Option<&Answer>) -> Result<(), Problem> {
        let Some(Answer::Positions(positions)) = known else { return Err(Problem::unexpected_answer()) };
        let position = positions.iter().find(|known| known.id == position);
        position.map_or(Ok(()), |position| self.is(position.strategy))
    }

    fn is(&self, strategy: StrategyId) -> Result<(), Problem> {
        if strategy == self.0 { Ok(()) } else { Err(foreign("this belongs to another strategy than yours")) }
    }
}

fn foreign(detail: &str) -> Problem {
    Problem::new(FOREIGN, detail)
}
