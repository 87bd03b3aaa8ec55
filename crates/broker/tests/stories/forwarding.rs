//! Generic events that clients send to a follower of a cluster: the leader publishes them, once, and its answer is the client's.

use std::sync::Arc;
use std::time::Duration;

use access::UserRole;
use bus::CommandForwarder;
use bus::forwarding::{ForwardedCall, ForwardedRequest, ForwardingError, ForwardingFuture};
use tokio::sync::{mpsc, oneshot};

use crate::harness::BrokerHarness;
use crate::test_client::TestStompClient;

/// The way to a leader in the same process.
struct DirectLink(mpsc::Sender<ForwardedCall>);

impl CommandForwarder for DirectLink {
    fn forward(&self, request: ForwardedRequest, _: Duration) -> ForwardingFuture<'_> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            self.0.send(ForwardedCall { request, answer }).await.expect("the leader is there");
            answered.await.map_err(|_| ForwardingError::Unanswered)
        })
    }
}

/// A way that ends so.
struct BrokenLink(ForwardingError);

impl CommandForwarder for BrokenLink {
    fn forward(&self, _: ForwardedRequest, _: Duration) -> ForwardingFuture<'_> {
        Box::pin(async { Err(self.0.clone()) })
    }
}

fn cluster() -> (BrokerHarness, BrokerHarness) {
    let leader = BrokerHarness::open();
    let follower = BrokerHarness::open_following(Arc::new(DirectLink(leader.serve_forwarded())));
    (leader, follower)
}

/// What a client is told whose message the leader did not take or did not answer.
fn refusal_over(error: ForwardingError) -> String {
    let follower = BrokerHarness::open_following(Arc::new(BrokenLink(error)));
    let mut sender = TestStompClient::open_connected(follower.tcp);
    sender.send("SEND\ndestination:/topic/generic-event.MOMENTUM.x\nreceipt:r\n\n{}");
    let words = sender.read_to_end();
    assert!(words.contains("\nreceipt-id:r\n"), "{words}");
    words.lines().nth(1).unwrap().to_owned()
}

#[test]
fn an_event_sent_to_a_follower_is_published_by_the_leader_once_and_the_sender_gets_its_receipt() {
    let (leader, follower) = cluster();
    let mut listener = TestStompClient::open_connected(leader.tcp);
    listener.subscribe(1, "/topic/generic-event.>", "");
    let (mut sender, mut beside) =
        (TestStompClient::open_connected(follower.tcp), TestStompClient::open_connected(follower.tcp));
    beside.subscribe(1, "/topic/generic-event.>", "");
    sender.send("SEND\ndestination:/topic/generic-event.MOMENTUM.fair-value\nreceipt:r\n\n{\"x\":1}");
    assert_eq!(sender.frame(), "RECEIPT\nreceipt-id:r\n\n");
    sender.send("BEGIN\ntransaction:t\n\n");
    for name in ["a", "b"] {
        sender.send(&format!("SEND\ntransaction:t\ndestination:/topic/generic-event.MOMENTUM.{name}\n\n1"));
    }
    sender.send("COMMIT\ntransaction:t\nreceipt:c\n\n");
    assert_eq!(sender.frame(), "RECEIPT\nreceipt-id:c\n\n");
    for (sequence, name) in [(1, "fair-value"), (2, "a"), (3, "b")] {
        let frame = listener.frame();
        let topic = format!("destination:/topic/generic-event.MOMENTUM.{name}\n");
        assert!(frame.contains(&topic) && frame.contains(&format!("\nsequence:{sequence}\n")), "{frame}");
    }
    // What a follower publishes comes from the log, which this one does not read.
    follower.publish_warning(1);
    beside.send("UNSUBSCRIBE\nid:1\nreceipt:u\n\n");
    assert_eq!(beside.frame(), "RECEIPT\nreceipt-id:u\n\n");
}

#[test]
fn the_leader_decides_by_its_own_users_and_its_refusal_is_the_senders() {
    let (leader, follower) = cluster();
    // The follower does not know of the user yet, and would let anybody send.
    leader.add("anna", UserRole::Trader);
    let mut sender = TestStompClient::open_connected(follower.tcp);
    sender.send("SEND\ndestination:/topic/generic-event.MOMENTUM.x\nreceipt:r\n\n{}");
    let words = sender.read_to_end();
    assert!(words.starts_with("ERROR\n") && words.contains("\nreceipt-id:r\n"), "{words}");
    assert_eq!(leader.audit().len(), 1, "{:?}", leader.audit());
    assert!(leader.audit()[0].starts_with("nobody: STOMP => "), "{:?}", leader.audit());
}

#[test]
fn a_sender_is_told_whether_it_may_send_again() {
    let refused = refusal_over(ForwardingError::NotTaken("no member leads yet".to_owned()));
    assert_eq!(
        refused,
        "message:not-leader\\c this server follows, and no member leads yet; it was not published, send it again"
    );
    let unknown = refusal_over(ForwardingError::Unanswered);
    let text = "message:outcome-unknown\\c the leader gave no answer, so it is not known whether this was published";
    assert_eq!(unknown, text);
}
