//! Role of the server in its cluster: a follower answers questions and says how old its answers may be; commands go to the leader, and
//! questions about what it alone knows.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::Response;
use bus::operations::{ClusterRole, ClusterView};

use crate::endpoints::Endpoint;
use crate::middleware::caller::ForwardedCaller;
use crate::problem::Problem;
use crate::settings::WebServices;

/// Milliseconds for which a follower has not been at the end of the log.
const LAG: HeaderName = HeaderName::from_static("rialto-lag-millis");

/// What concerns this server alone, whoever leads.
const OWN: [&str; 3] = ["login::login", "login::logout", "runtime::exit"];

/// The leader alone has a FIX port.
const FIX_SESSIONS: &str = "fix::sessions";
const BARS: &str = "marketdata::bars";

/// Who carries a request out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServedBy {
    ThisServer,
    Leader,
}

/// A follower changes nothing: only the leader journals. A request that was forwarded already is not forwarded again.
pub(crate) fn served_by(services: &WebServices, endpoint: &Endpoint, request: &Request) -> Result<ServedBy, Problem> {
    let is_question = [Method::GET, Method::HEAD].iter().any(|method| endpoint.method == method.as_str());
    if is_question && !is_known_to_leader_alone(services, endpoint) || OWN.contains(&endpoint.handler) {
        return Ok(ServedBy::ThisServer);
    }
    let Some(ClusterView { role: ClusterRole::Follower, leader, .. }) = services.health.cluster() else {
        return Ok(ServedBy::ThisServer);
    };
    match services.forwarder.is_some() && request.extensions().get::<ForwardedCaller>().is_none() {
        true => Ok(ServedBy::Leader),
        false => Err(not_leader(leader)),
    }
}

fn is_known_to_leader_alone(services: &WebServices, endpoint: &Endpoint) -> bool {
    match endpoint.handler {
        FIX_SESSIONS => true,
        BARS => services.bars.are_of_leader(),
        _ => false,
    }
}

fn not_leader(leader: Option<String>) -> Problem {
    let detail = match leader {
        Some(leader) => format!("this server follows; send it to the leader, {leader}. It had no effect here"),
        None => "this server follows, and no leader is known yet; it had no effect, try again".to_owned(),
    };
    Problem::new("not-leader", detail)
}

pub(crate) fn show_lag(services: &WebServices, mut response: Response) -> Response {
    if let Some(ClusterView { role: ClusterRole::Follower, lag: Some(lag), .. }) = services.health.cluster() {
        let millis = u64::try_from(lag.as_millis()).unwrap_or(u64::MAX);
        response.headers_mut().insert(LAG, HeaderValue::from(millis));
    }
    response
}
