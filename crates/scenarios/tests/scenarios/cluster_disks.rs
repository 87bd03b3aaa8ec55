//! Disks of a cluster: an old segment of a member is damaged, and a NATS server is replaced by one that does not sync.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use scenarios::http::HttpClient;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::json;

use crate::cluster::{TestCluster, wait_for_health};

/// Of the smallest size, three segments.
const SETTINGS_KEPT: usize = 12;
const SETTINGS_BYTES: usize = 200_000;

/// Two members, the second of which follows the first.
fn start_both(cluster: &TestCluster) -> (RunningServer, RunningServer) {
    let first = cluster.start_member("a");
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    (first, follow(cluster, "b"))
}

fn follow(cluster: &TestCluster, member: &str) -> RunningServer {
    let server = cluster.start_member(member);
    wait_for_health(&mut server.client(), "/health/ready", 200, "follower");
    server
}

/// Records that are long, and nothing that a venue has to take.
fn fill_segments(client: &mut HttpClient) {
    let settings = json!({ "layout": "x".repeat(SETTINGS_BYTES) }).to_string();
    for _ in 0..SETTINGS_KEPT {
        let kept = client.put("/rest/settings", &settings).unwrap();
        assert_eq!(kept.status, 200, "{kept:?}");
    }
}

fn wait_for_log(server: &RunningServer, text: &str) {
    wait_for(&format!("the log to have {text:?}"), || server.log().contains(text).then_some(()));
}

fn oldest_segment(cluster: &TestCluster, member: &str) -> PathBuf {
    let segments = cluster.segments(member);
    assert!(segments.len() > 2, "{:?}", segments.keys());
    cluster.data(member).join("journal").join(segments.keys().next().unwrap())
}

fn flip_in_the_middle(segment: &PathBuf) {
    let file = OpenOptions::new().read(true).write(true).open(segment).unwrap();
    let (mut byte, middle) = ([0], file.metadata().unwrap().len() / 2);
    file.read_exact_at(&mut byte, middle).unwrap();
    file.write_all_at(&[byte[0] ^ 1], middle).unwrap();
}

#[test]
fn a_bit_that_flips_before_the_snapshot_of_a_member_is_named_and_another_members_file_heals_it() {
    let cluster = TestCluster::start(0);
    let (first, second) = start_both(&cluster);
    fill_segments(&mut first.client());
    wait_for("the journals to be equal", || (cluster.segments("a") == cluster.segments("b")).then_some(()));
    // Its snapshot.
    second.stop();
    let [good, damaged] = ["a", "b"].map(|member| oldest_segment(&cluster, member));
    flip_in_the_middle(&damaged);
    let second = follow(&cluster, "b");
    wait_for_log(&second, &format!("{} is damaged at offset", damaged.display()));
    assert!(second.log().contains("in a cluster from another member"), "{}", second.log());

    // It may lead, with the damage that it has named.
    first.stop();
    second.wait_for_output("\"role\":\"leader\",\"epoch\":2");
    second.stop();
    fs::copy(&good, &damaged).unwrap();
    let second = cluster.start_member("b");
    wait_for_log(&second, " is good");
    assert!(!second.log().contains("is damaged"), "{}", second.log());
    second.stop();
    cluster.lab.stop();
}

#[test]
fn members_end_when_a_nats_server_is_replaced_by_one_that_does_not_sync_every_write() {
    let mut cluster = TestCluster::start(0);
    let (first, second) = start_both(&cluster);
    // Every server had said that it syncs. The new one has the name and the addresses of the one before, and an empty disk.
    cluster.nats.burn(1);
    cluster.nats.forget_sync(1);
    cluster.nats.start_again(1);
    for server in [first, second] {
        let ended = server.wait();
        let reason = "sync_interval: server n1 must have sync_interval: always in its jetstream block";
        // Whoever leads ends by its journal.
        assert!([Some(1), Some(2)].contains(&ended.code) && ended.log.contains(reason), "{ended}");
    }
    let refused = cluster.launcher("a").expect_refused();
    assert!(refused.code == Some(2) && refused.log.contains("sync_interval: server n1"), "{refused}");
    cluster.lab.stop();
}
