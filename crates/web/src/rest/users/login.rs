//! Login and logout: a session in a cookie.

use access::{Access, AccessCredentials, Actor, Identity, SESSION_HOURS_MAX, Secret, SecretString};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use wire::{IdentityVO, LoginBody, RoleVO, json};

use crate::app_state::AppState;
use crate::endpoints::endpoint;
use crate::extract::{AuthenticatedClient, JsonBody};
use crate::middleware::caller::{audit_visit, is_secure};
use crate::middleware::credentials::{cookie_name, session_secret};
use crate::problem::Problem;
use crate::response;

/// The caller's identity.
pub(crate) async fn who(AuthenticatedClient(caller): AuthenticatedClient) -> Response {
    response::value(session_json(&caller.identity))
}

pub(crate) async fn login(State(state): State<AppState>, request: Request) -> Result<Response, Problem> {
    let (visit, is_secure, old) = login_request(&request)?;
    let JsonBody(body) = JsonBody::from_request(request, &state).await?;
    let LoginBody { user, password } = LoginBody::parse(&body)?;
    let access = state.access();
    let credentials = AccessCredentials::Password { user, password: password.into() };
    let identity = access.authenticate(credentials, &visit).await?;
    let secret = access.start_session(&identity)?;
    end_session(access, old);
    check_audited(access.audit_action(&Actor { user: identity.name.clone(), request: visit }, "session begun").await)?;
    Ok(with_cookie(response::output(session_json(&identity)), is_secure, Some(&secret)))
}

/// A caller without a session is logged out already.
pub(crate) async fn logout(State(state): State<AppState>, request: Request) -> Result<Response, Problem> {
    let (visit, is_secure, old) = login_request(&request)?;
    let access = state.access();
    if let Some(old) = old {
        let user = access.user_of_session(&old);
        end_session(access, Some(old));
        if user.is_some() {
            check_audited(access.audit_action(&Actor { user, request: visit }, "session ended").await)?;
        }
    }
    Ok(with_cookie(response::empty(), is_secure, None))
}

fn login_request(request: &Request) -> Result<(access::AccessRequest, bool, Option<SecretString>), Problem> {
    let row = endpoint(request.method(), request.uri().path()).ok_or_else(Problem::unexpected_answer)?;
    let is_secure = is_secure(request);
    Ok((audit_visit(row, request), is_secure, session_secret(request.headers(), is_secure)))
}

fn end_session(access: &Access, session: Option<SecretString>) {
    if let Some(session) = session {
        access.end_session(&session);
    }
}

fn check_audited(is_written: bool) -> Result<(), Problem> {
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

fn session_json(identity: &Identity) -> Vec<u8> {
    let role = RoleVO::new(identity.role.name(), identity.role.strategy().map(|strategy| &**strategy));
    json::encode(&IdentityVO::from_domain(identity.name.as_deref(), role))
}
