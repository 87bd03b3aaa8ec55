//! Health and readiness.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bus::operations::{ClusterRole, ClusterView};
use wire::{CheckVO, ClusterVO, HealthVO, json};

use crate::app_state::AppState;
use crate::response;

/// Alive if it responds.
pub(crate) async fn live() -> Response {
    response::value(json::encode(&HealthVO::new(vec![])))
}

/// Ready if every check passes.
pub(crate) async fn ready(State(state): State<AppState>) -> Response {
    let checks = state.services().health.checks();
    let shown = checks.iter().map(|check| CheckVO { name: &check.name, ok: check.ok, detail: &check.detail });
    let health = HealthVO::new(shown.collect());
    let mut response = response::value(json::encode(&health));
    if !health.is_up() {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}

/// 200 on the server that takes commands: a server alone, or the leader of a cluster while it holds its lease. A leader that is cut from the
/// log does not know that another one leads: a load balancer must not see two.
pub(crate) async fn leader(State(state): State<AppState>) -> Response {
    let cluster = state.services().health.cluster();
    let (ok, detail) = cluster.as_ref().map_or((true, "it is alone".to_owned()), role);
    let health = HealthVO::new(vec![CheckVO { name: "leader", ok, detail: &detail }]);
    let mut response = response::value(json::encode(&health));
    if !ok {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}

/// The member of a cluster that was asked, as it sees itself.
pub(crate) async fn cluster(State(state): State<AppState>) -> Response {
    let view = state.services().health.cluster();
    response::value(json::encode(&view.as_ref().map_or(ALONE, cluster_vo)))
}

/// Everything that a leader does, it does.
const ALONE: ClusterVO<'static> = ClusterVO {
    member: None,
    role: "alone",
    eligible: true,
    epoch: None,
    leader: None,
    lagMillis: None,
    entry: None,
    lease: true,
    problem: None,
    mayNotLead: None,
    logWarning: None,
    standbysRequired: 0,
    standbys: None,
};

fn cluster_vo(view: &ClusterView) -> ClusterVO<'_> {
    ClusterVO {
        member: Some(&view.member),
        role: view.role.name(),
        eligible: view.is_eligible,
        // Both begin at 1.
        epoch: Some(view.epoch).filter(|epoch| *epoch > 0),
        leader: view.leader.as_deref(),
        lagMillis: view.lag.map(|lag| usize::try_from(lag.as_millis()).unwrap_or(usize::MAX)),
        entry: Some(view.entry).filter(|entry| *entry > 0),
        lease: view.has_lease,
        problem: view.problem.as_deref(),
        mayNotLead: view.may_not_lead.as_deref(),
        logWarning: view.log_warning.as_deref(),
        standbysRequired: view.standbys_required,
        standbys: (view.role == ClusterRole::Leader).then_some(view.standbys),
    }
}

fn role(cluster: &ClusterView) -> (bool, String) {
    match (cluster.role, &cluster.leader) {
        (ClusterRole::Leader, _) if cluster.has_lease => (true, format!("it leads epoch {}", cluster.epoch)),
        (ClusterRole::Leader, _) => (false, format!("it led epoch {}, and its lease has run out", cluster.epoch)),
        (ClusterRole::Follower, Some(leader)) => (false, format!("{leader} leads epoch {}", cluster.epoch)),
        (ClusterRole::Follower, None) => (false, "no leader is known".to_owned()),
    }
}
