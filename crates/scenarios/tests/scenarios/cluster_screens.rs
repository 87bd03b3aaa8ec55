//! Screens at the followers of a cluster, and what an order costs the leader with and without them: CPU time of its process, because the
//! machine may have other work. `make bench-screens` runs it with 5,000.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::json;

use crate::binance::{LabPlatform, place_when_priced, resting, wait_for_session};
use crate::cluster::{TestCluster, wait_for_health};
use crate::cluster_series::{LAB, number};
use crate::test_platform::TraderClient;
use crate::watchers::{TopicWatcher, WebSocket};

/// What a screen shows all the time.
const TOPICS: [&str; 3] = ["tick.>", "order-book.1", "order-status.>"];
/// Clock ticks of `/proc` in a second.
const TICKS_PER_SECOND: f64 = 100.0;
/// Orders that rest before the first of them is cancelled.
const RESTING: u64 = 8;
/// Between two looks at all screens.
const SWEEP_PAUSE: Duration = Duration::from_millis(100);

/// Screens that read all that comes.
struct Screens {
    is_over: Arc<AtomicBool>,
    bytes: Arc<AtomicU64>,
    reader: JoinHandle<usize>,
}

impl Screens {
    fn open(followers: &[&RunningServer], count: u64) -> Self {
        let (is_over, bytes) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (stop, read) = (is_over.clone(), bytes.clone());
        let (open, opened) = mpsc::channel::<TcpStream>();
        // It reads from the first on: one that does not read is disconnected.
        let reader = thread::spawn(move || {
            let mut sockets = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                sockets.extend(opened.try_iter());
                sockets.retain_mut(|socket| drain(socket, &read));
                thread::sleep(SWEEP_PAUSE);
            }
            sockets.len()
        });
        for place in 0..usize::try_from(count).unwrap() {
            let follower = followers[place % followers.len()];
            let socket = TopicWatcher::join(WebSocket::open(follower.address()), &TOPICS).into_socket();
            socket.set_nonblocking(true).unwrap();
            open.send(socket).unwrap();
        }
        Self { is_over, bytes, reader }
    }

    /// How many are still connected, and the bytes that all have read.
    fn close(self) -> (usize, u64) {
        self.is_over.store(true, Ordering::Relaxed);
        (self.reader.join().unwrap(), self.bytes.load(Ordering::Relaxed))
    }
}

/// Reads what is there; false where the connection has ended.
fn drain(socket: &mut TcpStream, read: &AtomicU64) -> bool {
    let mut bytes = [0; 65_536];
    loop {
        match socket.read(&mut bytes) {
            Ok(0) => return false,
            Ok(length) => drop(read.fetch_add(length as u64, Ordering::Relaxed)),
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// Clock ticks of a process, its own and those of the kernel for it.
fn cpu_ticks(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<_> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Clock ticks in which a core of the machine had nothing to do.
fn idle_ticks() -> u64 {
    let text = fs::read_to_string("/proc/stat").unwrap();
    text.lines().next().unwrap().split_whitespace().nth(4).unwrap().parse().unwrap()
}

/// What the leader does for each order, and without any: prices come all the time.
struct LeaderCost {
    micros_per_order: f64,
    background_percent: f64,
}

/// Microseconds of CPU of a process while something is done, and how long that took.
fn cpu_of(leader: &RunningServer, work: impl FnOnce()) -> (f64, f64) {
    let (ticks, begun) = (cpu_ticks(leader.pid()), Instant::now());
    work();
    let used = (cpu_ticks(leader.pid()) - ticks) as f64 * 1_000_000.0 / TICKS_PER_SECOND;
    (used, begun.elapsed().as_secs_f64())
}

/// Orders that rest and are cancelled; no question is asked meanwhile, because it would cost the leader too. What the leader does without
/// orders is measured before and taken off.
fn measure(what: &str, leader: &RunningServer, orders: u64) -> LeaderCost {
    let quiet = Duration::from_secs(number("RIALTO_SCREEN_SECONDS", 1));
    let (background, seconds) = cpu_of(leader, || thread::sleep(quiet));
    let (idle, began) = (idle_ticks(), Instant::now());
    let background = background / seconds;
    let (used, seconds) = cpu_of(leader, || trade(what, leader, orders));
    let micros_per_order = (used - background * seconds) / orders as f64;
    let background_percent = background / 10_000.0;
    let idle = (idle_ticks() - idle) as f64 / TICKS_PER_SECOND / began.elapsed().as_secs_f64();
    eprintln!(
        "{what:>8}: {micros_per_order:.0} µs of the leader's CPU for an order beside {background_percent:.1} % of a core without any; \
         {orders} orders in {seconds:.1} s, {idle:.2} cores idle"
    );
    LeaderCost { micros_per_order, background_percent }
}

fn trade(what: &str, leader: &RunningServer, orders: u64) {
    // A connection that was idle meanwhile may be closed.
    let mut client = leader.client();
    // A machine that is busy with the screens alone would make every order of the leader dearer, so the rate can be held down.
    let rate = u32::try_from(number("RIALTO_SCREEN_RATE", 1_000)).unwrap();
    let begun = Instant::now();
    for order in 0..orders + RESTING {
        let due = Duration::from_secs(order) / rate;
        thread::sleep(due.saturating_sub(begun.elapsed()));
        if order < orders {
            let mut resting = resting(&format!("{what}-{order}"));
            resting["quantity"] = json!("0.001");
            client.place(&resting);
        }
        if let Some(last) = order.checked_sub(RESTING) {
            let path = format!("/rest/execution/order/{what}-{last}");
            assert_eq!(client.delete(&path).unwrap().status, 200, "{path}");
        }
    }
}

#[test]
fn screens_at_followers_read_the_prices_of_a_leader_that_trades() {
    let (screens, orders) = (number("RIALTO_SCREENS", 10), number("RIALTO_SCREEN_ORDERS", 10));
    let activity =
        format!("activity={}", std::env::var("RIALTO_SCREEN_ACTIVITY").unwrap_or_else(|_| "busy".to_owned()));
    let lab = LabPlatform::with("BETA", &[&LAB[..], &[activity.as_str()]].concat(), "");
    let cluster = TestCluster::with_members(&["a", "b", "c"], 0, lab);
    let leader = cluster.start_member("a");
    leader.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut client = leader.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut client);
    place_when_priced(&mut client, &resting("first"));
    let start = |member| {
        let follower = cluster.launcher(member).set("http.connections", screens.max(1_024) + 64).start();
        wait_for_health(&mut follower.client(), "/health/ready", 200, "follower");
        follower
    };
    let followers = [start("b"), start("c")];
    let before = measure("before", &leader, orders);
    let opened = Screens::open(&[&followers[0], &followers[1]], screens);
    wait_for("prices on the screens", || (opened.bytes.load(Ordering::Relaxed) > screens * 1_000).then_some(()));
    let with = measure("screens", &leader, orders);
    let (connected, bytes) = opened.close();
    let after = measure("after", &leader, orders);
    let without = f64::midpoint(before.micros_per_order, after.micros_per_order);
    let background = f64::midpoint(before.background_percent, after.background_percent);
    eprintln!("{connected} of {screens} screens read {bytes} bytes");
    eprintln!("with them an order costs {:+.1} %", (with.micros_per_order / without - 1.0) * 100.0);
    eprintln!("and the background {:+.1} % of a core", with.background_percent - background);
    assert_eq!(connected as u64, screens, "none was disconnected");
    followers.into_iter().for_each(|follower| drop(follower.stop()));
    leader.stop();
    cluster.lab.stop();
}
