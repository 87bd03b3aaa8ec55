//! Login and logout: a session in a cookie.

use access::{Access, Actor, Credentials, Identity, SESSION_HOURS_MAX, Secret, SecretString};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use wire::{IdentityVO, LoginBody, RoleVO, json};

use crate::answer;
use crate::credentials::{cookie_name, session};
use crate::doors::Doors;
use crate::endpoints::endpoint;
use crate::problem::Problem;
use crate::request::{Client, JsonBody};
use crate::visitor::{is_secure, visit};

/// The caller's identity.
pub(crate) async fn who(Client(speaker): Client) -> Response {
    answer::value(shown(&speaker.identity))
}

pub(crate) async fn login(State(doors): State<Doors>, request: Request) -> Result<Response, Problem> {
    let (visit, is_secure, old) = seen(&request)?;
    let JsonBody(body) = JsonBody::from_request(request, &doors).await?;
    let LoginBody { user, password } = LoginBody::parse(&body)?;
    let access = doors.access();
    let credentials = Credentials::Password { user, password: password.into() };
    let identity = access.authenticate(credentials, &visit).await?;
    let secret = access.begin_session(&identity)?;
    end(access, old);
    written(access.done(&Actor { user: identity.name.clone(), visit }, "session begun").await)?;
    Ok(with_cookie(answer::output(shown(&identity)), is_secure, Some(&secret)))
}

/// A caller without a session is logged out already.
pub(crate) async fn logout(State(doors): State<Doors>, request: Request) -> Result<Response, Problem> {
    let (visit, is_secure, old) = seen(&request)?;
    let access = doors.access();
    if let Some(old) = old {
        let user = access.user_of_session(&old);
        end(access, Some(old));
        if user.is_some() {
            written(access.done(&Actor { user, visit }, "session ended").await)?;
        }
    }
    Ok(with_cookie(answer::done(), is_secure, None))
}

fn seen(request: &Request) -> Result<(access::Visit, bool, Option<SecretString>), Problem> {
    let row = endpoint(request.method(), request.uri().path()).ok_or_else(Problem::unexpected_answer)?;
    let is_secure = is_secure(request);
    Ok((visit(row, request), is_secure, session(request.headers(), is_secure)))
}

fn end(access: &Access, session: Option<SecretString>) {
    if let Some(session) = session {
        access.end_session(&session);
    }
}

fn written(is_written: bool) -> Result<(), Problem> {
    if is_written { Ok(()) } else { Err(Problem::new("access-unavailable", "the audit could not be written")) }
}

/// A cookie that scripts cannot read and that other sites cannot make a browser send; without a secret it is deleted.
fn with_cookie(mut response: Response, is_secure: bool, secret: Option<&Secret>) -> Response {
    let (name, secure) = (cookie_name(is_secure), if is_secure { "; Secure" } else { "" });
    let seconds = secret.map_or(0, |_| SESSION_HOURS_MAX * 60 * 60);
    let value = secret.map_or("", Secret::text);
    let cookie = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    let cookie = HeaderValue::try_from(cookie).expect("a secret is hexadecimal");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

fn shown(identity: &Identity) -> Vec<u8> {
    let role = RoleVO::new(identity.role.name(), identity.role.strategy().map(|strategy| &**strategy));
    json::encode(&IdentityVO { user: identity.name.as_deref(), role })
}
