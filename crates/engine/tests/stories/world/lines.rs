//! Words of the session at a venue and of its lines: `venue connects`, `venue private down`, `lines`.

use domain::Timestamp;
use domain::event::SessionChange;
use domain::query::{AdapterStatus, LineStatus};
use domain::report::{LineKind, ReportKind, SessionState};

/// `logs-on`, `private down`, `trading up`; none for other words.
pub(super) fn said(words: &[&str]) -> Option<ReportKind> {
    match words {
        ["disconnects"] => Some(ReportKind::Session(SessionState::Disconnected)),
        ["connects"] => Some(ReportKind::Session(SessionState::Connected)),
        ["logs-on"] => Some(ReportKind::Session(SessionState::LoggedOn)),
        _ => line_said(words),
    }
}

fn line_said(words: &[&str]) -> Option<ReportKind> {
    let [line, state @ ("down" | "up")] = words else { return None };
    let line = LineKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(line))?;
    let (up, reason) = if *state == "up" { (true, None) } else { (false, Some("no pong".into())) };
    Some(ReportKind::Line { line, up, reason })
}

/// `REDUCE: TRADING up for 3 s heard 1 s ago, PRIVATE down for ...`
pub(super) fn lines_line(now: Timestamp, status: &AdapterStatus) -> String {
    let ago = |at: Option<Timestamp>| at.map_or("?".into(), |at| now.seconds_since(at).to_string());
    let line = |line: &LineStatus| {
        let state = if line.state.up { "up" } else { "down" };
        format!("{} {state} for {} s heard {} s ago", line.state.line.name(), ago(line.since), ago(line.last_heard))
    };
    format!("{}: {}", status.open_for.name(), status.lines.iter().map(line).collect::<Vec<_>>().join(", "))
}

/// With the lines that are down apart from the session.
pub(super) fn session_line(change: &SessionChange) -> String {
    let down = change.lines.iter().filter(|state| state.reason.is_some());
    let down: String = down.map(|state| format!(", {} down", state.line.name())).collect();
    format!("{} {}{down}", change.adapter, change.state.name())
}
