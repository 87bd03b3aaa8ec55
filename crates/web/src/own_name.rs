//! A caller with the role strategy trades in the name of his own strategy and touches nothing of others.

use access::Role;
use domain::command::PlaceOrder;
use domain::query::Filter;
use domain::{Answer, Command, IntId, PositionId, Query, Scope, StrategyId};

use crate::admission::Speaker;
use crate::doors::Doors;
use crate::problem::Problem;

const FOREIGN: &str = "foreign-strategy";

/// The command as this caller may give it.
pub(crate) async fn within(doors: &Doors, speaker: &Speaker, command: Command) -> Result<Command, Problem> {
    let checked = check(doors, speaker, command).await;
    written_down(doors, speaker, checked).await
}

/// A dry run obeys the same rule as the order itself.
pub(crate) async fn dry_run(doors: &Doors, speaker: &Speaker, order: PlaceOrder) -> Result<PlaceOrder, Problem> {
    let checked = own(doors, speaker).and_then(|own| own.map_or(Ok(order.clone()), |own| order_of(own, order)));
    written_down(doors, speaker, checked).await
}

/// So does the dry run of a change.
pub(crate) async fn dry_change(doors: &Doors, speaker: &Speaker, int_id: &IntId) -> Result<(), Problem> {
    let checked = match own(doors, speaker) {
        Ok(Some(own)) => owns_order(doors, own, int_id).await,
        other => other.map(drop),
    };
    written_down(doors, speaker, checked).await
}

async fn written_down<T>(doors: &Doors, speaker: &Speaker, checked: Result<T, Problem>) -> Result<T, Problem> {
    if let Err(problem) = &checked
        && problem.code() == FOREIGN
    {
        problem.record(doors.access(), &speaker.actor).await;
    }
    checked
}

async fn check(doors: &Doors, speaker: &Speaker, command: Command) -> Result<Command, Problem> {
    let Some(own) = own(doors, speaker)? else { return Ok(command) };
    match &command {
        Command::Place(order) => return order_of(own, order.clone()).map(Command::Place),
        Command::Modify(change) => owns_order(doors, own, &change.int_id).await?,
        Command::Cancel(cancel) => owns_order(doors, own, &cancel.int_id).await?,
        Command::Reduce(reduce) => owns_position(doors, own, reduce.position).await?,
        Command::Subscribe(wish) | Command::Unsubscribe(wish) => is_own(own, wish.strategy)?,
        Command::EnterPhase { strategy, .. } => is_own(own, *strategy)?,
        Command::Publish(event) => is_own(own, event.strategy)?,
        Command::Kill { scope: Scope::Strategy(strategy), .. } => is_own(own, *strategy)?,
        Command::NextOrderId(_) => {}
        _ => return Err(foreign("this is not about your own strategy")),
    }
    Ok(command)
}

/// The strategy that the caller is bound to.
fn own(doors: &Doors, speaker: &Speaker) -> Result<Option<StrategyId>, Problem> {
    let Role::Strategy(name) = &speaker.identity.role else { return Ok(None) };
    let reference = doors.reference();
    let strategy = reference.strategy_named(name).map(|strategy| strategy.id);
    strategy.map(Some).ok_or_else(|| foreign(&format!("your strategy {name} is not known here")))
}

/// An order that names no strategy is one of his own.
fn order_of(own: StrategyId, order: PlaceOrder) -> Result<PlaceOrder, Problem> {
    is_own(own, order.strategy.unwrap_or(own))?;
    Ok(PlaceOrder { strategy: Some(own), ..order })
}

/// An order that nobody knows is for the engine to refuse.
async fn owns_order(doors: &Doors, own: StrategyId, int_id: &IntId) -> Result<(), Problem> {
    let told = doors.ask(Query::Order(int_id.as_str().into())).await?;
    let Answer::Orders(orders) = told.answer else { return Err(Problem::unexpected_answer()) };
    let order = orders.iter().find(|order| order.int_id == *int_id);
    order.map_or(Ok(()), |order| is_own(own, order.strategy))
}

async fn owns_position(doors: &Doors, own: StrategyId, position: PositionId) -> Result<(), Problem> {
    let told = doors.ask(Query::Positions(Filter::default())).await?;
    let Answer::Positions(positions) = told.answer else { return Err(Problem::unexpected_answer()) };
    let position = positions.iter().find(|known| known.id == position);
    position.map_or(Ok(()), |position| is_own(own, position.strategy))
}

fn is_own(own: StrategyId, strategy: StrategyId) -> Result<(), Problem> {
    if strategy == own { Ok(()) } else { Err(foreign("this belongs to another strategy than yours")) }
}

fn foreign(detail: &str) -> Problem {
    Problem::new(FOREIGN, detail)
}
