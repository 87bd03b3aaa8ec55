//! Soak test: clients connect, subscribe and leave in every way, while prices and events are published without a pause.
//! In the end nothing of them is left.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use broker::BrokerMetrics;

use crate::harness::{BrokerHarness, tick};
use crate::test_client::{TestStompClient, connect};
use crate::websocket::WebSocket;

const CLIENTS: u32 = 4;
const VISITS: u32 = 200;

#[test]
fn after_much_coming_and_going_nothing_is_left() {
    let broker = BrokerHarness::open_with(&["/topic/generic-event.>", "/queue/>"], None);
    let is_over = AtomicBool::new(false);
    let well = thread::scope(|scope| {
        scope.spawn(|| publish(&broker, &is_over));
        let visits = |number: u32| (0..VISITS).for_each(|visit| come_and_go(&broker, number * VISITS + visit));
        let visitors: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(move || visits(number))).collect();
        let well = visitors.into_iter().all(|visitor| visitor.join().is_ok());
        // Also where a client failed, so that the publisher ends.
        is_over.store(true, Ordering::Relaxed);
        well
    });
    assert!(well);
    drain_queues(&broker);
    let left = broker.wait_for_connections(0);
    let BrokerMetrics { delivered, .. } = left;
    assert!(delivered > u64::from(CLIENTS * VISITS), "{delivered}");
    let BrokerMetrics { connections, subscriptions, patterns, queue_bytes, .. } = left;
    assert_eq!((connections, subscriptions, patterns, queue_bytes), (0, 0, 0, 0));
}

/// As fast as the broker publishes.
fn publish(broker: &BrokerHarness, is_over: &AtomicBool) {
    let mut witness = TestStompClient::open_connected(broker.tcp);
    witness.subscribe(1, "/topic/log-event.>", "");
    for alarm in (10..).step_by(10).take_while(|_| !is_over.load(Ordering::Relaxed)) {
        (alarm - 10..alarm).for_each(|sequence| broker.publish(sequence, tick(sequence % 50, 1)));
        broker.publish_warning(alarm);
        assert!(witness.frame().contains(&format!("sequence:{alarm}\n")));
    }
}

fn come_and_go(broker: &BrokerHarness, number: u32) {
    if number.is_multiple_of(2) {
        visit(connect(broker.tcp), number);
    } else {
        visit(WebSocket::at(broker.ws), number);
    }
}

/// Subscribes to several destinations, receives something, and leaves in one of many ways.
fn visit<S: Read + Write>(stream: S, number: u32) {
    let mut client = TestStompClient::new_over(stream);
    client.send_connect();
    client.send(&format!("SUBSCRIBE\nid:1\ndestination:/topic/tick.{}\nsnapshot:true\n\n", number % 50));
    client
        .send("SUBSCRIBE\nid:2\nack:client\nactivemq.prefetchSize:2\ndestination:/topic/tick.>,/topic/log-event.*\n\n");
    client.send(&format!("SUBSCRIBE\nid:3\nack:client\ndestination:/queue/tasks.{}\n\n", number % 3));
    client.send(&format!("SEND\ndestination:/queue/tasks.{}\n\nwork", number % 3));
    client.send("SUBSCRIBE\nid:4\ndestination:/topic/strategy-bus.>\nactivemq.noLocal:true\n\n");
    client.send("SEND\ndestination:/topic/generic-event.MOMENTUM.x\n\n1");
    for _ in 0..5 {
        let frame = client.frame();
        assert!(frame.starts_with("MESSAGE\n"), "{frame}");
    }
    match number % 6 {
        0 => client.send("DISCONNECT\nreceipt:bye\n\n"),
        1 => client.send("UNSUBSCRIBE\nid:2\n\n"),
        2 => client.send("BEGIN\ntransaction:t\n\n"),
        3 => client.send("NONSENSE\n\n"),
        4 => drop(client.stream.write(b"SEND\ndestination:/queue/tasks.0\ncontent-length:100\n\nhalf")),
        _ => {}
    }
}

/// Unacknowledged messages go to the next consumer, or become dead letters.
fn drain_queues(broker: &BrokerHarness) {
    broker.wait_for_connections(0);
    let mut worker = TestStompClient::open_connected(broker.tcp);
    for (id, queue) in ["tasks.0", "tasks.1", "tasks.2", "ActiveMQ.DLQ"].into_iter().enumerate() {
        worker.send(&format!("SUBSCRIBE\nid:{id}\ndestination:/queue/{queue}\n\n"));
    }
    broker.wait_for(|numbers| numbers.queue_bytes == 0);
}
