//! Topics of followers: two of them say the same, word for word; a follower dies, and its screens go on at another one without a gap;
//! and an event that is sent to a follower is published by the leader, once.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use scenarios::http::HttpClient;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::Value;

use crate::binance::{BITCOIN, LabPlatform, order_of, place_when_priced, resting, wait_for_session};
use crate::cluster::{TestCluster, wait_for_health};
use crate::test_platform::{TraderClient, with_id};
use crate::topics_replay::{TRADING, for_each_event};
use crate::watchers::{TopicWatcher, WebSocket};

/// What a screen shows of trading, beside prices.
const SHOWN: &str = "/topic/order.>,/topic/order-status.>,/topic/fill.>,/topic/transaction.>,/topic/cash-balance.>";
/// Events that a screen has heard of its first member before that dies.
const HEARD_BEFORE: usize = 6;
/// A member that was killed has told nothing of itself for so long, in milliseconds.
const SILENT_MILLIS: u64 = 4_000;

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

/// A screen over the WebSocket of a member. Where that is gone, it goes on at another one behind the last event that it has heard.
fn hear_trading(members: &[SocketAddr], last_order: &str, count: &AtomicUsize) -> Vec<Heard> {
    let mut heard: Vec<Heard> = Vec::new();
    for member in members.iter().chain(members.last()).chain(members.last()) {
        let mut screen = TopicWatcher::join(WebSocket::open(*member), &[]);
        let last = heard.last().map_or("0", |(_, id, _)| id);
        screen.send(&format!("SUBSCRIBE\nid:1\ndestination:{TRADING}\nfrom-sequence:{last}\n\n"));
        // One that is behind the last event refuses: the screen asks again.
        while let Some(frame) = screen.next_frame().filter(|frame| !frame.starts_with("ERROR\n")) {
            heard.push(message(&frame));
            count.fetch_add(1, Ordering::Relaxed);
            if heard
                .last()
                .is_some_and(|(topic, _, body)| topic.contains("order-status") && is_working(body, last_order))
            {
                return heard;
            }
        }
    }
    panic!("no member told of {last_order}: {heard:?}")
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
fn trade(client: &mut HttpClient, name: &str) {
    let (resting_id, bought) = (format!("{name}-rests"), format!("{name}-trades"));
    place_when_priced(client, &resting(&resting_id));
    client.wait_for_status(&resting_id, "SUBMITTED");
    client.place(&with_id(order_of(BITCOIN, "BUY", "0.01"), &bought));
    client.wait_for_status(&bought, "EXECUTED");
    assert_eq!(client.delete(&format!("/rest/execution/order/{resting_id}")).unwrap().status, 200);
    client.wait_for_status(&resting_id, "CANCELED");
}

fn end_with(client: &mut HttpClient, id: &str) {
    place_when_priced(client, &resting(id));
    client.wait_for_status(id, "SUBMITTED");
}

fn follower(cluster: &TestCluster, member: &str) -> RunningServer {
    let server = cluster.start_member(member);
    wait_for_health(&mut server.client(), "/health/ready", 200, "follower");
    server
}

/// Live topics of two followers.
fn expect_equal_topics(leader: &mut HttpClient, followers: [&RunningServer; 2]) {
    let screens = followers.map(|server| {
        let mut screen = TopicWatcher::join(WebSocket::open(server.address()), &[]);
        screen.send(&format!("SUBSCRIBE\nid:1\ndestination:{SHOWN}\nreceipt:s\n\n"));
        assert!(screen.frame().starts_with("RECEIPT\n"));
        screen
    });
    trade(leader, "equal");
    end_with(leader, "equal-end");
    let [first, second] = screens.map(|screen| hear_all(screen, "equal-end"));
    assert!(first.len() > 10, "{first:?}");
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

#[test]
fn screens_of_followers_hear_the_same_and_go_on_at_another_one_when_theirs_dies() {
    let cluster = TestCluster::with_members(&["a", "b", "c"], 0, LabPlatform::new("BETA"));
    let first = cluster.start_member("a");
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut leader = first.client();
    wait_for_session(&mut leader, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut leader);
    let (second, third) = (follower(&cluster, "b"), follower(&cluster, "c"));
    expect_equal_topics(&mut leader, [&second, &third]);
    expect_overview(&mut third.client());
    expect_forwarded_events(&third, &first);

    let (moving, staying) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (dies, stays) = (second.address(), third.address());
    thread::scope(|scope| {
        let moved = scope.spawn(|| hear_trading(&[dies, stays], "the-end", &moving));
        let stayed = scope.spawn(|| hear_trading(&[stays], "the-end", &staying));
        trade(&mut leader, "before");
        wait_for("the screen to hear of its first member", || {
            (moving.load(Ordering::Relaxed) >= HEARD_BEFORE).then_some(())
        });
        second.kill();
        trade(&mut leader, "after");
        end_with(&mut leader, "the-end");
        let (moved, stayed) = (moved.join().unwrap(), stayed.join().unwrap());
        assert_eq!(moved, stayed);
        let mut expected = Vec::new();
        for_each_event(&mut leader, |id, body| expected.push((id, body.clone())));
        assert_eq!(moved.into_iter().map(|(_, id, body)| (id, body)).collect::<Vec<_>>(), expected);
    });
    expect_silent(&mut third.client(), 1);
    third.stop();
    first.stop();
    cluster.lab.stop();
}
