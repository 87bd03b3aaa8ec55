//! Dispatch: what follows authentication: user rate limit, quota of unanswered requests, query parameters, handler.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bus::lanes::RequestClass;
use bus::quotas::InFlightLimit;
use bus::{InFlightPermit, QuotaClient};
use tokio::time::timeout;

use crate::app_state::AppState;
use crate::endpoints::Endpoint;
use crate::extract::QueryParameters;
use crate::middleware::caller::{HttpCaller, peer, with_permit};
use crate::middleware::cluster_role::{self, ServedBy};
use crate::middleware::forwarding;
use crate::middleware::rate_limit::HttpRateLimiter;
use crate::problem::Problem;
use crate::response::JOURNAL_HEADER;

/// The query parameter with the journal that `after` is from.
const JOURNAL_PARAMETER: &str = "journal";
const JOURNAL_DIGITS: usize = 32;

pub(crate) struct Dispatch {
    pub(crate) state: AppState,
    pub(crate) endpoint: &'static Endpoint,
    pub(crate) rate_limiter: Arc<HttpRateLimiter>,
    pub(crate) next: Next,
}

impl Dispatch {
    pub(crate) async fn run(self, mut request: Request) -> Response {
        let journal = self.journal().and_then(|journal| HeaderValue::from_str(journal).ok());
        let mut response = match self.check(&mut request).await {
            Ok((unanswered, ServedBy::ThisServer)) => with_permit(unanswered, self.next.run(request)).await,
            Ok((_unanswered, ServedBy::Leader)) => forwarding::forward(&self.state, request).await,
            Err(problem) => problem.into_response(),
        };
        journal.into_iter().for_each(|journal| drop(response.headers_mut().insert(JOURNAL_HEADER, journal)));
        response
    }

    /// The journal that `after` belongs to, at an endpoint whose pages begin after something of the journal.
    fn journal(&self) -> Option<&str> {
        let journal = self.state.settings().journal.as_str();
        (self.endpoint.parameters.contains(&JOURNAL_PARAMETER) && !journal.is_empty()).then_some(journal)
    }

    async fn check(&self, request: &mut Request) -> Result<(InFlightPermit, ServedBy), Problem> {
        self.rate_limiter.check_user(request, self.endpoint.is_urgent())?;
        let served_by = cluster_role::served_by(self.state.services(), self.endpoint, request)?;
        let client = self.client(request);
        let unanswered = self.acquire_quota(&client).await?;
        QueryParameters::attach(request, self.endpoint)?;
        self.check_journal(request)?;
        Ok((unanswered, served_by))
    }

    /// Numbers of another journal look like ours: a client that says where its own is from is not answered with what it did not ask for.
    fn check_journal(&self, request: &Request) -> Result<(), Problem> {
        let given = request.extensions().get::<QueryParameters>().and_then(|given| given.get(JOURNAL_PARAMETER));
        let Some(given) = given else { return Ok(()) };
        if given.len() != JOURNAL_DIGITS || !given.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(Problem::bad_parameter(JOURNAL_PARAMETER, "a `Rialto-Journal`: 32 hexadecimal digits"));
        }
        let ours = &self.state.settings().journal;
        if given == ours {
            return Ok(());
        }
        let detail = format!(
            "the parameter journal names another journal than {ours}, which this server has; begin again without after"
        );
        Err(Problem::new("other-journal", detail))
    }

    fn client(&self, request: &Request) -> QuotaClient {
        let user = request.extensions().get::<HttpCaller>().and_then(|caller| caller.identity.name.as_ref());
        self.state.quotas().client(user, peer(request))
    }

    /// Counts the request as unanswered, for its user and its address. A cancel waits until there is room for it: others of
    /// the same address may have many under way.
    async fn acquire_quota(&self, client: &QuotaClient) -> Result<InFlightPermit, Problem> {
        let Some(class) = self.endpoint.class() else { return Ok(InFlightPermit::default()) };
        match (client.try_acquire_class(class), class) {
            (Err(limit), RequestClass::Cancel) => {
                let patience = self.state.settings().limits.request_timeout;
                timeout(patience, client.admit_class(class)).await.map_err(|_| too_many_unanswered(limit))
            }
            (admitted, _) => admitted.map_err(too_many_unanswered),
        }
    }
}

fn too_many_unanswered(limit: InFlightLimit) -> Problem {
    let whose = limit.name();
    let detail = format!("too many requests of this {whose} wait for their answer; this one had no effect, try again");
    Problem::new("too-many-unanswered", detail)
}
