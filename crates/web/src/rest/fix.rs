//! The sessions of the FIX door, as an operator sees and steers them.

use axum::extract::State;
use axum::response::Response;
use bus::operations::{FixAct, FixSession, UnknownFixSession};
use wire::{FixNumbersBody, FixSessionVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{JsonBody, PathText};

pub(crate) async fn sessions(State(doors): State<Doors>, form: Form) -> Response {
    let sessions = doors.operations().fix_sessions();
    answer::list(form, sessions, |session, text| json::write(&shown(session), text))
}

fn shown(session: &FixSession) -> FixSessionVO<'_> {
    let state = if session.is_logged_on { "LOGGED_ON" } else { "DISCONNECTED" };
    FixSessionVO { id: &session.id, state, next_in: session.next_in, next_out: session.next_out }
}

pub(crate) async fn logout(State(doors): State<Doors>, PathText(id): PathText) -> Result<Response, Problem> {
    act(&doors, &id, FixAct::Logout)
}

pub(crate) async fn reset(State(doors): State<Doors>, PathText(id): PathText) -> Result<Response, Problem> {
    act(&doors, &id, FixAct::Reset)
}

pub(crate) async fn numbers(
    State(doors): State<Doors>,
    PathText(id): PathText,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let FixNumbersBody { next_in, next_out } = FixNumbersBody::parse(&body)?;
    act(&doors, &id, FixAct::Number { next_in, next_out })
}

fn act(doors: &Doors, id: &str, act: FixAct) -> Result<Response, Problem> {
    let unknown = |UnknownFixSession| Problem::new("unknown-session", format!("FIX session {id} is not known"));
    doors.operations().act_on_fix_session(id, act).map_err(unknown)?;
    Ok(answer::done())
}
