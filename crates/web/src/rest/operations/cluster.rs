//! The whole cluster, as this member knows it.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use bus::cluster_overview::LogServersView;
use bus::cluster_overview::{ClusterMember, ClusterMemberStatus, ClusterOverview, LeadBeginning, LeaderGate};
use bus::operations::{ClusterRole, ClusterView};
use wire::{ClusterLeadVO, ClusterLogVO, ClusterMemberVO, ClusterOverviewVO, json};

use crate::app_state::AppState;
use crate::response;

/// Who leads, whether orders are acknowledged, and every member.
pub(crate) async fn overview(State(state): State<AppState>) -> Response {
    let health = &state.services().health;
    let known = health.cluster().zip(health.cluster_overview());
    let shown = known.as_ref().map_or(ClusterOverviewVO::ALONE, |(view, overview)| overview_vo(view, overview));
    response::value(json::encode(&shown))
}

fn overview_vo<'a>(view: &'a ClusterView, overview: &'a ClusterOverview) -> ClusterOverviewVO<'a> {
    let (gate, reason) = match &overview.gate {
        LeaderGate::Open => ("OPEN", None),
        LeaderGate::Shut(reason) => ("SHUT", Some(reason.as_str())),
        LeaderGate::Unknown(reason) => ("UNKNOWN", Some(reason.as_str())),
    };
    ClusterOverviewVO {
        member: Some(&view.member),
        role: view.role.name(),
        epoch: from_one(view.epoch),
        leader: overview.leader.as_deref(),
        gate,
        gateReason: reason,
        lead: overview.lead.as_ref().map(lead_vo),
        log: overview.log.as_ref().map(log_vo),
        members: overview.members.iter().map(member_vo).collect(),
    }
}

fn lead_vo(lead: &LeadBeginning) -> ClusterLeadVO<'_> {
    ClusterLeadVO {
        epoch: lead.epoch,
        since: lead.at.into(),
        cause: lead.cause.name(),
        before: lead.before.as_deref(),
        openAfterMillis: lead.open_after.map(millis),
    }
}

fn log_vo(log: &LogServersView) -> ClusterLogVO<'_> {
    ClusterLogVO {
        servers: log.servers,
        current: log.current,
        majority: log.has_majority(),
        leader: log.leader.as_deref(),
        ageMillis: millis(log.age),
        problem: log.problem.as_deref(),
    }
}

fn member_vo(ClusterMember { name, address, is_own, status }: &ClusterMember) -> ClusterMemberVO<'_> {
    let status = status.as_ref();
    let role = |told: &ClusterMemberStatus| if told.is_leader { ClusterRole::Leader } else { ClusterRole::Follower };
    let (digest, standbys) = (status.and_then(|told| told.digest), status.and_then(|told| told.standbys));
    ClusterMemberVO {
        name,
        address,
        own: *is_own,
        ageMillis: status.map(|told| millis(told.age)),
        role: status.map(|told| role(told).name()),
        eligible: status.map(|told| told.is_eligible),
        epoch: status.and_then(|told| from_one(told.epoch)),
        entry: status.and_then(|told| from_one(told.entry)),
        lagMillis: status.and_then(|told| told.lag).map(millis),
        lease: status.map(|told| told.has_lease),
        problem: status.and_then(|told| told.problem.as_deref()),
        mayNotLead: status.and_then(|told| told.may_not_lead.as_deref()),
        digestSequence: digest.map(|(sequence, _)| sequence),
        digestAgeMillis: digest.map(|(_, age)| millis(age)),
        standbysRequired: standbys.map(|(required, _)| required),
        standbys: standbys.map(|(_, following)| following),
    }
}

/// Both epochs and entries begin at 1.
fn from_one(number: u64) -> Option<u64> {
    Some(number).filter(|number| *number > 0)
}

fn millis(duration: Duration) -> usize {
    usize::try_from(duration.as_millis()).unwrap_or(usize::MAX)
}
