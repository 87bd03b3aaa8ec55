//! Middleware, one layer around all routes (separate layers would box and copy every inner one). In: request id,
//! metrics, rate limit, host and origin check, authorization. Out: CORS, compression, metrics, request id.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::admission::{admit, challenge};
use crate::compression::Reader;
use crate::cors::Grant;
use crate::doors::Doors;
use crate::endpoints::{Endpoint, endpoint};
use crate::guard::{check_url, guard};
use crate::last_steps::LastSteps;
use crate::manners::Manners;
use crate::pace::Pace;
use crate::problem::Problem;
use crate::request_id::Numbered;
use crate::visitor::is_ui;

/// State of the layer.
#[derive(Clone)]
pub(crate) struct Passage {
    doors: Doors,
    pace: Arc<Pace>,
}

impl Passage {
    pub(crate) fn new(doors: Doors) -> Self {
        let pace = Pace::new(doors.settings().limits.requests_per_second);
        Self { doors, pace }
    }
}

pub(crate) async fn pass(State(passage): State<Passage>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let row = row_of(&request);
    let (number, reader, manners) = (Numbered::of(&request), Reader::of(&request), Manners::of(&request));
    let response = passage.come_in(begun, row, request, next).await.unwrap_or_else(IntoResponse::into_response);
    let response = reader.served(response).await;
    passage.doors.metrics().note(row, &response, begun.elapsed());
    number.put_on(manners.put_on(response))
}

/// The endpoint of a request; `None` where the path is another router's, or unknown.
fn row_of(request: &Request) -> Option<&'static Endpoint> {
    let path = request.extensions().get::<MatchedPath>()?;
    endpoint(request.method(), path.as_str())
}

impl Passage {
    async fn come_in(
        &self,
        now: Instant,
        row: Option<&'static Endpoint>,
        request: Request,
        next: Next,
    ) -> Result<Response, Problem> {
        self.pace.check_peer(&request, now, row.is_some_and(Endpoint::is_urgent))?;
        let settings = self.doors.settings();
        check_url(request.uri(), settings.limits.url_bytes)?;
        if let Err(barred) = guard(settings, &request) {
            return Err(barred.written_down(self.doors.access()).await);
        }
        let grant = Grant::of(&request, &settings.allowed_origins);
        let response = match row {
            Some(row) => self.be_admitted(row, request, next).await,
            None => next.run(request).await,
        };
        Ok(grant.put_on(response))
    }

    async fn be_admitted(&self, row: &'static Endpoint, request: Request, next: Next) -> Response {
        let is_ui = is_ui(request.headers());
        let last_steps = LastSteps { doors: self.doors.clone(), row, pace: self.pace.clone(), next };
        challenge(admit(&self.doors, row, request, last_steps).await, is_ui)
    }
}
