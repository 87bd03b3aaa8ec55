//! What is left of a request's way in once it is known who it is: his pace, the parameters, the handler.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::endpoints::Endpoint;
use crate::pace::Pace;
use crate::request::Parameters;

pub(crate) struct LastSteps {
    pub(crate) row: &'static Endpoint,
    pub(crate) pace: Arc<Pace>,
    pub(crate) next: Next,
}

impl LastSteps {
    pub(crate) async fn walk(self, mut request: Request) -> Response {
        let checked = self.pace.check_user(&request).and_then(|()| Parameters::read(&mut request, self.row));
        match checked {
            Ok(()) => self.next.run(request).await,
            Err(problem) => problem.into_response(),
        }
    }
}
