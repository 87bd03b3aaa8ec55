//! Tokens for programs: list, create, revoke.

use access::{Name, NewToken, Token};
use axum::extract::State;
use axum::response::Response;
use wire::{NewTokenVO, TokenBody, TokenVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{Client, JsonBody, PathText};
use crate::rest::user::{name_of, recorded, role_of, role_vo};

/// Default life of a token.
const DAYS_DEFAULT: u32 = 90;

pub(crate) async fn list(State(doors): State<Doors>, form: Form) -> Result<Response, Problem> {
    let tokens = doors.with_register(|register, _| Ok(register.tokens()?)).await?;
    Ok(answer::list(form, tokens, |token, text| json::write(&shown(token), text)))
}

fn shown(token: &Token) -> TokenVO<'_> {
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
    State(doors): State<Doors>,
    Client(speaker): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let TokenBody { name, role, strategy, days } = TokenBody::parse(&body)?;
    let (name, role) = (name_of(&name)?, role_of(&doors, &role, strategy.as_deref())?);
    let wanted = NewToken { name, role, days: days.unwrap_or(DAYS_DEFAULT) };
    let made = doors.with_register(move |register, at| register.new_token(wanted, &speaker.actor, at)).await?;
    let (token, secret) = made;
    Ok(recorded(answer::output(json::encode(&NewTokenVO { known: shown(&token), token: secret.text() }))))
}

pub(crate) async fn revoke(
    State(doors): State<Doors>,
    Client(speaker): Client,
    PathText(name): PathText,
) -> Result<Response, Problem> {
    let unknown = || Problem::new("unknown-token", format!("there is no token called {name}")).of_the_path();
    let name: Name = name.parse().map_err(|_| unknown())?;
    doors.with_register(move |register, at| register.revoke_token(&name, &speaker.actor, at)).await?;
    Ok(recorded(answer::done()))
}
