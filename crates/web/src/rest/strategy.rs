//! Strategies, with the phase of their life.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use domain::{Answer, Query};
use wire::{StrategyVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::problem::Problem;

pub(crate) async fn list(State(doors): State<Doors>) -> Result<Response, Problem> {
    let told = doors.ask(Query::Phases).await?;
    let Answer::Phases(phases) = told.answer else { return Err(Problem::unexpected_answer()) };
    let phases: BTreeMap<_, _> = phases.into_iter().collect();
    let strategies = doors.reference().strategies.values().cloned().collect();
    let list = answer::list(strategies, move |strategy, text| {
        json::write(&StrategyVO::from_domain(strategy, phases.get(&strategy.id).copied()), text);
    });
    Ok(answer::as_of(told.sequence, list))
}
