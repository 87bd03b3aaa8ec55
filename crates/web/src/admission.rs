//! Authorization: the caller's role against the endpoint table. Refusals and administrative actions are audited.

use access::{Access, Actor, Credentials, Visit};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::Source;

use crate::answer::SEQUENCE_HEADER;
use crate::credentials::shown;
use crate::doors::Doors;
use crate::endpoints::{Endpoint, Role};
use crate::last_steps::LastSteps;
use crate::places::Seat;
use crate::problem::{Problem, ProblemCode};
use crate::visitor::{Speaker, is_secure, is_ui, visit};

/// Challenge for browsers; a page of ours has its own login form.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Basic realm=\"Rialto\"");

/// Audited actions that need no admin role.
const ACTS_OF_OTHERS: [&str; 1] = ["risk::kill"];

/// The request's sender was let in, whoever it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LetIn;

/// The answer tells of an act that is in the audit already.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InTheAudit;

/// Detail of an audit entry beside its path.
#[derive(Debug, Clone)]
pub(crate) struct Particulars(pub(crate) String);

/// Authorizes a request and dispatches it to its endpoint.
pub(crate) async fn admit(doors: &Doors, row: &Endpoint, mut request: Request, last_steps: LastSteps) -> Response {
    if row.role == Role::Anyone {
        return last_steps.walk(request).await;
    }
    let speaker = match Knock::of(row, &request).answer(row.role, doors.access()).await {
        Ok(speaker) => speaker,
        Err(problem) => return problem.into_response(),
    };
    let actor = is_act(row).then(|| speaker.actor.clone());
    request.extensions().get::<Seat>().into_iter().for_each(Seat::let_in);
    request.extensions_mut().insert(LetIn);
    request.extensions_mut().insert(speaker);
    match actor {
        Some(actor) => act(doors.clone(), actor, request, last_steps).await,
        None => last_steps.walk(request).await,
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
struct Knock {
    visit: Visit,
    source: Source,
    credentials: Credentials,
}

impl Knock {
    fn of(row: &Endpoint, request: &Request) -> Self {
        let (headers, visit) = (request.headers(), visit(row, request));
        let source = if is_ui(headers) { Source::Ui } else { Source::Rest };
        Self { visit, source, credentials: shown(headers, is_secure(request)) }
    }

    async fn answer(self, needed: Role, access: &Access) -> Result<Speaker, Problem> {
        let identity = access.authenticate(self.credentials, &self.visit).await?;
        let actor = Actor { user: identity.name.clone(), visit: self.visit };
        if !is_allowed(&identity.role, needed) {
            let problem = too_low(&identity.role, needed);
            problem.record(access, &actor).await;
            return Err(problem);
        }
        Ok(Speaker { identity, source: self.source, actor })
    }
}

/// Whether a role has the required one.
pub(crate) fn is_allowed(role: &access::Role, needed: Role) -> bool {
    let reach = match role {
        access::Role::Viewer => Role::Viewer,
        access::Role::Trader | access::Role::Strategy(_) => Role::Trader,
        access::Role::Admin => Role::Admin,
    };
    reach >= needed
}

fn too_low(role: &access::Role, needed: Role) -> Problem {
    let needed = format!("{needed:?}").to_lowercase();
    Problem::new("role-too-low", format!("this needs the role {needed}, and yours is {role}"))
}

/// Administrative actions: everything that requires an admin, and the kill switch.
fn is_act(row: &Endpoint) -> bool {
    row.role == Role::Admin && row.method != "GET" || ACTS_OF_OTHERS.contains(&row.handler)
}

/// An action that has begun is completed and audited, also when the client disconnects.
async fn act(doors: Doors, actor: Actor, request: Request, last_steps: LastSteps) -> Response {
    let path = request.uri().path().to_owned();
    let acting = async move {
        let response = last_steps.walk(request).await;
        record(doors.access(), &actor, &path, response).await
    };
    tokio::spawn(acting).await.unwrap_or_else(|_| Problem::new("internal", "the request failed").into_response())
}

async fn record(access: &Access, actor: &Actor, path: &str, response: Response) -> Response {
    if response.extensions().get::<InTheAudit>().is_some() {
        return response;
    }
    // A refusal was audited where it was made.
    if response.status() == StatusCode::FORBIDDEN {
        return response;
    }
    if let Some(ProblemCode(code)) = response.extensions().get() {
        access.refused(actor, code, path).await;
        return response;
    }
    if access.done(actor, &detail(path, &response)).await {
        return response;
    }
    Problem::new("internal", "this was done, but the audit could not be written").into_response()
}

fn detail(path: &str, response: &Response) -> String {
    let mut detail = path.to_owned();
    if let Some(Particulars(particulars)) = response.extensions().get() {
        detail.push_str(&format!(", {particulars}"));
    }
    if let Some(sequence) = response.headers().get(SEQUENCE_HEADER).and_then(|sequence| sequence.to_str().ok()) {
        detail.push_str(&format!(", sequence {sequence}"));
    }
    detail
}
