//! The newest lines of the server's log.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bus::operations::LogLine;
use wire::{LogEventVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{KnownParameters, Parameters};

/// The most important first.
pub(crate) const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

/// Oldest first: the first of those after an instant, or the newest there are.
pub(crate) async fn lines(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let levels = levels(&parameters)?;
    let (after, limit) = (parameters.number::<i64>("after", "epoch milliseconds")?, parameters.page_limit()?);
    let mut lines = doors.operations().log_lines();
    lines.retain(|line| levels.contains(&line.level) && after.is_none_or(|after| line.at.millis() > after));
    let skipped = if after.is_none() { lines.len().saturating_sub(limit) } else { 0 };
    let page: Vec<_> = lines.into_iter().skip(skipped).take(limit).collect();
    Ok(answer::list(form, page, |line, text| json::write(&shown(line), text)))
}

fn shown(line: &LogLine) -> LogEventVO<'_> {
    LogEventVO::of_line(line.at, line.level, &line.logger, &line.message, line.error.as_deref())
}

/// The level that is named, and the more important ones.
fn levels(parameters: &Parameters) -> Result<&'static [&'static str], Problem> {
    let Some(wanted) = parameters.get("level") else { return Ok(&LEVELS) };
    let place = LEVELS.iter().position(|level| *level == wanted);
    let unknown = || Problem::bad_parameter("level", &format!("one of {}", LEVELS.join(", ")));
    Ok(&LEVELS[..=place.ok_or_else(unknown)?])
}
