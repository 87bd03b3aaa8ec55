//! Forwarding: a follower sends a command to the leader of its cluster, and gives the leader's answer to the client. It is sent once: an
//! answer that does not come is an unknown outcome.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bus::forwarding::{ForwardedRequest, ForwardedResponse, ForwardingError};

use crate::app_state::AppState;
use crate::extract::read_body;
use crate::middleware::caller::{AlreadyAudited, HttpCaller, peer};
use crate::problem::Problem;

/// Headers that the leader needs. Credentials stay here: the follower has checked them, and a session is known to it alone.
const FORWARDED_HEADERS: [HeaderName; 5] = [
    header::ACCEPT,
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    HeaderName::from_static("rialto-source"),
    HeaderName::from_static("x-request-id"),
];

/// A client that changed something finds it in its next question to the same follower; one that is further behind shows it in
/// `Rialto-Lag-Millis`.
const READ_OWN_WRITE_WAIT: Duration = Duration::from_secs(2);
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(2);

pub(crate) async fn forward(state: &AppState, request: Request) -> Response {
    answer_of_leader(state, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn answer_of_leader(state: &AppState, request: Request) -> Result<Response, Problem> {
    let limits = &state.settings().limits;
    let no_way = || ForwardingError::NotTaken("it knows no way to the leader".to_owned());
    let forwarder = state.services().forwarder.as_ref().ok_or_else(|| forwarding_problem(no_way()))?;
    let is_question = [Method::GET, Method::HEAD].contains(request.method());
    let mut forwarded = forwarded_head(&request);
    forwarded.body = read_body(request, limits).await?.to_vec();
    let answer = forwarder.forward(forwarded, limits.request_timeout).await.map_err(|error| match error {
        ForwardingError::Unanswered if is_question => unanswered_question(),
        error => forwarding_problem(error),
    })?;
    let sequence = answer.sequence;
    let response = response(answer).ok_or_else(unknown_outcome)?;
    wait_until_applied(state, sequence).await;
    Ok(response)
}

fn forwarded_head(request: &Request) -> ForwardedRequest {
    let caller = request.extensions().get::<HttpCaller>();
    let value = |name: &HeaderName| Some((name.to_string(), request.headers().get(name)?.to_str().ok()?.to_owned()));
    ForwardedRequest {
        user: caller.and_then(|caller| caller.identity.name.as_ref()).map(ToString::to_string),
        peer: peer(request).map(|address| address.to_string()),
        method: request.method().to_string(),
        path: request.uri().path_and_query().map_or_else(String::new, ToString::to_string),
        headers: FORWARDED_HEADERS.iter().filter_map(value).collect(),
        body: vec![],
    }
}

/// None where it cannot be read.
fn response(ForwardedResponse { status, headers, body, .. }: ForwardedResponse) -> Option<Response> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).ok()?;
    for (name, value) in headers {
        let (name, value) = (name.parse::<HeaderName>().ok()?, HeaderValue::from_str(&value).ok()?);
        response.headers_mut().append(name, value);
    }
    // The leader's audit has it.
    response.extensions_mut().insert(AlreadyAudited);
    Some(response)
}

fn forwarding_problem(error: ForwardingError) -> Problem {
    match error {
        ForwardingError::NotTaken(reason) => {
            Problem::new("not-leader", format!("this server follows, and {reason}; it had no effect, try again"))
        }
        ForwardingError::Unanswered => unknown_outcome(),
    }
}

/// It changes nothing, so it may be asked again.
fn unanswered_question() -> Problem {
    Problem::new(
        "not-leader",
        "this server follows, and the leader, which alone can answer this, gave no answer; try again",
    )
}

fn unknown_outcome() -> Problem {
    Problem::new(
        "outcome-unknown",
        "the leader gave no answer, so it is not known whether this took effect; look an order up by its intId before sending it \
         again, or send it again with the same intId",
    )
}

async fn wait_until_applied(state: &AppState, sequence: u64) {
    let applied = async {
        while state.durable() < sequence {
            tokio::time::sleep(LOOK_AGAIN_AFTER).await;
        }
    };
    // Late is better than never: the answer counts also where this follower is behind.
    tokio::time::timeout(READ_OWN_WRITE_WAIT, applied).await.unwrap_or(());
}
