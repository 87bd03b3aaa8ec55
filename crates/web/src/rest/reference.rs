//! Reference data import from files: only differences are applied.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::Response;
use bus::operations::ReferenceTrouble;
use wire::operator::parse_import;
use wire::{ImportedVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::problem::Problem;
use crate::request::JsonBody;
use crate::visitor::Reached;

/// Errors of the files that a problem lists; more are counted.
const FAULTS_TOLD_MAX: usize = 20;

/// The folder of the configuration.
pub(crate) async fn clear_caches(State(doors): State<Doors>) -> Result<Response, Problem> {
    read(&doors, None).await?;
    Ok(answer::done())
}

/// A folder on the server's own machine, so only local callers may name one.
pub(crate) async fn import(
    State(doors): State<Doors>,
    reached: Option<Extension<Reached>>,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    if !reached.is_some_and(|Extension(reached)| reached.is_from_this_machine()) {
        return Err(Problem::new("not-local", "only a caller on the server's own machine may name a folder of it"));
    }
    let folder = parse_import(&body)?;
    let changes = read(&doors, Some(folder.into())).await?;
    Ok(answer::output(json::encode(&ImportedVO { changes })))
}

async fn read(doors: &Doors, folder: Option<PathBuf>) -> Result<usize, Problem> {
    let operations: Arc<dyn bus::Operations> = doors.shared_operations();
    doors.aside(move || operations.read_reference(folder.as_deref())).await?.map_err(trouble)
}

fn trouble(trouble: ReferenceTrouble) -> Problem {
    match trouble {
        ReferenceTrouble::Files(faults) => Problem::new("bad-reference-data", told(&faults)),
        ReferenceTrouble::Refused(refusal) => refusal.into(),
        ReferenceTrouble::Unanswered => {
            Problem::new("outcome-unknown", "the engine gave no answer, so some of the changes may be in: read again")
        }
    }
}

fn told(faults: &[String]) -> String {
    let mut text = faults[..faults.len().min(FAULTS_TOLD_MAX)].join("; ");
    if let Some(more) = faults.len().checked_sub(FAULTS_TOLD_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("; and {more} more"));
    }
    text
}
