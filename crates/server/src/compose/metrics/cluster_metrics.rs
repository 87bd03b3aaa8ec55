//! Metrics of a member of a cluster.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bus::cluster_overview::LogServersView;
use bus::operations::ClusterRole;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encoding::{EncodeResult, encode_counter, encode_gauge};
use crate::cluster::cluster_state::ClusterState;

const LAG_HELP: &str = "For how long a follower has not been at the end of the replicated log";
const TAKES_PART_HELP: &str = "1 where the member reads or leads the replicated log, 0 where it cannot";
const REQUIRED_HELP: &str = "Followers that must have a record on disk before the leader acknowledges it";
const STANDBYS_HELP: &str = "Followers that this leader has heard of in the last 5 s";
const WAITING_HELP: &str = "Records that the leader and the log have, and too few followers";
const ENTRIES_HELP: &str = "Entries of the replicated log, as its leader knows; 0 at a follower";
const GATE_HELP: &str = "1 where this member leads and acknowledges orders";
const MAJORITY_HELP: &str = "1 where a majority of the NATS servers has the newest entries of the replicated log";
const TAKEOVER_HELP: &str =
    "From the last entry of the leader before to the open interfaces of this one; 0 before, and at a follower";
const SERVERS_HELP: &str = "NATS servers that hold the replicated log; 0 where they do not answer";
const CURRENT_HELP: &str = "NATS servers whose copy of the replicated log is up to date";
const UNVERIFIED_HELP: &str =
    "NATS servers that hold the replicated log and have not said for a minute whether they sync every write";
const HELD_HELP: &str =
    "1 where the leader keeps more of the replicated log than its limits, for a member that has not read it";
const PRICES_WANTED_HELP: &str = "Securities whose prices a follower gets, or a leader sends to followers";
const PRICES_LOST_HELP: &str = "How often a follower lost the prices of the leader; they are stale then";
const LEADS_HELP: &str = "Changes of the lead that this member has seen since it started";

pub(super) struct ClusterCollector(pub(super) Arc<ClusterState>);

impl fmt::Debug for ClusterCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> EncodeResult {
        f.write_str("Cluster")
    }
}

impl Collector for ClusterCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> EncodeResult {
        let (view, (entries, is_held)) = (self.0.view(), self.0.log_size());
        let log = self.0.log_view();
        let has_majority = log.as_ref().is_some_and(LogServersView::has_majority);
        let (servers, current) = log.map_or((0, 0), |log| (log.servers, log.current));
        let is_open = view.role == ClusterRole::Leader && self.0.why_shut().is_none();
        let lead = self.0.own_lead().filter(|lead| lead.before.is_some());
        let takeover = lead.and_then(|lead| lead.open_after).map_or(0, milliseconds);
        let gauges = [
            ("cluster_leader", "1 where this member leads", u64::from(view.role == ClusterRole::Leader)),
            ("cluster_lease", "1 where this member may send to venues", u64::from(view.has_lease)),
            ("cluster_gate_open", GATE_HELP, u64::from(is_open)),
            ("cluster_takeover_milliseconds", TAKEOVER_HELP, takeover),
            ("cluster_epoch", "The epoch of the lead that this member knows", view.epoch),
            ("cluster_log_entry", "The last entry of the replicated log that it has read or appended", view.entry),
            ("cluster_takes_part", TAKES_PART_HELP, u64::from(view.problem.is_none())),
            ("cluster_standbys_required", REQUIRED_HELP, view.standbys_required as u64),
            ("cluster_standbys", STANDBYS_HELP, view.standbys as u64),
            ("cluster_records_waiting", WAITING_HELP, view.records_waiting),
            ("cluster_log_entries", ENTRIES_HELP, entries),
            ("cluster_log_servers", SERVERS_HELP, servers as u64),
            ("cluster_log_servers_current", CURRENT_HELP, current as u64),
            ("cluster_log_servers_unverified", UNVERIFIED_HELP, self.0.unverified_servers() as u64),
            ("cluster_log_majority", MAJORITY_HELP, u64::from(has_majority)),
            ("cluster_trim_held", HELD_HELP, u64::from(is_held)),
        ];
        let [sent, received, wanted, lost] = self.0.prices.values();
        encode_gauge(&mut encoder, "cluster_prices_wanted", PRICES_WANTED_HELP, wanted)?;
        for (name, help, value) in [
            ("cluster_prices_sent", "Messages with prices that this member has sent to followers, as a leader", sent),
            ("cluster_prices_received", "Messages with prices that this member has got from the leader", received),
            ("cluster_prices_lost", PRICES_LOST_HELP, lost),
        ] {
            encode_counter(&mut encoder, name, help, value)?;
        }
        for (name, help, value) in gauges {
            encode_gauge(&mut encoder, name, help, value)?;
        }
        if let Some(lag) = view.lag {
            encode_gauge(&mut encoder, "cluster_lag_milliseconds", LAG_HELP, milliseconds(lag))?;
        }
        encode_counter(&mut encoder, "cluster_lead_changes", LEADS_HELP, view.leads_seen)
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
