use crate::harness::BrokerHarness;
use crate::test_client::TestStompClient;

#[test]
fn a_message_of_a_queue_goes_to_one_consumer_and_is_redelivered_when_it_leaves() {
    let broker = BrokerHarness::open_with(&["/queue/tasks"], None);
    let (mut sender, mut leaver) =
        (TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp));
    leaver.subscribe(1, "/queue/tasks", "ack:client\n");
    sender.send("SEND\ndestination:/queue/tasks\nreceipt:r\n\nwork");
    assert_eq!(sender.frame(), "RECEIPT\nreceipt-id:r\n\n");
    assert!(leaver.frame().ends_with("\n\nwork"));
    leaver.send("DISCONNECT\nreceipt:d\n\n");
    assert_eq!(leaver.read_to_end(), "RECEIPT\nreceipt-id:d\n\n\\0\n");
    let mut worker = TestStompClient::open_connected(broker.tcp);
    worker.subscribe(1, "/queue/tasks", "ack:client-individual\n");
    let frame = worker.frame();
    assert!(frame.contains("\nredelivered:true\n") && frame.ends_with("\n\nwork"), "{frame}");
    let id = frame.lines().find_map(|line| line.strip_prefix("ack:")).unwrap();
    worker.send(&format!("ACK\nid:{id}\nreceipt:a\n\n"));
    assert_eq!(worker.frame(), "RECEIPT\nreceipt-id:a\n\n");
}

#[test]
fn messages_wait_for_a_consumer_and_each_is_delivered_once() {
    let broker = BrokerHarness::open_with(&["/queue/tasks"], None);
    let mut sender = TestStompClient::open_connected(broker.tcp);
    for number in 0..2_500 {
        sender.send(&format!("SEND\ndestination:/queue/tasks\n\n{number}"));
    }
    let mut worker = TestStompClient::open_connected(broker.tcp);
    worker.subscribe(1, "/queue/tasks", "");
    for number in 0..2_500 {
        assert!(worker.frame().ends_with(&format!("\n\n{number}")), "{number}");
    }
}

/// One message that the first of two consumers has, and has not acknowledged.
fn with_one_under_way(broker: &BrokerHarness) -> [TestStompClient<std::net::TcpStream>; 2] {
    let (mut first, mut second) =
        (TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp));
    first.subscribe(1, "/queue/tasks", "ack:client\n");
    let mut sender = TestStompClient::open_connected(broker.tcp);
    sender.send("SEND\ndestination:/queue/tasks\n\nwork");
    assert!(first.frame().ends_with("\n\nwork"));
    second.subscribe(1, "/queue/tasks", "ack:client\n");
    [first, second]
}

fn is_redelivered(frame: &str) -> bool {
    frame.contains("\nredelivered:true\n") && frame.ends_with("\n\nwork")
}

#[test]
fn what_a_consumer_has_not_acknowledged_goes_to_the_other_at_once_however_it_leaves() {
    let broker = BrokerHarness::open_with(&["/queue/tasks"], None);
    for way in ["UNSUBSCRIBE\nid:1\n\n", "DISCONNECT\n\n", "NONSENSE\n\n", ""] {
        let [mut leaver, mut stayer] = with_one_under_way(&broker);
        if way.is_empty() {
            drop(leaver);
        } else {
            leaver.send(way);
        }
        let frame = stayer.frame();
        assert!(is_redelivered(&frame), "{way}: {frame}");
        let id = frame.lines().find_map(|line| line.strip_prefix("ack:")).unwrap();
        stayer.send(&format!("ACK\nid:{id}\nreceipt:a\n\n"));
        assert_eq!(stayer.frame(), "RECEIPT\nreceipt-id:a\n\n");
    }
}

#[test]
fn a_consumer_that_comes_again_before_its_old_connection_has_ended_gets_what_it_had() {
    let broker = BrokerHarness::open_with(&["/queue/tasks"], None);
    let [old, mut new] = with_one_under_way(&broker);
    drop(old);
    assert!(is_redelivered(&new.frame()));
}

#[test]
fn a_dead_letter_goes_at_once_to_a_waiting_consumer() {
    let broker = BrokerHarness::open_with(&["/queue/>"], None);
    let mut undertaker = TestStompClient::open_connected(broker.tcp);
    undertaker.subscribe(1, "/queue/ActiveMQ.DLQ", "");
    let mut worker = TestStompClient::open_connected(broker.tcp);
    worker.subscribe(1, "/queue/tasks", "ack:client-individual\n");
    worker.send("SEND\ndestination:/queue/tasks\n\nwork");
    for _ in 0..stomp::queues::DELIVERIES_MAX {
        let frame = worker.frame();
        let id = frame.lines().find_map(|line| line.strip_prefix("ack:")).unwrap();
        worker.send(&format!("NACK\nid:{id}\n\n"));
    }
    assert!(undertaker.frame().ends_with("\n\nwork"));
}
