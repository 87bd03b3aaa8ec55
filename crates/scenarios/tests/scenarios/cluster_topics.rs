//! Topics of followers: two of them say the same, word for word; a follower dies, then the leader, and their screens go on at another
//! member without a gap; and an event that is sent to a follower is published by the leader, once.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use scenarios::http::HttpClient;
use scenarios::server::RunningServer;
use scenarios::wait::{wait_at_most, wait_for};
use serde_json::{Value, json};

use crate::binance::{BITCOIN, LabPlatform, order_of, place_when_priced, resting, wait_for_session};
use crate::cluster::{TestCluster, wait_for_health};
use crate::cluster_series::number;
use crate::test_platform::{TraderClient, with_id};
use crate::topics_replay::{TRADING, for_each_event};
use crate::watchers::{TopicWatcher, WebSocket};

/// Every family but prices, which each follower gets when its own clients want them, and lines of the server's own log.
const SHOWN: [&str; 15] = [
    "order",
    "order-status",
    "the service",
    "rialto",
    "fill",
    "position",
    "transaction",
    "cash-balance",
    "portfolio-value",
    "market-data-subscription",
    "life-cycle",
    "session",
    "risk",
    "break",
    "security",
];
/// Events that a screen has heard of its first member before that dies.
const HEARD_BEFORE: usize = 6;
/// What is traded while a member dies: so often before its end and after it.
const ROUNDS: usize = 2;
/// What a screen shows beside trading.
const PRICES: &str = "SUBSCRIBE\nid:2\ndestination:/topic/tick.>\n\n";
/// A member that was killed has told nothing of itself for so long, in milliseconds.
const SILENT_MILLIS: u64 = 4_000;

/// A screen that has not heard everything by then is lost; so long may thousands take on a loaded machine.
const RETURN_MAX: Duration = Duration::from_secs(300);
/// Before a screen tries again.
const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// Of the thread of a screen: there may be thousands.
const STACK_BYTES: usize = 512 << 10;

/// A message: its topic, the id of its event or its sequence, and its body.
type Heard = (String, String, Value);

fn message(frame: &str) -> Heard {
    let (head, body) = frame.split_once("\n\n").unwrap();
    assert!(head.starts_with("MESSAGE\n"), "{frame}");
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(ToOwned::to_owned);
    let id = header("event-id:").or_else(|| header("sequence:")).unwrap();
    (header("destination:").unwrap(), id, serde_json::from_str(body).unwrap())
}

fn is_working(body: &Value, id: &str) -> bool {
    body["intId"] == id && body["status"] == "SUBMITTED"
}

/// What a screen keeps of an event: its id and the hash of its body, because there may be thousands of screens.
type KnownEvent = (String, u64);

fn known_event(id: String, body: &Value) -> KnownEvent {
    let mut hash = DefaultHasher::new();
    body.to_string().hash(&mut hash);
    (id, hash.finish())
}

/// What a screen has heard, for those who wait for it.
#[derive(Default)]
struct HeardCounts {
    events: AtomicUsize,
    prices: AtomicUsize,
}

/// A screen over the WebSocket of a member, with trading and prices. Where the member is gone, or refuses it because many come at once, it
/// goes on at the next one behind the last event that it has heard.
fn hear_trading(members: &[SocketAddr], last_order: &str, counts: &HeardCounts) -> Vec<KnownEvent> {
    let mut heard: Vec<KnownEvent> = Vec::new();
    let begun = Instant::now();
    for member in members.iter().cycle().take_while(|_| begun.elapsed() < RETURN_MAX) {
        let screen = WebSocket::try_open(*member).and_then(TopicWatcher::try_join);
        if screen.is_some_and(|screen| hear_of(screen, last_order, &mut heard, counts)) {
            return heard;
        }
        thread::sleep(RETRY_PAUSE);
    }
    panic!("no member told of {last_order}: {heard:?}")
}

/// Whether the last order was heard of before the connection ended. A member that is behind the last event refuses, and the screen asks again.
fn hear_of(
    mut screen: TopicWatcher<WebSocket>,
    last_order: &str,
    heard: &mut Vec<KnownEvent>,
    counts: &HeardCounts,
) -> bool {
    let last = heard.last().map_or("0", |(id, _)| id);
    let trading = format!("SUBSCRIBE\nid:1\ndestination:{TRADING}\nfrom-sequence:{last}\n\n");
    if [trading.as_str(), PRICES].iter().any(|frame| screen.try_send(frame).is_err()) {
        return false;
    }
    while let Some(frame) = screen.next_frame().filter(|frame| !frame.starts_with("ERROR\n")) {
        if frame.contains("\ndestination:/topic/tick.") {
            counts.prices.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let (topic, id, body) = message(&frame);
        heard.push(known_event(id, &body));
        counts.events.fetch_add(1, Ordering::Relaxed);
        if topic.contains("order-status") && is_working(&body, last_order) {
            return true;
        }
    }
    false
}

/// Everything that a member publishes of trading, up to the order that is the last one.
fn hear_all(mut screen: TopicWatcher<WebSocket>, last_order: &str) -> Vec<Heard> {
    let mut heard = Vec::new();
    loop {
        let told = message(&screen.frame());
        let is_last = told.0.contains("order-status") && is_working(&told.2, last_order);
        heard.push(told);
        if is_last {
            return heard;
        }
    }
}

/// An order that rests and is cancelled, and one that trades.
fn trade(client: &mut HttpClient, name: &str, side: &str) {
    let (resting_id, traded) = (format!("{name}-rests"), format!("{name}-trades"));
    place_when_priced(client, &resting(&resting_id));
    client.wait_for_status(&resting_id, "SUBMITTED");
    client.place(&with_id(order_of(BITCOIN, side, "0.01"), &traded));
    client.wait_for_status(&traded, "EXECUTED");
    assert_eq!(client.delete(&format!("/rest/execution/order/{resting_id}")).unwrap().status, 200);
    client.wait_for_status(&resting_id, "CANCELED");
}

/// Trades on and on, and counts the rounds.
fn trade_until(mut client: HttpClient, is_over: &AtomicBool, rounds: &AtomicUsize) {
    for (number, side) in ["BUY", "SELL"].into_iter().cycle().enumerate() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        trade(&mut client, &format!("round-{number}"), side);
        rounds.fetch_add(1, Ordering::Relaxed);
    }
}

/// The member dies between two events of a leader that trades on.
fn kill_while_trading(leader: &RunningServer, dies: RunningServer) {
    let (is_over, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    let reach = |count| {
        wait_at_most(RETURN_MAX, "trading to go on", || (rounds.load(Ordering::Relaxed) >= count).then_some(()));
    };
    let client = leader.client();
    thread::scope(|scope| {
        scope.spawn(|| trade_until(client, &is_over, &rounds));
        reach(ROUNDS);
        dies.kill();
        reach(rounds.load(Ordering::Relaxed) + 1 + ROUNDS);
        is_over.store(true, Ordering::Relaxed);
    });
}

fn end_with(client: &mut HttpClient, id: &str) {
    place_when_priced(client, &resting(id));
    client.wait_for_status(id, "SUBMITTED");
}

fn follower(cluster: &TestCluster, member: &str, screens: u64) -> RunningServer {
    let server = cluster.launcher(member).set("http.connections", screens.max(1_024) + 64).start();
    wait_for_health(&mut server.client(), "/health/ready", 200, "follower");
    server
}

/// Something of families that orders do not touch.
fn change_settings(client: &mut HttpClient) {
    let subscription = |is_wanted| json!({ "strategyName": "SERVER", "securityId": 2, "subscribe": is_wanted });
    let changes = [
        ("/rest/risk/state", json!({ "scope": "SECURITY-2", "state": "HALTED", "reason": "news" })),
        ("/rest/risk/state", json!({ "scope": "SECURITY-2", "state": "ACTIVE", "reason": "read" })),
        // Whatever was wanted before, one of the two changes it.
        ("/rest/subscription/marketdata/unsubscribe", subscription(false)),
        ("/rest/subscription/marketdata/subscribe", subscription(true)),
    ];
    for (path, body) in changes {
        assert_eq!(client.put(path, &body.to_string()).unwrap().status, 200, "{path}");
    }
}

/// Live topics of two followers.
fn expect_equal_topics(leader: &mut HttpClient, followers: [&RunningServer; 2]) {
    let screens = followers.map(|server| {
        let mut screen = TopicWatcher::join(WebSocket::open(server.address()), &[]);
        let shown = SHOWN.map(|family| format!("/topic/{family}.>")).join(",");
        screen.send(&format!("SUBSCRIBE\nid:1\ndestination:{shown}\nreceipt:s\n\n"));
        assert!(screen.frame().starts_with("RECEIPT\n"));
        screen
    });
    change_settings(leader);
    trade(leader, "equal", "BUY");
    end_with(leader, "equal-end");
    let [first, second] = screens.map(|screen| hear_all(screen, "equal-end"));
    for family in ["order", "order-status", "fill", "position", "transaction", "risk", "market-data-subscription"] {
        let topic = format!("/topic/{family}.");
        assert!(first.iter().any(|(heard, ..)| heard.starts_with(&topic)), "nothing of {family}: {first:?}");
    }
    assert_eq!(first, second);
}

/// How a follower shows the cluster to its screen.
fn expect_overview(client: &mut HttpClient) {
    let overview = wait_for("all members to have told of themselves", || {
        let overview = client.get_json("/rest/cluster");
        let members = overview["members"].as_array().unwrap().clone();
        let is_told = |member: &Value| member["role"] == "leader" || member["digestSequence"].is_u64();
        (overview["gate"] == "OPEN" && overview["log"].is_object() && members.iter().all(is_told)).then_some(overview)
    });
    let shown = |key: &str| overview[key].as_str().unwrap_or_default().to_owned();
    assert_eq!([shown("member"), shown("role"), shown("leader")], ["c", "follower", "a"]);
    let roles: Vec<_> = overview["members"].as_array().unwrap().iter().map(|member| member["role"].clone()).collect();
    assert_eq!(roles, ["leader", "follower", "follower"]);
    assert_eq!(overview["lead"]["cause"], "FIRST");
    assert_eq!((&overview["log"]["servers"], &overview["log"]["majority"]), (&Value::from(3), &Value::from(true)));
}

/// A member that was killed is not shown as if it were there.
fn expect_silent(client: &mut HttpClient, place: usize) {
    let is_silent = || {
        let age = client.get_json("/rest/cluster")["members"][place]["ageMillis"].as_u64();
        age.filter(|age| *age > SILENT_MILLIS)
    };
    wait_for("the others to show that it is silent", is_silent);
}

/// Everybody hears of an event once, whoever was told it, and its sender knows.
fn expect_forwarded_events(follower: &RunningServer, leader: &RunningServer) {
    let topics = ["generic-event.>"];
    let mut listeners = [follower, leader].map(|server| TopicWatcher::join(WebSocket::open(server.address()), &topics));
    let mut sender = TopicWatcher::join(WebSocket::open(follower.address()), &[]);
    for name in ["first", "second"] {
        sender
            .send(&format!("SEND\ndestination:/topic/generic-event.SERVER.{name}\nreceipt:{name}\n\n{{\"of\":\"c\"}}"));
        assert_eq!(sender.frame(), format!("RECEIPT\nreceipt-id:{name}\n\n"));
    }
    for listener in &mut listeners {
        for name in ["first", "second"] {
            let (topic, _, body) = message(&listener.frame());
            assert_eq!((topic, &body["of"]), (format!("/topic/generic-event.SERVER.{name}"), &Value::from("c")));
        }
    }
    sender.send("SEND\ndestination:/topic/generic-event.NOBODY.x\nreceipt:refused\n\n{}");
    let refused = sender.frame();
    assert!(refused.starts_with("ERROR\n") && refused.contains("receipt-id:refused"), "{refused}");
}

/// Opens a screen for each of the counts, at the member that the place says and then at the others.
fn open_screens<'scope>(
    scope: &'scope Scope<'scope, '_>,
    members: &'scope [SocketAddr],
    last_order: &'static str,
    counts: &'scope [HeardCounts],
) -> Vec<ScopedJoinHandle<'scope, Vec<KnownEvent>>> {
    let open = |(place, counts)| {
        let members = &members[place % members.len()..];
        let screen = move || hear_trading(members, last_order, counts);
        thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, screen).unwrap()
    };
    let watching = counts.iter().enumerate().map(open).collect();
    wait_at_most(RETURN_MAX, "all screens to hear of their first member, with prices", || {
        let has_heard = |counts: &HeardCounts| {
            counts.events.load(Ordering::Relaxed) >= HEARD_BEFORE && counts.prices.load(Ordering::Relaxed) > 0
        };
        counts.iter().all(has_heard).then_some(())
    });
    watching
}

/// All of them have heard every event once and in order.
fn expect_all_heard(client: &mut HttpClient, watching: Vec<ScopedJoinHandle<'_, Vec<KnownEvent>>>) {
    let (screens, mut expected, begun) = (watching.len(), Vec::new(), Instant::now());
    for_each_event(client, |id, body| expected.push(known_event(id, body)));
    for screen in watching {
        assert_eq!(screen.join().unwrap(), expected);
    }
    eprintln!("{screens} screens heard all {} events, the last {:?} after the last", expected.len(), begun.elapsed());
}

/// Every second screen begins at the member that dies.
fn expect_moved(leader: &RunningServer, dies: RunningServer, stays: &RunningServer, screens: u64) {
    let counts: Vec<_> = (0..screens).map(|_| HeardCounts::default()).collect();
    let members = [dies.address(), stays.address()];
    thread::scope(|scope| {
        let watching = open_screens(scope, &members, "the-end", &counts);
        kill_while_trading(leader, dies);
        let mut client = leader.client();
        end_with(&mut client, "the-end");
        expect_all_heard(&mut client, watching);
    });
}

/// The leader died before or behind the sending: the venue has the order, or it is told that it never got there.
fn wait_until_settled(client: &mut HttpClient, id: &str) {
    let never_sent = json!("the order never reached the venue");
    wait_for("the venue to say what became of the order", || {
        let order = client.order(id);
        (order["status"] == "SUBMITTED" || order["reason"] == never_sent && order["status"] == "REJECTED").then_some(())
    });
}

/// Every second screen begins at the leader, which dies between two orders; the other member leads, and trading goes on there.
fn expect_moved_from_leader(leader: RunningServer, next: &RunningServer, screens: u64) {
    let counts: Vec<_> = (0..screens).map(|_| HeardCounts::default()).collect();
    let members = [leader.address(), next.address()];
    thread::scope(|scope| {
        let watching = open_screens(scope, &members, "the-last", &counts);
        let mut client = leader.client();
        trade(&mut client, "at-the-first", "BUY");
        place_when_priced(&mut client, &resting("just-before"));
        leader.kill();
        next.wait_for_output("\"role\":\"leader\",\"epoch\":2");
        let mut client = next.client();
        wait_for_session(&mut client, "SUBSCRIBED");
        wait_until_settled(&mut client, "just-before");
        trade(&mut client, "at-the-next", "SELL");
        end_with(&mut client, "the-last");
        expect_all_heard(&mut client, watching);
    });
}

#[test]
fn screens_of_followers_hear_the_same_and_go_on_at_another_member_when_theirs_dies_also_the_leader() {
    let cluster = TestCluster::with_members(&["a", "b", "c"], 0, LabPlatform::with("BETA", &["activity=calm"], ""));
    let first = cluster.start_member("a");
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut leader = first.client();
    wait_for_session(&mut leader, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut leader);
    let screens = number("RIALTO_MOVING_SCREENS", 10);
    let [second, third] = ["b", "c"].map(|member| follower(&cluster, member, screens));
    expect_equal_topics(&mut leader, [&second, &third]);
    expect_overview(&mut third.client());
    expect_forwarded_events(&third, &first);

    expect_moved(&first, second, &third, screens);
    expect_silent(&mut third.client(), 1);
    expect_moved_from_leader(first, &third, screens);
    third.stop();
    cluster.lab.stop();
}
