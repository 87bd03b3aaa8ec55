//! Tokens for programs: list, create, revoke.

use access::{AccessToken, NewToken, PrincipalName};
use axum::extract::State;
use axum::response::Response;
use wire::{NewTokenVO, TokenBody, TokenVO, json};

use crate::app_state::AppState;
use crate::extract::{AuthenticatedClient, JsonBody, PathText};
use crate::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;
use crate::rest::user::{mark_audited, parse_name, parse_role, role_vo};

/// Default life of a token.
const DAYS_DEFAULT: u32 = 90;

pub(crate) async fn list(State(state): State<AppState>, form: ListFormat) -> Result<Response, Problem> {
    let tokens = state.with_register(|register, _| Ok(register.tokens()?)).await?;
    Ok(response::list(form, tokens, |token, text| json::write(&to_vo(token), text)))
}

fn to_vo(token: &AccessToken) -> TokenVO<'_> {
    TokenVO {
        name: token.name.as_str(),
        prefix: &token.prefix,
        role: role_vo(&token.role),
        created: token.created.into(),
        expires: token.expires.into(),
    }
}

/// The response is the only place where the token is ever shown.
pub(crate) async fn make(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let TokenBody { name, role, strategy, days } = TokenBody::parse(&body)?;
    let (name, role) = (parse_name(&name)?, parse_role(&state, &role, strategy.as_deref())?);
    let wanted = NewToken { name, role, days: days.unwrap_or(DAYS_DEFAULT) };
    let made = state.with_register(move |register, at| register.new_token(wanted, &caller.actor, at)).await?;
    let (token, secret) = made;
    Ok(mark_audited(response::output(json::encode(&NewTokenVO { known: to_vo(&token), token: secret.text() }))))
}

pub(crate) async fn revoke(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    PathText(name): PathText,
) -> Result<Response, Problem> {
    let unknown = || Problem::new("unknown-token", format!("there is no token called {name}")).into_not_found();
    let name: PrincipalName = name.parse().map_err(|_| unknown())?;
    state.with_register(move |register, at| register.revoke_token(&name, &caller.actor, at)).await?;
    Ok(mark_audited(response::empty()))
}
