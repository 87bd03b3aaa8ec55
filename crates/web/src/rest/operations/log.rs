//! The newest lines of the server's log.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bus::history::PageRequest;
use bus::operations::LogLine;
use wire::{LogEventVO, json};

use crate::app_state::AppState;
use crate::extract::{QueryExtension, QueryParameters};
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

/// The most important first.
pub(crate) const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

/// Oldest first: the first lines after a number, or the newest.
pub(crate) async fn lines(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let levels = levels(&parameters)?;
    let PageRequest { after, limit } = parameters.page()?;
    let mut lines = state.services().admin.log_lines();
    lines.retain(|(number, line)| levels.contains(&line.level) && *number > after);
    let skipped = if after == 0 { lines.len().saturating_sub(limit) } else { 0 };
    let page: Vec<_> = lines.into_iter().skip(skipped).take(limit).collect();
    let last = page.last().map_or(after, |(number, _)| *number);
    let list = response::list(form, page, |(_, line), text| json::write(&to_vo(line), text));
    Ok(response::with_after(last, list))
}

fn to_vo(line: &LogLine) -> LogEventVO<'_> {
    LogEventVO::of_line(line.at, line.level, &line.logger, &line.message, line.error.as_deref())
}

/// The given level, and the more important ones.
fn levels(parameters: &QueryParameters) -> Result<&'static [&'static str], Problem> {
    let Some(wanted) = parameters.get("level") else { return Ok(&LEVELS) };
    let place = LEVELS.iter().position(|level| *level == wanted);
    let unknown = || Problem::bad_parameter("level", &format!("one of {}", LEVELS.join(", ")));
    Ok(&LEVELS[..=place.ok_or_else(unknown)?])
}
