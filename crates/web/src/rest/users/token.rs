//! Tokens for programs: list, create, revoke.

use std::sync::Arc;

use access::{AccessToken, Actor, NewToken, PrincipalName, Secret, UserStore, UserStoreError};
use axum::extract::State;
use axum::response::Response;
use domain::Timestamp;
use domain::rights::TradingRights;
use wire::{NewTokenVO, RightsVO, TokenBody, TokenVO, json, parse_rights};

use crate::app_state::AppState;
use crate::extract::{AuthenticatedClient, JsonBody, PathText};
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;
use crate::rest::users::user::{check_rights, mark_audited, parse_name, parse_role, role_vo};

/// Default life of a token.
const DAYS_DEFAULT: u32 = 90;

pub(crate) async fn list(State(state): State<AppState>, form: ListFormat) -> Result<Response, Problem> {
    let tokens = state.with_register(|register, _| Ok(register.tokens()?)).await?;
    Ok(response::list(form, tokens, |token, text| json::write(&to_vo(token), text)))
}

fn to_vo(token: &AccessToken) -> TokenVO<'_> {
    let (life, rights) = (token.created..token.expires, RightsVO::from_domain(token.rights.as_deref()));
    TokenVO::from_domain(token.name.as_str(), &token.prefix, role_vo(&token.role), life, rights)
}

/// The response is the only place where the token is ever shown.
pub(crate) async fn make(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let TokenBody { name, role, strategy, days, rights } = TokenBody::parse(&body)?;
    check_rights(&state, rights.as_ref())?;
    let (name, role) = (parse_name(&name)?, parse_role(&state, &role, strategy.as_deref())?);
    let wanted = NewToken { name, role, days: days.unwrap_or(DAYS_DEFAULT) };
    let made = state.with_register(move |register, at| make_token(register, wanted, rights, &caller.actor, at)).await?;
    let (token, secret) = made;
    Ok(mark_audited(response::output(json::encode(&NewTokenVO::from_domain(to_vo(&token), secret.text())))))
}

/// The token is not known to anybody before its rights are set.
fn make_token(
    register: &UserStore,
    wanted: NewToken,
    rights: Option<TradingRights>,
    actor: &Actor,
    at: Timestamp,
) -> Result<(AccessToken, Secret), UserStoreError> {
    let (mut token, secret) = register.new_token(wanted, actor, at)?;
    if let Some(rights) = rights {
        register.set_token_rights(&token.name, &rights, actor, at)?;
        token.rights = Some(Arc::new(rights));
    }
    Ok((token, secret))
}

pub(crate) async fn set_rights(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    PathText(name): PathText,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let rights = parse_rights(&body)?;
    check_rights(&state, Some(&rights))?;
    let unknown = || Problem::new("unknown-token", format!("there is no token called {name}")).into_not_found();
    let name: PrincipalName = name.parse().map_err(|_| unknown())?;
    state.with_register(move |register, at| register.set_token_rights(&name, &rights, &caller.actor, at)).await?;
    Ok(mark_audited(response::empty()))
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
