//! Strategies, with their phases.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use bus::StrategyAdmin;
use bus::operations::StrategyError;
use domain::{Answer, Query};
use wire::{StrategyVO, json};

use crate::app_state::AppState;
use crate::extract::{NoBody, PathText};
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn list(State(state): State<AppState>, form: ListFormat) -> Result<Response, Problem> {
    let reply = state.query(Query::Phases).await?;
    let Answer::Phases(phases) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let phases: BTreeMap<_, _> = phases.into_iter().map(|(id, phase, failure)| (id, (phase, failure))).collect();
    let strategies = state.reference().strategies.values().cloned().collect();
    let list = response::list(form, strategies, move |strategy, text| {
        let (phase, failure) =
            phases.get(&strategy.id).map_or((None, None), |(phase, failure)| (Some(*phase), failure.as_ref()));
        json::write(&StrategyVO::from_domain(strategy, phase, failure), text);
    });
    Ok(response::with_sequence(reply.sequence, list))
}

pub(crate) async fn start(
    State(state): State<AppState>,
    PathText(name): PathText,
    _: NoBody,
) -> Result<Response, Problem> {
    command(&state, name, |strategies, name| strategies.start(name)).await
}

pub(crate) async fn stop(
    State(state): State<AppState>,
    PathText(name): PathText,
    _: NoBody,
) -> Result<Response, Problem> {
    command(&state, name, |strategies, name| strategies.stop(name)).await
}

/// A strategy runs through its phases meanwhile, which may take long.
async fn command(
    state: &AppState,
    name: String,
    act: fn(&dyn StrategyAdmin, &str) -> Result<(), StrategyError>,
) -> Result<Response, Problem> {
    if state.reference().strategy_named(&name).is_none() {
        return Err(Problem::new("unknown-strategy", format!("strategy {name} is not known")).into_not_found());
    }
    let strategies = state.services().strategies.clone();
    let called = name.clone();
    let done = state.blocking(move || act(&*strategies, &called)).await?;
    done.map(|()| response::empty()).map_err(|trouble| strategy_problem(&name, trouble))
}

fn strategy_problem(name: &str, trouble: StrategyError) -> Problem {
    match trouble {
        StrategyError::NotRunnable => Problem::new(
            "not-runnable",
            format!("no code of strategy {name} runs in this server, so there is nothing to start or stop"),
        ),
        StrategyError::AlreadyRunning => Problem::new("strategy-runs", format!("strategy {name} runs already")),
        StrategyError::NotRunning => Problem::new("strategy-stopped", format!("strategy {name} does not run")),
        StrategyError::Failed(reason) => Problem::new("strategy-failed", format!("strategy {name}: {reason}")),
    }
}
