//! What is left of a request's way in once it is known who it is: his pace, how much of his is unanswered, the parameters,
//! the handler.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bus::Allowance;
use bus::quotas::Limit;

use crate::doors::Doors;
use crate::endpoints::Endpoint;
use crate::pace::Pace;
use crate::problem::Problem;
use crate::request::Parameters;
use crate::visitor::{Speaker, peer};

pub(crate) struct LastSteps {
    pub(crate) doors: Doors,
    pub(crate) row: &'static Endpoint,
    pub(crate) pace: Arc<Pace>,
    pub(crate) next: Next,
}

impl LastSteps {
    pub(crate) async fn walk(self, mut request: Request) -> Response {
        match self.check(&mut request) {
            Ok(unanswered) => {
                let response = self.next.run(request).await;
                drop(unanswered);
                response
            }
            Err(problem) => problem.into_response(),
        }
    }

    fn check(&self, request: &mut Request) -> Result<Allowance, Problem> {
        self.pace.check_user(request, self.row.is_urgent())?;
        let unanswered = self.count(request)?;
        Parameters::read(request, self.row)?;
        Ok(unanswered)
    }

    /// Counts the request as unanswered, for its user and its address.
    fn count(&self, request: &Request) -> Result<Allowance, Problem> {
        let Some(class) = self.row.class() else { return Ok(Allowance::default()) };
        let user = request.extensions().get::<Speaker>().and_then(|speaker| speaker.identity.name.as_ref());
        let client = self.doors.quotas().client(user, peer(request));
        client.try_admit_class(class).map_err(too_many_unanswered)
    }
}

fn too_many_unanswered(limit: Limit) -> Problem {
    let whose = limit.name();
    let detail = format!("too many requests of this {whose} wait for their answer; this one had no effect, try again");
    Problem::new("too-many-unanswered", detail)
}
