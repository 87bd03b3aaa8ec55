//! Dispatch: what follows authentication: user rate limit, quota of unanswered requests, query parameters, handler.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bus::lanes::Class;
use bus::quotas::Limit;
use bus::{Allowance, Client};
use tokio::task_local;
use tokio::time::timeout;

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

task_local! {
    /// What the request that is served here counts as. Whatever it asks of the engine takes a copy along, so that a client
    /// who hangs up makes no room for more before that is done.
    static UNANSWERED: Allowance;
}

/// What the request that is served here counts as.
pub(crate) fn unanswered() -> Allowance {
    UNANSWERED.try_with(Allowance::clone).unwrap_or_default()
}

impl LastSteps {
    pub(crate) async fn walk(self, mut request: Request) -> Response {
        match self.check(&mut request).await {
            Ok(unanswered) => UNANSWERED.scope(unanswered, self.next.run(request)).await,
            Err(problem) => problem.into_response(),
        }
    }

    async fn check(&self, request: &mut Request) -> Result<Allowance, Problem> {
        self.pace.check_user(request, self.row.is_urgent())?;
        let client = self.client(request);
        let unanswered = self.count(&client).await?;
        Parameters::read(request, self.row)?;
        Ok(unanswered)
    }

    fn client(&self, request: &Request) -> Client {
        let user = request.extensions().get::<Speaker>().and_then(|speaker| speaker.identity.name.as_ref());
        self.doors.quotas().client(user, peer(request))
    }

    /// Counts the request as unanswered, for its user and its address. A cancel waits until there is room for it: others of
    /// the same address may have many under way.
    async fn count(&self, client: &Client) -> Result<Allowance, Problem> {
        let Some(class) = self.row.class() else { return Ok(Allowance::default()) };
        match (client.try_admit_class(class), class) {
            (Err(limit), Class::Cancel) => {
                let patience = self.doors.settings().limits.request_timeout;
                timeout(patience, client.admit_class(class)).await.map_err(|_| too_many_unanswered(limit))
            }
            (admitted, _) => admitted.map_err(too_many_unanswered),
        }
    }
}

fn too_many_unanswered(limit: Limit) -> Problem {
    let whose = limit.name();
    let detail = format!("too many requests of this {whose} wait for their answer; this one had no effect, try again");
    Problem::new("too-many-unanswered", detail)
}
