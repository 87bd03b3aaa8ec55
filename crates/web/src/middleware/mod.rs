//! Middleware, one layer around all routes (separate layers would box and copy every inner one). In: request id,
//! metrics, rate limit, host and origin check, authorization. Out: CORS, compression, metrics, request id.

pub(crate) mod caller;
pub(crate) mod credentials;
pub(crate) mod host_check;
pub(crate) mod rate_limit;
pub(crate) mod authorization;
pub(crate) mod strategy_scope;
pub(crate) mod cluster_role;
pub(crate) mod forwarding;
pub(crate) mod dispatch;
pub(crate) mod metrics;
pub(crate) mod response_headers;
pub(crate) mod compression;

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app_state::AppState;
use crate::endpoints::{Endpoint, endpoint};
use crate::problem::Problem;
use authorization::{authorize, challenge};
use caller::{ForwardedCaller, is_ui};
use compression::ContentCoding;
use dispatch::Dispatch;
use host_check::{CorsGrant, check_host_and_origin, check_url};
use rate_limit::HttpRateLimiter;
use response_headers::{Manners, RequestId};

/// State of the layer.
#[derive(Clone)]
pub(crate) struct Middleware {
    state: AppState,
    rate_limiter: Arc<HttpRateLimiter>,
}

impl Middleware {
    pub(crate) fn new(state: AppState) -> Self {
        let rate_limiter = HttpRateLimiter::new(state.settings().limits.requests_per_second);
        Self { state, rate_limiter }
    }
}

pub(crate) async fn handle(State(middleware): State<Middleware>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let row = matched_endpoint(&request);
    let (number, reader, manners) =
        (RequestId::from_request(&request), ContentCoding::negotiate(&request), Manners::of(&request));
    let response =
        middleware.handle_inbound(begun, row, request, next).await.unwrap_or_else(IntoResponse::into_response);
    let response = reader.encode_response(response).await;
    middleware.state.metrics().record(row, &response, begun.elapsed());
    let response = cluster_role::show_lag(middleware.state.services(), response);
    number.apply_to(manners.put_on(response))
}

/// The endpoint of a request; `None` where the path is another router's, or unknown.
fn matched_endpoint(request: &Request) -> Option<&'static Endpoint> {
    let path = request.extensions().get::<MatchedPath>()?;
    endpoint(request.method(), path.as_str())
}

impl Middleware {
    async fn handle_inbound(
        &self,
        now: Instant,
        row: Option<&'static Endpoint>,
        request: Request,
        next: Next,
    ) -> Result<Response, Problem> {
        self.rate_limiter.check_peer(&request, now, row.is_some_and(Endpoint::is_urgent))?;
        let settings = self.state.settings();
        check_url(request.uri(), settings.limits.url_bytes)?;
        // The follower that forwards a request has checked both.
        let is_forwarded = request.extensions().get::<ForwardedCaller>().is_some();
        if !is_forwarded && let Err(barred) = check_host_and_origin(settings, &request) {
            return Err(barred.audited(self.state.access()).await);
        }
        let grant = CorsGrant::for_request(&request, &settings.allowed_origins);
        let response = match row {
            Some(row) => self.authorize_and_dispatch(row, request, next).await,
            None => next.run(request).await,
        };
        Ok(grant.apply_to(response))
    }

    async fn authorize_and_dispatch(&self, row: &'static Endpoint, request: Request, next: Next) -> Response {
        let is_ui = is_ui(request.headers());
        let dispatch =
            Dispatch { state: self.state.clone(), endpoint: row, rate_limiter: self.rate_limiter.clone(), next };
        challenge(authorize(&self.state, row, request, dispatch).await, is_ui)
    }
}
