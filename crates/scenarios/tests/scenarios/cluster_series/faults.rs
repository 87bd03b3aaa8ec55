//! What happens to a cluster: a leader is killed or paused, a line is held or cut, or a NATS server stands still.

use std::fs;
use std::thread;
use std::time::Duration;

use scenarios::nats::NatsServers;
use scenarios::proxy::CuttableProxy;
use scenarios::server::send_signal;
use scenarios::wait::wait_for;

use super::{LOG, MEMBERS, Series, wait_long};
use crate::kill::flow::Random;

/// Milliseconds of a pause or a partition, at the least.
const SHORTEST: u64 = 1_000;
/// Of so many partitions one is of lines of two kinds.
const PARTITIONS_FOR_TWO_KINDS: u64 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Kill,
    Pause {
        millis: u64,
    },
    Partition {
        lines: Lines,
        /// Of another kind, at the same time.
        others: Option<Lines>,
        how: Breakage,
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

/// What cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// All NATS servers, from the leader.
    OfLeader,
    OfFollower,
    /// One NATS server, from every member.
    ToServer(usize),
    /// One NATS server, from the other two: members reach it.
    BetweenServers(usize),
    /// The venue, by the line for orders.
    ToVenue,
    /// The venue, by the line for questions and that for prices.
    ToVenueQuestions,
    ToVenuePrices,
    /// The leader, from clients over REST.
    OfClients,
    /// The leader, from the client over FIX.
    OfFixClient,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breakage {
    /// Nothing passes, and neither end is told.
    Held,
    /// What is sent arrives, and no answer comes back.
    AnswersHeld,
    /// Connections end, and new ones are refused.
    Cut,
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
    let how = [Breakage::Held, Breakage::AnswersHeld, Breakage::Cut][one_of_three(random)];
    let Some(lines) = lines(random, server) else { return Fault::PauseServer { server, millis } };
    let is_of_two = random.between((1, PARTITIONS_FOR_TWO_KINDS)) == 1;
    let others = is_of_two.then(|| lines_beside(random, server)).filter(|others| *others != lines);
    Fault::Partition { lines, others, how, millis }
}

/// None where a NATS server is to stand still.
fn lines(random: &mut Random, server: usize) -> Option<Lines> {
    Some(match random.between((0, 9)) {
        0 => Lines::OfLeader,
        1 => Lines::OfFollower,
        2 => Lines::ToServer(server),
        3 => Lines::BetweenServers(server),
        4 => Lines::ToVenue,
        5 => Lines::ToVenueQuestions,
        6 => Lines::ToVenuePrices,
        7 => Lines::OfClients,
        8 => Lines::OfFixClient,
        _ => return None,
    })
}

/// What can be away beside anything else: a majority of the log is left.
fn lines_beside(random: &mut Random, server: usize) -> Lines {
    let all = [Lines::ToServer(server), Lines::ToVenue, Lines::ToVenuePrices, Lines::OfClients, Lines::OfFixClient];
    all[usize::try_from(random.between((0, 4))).expect("it is small")]
}

impl Fault {
    pub(crate) fn strike(self, series: &mut Series) {
        let leader = series.wait_for_leader();
        match self {
            Self::Kill => {
                series.members.remove(leader).expect("it runs").kill();
            }
            Self::Pause { millis } => while_stopped(series.members[leader].pid(), millis),
            Self::Partition { lines, others, how, millis } => {
                let broken: Vec<_> =
                    [Some(lines), others].into_iter().flatten().flat_map(|lines| lines.of(series, leader)).collect();
                broken.iter().for_each(|line| how.begin(line));
                thread::sleep(Duration::from_millis(millis));
                broken.iter().for_each(|line| line.restore());
            }
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

impl Lines {
    fn of<'a>(self, series: &'a Series, leader: &str) -> Vec<&'a CuttableProxy> {
        let cluster = &series.cluster;
        match self {
            Self::OfLeader => cluster.lines[leader].iter().collect(),
            Self::OfFollower => {
                let follower = MEMBERS.into_iter().find(|member| *member != leader).expect("there are three");
                cluster.lines[follower].iter().collect()
            }
            Self::ToServer(server) => cluster.lines.values().map(|lines| &lines[server]).collect(),
            Self::BetweenServers(server) => cluster.nats.lines_of(server).collect(),
            Self::ToVenue => vec![&cluster.lab.lines.api],
            Self::ToVenueQuestions => vec![&cluster.lab.lines.rest],
            Self::ToVenuePrices => vec![&cluster.lab.lines.streams],
            Self::OfClients => vec![&series.client_lines[leader]],
            Self::OfFixClient => vec![&series.fix_lines[leader]],
        }
    }
}

impl Breakage {
    fn begin(self, line: &CuttableProxy) {
        match self {
            Self::Held => line.hold(),
            Self::AnswersHeld => line.hold_answers(),
            Self::Cut => line.cut(),
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

/// Else a partition between servers would be none.
#[test]
fn a_nats_server_whose_lines_are_cut_has_no_way_past_them_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let servers = NatsServers::start_with_lines(folder.path());
    let before = servers.routes(0).unwrap();
    servers.lines_of(0).for_each(CuttableProxy::cut);
    wait_for("no route to be left", || (servers.routes(0) == Some(0)).then_some(()));
    assert!(servers.routes(1) > Some(0), "the other two reach each other");
    servers.lines_of(0).for_each(CuttableProxy::restore);
    wait_for("all routes to be there again", || (servers.routes(0) >= Some(before)).then_some(()));
}
