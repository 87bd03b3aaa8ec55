//! Authorization: the caller's role against the endpoint table. Refusals and administrative actions are audited.

use access::{Access, AccessCredentials, AccessRequest, Actor};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::{PlantedBug, Source};
use net::PermitHandle;

use crate::app_state::AppState;
use crate::endpoints::{Endpoint, RequiredRole};
use crate::middleware::caller::{
    AlreadyAudited, Authenticated, ForwardedCaller, HttpCaller, audit_visit, is_secure, is_ui,
};
use crate::middleware::credentials::from_headers;
use crate::middleware::dispatch::Dispatch;
use crate::problem::{Problem, ProblemCode};
use crate::response::SEQUENCE_HEADER;

/// Challenge for browsers; a page of ours has its own login form.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Basic realm=\"Rialto\"");

/// Audited actions that need no admin role.
const AUDITED_BELOW_ADMIN: [&str; 3] = ["risk::kill", "risk::disarm_dead_man", "order::claim"];

/// Detail of an audit entry beside its path.
#[derive(Debug, Clone)]
pub(crate) struct AuditDetail(pub(crate) String);

/// Authorizes a request and dispatches it to its endpoint.
pub(crate) async fn authorize(state: &AppState, row: &Endpoint, mut request: Request, dispatch: Dispatch) -> Response {
    if row.role == RequiredRole::Anyone {
        return dispatch.run(request).await;
    }
    let caller = match AuthenticationRequest::from_request(row, &request).authenticate(row.role, state.access()).await {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    let actor = is_audited(row).then(|| caller.actor.clone());
    request.extensions().get::<PermitHandle>().map(PermitHandle::mark_authenticated);
    request.extensions_mut().insert(Authenticated);
    request.extensions_mut().insert(caller);
    match actor {
        Some(actor) => run_audited(state.clone(), actor, request, dispatch).await,
        None => dispatch.run(request).await,
    }
}

/// An unauthenticated caller is challenged.
pub(crate) fn challenge(mut response: Response, is_ui: bool) -> Response {
    if response.status() == StatusCode::UNAUTHORIZED && !is_ui {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, CHALLENGE);
    }
    response
}

/// The head of a request, without its body.
struct AuthenticationRequest {
    visit: AccessRequest,
    source: Source,
    credentials: CallerCredentials,
}

/// How a caller is known.
enum CallerCredentials {
    Own(AccessCredentials),
    Forwarded(ForwardedCaller),
}

impl AuthenticationRequest {
    fn from_request(row: &Endpoint, request: &Request) -> Self {
        let (headers, visit) = (request.headers(), audit_visit(row, request));
        let source = if is_ui(headers) { Source::Ui } else { Source::Rest };
        let credentials = match request.extensions().get::<ForwardedCaller>() {
            Some(forwarded) => CallerCredentials::Forwarded(forwarded.clone()),
            None => CallerCredentials::Own(from_headers(headers, is_secure(request))),
        };
        Self { visit, source, credentials }
    }

    async fn authenticate(self, needed: RequiredRole, access: &Access) -> Result<HttpCaller, Problem> {
        let identity = match self.credentials {
            CallerCredentials::Own(credentials) => access.authenticate(credentials, &self.visit).await?,
            CallerCredentials::Forwarded(ForwardedCaller { user }) => {
                access.identify_forwarded(user.as_deref(), &self.visit).await?
            }
        };
        let actor = Actor { user: identity.name.clone(), request: self.visit };
        if !is_allowed(&identity.role, needed) {
            let problem = role_too_low(&identity.role, needed);
            problem.record(access, &actor).await;
            return Err(problem);
        }
        Ok(HttpCaller { identity, source: self.source, actor })
    }
}

/// Whether a role has the required one.
pub(crate) fn is_allowed(role: &access::UserRole, needed: RequiredRole) -> bool {
    let reach = match role {
        access::UserRole::Viewer => RequiredRole::Viewer,
        access::UserRole::Trader | access::UserRole::Strategy(_) => RequiredRole::Trader,
        access::UserRole::Admin => RequiredRole::Admin,
    };
    reach >= needed || PlantedBug::SkipRoleCheck.is_planted()
}

fn role_too_low(role: &access::UserRole, needed: RequiredRole) -> Problem {
    let needed = format!("{needed:?}").to_lowercase();
    Problem::new("role-too-low", format!("this needs the role {needed}, and yours is {role}"))
}

/// Administrative actions: everything that requires an admin, the kill switch, the end of a dead-man timer, and claims.
fn is_audited(row: &Endpoint) -> bool {
    row.role == RequiredRole::Admin && row.method != "GET" || AUDITED_BELOW_ADMIN.contains(&row.handler)
}

/// An action that has begun is completed and audited, also when the client disconnects.
async fn run_audited(state: AppState, actor: Actor, request: Request, dispatch: Dispatch) -> Response {
    let path = request.uri().path().to_owned();
    let acting = async move {
        let response = dispatch.run(request).await;
        record_outcome(state.access(), &actor, &path, response).await
    };
    tokio::spawn(acting).await.unwrap_or_else(|_| Problem::new("internal", "the request failed").into_response())
}

async fn record_outcome(access: &Access, actor: &Actor, path: &str, response: Response) -> Response {
    if response.extensions().get::<AlreadyAudited>().is_some() {
        return response;
    }
    // A refusal was audited where it was made.
    if response.status() == StatusCode::FORBIDDEN {
        return response;
    }
    if let Some(ProblemCode(code)) = response.extensions().get() {
        access.audit_refusal(actor, code, path).await;
        return response;
    }
    if access.audit_action(actor, &audit_detail(path, &response)).await {
        return response;
    }
    Problem::new("internal", "this was done, but the audit could not be written").into_response()
}

fn audit_detail(path: &str, response: &Response) -> String {
    let mut detail = path.to_owned();
    if let Some(AuditDetail(particulars)) = response.extensions().get() {
        detail.push_str(&format!(", {particulars}"));
    }
    if let Some(sequence) = response.headers().get(SEQUENCE_HEADER).and_then(|sequence| sequence.to_str().ok()) {
        detail.push_str(&format!(", sequence {sequence}"));
    }
    detail
}
