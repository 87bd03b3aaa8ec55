//! Who may call what: the role of the caller against the role in the table of endpoints. What is refused, and what is
//! done with an admin's power, stands in the audit.

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
use crate::problem::{Problem, ProblemCode};
use crate::visitor::{Speaker, is_secure, is_ui, visit};

/// What a browser asks its user for; a page of ours asks in its own way.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Basic realm=\"Rialto\"");

/// Acts of power that an admin's role is not needed for.
const ACTS_OF_OTHERS: [&str; 1] = ["risk::kill"];

/// The answer tells of an act that is in the audit already.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InTheAudit;

/// What the audit tells of an act beside its path.
#[derive(Debug, Clone)]
pub(crate) struct Particulars(pub(crate) String);

/// Lets a request pass to its endpoint.
pub(crate) async fn admit(doors: &Doors, row: &Endpoint, mut request: Request, last_steps: LastSteps) -> Response {
    if row.role == Role::Anyone {
        return last_steps.walk(request).await;
    }
    let speaker = match Knock::of(row, &request).answer(row.role, doors.access()).await {
        Ok(speaker) => speaker,
        Err(problem) => return problem.into_response(),
    };
    let actor = is_act(row).then(|| speaker.actor.clone());
    request.extensions_mut().insert(speaker);
    match actor {
        Some(actor) => act(doors.clone(), actor, request, last_steps).await,
        None => last_steps.walk(request).await,
    }
}

/// Who is not known is asked for his name.
pub(crate) fn challenge(mut response: Response, is_ui: bool) -> Response {
    if response.status() == StatusCode::UNAUTHORIZED && !is_ui {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, CHALLENGE);
    }
    response
}

/// What a request brings to the door; its body stays outside.
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

/// Whether a role reaches what the table asks for.
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

/// Resets, limits, users, the end of the server: whatever only an admin may do, and the kill switch.
fn is_act(row: &Endpoint) -> bool {
    row.role == Role::Admin && row.method != "GET" || ACTS_OF_OTHERS.contains(&row.handler)
}

/// What has begun is done and written down to its end, also when the caller hangs up.
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
    // What is forbidden was written down where it was refused.
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
