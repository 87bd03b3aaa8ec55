use crate::client::Client;
use crate::desk::Desk;

#[test]
fn a_message_of_a_queue_goes_to_one_and_comes_back_if_he_leaves() {
    let desk = Desk::open_with(&["/queue/tasks"], None);
    let (mut sender, mut leaver) = (Client::join(desk.tcp), Client::join(desk.tcp));
    leaver.subscribe(1, "/queue/tasks", "ack:client\n");
    sender.send("SEND\ndestination:/queue/tasks\nreceipt:r\n\nwork");
    assert_eq!(sender.frame(), "RECEIPT\nreceipt-id:r\n\n");
    assert!(leaver.frame().ends_with("\n\nwork"));
    leaver.send("DISCONNECT\nreceipt:d\n\n");
    assert_eq!(leaver.rest(), "RECEIPT\nreceipt-id:d\n\n\\0\n");
    let mut worker = Client::join(desk.tcp);
    worker.subscribe(1, "/queue/tasks", "ack:client-individual\n");
    let frame = worker.frame();
    assert!(frame.contains("\nredelivered:true\n") && frame.ends_with("\n\nwork"), "{frame}");
    let id = frame.lines().find_map(|line| line.strip_prefix("ack:")).unwrap();
    worker.send(&format!("ACK\nid:{id}\nreceipt:a\n\n"));
    assert_eq!(worker.frame(), "RECEIPT\nreceipt-id:a\n\n");
}

#[test]
fn messages_wait_for_whoever_comes_and_each_is_given_once() {
    let desk = Desk::open_with(&["/queue/tasks"], None);
    let mut sender = Client::join(desk.tcp);
    for number in 0..2_500 {
        sender.send(&format!("SEND\ndestination:/queue/tasks\n\n{number}"));
    }
    let mut worker = Client::join(desk.tcp);
    worker.subscribe(1, "/queue/tasks", "");
    for number in 0..2_500 {
        assert!(worker.frame().ends_with(&format!("\n\n{number}")), "{number}");
    }
}
