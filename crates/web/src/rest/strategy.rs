//! Strategies, with their phases.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use bus::Operations;
use bus::operations::StrategyTrouble;
use domain::{Answer, Query};
use wire::{StrategyVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{NoBody, PathText};

pub(crate) async fn list(State(doors): State<Doors>, form: Form) -> Result<Response, Problem> {
    let told = doors.ask(Query::Phases).await?;
    let Answer::Phases(phases) = told.answer else { return Err(Problem::unexpected_answer()) };
    let phases: BTreeMap<_, _> = phases.into_iter().map(|(id, phase, failure)| (id, (phase, failure))).collect();
    let strategies = doors.reference().strategies.values().cloned().collect();
    let list = answer::list(form, strategies, move |strategy, text| {
        let (phase, failure) =
            phases.get(&strategy.id).map_or((None, None), |(phase, failure)| (Some(*phase), failure.as_ref()));
        json::write(&StrategyVO::from_domain(strategy, phase, failure), text);
    });
    Ok(answer::as_of(told.sequence, list))
}

pub(crate) async fn start(
    State(doors): State<Doors>,
    PathText(name): PathText,
    _: NoBody,
) -> Result<Response, Problem> {
    act(&doors, name, |operations, name| operations.start_strategy(name)).await
}

pub(crate) async fn stop(State(doors): State<Doors>, PathText(name): PathText, _: NoBody) -> Result<Response, Problem> {
    act(&doors, name, |operations, name| operations.stop_strategy(name)).await
}

/// A strategy runs through its phases meanwhile, which may take long.
async fn act(
    doors: &Doors,
    name: String,
    act: fn(&dyn Operations, &str) -> Result<(), StrategyTrouble>,
) -> Result<Response, Problem> {
    if doors.reference().strategy_named(&name).is_none() {
        return Err(Problem::new("unknown-strategy", format!("strategy {name} is not known")).of_the_path());
    }
    let operations = doors.shared_operations();
    let called = name.clone();
    let done = doors.aside(move || act(&*operations, &called)).await?;
    done.map(|()| answer::done()).map_err(|trouble| problem(&name, trouble))
}

fn problem(name: &str, trouble: StrategyTrouble) -> Problem {
    match trouble {
        StrategyTrouble::NotRunnable => Problem::new(
            "not-runnable",
            format!("no code of strategy {name} runs in this server, so there is nothing to start or stop"),
        ),
        StrategyTrouble::RunsAlready => Problem::new("strategy-runs", format!("strategy {name} runs already")),
        StrategyTrouble::DoesNotRun => Problem::new("strategy-stopped", format!("strategy {name} does not run")),
        StrategyTrouble::Failed(reason) => Problem::new("strategy-failed", format!("strategy {name}: {reason}")),
    }
}
