//! A cluster goes from one version to the next under load, as the page of clusters says: followers one by one, then the lead is handed over, and the
//! leader before comes last.
//!
//! `RIALTO_OLD_BIN` is the program before, which is otherwise the same one: then the steps are tried, and not the versions.

use std::path::PathBuf;

use super::fix_load::FixLoad;
use super::rest_load::RestLoad;
use super::{MEMBERS, Series, audit, wait_long};
use crate::cluster::wait_for_health;

const ORDERS_PER_SECOND: u64 = 10;
const OVER_FIX: u64 = 2;

impl Series {
    /// Starts a member by the new program; it follows whoever leads, and orders go on.
    fn start_new(&mut self, member: &'static str, load: &RestLoad) {
        self.program = None;
        self.start(member);
        wait_for_health(&mut self.client(member), "/health/ready", 200, "follower");
        self.wait_for_orders(load);
    }

    /// The leader ends in order, and another member leads the next epoch.
    fn hand_over(&mut self, leader: &'static str) {
        let (_, before) = self.leader().expect("it leads");
        let (file, data) = (self.cluster.file(leader), self.cluster.data(leader).display().to_string());
        let handed = self.launcher(leader).run_without_folder(&["ha", "hand-over", &file, "--data-dir", &data]);
        assert_eq!(handed.code, Some(0), "{handed}");
        let ended = self.members.remove(leader).expect("it ran").wait();
        assert_eq!(ended.code, Some(0), "{ended}");
        wait_long("the next epoch", || self.leader().filter(|(_, epoch)| *epoch > before));
        self.wait_for_leader();
    }
}

#[test]
fn a_cluster_that_is_upgraded_member_by_member_loses_nothing_and_doubles_nothing() {
    let mut series = Series::begin_by(1, old_program());
    let rest = RestLoad::begin(&series.lines_of_clients(), ORDERS_PER_SECOND, 1);
    let fix = FixLoad::begin(&series.ports_of_fix_client(), OVER_FIX);
    let leader = series.wait_for_leader();
    for follower in MEMBERS.into_iter().filter(|member| *member != leader) {
        let ended = series.members.remove(follower).expect("it runs").stop();
        assert_eq!(ended.code, Some(0), "{ended}");
        series.start_new(follower, &rest);
    }
    series.hand_over(leader);
    series.start_new(leader, &rest);
    audit::finish(series, rest, fix);
}

fn old_program() -> Option<PathBuf> {
    std::env::var_os("RIALTO_OLD_BIN").filter(|path| !path.is_empty()).map(PathBuf::from)
}
