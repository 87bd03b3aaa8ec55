//! Strategies, with the phase of their life.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use domain::{Answer, Query};
use wire::{StrategyVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::PathText;

pub(crate) async fn list(State(doors): State<Doors>, form: Form) -> Result<Response, Problem> {
    let told = doors.ask(Query::Phases).await?;
    let Answer::Phases(phases) = told.answer else { return Err(Problem::unexpected_answer()) };
    let phases: BTreeMap<_, _> = phases.into_iter().collect();
    let strategies = doors.reference().strategies.values().cloned().collect();
    let list = answer::list(form, strategies, move |strategy, text| {
        json::write(&StrategyVO::from_domain(strategy, phases.get(&strategy.id).copied()), text);
    });
    Ok(answer::as_of(told.sequence, list))
}

/// Strategies are records as long as no code of them runs in this server.
pub(crate) async fn start(State(doors): State<Doors>, PathText(name): PathText) -> Problem {
    not_runnable(&doors, &name)
}

pub(crate) async fn stop(State(doors): State<Doors>, PathText(name): PathText) -> Problem {
    not_runnable(&doors, &name)
}

fn not_runnable(doors: &Doors, name: &str) -> Problem {
    if doors.reference().strategy_named(name).is_none() {
        return Problem::new("unknown-strategy", format!("strategy {name} is not known")).of_the_path();
    }
    Problem::new(
        "not-runnable",
        format!("no code of strategy {name} runs in this server, so there is nothing to start or stop"),
    )
}
