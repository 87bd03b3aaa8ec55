//! REST face: one handler that finds the method, charges its weight, authenticates, executes and answers.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::Value;

use super::api::encode::TimeUnit;
use super::api::error::ApiError;
use super::api::methods::{self, MethodRow, MethodSecurity};
use super::api::params::Params;
use super::api::rate_limits::OrderCounts;
use super::api::security;
use super::{ApiCall, BinanceState};
use crate::keys::KeyRights;
use crate::listener::tls_listener::PeerAddress;
use crate::sequencer::now_micros;

/// The largest request body.
const BODY_BYTES_MAX: usize = 64 * 1024;
const API_KEY_HEADER: &str = "x-mbx-apikey";
const TIME_UNIT_HEADER: &str = "x-mbx-time-unit";
const USED_WEIGHT_HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("x-mbx-used-weight"), HeaderName::from_static("x-mbx-used-weight-1m")];
const ORDER_COUNT_HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("x-mbx-order-count-10s"), HeaderName::from_static("x-mbx-order-count-1d")];

/// A request as it came, in texts.
struct RestRequest {
    verb: String,
    path: String,
    query: String,
    body: String,
    headers: HeaderMap,
    peer: SocketAddr,
}

/// What an answer says in its headers.
#[derive(Default)]
struct AnswerHeaders {
    order_counts: Option<OrderCounts>,
}

pub(crate) fn router(state: Arc<BinanceState>) -> Router {
    Router::new().fallback(handle).with_state(state)
}

async fn handle(
    State(state): State<Arc<BinanceState>>,
    ConnectInfo(PeerAddress(peer)): ConnectInfo<PeerAddress>,
    request: Request,
) -> Response {
    let mut answer_headers = AnswerHeaders::default();
    let result = match read(request, peer).await {
        Ok(request) => execute(&state, &request, &mut answer_headers).await,
        Err(error) => Err(error),
    };
    let used = state.rates.used_weight(peer.ip(), now_micros());
    respond(result, used, &answer_headers)
}

async fn read(request: Request, peer: SocketAddr) -> Result<RestRequest, ApiError> {
    let (head, body) = request.into_parts();
    let too_large = |_| ApiError::new(413, -1100, "Illegal characters found in a parameter.");
    let body = to_bytes(body, BODY_BYTES_MAX).await.map_err(too_large)?;
    let illegal = |_| ApiError::bad_request(-1100, "Illegal characters found in a parameter.");
    Ok(RestRequest {
        verb: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        body: String::from_utf8(body.to_vec()).map_err(illegal)?,
        headers: head.headers,
        peer,
    })
}

async fn execute(
    state: &BinanceState,
    request: &RestRequest,
    answer_headers: &mut AnswerHeaders,
) -> Result<Value, ApiError> {
    let now = now_micros();
    let Some(row) = methods::by_path(&request.verb, &request.path).filter(|row| state.offers(row)) else {
        state.rates.charge(request.peer.ip(), 1, now)?;
        return Err(ApiError::new(404, -1020, "This operation is not supported."));
    };
    let body = if request.verb == "GET" { "" } else { request.body.as_str() };
    let params = Params::decode(&request.query, body);
    let weight = params.as_ref().map_or(row.weight, |params| row.weight_of(params));
    state.rates.charge(request.peer.ip(), weight, now)?;
    let result = execute_row(state, request, row, &params?, body, answer_headers).await;
    if result.is_ok() && row.is_free_on_success() {
        state.rates.refund(request.peer.ip(), weight, now);
    }
    result
}

async fn execute_row(
    state: &BinanceState,
    request: &RestRequest,
    row: &MethodRow,
    params: &Params,
    body: &str,
    answer_headers: &mut AnswerHeaders,
) -> Result<Value, ApiError> {
    let unit = time_unit(&request.headers)?;
    let rights = KeyRights::default();
    let mut call = ApiCall { state, params, account: 0, rights, deadline_micros: None, unit };
    let key = request.headers.get(API_KEY_HEADER).and_then(|value| value.to_str().ok());
    match row.security {
        MethodSecurity::Public => {}
        MethodSecurity::Key => call.account = security::find_key(&state.keys, key)?.account,
        MethodSecurity::Signed => {
            call.authorize(row, &security::authenticate(&state.keys, key, &request.query, body, params, state.now())?)?;
        }
    }
    params.check_known(&row.known())?;
    let result = call.execute(row.method).await;
    if row.is_order() {
        answer_headers.order_counts = Some(state.rates.order_counts(call.account, now_micros()));
    }
    result
}

fn time_unit(headers: &HeaderMap) -> Result<TimeUnit, ApiError> {
    let Some(value) = headers.get(TIME_UNIT_HEADER) else { return Ok(TimeUnit::Milliseconds) };
    match value.to_str().unwrap_or_default().to_ascii_uppercase().as_str() {
        "MILLISECOND" => Ok(TimeUnit::Milliseconds),
        "MICROSECOND" => Ok(TimeUnit::Microseconds),
        _ => Err(ApiError::bad_request(
            -1194,
            "Invalid value for time unit; expected either MICROSECOND or MILLISECOND.",
        )),
    }
}

fn respond(result: Result<Value, ApiError>, used_weight: u32, answer_headers: &AnswerHeaders) -> Response {
    if result.as_ref().is_err_and(|error| error.is_cut) {
        return cut();
    }
    let (status, retry_after, body) = match &result {
        Ok(body) => (200, None, body.to_string()),
        Err(error) => (error.status, error.retry_after_seconds, error.body().to_string()),
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json;charset=UTF-8"));
    for name in USED_WEIGHT_HEADERS {
        headers.insert(name, HeaderValue::from(used_weight));
    }
    if let Some(counts) = answer_headers.order_counts {
        for (name, count) in ORDER_COUNT_HEADERS.into_iter().zip([counts.ten_seconds, counts.day]) {
            headers.insert(name, HeaderValue::from(count));
        }
    }
    if let Some(seconds) = retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Half an answer: the connection ends before the length that its head promises.
fn cut() -> Response {
    let half = futures_util::stream::iter([Ok("{\"symbol\":"), Err(std::io::Error::other("the answer is cut"))]);
    let mut response = Response::new(Body::from_stream(half));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(1_000));
    response
}
