//! FIX sessions: status, logout, reset, sequence numbers.

use axum::extract::State;
use axum::response::Response;
use bus::operations::{FixAct, FixSession, FixTrouble};
use wire::{FixNumbersBody, FixSessionVO, json};

use crate::admission::Particulars;
use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{JsonBody, NoBody, PathText};

pub(crate) async fn sessions(State(doors): State<Doors>, form: Form) -> Response {
    let sessions = doors.operations().fix_sessions();
    answer::list(form, sessions, |session, text| json::write(&shown(session), text))
}

fn shown(session: &FixSession) -> FixSessionVO<'_> {
    FixSessionVO {
        id: &session.id,
        sender_comp_id: &session.sender_comp_id,
        target_comp_id: &session.target_comp_id,
        state: session.state.name(),
        peer: session.peer.map(|peer| peer.to_string()),
        next_in: session.next_in,
        next_out: session.next_out,
        last_received: session.last_received.map(Into::into),
        last_sent: session.last_sent.map(Into::into),
        next_reset: session.next_reset.map(Into::into),
        reason: session.ended.as_deref(),
    }
}

pub(crate) async fn logout(State(doors): State<Doors>, PathText(id): PathText, _: NoBody) -> Result<Response, Problem> {
    act(&doors, id, FixAct::Logout).await
}

pub(crate) async fn reset(State(doors): State<Doors>, PathText(id): PathText, _: NoBody) -> Result<Response, Problem> {
    renumber(&doors, id, FixAct::Reset).await
}

pub(crate) async fn numbers(
    State(doors): State<Doors>,
    PathText(id): PathText,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let FixNumbersBody { next_in, next_out } = FixNumbersBody::parse(&body)?;
    renumber(&doors, id, FixAct::Number { next_in, next_out }).await
}

/// Old and new sequence numbers of a session are audited: without them a later analysis could not tell what was resent
/// or lost.
async fn renumber(doors: &Doors, id: String, new: FixAct) -> Result<Response, Problem> {
    let before = numbers_of(doors, &id);
    let mut response = act(doors, id.clone(), new).await?;
    if let (Some((old_in, old_out)), Some((new_in, new_out))) = (before, numbers_of(doors, &id)) {
        let particulars = format!("nextIn {old_in} to {new_in}, nextOut {old_out} to {new_out}");
        response.extensions_mut().insert(Particulars(particulars));
    }
    Ok(response)
}

fn numbers_of(doors: &Doors, id: &str) -> Option<(u64, u64)> {
    let sessions = doors.operations().fix_sessions();
    sessions.iter().find(|session| session.id == id).map(|session| (session.next_in, session.next_out))
}

async fn act(doors: &Doors, id: String, act: FixAct) -> Result<Response, Problem> {
    let (operations, name) = (doors.shared_operations(), id.clone());
    let acted = doors.aside(move || operations.act_on_fix_session(&name, act)).await?;
    acted.map_err(|trouble| match trouble {
        FixTrouble::Unknown => Problem::new("unknown-session", format!("FIX session {id} is not known")),
        FixTrouble::Connected => {
            Problem::new("session-connected", format!("the client of FIX session {id} is connected: log it out first"))
        }
        FixTrouble::Busy => Problem::new("busy", format!("FIX session {id} takes no more requests, try again")),
    })?;
    Ok(answer::done())
}
