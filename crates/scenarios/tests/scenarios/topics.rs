//! Topics beside REST: a subscriber receives the events of an order, and joins both by the sequence.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use scenarios::http::{HttpClient, HttpRequest};
use scenarios::server::RunningServer;
use scenarios::wait::{DEADLINE, wait_for};
use serde_json::Value;

use crate::test_platform::{AAPL, TestPlatform, limit};

/// A listener over the port that REST names.
pub(crate) struct TopicListener {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl TopicListener {
    pub(crate) fn join(client: &mut HttpClient) -> Self {
        Self::join_with(client, "")
    }

    /// With further headers of CONNECT.
    fn join_with(client: &mut HttpClient, headers: &str) -> Self {
        let url = client.get("/rest/broker/url/main").unwrap().body;
        let address = url.trim_matches('"').strip_prefix("tcp://").unwrap().to_owned();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut listener = Self { stream, unread: vec![] };
        listener.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\n{headers}\n"));
        assert!(listener.frame().starts_with("CONNECTED\n"));
        listener
    }

    pub(crate) fn send(&mut self, frame: &str) {
        self.stream.write_all(format!("{frame}\0").as_bytes()).unwrap();
    }

    pub(crate) fn subscribe(&mut self, id: u32, destination: &str) {
        self.send(&format!("SUBSCRIBE\nid:{id}\ndestination:{destination}\nreceipt:s{id}\n\n"));
        assert_eq!(self.frame(), format!("RECEIPT\nreceipt-id:s{id}\n\n"));
    }

    pub(crate) fn frame(&mut self) -> String {
        self.next_frame().expect("the broker has closed")
    }

    /// None where the broker has closed, or was killed.
    fn next_frame(&mut self) -> Option<String> {
        loop {
            let begin = self.unread.iter().take_while(|byte| **byte == b'\n').count();
            self.unread.drain(..begin);
            if let Some(end) = self.unread.iter().position(|byte| *byte == 0) {
                return Some(String::from_utf8(self.unread.drain(..=end).take(end).collect()).unwrap());
            }
            let mut bytes = [0; 4_096];
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(length) => self.unread.extend_from_slice(&bytes[..length]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("nothing was heard: {error}"),
            }
        }
    }

    /// The next message: its headers as an object of texts, and its body.
    pub(crate) fn headers_and_body(&mut self) -> (Value, Value) {
        self.next_message().expect("the broker has closed")
    }

    /// As [`Self::headers_and_body`]; none where the broker has closed, or was killed.
    pub(crate) fn next_message(&mut self) -> Option<(Value, Value)> {
        let frame = self.next_frame()?;
        let (head, body) = frame.split_once("\n\n").unwrap();
        assert!(head.starts_with("MESSAGE\n"), "{frame}");
        let headers = head.lines().skip(1).map(|line| line.split_once(':').unwrap());
        let headers = headers.map(|(name, value)| (name.to_owned(), Value::from(value.replace("\\c", ":"))));
        Some((headers.collect(), serde_json::from_str(body).unwrap()))
    }

    /// The next message: its topic, its sequence and its body.
    pub(crate) fn message(&mut self) -> (String, u64, Value) {
        let frame = self.frame();
        let header = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
        let body = frame.split_once("\n\n").unwrap().1;
        let topic = header("destination:/topic/");
        (topic, header("sequence:").parse().unwrap(), serde_json::from_str(body).unwrap())
    }
}

#[test]
fn a_listener_hears_what_became_of_an_order_placed_over_rest() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let mut listener = TopicListener::join(&mut client);
    listener.subscribe(1, "/topic/order-status.SERVER.*");
    let placed = client.post("/rest/execution/order/limit", &limit(AAPL, "BUY", 10, "272.00").to_string()).unwrap();
    let sequence: u64 = placed.header("rialto-sequence").unwrap().parse().unwrap();
    let id = placed.header("location").unwrap().rsplit('/').next().unwrap().to_owned();
    let topic = format!("order-status.SERVER.{}", id.replace('.', "%2E"));
    let (open, submitted) = (listener.message(), listener.message());
    assert_eq!((&open.0, &open.2["status"]), (&topic, &"OPEN".into()));
    // What REST answered is the moment at which the listener heard of it.
    assert_eq!(open.1, sequence);
    assert_eq!((&submitted.0, &submitted.2["status"]), (&topic, &"SUBMITTED".into()));
    assert!(submitted.1 > sequence);
    server.stop();
}

#[test]
fn after_a_restart_a_snapshot_tells_what_stands() {
    let desk = TestPlatform::new();
    let server = desk.start();
    server.client().post("/rest/execution/order/limit", &limit(AAPL, "BUY", 10, "272.00").to_string()).unwrap();
    server.stop();
    let server = desk.start();
    let mut listener = TopicListener::join(&mut server.client());
    listener.send("SUBSCRIBE\nid:1\ndestination:/topic/order.>\nsnapshot:true\n\n");
    let (topic, _, order) = listener.message();
    assert!(topic.starts_with("order.SERVER."), "{topic}");
    assert_eq!(order["securityId"], AAPL);
    server.stop();
}

#[test]
fn the_http_port_has_a_websocket_for_its_own_pages() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let upgrade = |origin: &str| {
        let key = ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
        let wish = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"), key];
        let headers = [&wish[..], &[("Sec-WebSocket-Protocol", "v12.stomp"), ("Origin", origin)]].concat();
        let request = HttpRequest { method: "GET", path: "/stomp", headers: &headers, body: None };
        let response = server.client().send(&request).unwrap();
        (response.status, response.header("sec-websocket-protocol").map(ToOwned::to_owned))
    };
    assert_eq!(upgrade(&format!("http://{}", server.address())), (101, Some("v12.stomp".into())));
    assert_eq!(upgrade("http://evil.example"), (403, None));
    server.stop();
}

#[test]
fn garbage_at_the_broker_costs_only_itself() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let mut honest = TopicListener::join(&mut client);
    honest.subscribe(1, "/topic/order-status.>");
    for garbage in [&b"\x16\x03\x01nonsense"[..], b"GET / HTTP/1.1\r\n\r\n\0", b"\0\0\0"] {
        let mut stream = TcpStream::connect(honest.stream.peer_addr().unwrap()).unwrap();
        stream.write_all(garbage).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        // Whatever it says, it closes.
        let _ = stream.read_to_end(&mut vec![]);
    }
    client.post("/rest/execution/order/limit", &limit(AAPL, "BUY", 10, "272.00").to_string()).unwrap();
    assert_eq!(honest.message().2["status"], "OPEN");
    server.stop();
}

#[test]
fn a_token_that_is_revoked_on_the_command_line_ends_what_it_had_opened() {
    let desk = TestPlatform::new();
    let made = desk.launch.run(&["token", "new", "robot", "--role", "trader", "--days", "30"]);
    let server = desk.start();
    let mut client = server.client();
    let token = made.output.split_whitespace().find(|word| word.starts_with("rialto_")).unwrap();
    let (mut robot, mut other) =
        (TopicListener::join_with(&mut client, &format!("passcode:{token}\n")), TopicListener::join(&mut client));
    robot.subscribe(1, "/topic/order-status.>");
    desk.launch.run(&["token", "revoke", "robot"]);
    let words = robot.frame();
    assert!(words.starts_with("ERROR\nmessage:credentials were revoked or changed; log in again\n"), "{words}");
    other.subscribe(1, "/topic/order-status.>");
    server.stop();
}

/// A thousand subscriptions of the longest kind, no two of which share a name.
fn subscribe_to_much(client: &mut HttpClient, number: u32) -> TopicListener {
    let mut listener = TopicListener::join(client);
    for id in 1..1_000 {
        let names: Vec<_> = (0..30).map(|place| format!("client{number}-subscription{id}-{place}")).collect();
        listener.send(&format!("SUBSCRIBE\nid:{id}\ndestination:/topic/generic-event.{}\n\n", names.join(".")));
    }
    listener.send("SUBSCRIBE\nid:0\ndestination:/topic/fill.>\nreceipt:all\n\n");
    listener
}

fn resident_megabytes(server: &RunningServer) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    kilobytes.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1_024
}

#[test]
fn memory_of_subscriptions_is_given_back_when_their_clients_are_gone() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    subscribe_to_much(&mut client, 0);
    let before = resident_megabytes(&server);
    let listeners: Vec<_> = (1..=8).map(|number| subscribe_to_much(&mut client, number)).collect();
    let most = wait_for("the subscriptions to take memory", || {
        let now = resident_megabytes(&server);
        (now > before + 40).then_some(now)
    });
    drop(listeners);
    wait_for(&format!("{most} MB to become little more than {before}"), || {
        (resident_megabytes(&server) < before + 20).then_some(())
    });
    server.stop();
}
