//! What happens to a cluster: a leader is killed or paused, a member loses the NATS servers, or a NATS server stands still.

use std::fs;
use std::thread;
use std::time::Duration;

use scenarios::nats::NatsServers;
use scenarios::proxy::CuttableProxy;
use scenarios::server::send_signal;

use super::{LOG, MEMBERS, Series, wait_long};
use crate::kill::flow::Random;

/// Milliseconds of a pause or a partition, at the least.
const SHORTEST: u64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Kill,
    Pause {
        millis: u64,
    },
    /// Lines of the leader to all NATS servers: nothing passes, and neither end is told.
    HoldLeader {
        millis: u64,
    },
    /// The same lines end, and new ones are refused.
    CutLeader {
        millis: u64,
    },
    HoldFollower {
        millis: u64,
    },
    /// One line of each member, to the same NATS server.
    HoldServer {
        server: usize,
        millis: u64,
    },
    PauseServer {
        server: usize,
        millis: u64,
    },
    /// The leader and a NATS server are killed, and everything that both had is deleted. Both begin empty.
    Burn {
        server: usize,
    },
}

/// How many of each.
pub(crate) struct FaultCounts {
    pub(crate) kills: u64,
    pub(crate) pauses: u64,
    pub(crate) partitions: u64,
    pub(crate) burns: u64,
}

/// All faults of a run, in an order that the seed decides.
pub(crate) fn plan(
    random: &mut Random,
    FaultCounts { kills, pauses, partitions, burns }: FaultCounts,
    seconds_max: u64,
) -> Vec<Fault> {
    let mut faults = vec![];
    for number in 0..kills + pauses + partitions + burns {
        let millis = random.between((SHORTEST, seconds_max * 1_000));
        let fault = match number {
            _ if number < kills => Fault::Kill,
            _ if number < kills + pauses => Fault::Pause { millis },
            _ if number < kills + pauses + partitions => partition(random, millis),
            _ => Fault::Burn { server: one_of_three(random) },
        };
        let place = usize::try_from(random.between((0, faults.len() as u64))).expect("they are few");
        faults.insert(place, fault);
    }
    faults
}

fn one_of_three(random: &mut Random) -> usize {
    usize::try_from(random.between((0, 2))).expect("it is small")
}

fn partition(random: &mut Random, millis: u64) -> Fault {
    let server = one_of_three(random);
    match random.between((0, 4)) {
        0 => Fault::HoldLeader { millis },
        1 => Fault::CutLeader { millis },
        2 => Fault::HoldFollower { millis },
        3 => Fault::HoldServer { server, millis },
        _ => Fault::PauseServer { server, millis },
    }
}

impl Fault {
    pub(crate) fn strike(self, series: &mut Series) {
        let leader = series.wait_for_leader();
        match self {
            Self::Kill => {
                series.members.remove(leader).expect("it runs").kill();
            }
            Self::Pause { millis } => while_stopped(series.members[leader].pid(), millis),
            Self::HoldLeader { millis } => while_held(series, &[leader], None, millis),
            Self::CutLeader { millis } => {
                series.cluster.lines[leader].iter().for_each(CuttableProxy::cut);
                thread::sleep(Duration::from_millis(millis));
                series.cluster.lines[leader].iter().for_each(CuttableProxy::restore);
            }
            Self::HoldFollower { millis } => {
                let follower = MEMBERS.into_iter().find(|member| *member != leader).expect("there are three");
                while_held(series, &[follower], None, millis);
            }
            Self::HoldServer { server, millis } => while_held(series, &MEMBERS, Some(server), millis),
            Self::PauseServer { server, millis } => while_stopped(series.cluster.nats.pid(server), millis),
            Self::Burn { server } => burn(series, leader, server),
        }
    }

    /// When orders go on: a NATS server that began empty has the log again.
    pub(crate) fn wait_for_recovery(self, series: &Series) {
        if let Self::Burn { server } = self {
            wait_caught_up(&series.cluster.nats, server);
        }
    }
}

fn burn(series: &mut Series, leader: &str, server: usize) {
    series.members.remove(leader).expect("it runs").kill();
    series.cluster.nats.burn(server);
    fs::remove_dir_all(series.cluster.data(leader)).expect("it had a folder");
    series.wait_for_leader();
    series.cluster.nats.start_again(server);
}

fn wait_caught_up(nats: &NatsServers, emptied: usize) {
    let others = || (0..MEMBERS.len()).filter(|server| *server != emptied);
    let reached =
        wait_long("the log of the others", || others().filter_map(|server| nats.last_entry(server, LOG)).max());
    let mut last = None;
    let look = || {
        last = nats.last_entry(emptied, LOG);
        (last >= Some(reached) && nats.is_up_to_date(emptied)).then_some(())
    };
    wait_long(&format!("the emptied NATS server to have the log up to entry {reached}"), look);
    println!("  the emptied NATS server has the log up to entry {}", last.unwrap_or_default());
}

fn while_stopped(pid: u32, millis: u64) {
    send_signal(pid, "STOP");
    thread::sleep(Duration::from_millis(millis));
    send_signal(pid, "CONT");
}

/// All lines of these members, or those to one server.
fn while_held(series: &Series, members: &[&str], server: Option<usize>, millis: u64) {
    let lines = || {
        let of_member = |member: &&str| series.cluster.lines[*member].iter().enumerate();
        let all = members.iter().flat_map(of_member);
        all.filter(|(number, _)| server.is_none_or(|server| server == *number)).map(|(_, line)| line)
    };
    lines().for_each(CuttableProxy::hold);
    thread::sleep(Duration::from_millis(millis));
    lines().for_each(CuttableProxy::restore);
}
