//! The log of a cluster and the folders of its members: a single server becomes a cluster, a lost log begins anew, a trimmed log is
//! followed, and several members start at once.

use std::fs;

use scenarios::http::HttpClient;
use scenarios::server::{RunningServer, ServerExit, ServerLauncher};
use scenarios::wait::wait_for;

use crate::binance::wait_for_session;
use crate::cluster::{TestCluster, done_by_command, open_orders, place, wait_for_health};
use crate::metrics;

const REFUSED: Option<i32> = Some(2);

/// A member whose cluster file has further lines, or another stream.
fn launcher(cluster: &TestCluster, member: &str, change: impl Fn(String) -> String) -> ServerLauncher {
    let launcher = cluster.launcher(member);
    let file = cluster.file(member);
    fs::write(&file, change(fs::read_to_string(&file).unwrap())).unwrap();
    launcher
}

fn on_second_stream(text: String) -> String {
    text.replace("stream = \"rialto\"", "stream = \"second\"")
}

fn rebuild(cluster: &TestCluster, launcher: &ServerLauncher, member: &str, further: &[&str]) -> ServerExit {
    let (file, data) = (cluster.file(member), cluster.data(member).display().to_string());
    launcher.run_without_folder(&[&["ha", "rebuild-log", &file, "--data-dir", &data], further].concat())
}

/// The folder of a member, from a backup of another one.
fn copy_member(cluster: &TestCluster, from: &str, to: &str) {
    let [source, target] = [from, to].map(|member| cluster.data(member).display().to_string());
    let backup = format!("{target}.backup");
    let launcher = &cluster.lab.launch;
    let taken = launcher.run_without_folder(&["backup", &backup, "--data-dir", &source]);
    assert_eq!(taken.code, Some(0), "{taken}");
    let _ = fs::remove_dir_all(&target);
    let restored = launcher.run_without_folder(&["restore", &backup, "--data-dir", &target, "--as-member"]);
    assert_eq!(restored.code, Some(0), "{restored}");
    let alone = cluster.lab.launch.clone().on_folder(&cluster.data(to)).expect_refused();
    assert!(alone.code == REFUSED && alone.log.contains("belongs to a member of a cluster"), "{alone}");
}

fn lead(server: &RunningServer) -> HttpClient {
    server.wait_for_output("\"role\":\"leader\"");
    let mut client = server.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    client
}

fn wait_for_orders(client: &mut HttpClient, orders: &[&str]) {
    wait_for("the orders to be there", || (open_orders(client) == orders).then_some(()));
}

fn wait_for_equal_journals(cluster: &TestCluster) {
    wait_for("the journals to be equal", || (cluster.segments("a") == cluster.segments("b")).then_some(()));
}

/// A copy that never was in the log does not know its epochs.
fn expect_unknown_epochs(cluster: &TestCluster, launcher: &ServerLauncher, last_record: &str) {
    copy_member(cluster, "a", "copy");
    let (file, copy) = (cluster.file("a"), cluster.data("copy").display().to_string());
    let refused =
        launcher.run_without_folder(&["ha", "rebuild-log", &file, "--data-dir", &copy, "--up-to", last_record]);
    assert!(refused.code == REFUSED && refused.log.contains("Say --above-epoch with a number"), "{refused}");
}

#[test]
fn a_single_server_becomes_a_cluster_and_a_lost_log_begins_anew_without_losing_an_order() {
    let cluster = TestCluster::start(0);
    let alone = cluster.lab.launch.clone().on_folder(&cluster.data("a")).start();
    let mut client = alone.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut client);
    place(&mut client, &["one", "two"]);
    alone.stop();

    let refused = cluster.launcher("a").expect_refused();
    assert!(refused.code == REFUSED && refused.log.contains("rialto ha rebuild-log begins it"), "{refused}");
    let begun = rebuild(&cluster, &cluster.launcher("a"), "a", &[]);
    assert_eq!(begun.code, Some(0), "{begun}");
    assert!(begun.output.contains("the log rialto begins behind record "), "{begun}");
    let again = rebuild(&cluster, &cluster.launcher("a"), "a", &[]);
    assert!(again.code == REFUSED && again.log.contains("of this journal already: start the members"), "{again}");

    let first = cluster.start_member("a");
    let mut client = lead(&first);
    assert_eq!(open_orders(&mut client), ["one", "two"]);
    let rebuilt = ("ha rebuild-log".to_owned(), "done".to_owned());
    assert_eq!(done_by_command(&mut client), std::slice::from_ref(&rebuilt));
    place(&mut client, &["three"]);
    let empty = cluster.launcher("b").expect_refused();
    assert!(empty.code == REFUSED && empty.log.contains("rialto restore BACKUP --as-member"), "{empty}");
    let refused = rebuild(&cluster, &cluster.launcher("b"), "b", &[]);
    assert!(refused.code == REFUSED && refused.log.contains("a answers: stop every member first"), "{refused}");
    copy_member(&cluster, "a", "b");
    let second = cluster.start_member("b");
    wait_for_health(&mut second.client(), "/health/ready", 200, "follower");
    place(&mut client, &["four"]);
    wait_for_orders(&mut second.client(), &["four", "one", "three", "two"]);
    wait_for_equal_journals(&cluster);

    // The log is lost: a new stream stands for NATS servers that were replaced.
    second.stop();
    first.stop();
    let first = launcher(&cluster, "a", on_second_stream);
    let refused = first.expect_refused();
    assert!(refused.code == REFUSED && refused.log.contains("the log is lost, or was never begun"), "{refused}");
    let asked = rebuild(&cluster, &first, "a", &[]);
    let number = asked.log.rsplit("--up-to ").next().unwrap().split_whitespace().next().unwrap().to_owned();
    assert!(asked.code == REFUSED && asked.log.contains("use the one with the most records"), "{asked}");
    let wrong = rebuild(&cluster, &first, "a", &["--up-to", "7"]);
    assert!(wrong.code == REFUSED && wrong.log.contains("is the number to give, not 7"), "{wrong}");
    expect_unknown_epochs(&cluster, &first, &number);
    let begun = rebuild(&cluster, &first, "a", &["--up-to", &number]);
    assert!(begun.code == Some(0) && begun.output.contains(&format!("behind record {number}, in epoch 1")), "{begun}");
    let again = rebuild(&cluster, &first, "a", &["--up-to", &number]);
    assert!(again.code == REFUSED && again.log.contains("of this journal already: start the members"), "{again}");
    let first = first.start();
    let mut client = lead(&first);
    assert_eq!(open_orders(&mut client), ["four", "one", "three", "two"]);
    assert_eq!(done_by_command(&mut client), [rebuilt.clone(), rebuilt]);
    place(&mut client, &["five"]);

    // It had read less than the other one when the log was lost.
    let second = launcher(&cluster, "b", on_second_stream);
    let behind = second.expect_refused();
    assert!(behind.code == REFUSED && behind.log.contains("restore it with --as-member"), "{behind}");
    copy_member(&cluster, "a", "b");
    let second = second.start();
    wait_for_orders(&mut second.client(), &["five", "four", "one", "three", "two"]);
    wait_for_equal_journals(&cluster);
    assert_eq!(cluster.orders_at_venue(), 5, "and the venue has each once");
    second.stop();
    first.stop();
    cluster.lab.stop();
}

/// The first entry of the log that the leader knows to be there.
fn log_entries(server: &RunningServer) -> u64 {
    let text = server.client().get("/metrics").unwrap().body;
    let line = text.lines().find(|line| line.starts_with(&format!("{}log_entries ", metrics::OF_CLUSTER))).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn new_members_start_at_once_and_the_leader_trims_what_both_have() {
    let cluster = TestCluster::start(0);
    let trimmed = |text: String| {
        let text = text.replace("digestMillis = 1000", "digestMillis = 1000\npulseMillis = 50");
        format!("{text}[trim]\nkeepEntries = 100\n")
    };
    let launchers = ["a", "b"].map(|member| launcher(&cluster, member, trimmed));
    // Neither has a journal, nor has the log: one of them gives it its identity, and both stay.
    let servers = std::thread::scope(|scope| {
        let started = launchers.each_ref().map(|launcher| scope.spawn(|| launcher.start()));
        started.map(|server| server.join().unwrap())
    });
    let [first, second] = &servers;
    let leads = |server: &RunningServer| (server.client().get("/health/leader").unwrap().status == 200).then_some(());
    wait_for("one of them to lead", || leads(first).or(leads(second)));
    let leader = if leads(first).is_some() { first } else { second };
    let mut client = leader.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut client);
    place(&mut client, &["one"]);
    // An idle leader writes twenty entries a second.
    let is_long = || (log_entries(leader) >= 100).then_some(());
    wait_for("the log to be as long as it may be", is_long);
    let is_trimmed = || (log_entries(leader) < 130).then_some(());
    wait_for("the log to be trimmed", is_trimmed);
    let [first, second] = servers;
    // A power cut may leave nothing of the file: the first entry of the log shows the place.
    second.stop();
    fs::remove_file(cluster.data("b").join("replication")).unwrap();
    let second = launchers[1].start();
    wait_for_orders(&mut second.client(), &["one"]);
    wait_for_health(&mut second.client(), "/health/ready", 200, "");
    second.stop();
    first.stop();
    cluster.lab.stop();
}
