//! Extractors: path, query parameters, body, caller. Each is complete or gives a problem.

use std::error::Error;
use std::time::Duration;

use access::AccessDenied;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use bus::past::PastPoint;
use domain::query::Filter;
use domain::{AccountId, ReferenceData, SecurityId, StrategyId, Timestamp};
use http_body_util::{BodyExt, Collected, LengthLimitError, Limited};
use wire::fields::ID_LIMIT;

use crate::app_state::AppState;
use crate::endpoints::Endpoint;
use crate::middleware::caller::{Authenticated, HttpCaller};
use crate::problem::Problem;
use crate::settings::HttpLimits;

/// Securities per call.
pub(crate) const SECURITIES_MAX: usize = 200;
/// How long the rest of a rejected body is read and discarded.
const DISCARD_MAX: Duration = Duration::from_secs(2);

/// The authenticated caller; a handler is never reached without one.
pub(crate) struct AuthenticatedClient(pub(crate) HttpCaller);

impl FromRequestParts<AppState> for AuthenticatedClient {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Problem> {
        let caller = parts.extensions.remove::<HttpCaller>();
        caller.map(Self).ok_or_else(|| AccessDenied::LoginNeeded.into())
    }
}

/// A name in the path.
pub(crate) struct PathText(pub(crate) String);

impl FromRequestParts<AppState> for PathText {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(text)| Self(text)).map_err(|bad| Problem::new("malformed-path", bad.body_text()))
    }
}

/// An id in the path.
pub(crate) struct PathId(pub(crate) u64);

impl FromRequestParts<AppState> for PathId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let PathText(text) = PathText::from_request_parts(parts, state).await?;
        let id = parse_id(&text).ok_or_else(|| Problem::new("malformed-path", format!("{text:?} is not an id")))?;
        Ok(Self(id))
    }
}

/// The body of a request, JSON by its media type; empty where there is none.
pub(crate) struct JsonBody(pub(crate) Bytes);

impl FromRequest<AppState> for JsonBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let limits = &state.settings().limits;
        let is_json = is_json(request.headers());
        if !is_json && request.headers().contains_key(header::CONTENT_TYPE) {
            return Err(not_json());
        }
        let body = read_body(request, limits).await?;
        if !is_json && !body.is_empty() {
            return Err(not_json());
        }
        Ok(Self(body))
    }
}

/// A call without a body: keys would have no effect and are rejected.
pub(crate) struct NoBody;

impl FromRequest<AppState> for NoBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let is_json = is_json(request.headers());
        let body = read_body(request, &state.settings().limits).await?;
        if !is_json && !body.is_empty() {
            return Err(not_json());
        }
        wire::operations::parse_empty(&body)?;
        Ok(Self)
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json") && !headers.contains_key(header::CONTENT_ENCODING)
}

fn not_json() -> Problem {
    Problem::new("unsupported-media-type", "send the body as Content-Type: application/json, not compressed")
}

pub(crate) async fn read_body(request: Request, limits: &HttpLimits) -> Result<Bytes, Problem> {
    let most = if request.extensions().get::<Authenticated>().is_some() {
        limits.body_bytes
    } else {
        limits.unauthenticated_body_bytes
    };
    if let Err(problem) = check_declared(request.headers(), most) {
        discard(request);
        return Err(problem);
    }
    let body = Limited::new(request.into_body(), most).collect();
    let body = tokio::time::timeout(limits.request_timeout, body).await;
    let body = body.map_err(|_| Problem::new("request-timeout", "the body did not arrive in time"))?;
    body.map(Collected::to_bytes).map_err(|error| body_problem(&*error, most))
}

/// A body that says itself that it is too long is not waited for.
fn check_declared(headers: &HeaderMap, most: usize) -> Result<(), Problem> {
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let fits = |length: u64| usize::try_from(length).is_ok_and(|length| length <= most);
    if declared.is_none_or(fits) { Ok(()) } else { Err(too_large(most)) }
}

/// Closing a connection with unread bytes would lose the response too, so they are discarded for a while. A client that
/// waits for 100 Continue has not sent any.
fn discard(request: Request) {
    if request.headers().contains_key(header::EXPECT) {
        return;
    }
    tokio::spawn(tokio::time::timeout(DISCARD_MAX, async move {
        let mut body = request.into_body();
        while body.frame().await.is_some_and(|frame| frame.is_ok()) {}
    }));
}

fn too_large(most: usize) -> Problem {
    Problem::new("body-too-large", format!("the body is longer than {most} bytes"))
}

fn body_problem(error: &(dyn Error + 'static), most: usize) -> Problem {
    if error.is::<LengthLimitError>() {
        return too_large(most);
    }
    Problem::new("malformed-body", "the body broke off or cannot be read")
}

/// The query parameters, each known to the endpoint and given once.
#[derive(Debug, Clone)]
pub(crate) struct QueryParameters(Vec<(String, String)>);

pub(crate) type QueryExtension = Extension<QueryParameters>;

impl QueryParameters {
    /// Adds them to the request's extensions; an endpoint without parameters gets none.
    pub(crate) fn attach(request: &mut Request, row: &Endpoint) -> Result<(), Problem> {
        let parameters = match request.uri().query() {
            Some(_) => Self::parse(request.uri(), row.parameters)?,
            None => Self(vec![]),
        };
        if !row.parameters.is_empty() {
            request.extensions_mut().insert(parameters);
        }
        Ok(())
    }

    fn parse(uri: &Uri, known: &[&str]) -> Result<Self, Problem> {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|bad| Problem::new("malformed-parameter", bad.body_text()))?;
        for (place, (name, _)) in pairs.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                return Err(Problem::new("unknown-parameter", format!("the parameter {name:?} is not known here")));
            }
            if pairs[..place].iter().any(|(earlier, _)| earlier == name) {
                return Err(Problem::new("malformed-parameter", format!("the parameter {name} stands twice")));
            }
        }
        Ok(Self(pairs))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The point in the past that is asked about: `seq:` and a sequence, epoch milliseconds, or an instant of ISO 8601.
    pub(crate) fn past_point(&self) -> Result<Option<PastPoint>, Problem> {
        let Some(wanted) = self.get("at") else { return Ok(None) };
        let number = |text: &str| text.parse::<u64>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        let point = match wanted.strip_prefix("seq:") {
            Some(sequence) => number(sequence).map(PastPoint::Sequence),
            None => match number(wanted) {
                Some(millis) => {
                    i64::try_from(millis).ok().and_then(|millis| millis.checked_mul(1_000_000)).map(Timestamp)
                }
                None => wanted.parse().ok(),
            }
            .map(PastPoint::Instant),
        };
        point
            .map(Some)
            .ok_or_else(|| Problem::bad_parameter("at", "seq: and a sequence, epoch milliseconds, or an instant"))
    }

    /// Filters of a list: each by id or by name.
    pub(crate) fn filter(&self, reference: &ReferenceData) -> Result<Filter, Problem> {
        Ok(Filter {
            strategy: self.get("strategy").map(|wanted| strategy(wanted, reference)).transpose()?,
            account: self.get("account").map(|wanted| account(wanted, reference)).transpose()?,
            security: self.get("security").map(|wanted| security(wanted, reference)).transpose()?,
        })
    }
}

impl QueryParameters {
    /// The securities, by id or symbol, comma-separated; `None` where the parameter is absent.
    pub(crate) fn securities(&self, reference: &ReferenceData) -> Result<Vec<SecurityId>, Problem> {
        let Some(wanted) = self.get("security") else { return Ok(vec![]) };
        // A symbol may contain a comma.
        let is_one = !wanted.contains(',') || reference.securities.values().any(|known| &*known.symbol == wanted);
        if is_one {
            return Ok(vec![security(wanted, reference)?]);
        }
        if wanted.split(',').count() > SECURITIES_MAX {
            return Err(Problem::bad_parameter("security", &format!("at most {SECURITIES_MAX} securities")));
        }
        self.comma_separated("security", |wanted| security(wanted, reference))
    }
}

fn strategy(wanted: &str, reference: &ReferenceData) -> Result<StrategyId, Problem> {
    let by_id = parse_id(wanted).map(StrategyId).filter(|id| reference.strategies.contains_key(id));
    by_id
        .or_else(|| reference.strategy_named(wanted).map(|strategy| strategy.id))
        .ok_or_else(|| Problem::new("unknown-strategy", format!("strategy {wanted} is not known")).into_not_found())
}

fn account(wanted: &str, reference: &ReferenceData) -> Result<AccountId, Problem> {
    let by_id = parse_id(wanted).map(AccountId).filter(|id| reference.accounts.contains_key(id));
    by_id
        .or_else(|| reference.account_named(wanted).map(|account| account.id))
        .ok_or_else(|| Problem::new("unknown-account", format!("account {wanted} is not known")).into_not_found())
}

fn security(wanted: &str, reference: &ReferenceData) -> Result<SecurityId, Problem> {
    if let Some(id) = parse_id(wanted).map(SecurityId).filter(|id| reference.securities.contains_key(id)) {
        return Ok(id);
    }
    let mut named = reference.securities.values().filter(|security| &*security.symbol == wanted);
    match (named.next(), named.next()) {
        (Some(security), None) => Ok(security.id),
        (Some(_), Some(_)) => {
            Err(Problem::new("ambiguous-parameter", format!("several securities are called {wanted}, give the id")))
        }
        (None, _) => Err(Problem::new("unknown-security", format!("security {wanted} is not known")).into_not_found()),
    }
}

fn parse_id(text: &str) -> Option<u64> {
    let all_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|id| all_digits && (1..ID_LIMIT).contains(id))
}
