//! FIX sessions: status, logout, reset, sequence numbers; a new reading of their file.

use axum::extract::State;
use axum::response::Response;
use bus::operations::{FixReloadError, FixSessionChanges, FixSessionCommand, FixSessionError, FixSessionStatus};
use wire::{FixNumbersBody, FixReloadVO, FixSessionVO, json};

use crate::app_state::AppState;
use crate::extract::{JsonBody, NoBody, PathText};
use crate::lists::list_format::ListFormat;
use crate::middleware::authorization::AuditDetail;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn sessions(State(state): State<AppState>, form: ListFormat) -> Response {
    let sessions = state.services().fix_session_states();
    response::list(form, sessions, |session, text| json::write(&to_vo(session), text))
}

fn to_vo(session: &FixSessionStatus) -> FixSessionVO<'_> {
    FixSessionVO {
        id: &session.id,
        senderCompId: &session.sender_comp_id,
        targetCompId: &session.target_comp_id,
        state: session.state.name(),
        peer: session.peer.map(|peer| peer.to_string()),
        nextIn: session.next_in,
        nextOut: session.next_out,
        lastReceived: session.last_received.map(Into::into),
        lastSent: session.last_sent.map(Into::into),
        nextReset: session.next_reset.map(Into::into),
        reason: session.disconnect_reason.as_deref(),
    }
}

pub(crate) async fn logout(
    State(state): State<AppState>,
    PathText(id): PathText,
    _: NoBody,
) -> Result<Response, Problem> {
    command(&state, id, FixSessionCommand::Logout).await
}

pub(crate) async fn reset(
    State(state): State<AppState>,
    PathText(id): PathText,
    _: NoBody,
) -> Result<Response, Problem> {
    set_sequence_numbers(&state, id, FixSessionCommand::ResetSeqNums).await
}

pub(crate) async fn numbers(
    State(state): State<AppState>,
    PathText(id): PathText,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let FixNumbersBody { next_in, next_out } = FixNumbersBody::parse(&body)?;
    set_sequence_numbers(&state, id, FixSessionCommand::SetSeqNums { next_in, next_out }).await
}

/// Old and new sequence numbers of a session are audited: without them a later analysis could not tell what was resent
/// or lost.
async fn set_sequence_numbers(state: &AppState, id: String, new: FixSessionCommand) -> Result<Response, Problem> {
    let before = sequence_numbers(state, &id);
    let mut response = command(state, id.clone(), new).await?;
    if let (Some((old_in, old_out)), Some((new_in, new_out))) = (before, sequence_numbers(state, &id)) {
        let particulars = format!("nextIn {old_in} to {new_in}, nextOut {old_out} to {new_out}");
        response.extensions_mut().insert(AuditDetail(particulars));
    }
    Ok(response)
}

fn sequence_numbers(state: &AppState, id: &str) -> Option<(u64, u64)> {
    let sessions = state.services().fix_session_states();
    sessions.iter().find(|session| session.id == id).map(|session| (session.next_in, session.next_out))
}

async fn command(state: &AppState, id: String, act: FixSessionCommand) -> Result<Response, Problem> {
    let (gateway, name) = (state.services().fix_sessions.clone(), id.clone());
    let command = move || gateway.ok_or(FixSessionError::UnknownSession)?.command(&name, act);
    let acted = state.blocking(command).await?;
    acted.map_err(|trouble| match trouble {
        FixSessionError::UnknownSession => Problem::new("unknown-session", format!("FIX session {id} is not known")),
        FixSessionError::Connected => {
            Problem::new("session-connected", format!("the client of FIX session {id} is connected: log it out first"))
        }
        FixSessionError::Busy => Problem::new("busy", format!("FIX session {id} takes no more requests, try again")),
        FixSessionError::NotStored(reason) => Problem::new(
            "busy",
            format!("the sequence numbers of FIX session {id} are not changed, try again: {reason}"),
        ),
    })?;
    Ok(response::empty())
}

pub(crate) async fn reload(State(state): State<AppState>, _: NoBody) -> Result<Response, Problem> {
    let gateway = state.services().fix_sessions.clone();
    let gateway = gateway.ok_or_else(|| Problem::new("unknown-session", "this server has no FIX port"))?;
    let changes = state.blocking(move || gateway.reload()).await?.map_err(reload_problem)?;
    let FixSessionChanges { added, changed, removed, unchanged, warnings } = &changes;
    let mut response = response::output(json::encode(&FixReloadVO { added, changed, removed, unchanged, warnings }));
    response.extensions_mut().insert(AuditDetail(changes.summary()));
    Ok(response)
}

fn reload_problem(error: FixReloadError) -> Problem {
    match error {
        FixReloadError::Refused(problems) => Problem::new("bad-session-file", problems.join("; ")),
        FixReloadError::Busy => Problem::new("busy", "the FIX port starts or stops, try again"),
    }
}
