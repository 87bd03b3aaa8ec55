//! The whole cluster as this member knows it: what it sees itself, what the others have told, and the servers of the log.

use std::time::Duration;

use bus::cluster_overview::{ClusterMember, ClusterOverview, LeadBeginning, LeaderGate, LogServersView};
use bus::operations::ClusterRole;
use replication_nats::{LogServers, StatusLink};

use super::cluster_state::ClusterState;
use super::member_status::{HEARD_WITHIN, HeardStatus, LeadMessage, STATUS_EVERY, StatusMessage, millis};

impl ClusterState {
    /// As the other members get it.
    pub(crate) fn status_message(&self) -> StatusMessage {
        let view = self.view();
        let is_leader = view.role == ClusterRole::Leader;
        StatusMessage {
            is_leader,
            is_eligible: view.is_eligible,
            epoch: view.epoch,
            entry: view.entry,
            lag_millis: view.lag.map(millis),
            has_lease: view.has_lease,
            problem: view.problem,
            may_not_lead: view.may_not_lead,
            digest: self.digest_compared().filter(|_| !is_leader).map(|(at, age)| (at, millis(age))),
            standbys: is_leader.then_some((view.standbys_required as u64, view.standbys as u64)),
            shut: if is_leader { self.why_shut() } else { None },
            lead: self.own_lead().filter(|_| is_leader).as_ref().map(LeadMessage::new),
            member: view.member,
        }
    }

    /// Only members of the file are shown.
    pub(crate) fn on_member_status(&self, message: &[u8]) {
        let is_known = |status: &StatusMessage| self.member_addresses().any(|(name, _)| *name == status.member);
        if let Some(status) = minicbor::decode(message).ok().filter(is_known) {
            self.heard.set(status);
        }
    }

    /// For as long as the process lives.
    pub(crate) fn send_status(&self, link: &StatusLink) -> ! {
        loop {
            if let Ok(message) = minicbor::to_vec(self.status_message()) {
                link.send(message);
            }
            self.set_log_servers(link.log_servers());
            std::thread::sleep(STATUS_EVERY);
        }
    }

    /// For people.
    pub(crate) fn overview(&self) -> ClusterOverview {
        let leader = self.leader_name();
        let heard = leader.as_deref().and_then(|leader| self.heard_of(leader));
        ClusterOverview {
            gate: gate(leader.as_deref(), heard.as_ref()),
            lead: heard.as_ref().and_then(|(_, status)| self.lead_of(status)),
            leader,
            log: self.log_view(),
            members: self.member_addresses().map(|(name, address)| self.member(name, address)).collect(),
        }
    }

    /// None where the servers of the log were not asked yet.
    pub(crate) fn log_view(&self) -> Option<LogServersView> {
        let shown = self.log_servers().map(log_view);
        let warning = self.view().log_warning;
        shown.map(|log| LogServersView { problem: log.problem.or(warning), ..log })
    }

    fn member(&self, name: &str, address: &str) -> ClusterMember {
        let status = self.heard_of(name).map(|(age, status)| status.shown(age));
        ClusterMember { name: name.to_owned(), address: address.to_owned(), is_own: name == self.name(), status }
    }

    /// This member is asked itself.
    fn heard_of(&self, member: &str) -> Option<(Duration, StatusMessage)> {
        if member == self.name() {
            return Some((Duration::ZERO, self.status_message()));
        }
        self.heard.of(member).map(|heard: HeardStatus| (heard.age(), heard.status))
    }

    /// A leader that was heard of before this member has read its epoch told of a lead that is over.
    fn lead_of(&self, status: &StatusMessage) -> Option<LeadBeginning> {
        status.lead_beginning().filter(|lead| lead.epoch == self.view().epoch)
    }
}

fn gate(leader: Option<&str>, heard: Option<&(Duration, StatusMessage)>) -> LeaderGate {
    let Some(leader) = leader else { return LeaderGate::Shut("no member leads".to_owned()) };
    match heard {
        None => LeaderGate::Unknown(format!("{leader}, which leads, was not heard of yet")),
        Some((age, _)) if *age > HEARD_WITHIN => {
            LeaderGate::Unknown(format!("{leader}, which leads, was not heard of for {} s", age.as_secs()))
        }
        Some((_, status)) if !status.is_leader => LeaderGate::Shut(format!("{leader} begins to lead")),
        Some((_, StatusMessage { shut: Some(reason), .. })) => LeaderGate::Shut(reason.clone()),
        Some(_) => LeaderGate::Open,
    }
}

fn log_view(LogServers { asked, leader, servers, current, problem }: LogServers) -> LogServersView {
    LogServersView { servers, current, leader, age: asked.elapsed(), problem }
}

#[cfg(test)]
mod tests {
    use bus::cluster_overview::LeadCause;
    use domain::Timestamp;
    use storage::replication::{Epoch, LogPosition};

    use super::*;
    use crate::cluster::cluster_state::tests::state;

    /// What `from` says of itself reaches `to`.
    fn tell(from: &ClusterState, to: &ClusterState) {
        to.on_member_status(&minicbor::to_vec(from.status_message()).unwrap());
    }

    #[test]
    fn a_follower_shows_the_leader_and_each_member_as_it_was_told() {
        let (leader, follower) = (state("a"), state("b"));
        follower.set_leader(Epoch(3), Some(leader.candidate));
        assert_eq!(follower.overview().gate, LeaderGate::Unknown("a, which leads, was not heard of yet".into()));
        leader.set_leader(Epoch(3), Some(leader.candidate));
        leader.begin_lead(LeadCause::FailOver, Some(state("c").candidate), std::time::Instant::now());
        leader.set_role(ClusterRole::Leader);
        follower.set_read_to_end(0);
        follower.set_entry(LogPosition(41));
        tell(&leader, &follower);
        let shown = follower.overview();
        assert_eq!(shown.leader.as_deref(), Some("a"));
        assert_eq!(shown.gate, LeaderGate::Shut("its lease has run out".into()));
        let lead = shown.lead.unwrap();
        assert_eq!((lead.epoch, lead.cause, lead.before.as_deref()), (3, LeadCause::FailOver, Some("c")));
        assert_eq!((lead.at, lead.open_after), (Timestamp(0), None), "it does not serve yet");
        let members: Vec<_> = shown.members.iter().map(|member| (member.name.as_str(), member.is_own)).collect();
        assert_eq!(members, [("a", false), ("b", true), ("c", false)]);
        assert_eq!(shown.members[2].status, None, "c was never heard of");
        let own = shown.members[1].status.clone().unwrap();
        assert_eq!((own.is_leader, own.entry, own.lag.is_some()), (false, 41, true));
        leader.begin_serving();
        tell(&leader, &follower);
        assert!(follower.overview().lead.unwrap().open_after.is_some());
    }

    #[test]
    fn what_nobody_of_the_file_says_is_not_shown_and_an_old_lead_neither() {
        let (leader, follower) = (state("a"), state("b"));
        assert_eq!(follower.overview().gate, LeaderGate::Shut("no member leads".into()));
        let stranger = StatusMessage { member: "x".into(), ..leader.status_message() };
        follower.on_member_status(&minicbor::to_vec(stranger).unwrap());
        follower.on_member_status(b"not ours");
        assert_eq!(follower.overview().members.len(), 3);
        leader.set_leader(Epoch(3), Some(leader.candidate));
        leader.begin_lead(LeadCause::First, None, std::time::Instant::now());
        leader.set_role(ClusterRole::Leader);
        tell(&leader, &follower);
        follower.set_leader(Epoch(4), Some(leader.candidate));
        assert_eq!(follower.overview().lead, None);
    }
}
