//! Real sockets on the loopback: authentication, connection slots, broken connections.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

#[allow(dead_code, reason = "stories about days use more of it")]
mod harness;

use fix::{
    Application, DisconnectReason, FixMessage, LogonDecision, LogonTicket, OutgoingMessage, PreparedDecision,
    SessionSender, tag,
};
use fix_net::LogonAuthenticator;
use harness::{FixHarness, TestClient, acceptor, initiator};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::{mpsc, watch};

/// Reports application events to the test.
struct RecordingApplication {
    seen: mpsc::UnboundedSender<String>,
    tickets: watch::Sender<LogonTicket>,
    verdict: LogonDecision,
}

impl Application for RecordingApplication {
    fn on_logon(&mut self, _logon: &FixMessage<'_>, ticket: LogonTicket) -> LogonDecision {
        self.tell("logon".to_owned());
        self.tickets.send_replace(ticket);
        self.verdict.clone()
    }

    fn on_logged_on(&mut self, _line: &mut dyn SessionSender) {
        self.tell("logged on".to_owned());
    }

    fn on_message(&mut self, message: &FixMessage<'_>, _line: &mut dyn SessionSender) {
        self.tell(format!("received {}", message.text(11).unwrap_or("?")));
    }

    fn on_logged_out(&mut self) {
        self.tell("logged out".to_owned());
    }

    fn on_disconnected(&mut self, reason: &DisconnectReason) {
        self.tell(format!("disconnected: {reason}"));
    }

    fn on_unsent(&mut self, message: OutgoingMessage) {
        self.tell(format!("unsent {}", String::from_utf8_lossy(message.msg_type())));
    }
}

impl RecordingApplication {
    fn tell(&self, what: String) {
        // The test may have ended.
        let _ = self.seen.send(what);
    }
}

struct Report {
    lines: mpsc::UnboundedReceiver<String>,
    tickets: watch::Receiver<LogonTicket>,
}

impl Report {
    async fn expect(&mut self, lines: &[&str]) {
        for line in lines {
            assert_eq!(self.lines.recv().await.as_deref(), Some(*line));
        }
    }
}

fn observer(verdict: LogonDecision) -> (RecordingApplication, Report) {
    let (seen, lines) = mpsc::unbounded_channel();
    let (ticket, tickets) = watch::channel(LogonTicket::default());
    (RecordingApplication { seen, tickets: ticket, verdict }, Report { lines, tickets })
}

fn order(id: &str) -> OutgoingMessage {
    let mut order = OutgoingMessage::new("D");
    order.field(11, id).field(38, "100").field(40, "1").field(54, "1").field(55, "AAPL").field(60, "20260105-12:00:00");
    order
}

#[tokio::test]
async fn our_initiator_trades_with_our_acceptor_and_both_part_in_order() {
    let harness = FixHarness::echo(acceptor("DESK")).await;
    let (application, mut report) = observer(LogonDecision::Accept);
    let caller = FixHarness::calling(initiator("DESK", harness.port()), application);
    report.expect(&["logged on"]).await;
    caller.handle().send(order("first")).unwrap();
    caller.handle().send(order("second")).unwrap();
    report.expect(&["received first", "received second"]).await;
    let status = caller.handle().status().await.unwrap();
    assert_eq!((status.next_incoming, status.next_outgoing), (4, 4));
    caller.stop().await;
    report.expect(&["logged out", "disconnected: we logged out and the peer answered"]).await;
    harness.stop().await;
}

#[tokio::test]
async fn a_second_caller_is_turned_away_and_the_first_is_undisturbed() {
    let harness = FixHarness::echo(acceptor("DESK")).await;
    let mut first = TestClient::logged_on(&harness, "DESK").await;
    let mut second = TestClient::connect(&harness, "DESK").await;
    second.send_line("35=A|34=1|98=0|108=30").await;
    assert_eq!(second.receive().await, None);
    first.send_line("35=1|34=2|112=still here").await;
    assert!(first.receive().await.unwrap().contains("|112=still here|"));
    first.hang_up().await;
    let mut third = TestClient::connect(&harness, "DESK").await;
    third.send_until_answered("35=A|34=3|98=0|108=30").await;
    harness.stop().await;
}

#[tokio::test]
async fn strangers_are_closed_without_a_word() {
    let settings = acceptor("DESK").replace("[SESSION]", "[SESSION]\nAllowedRemoteAddresses=192.0.2.1");
    let harness = FixHarness::echo(settings).await;
    for (name, line) in [
        ("NOBODY", "35=A|34=1|98=0|108=30"),
        ("DESK", "35=A|34=1|98=0|108=30"),
        ("DESK", "this is no message at all but it ends like one|10=000"),
    ] {
        let mut caller = TestClient::connect(&harness, name).await;
        caller.send_line(line).await;
        assert_eq!(caller.receive().await, None, "{name}");
    }
    harness.stop().await;
}

#[tokio::test]
async fn a_logon_may_be_decided_elsewhere() {
    let (application, mut report) = observer(LogonDecision::Pending);
    let harness = FixHarness::with(acceptor("DESK"), application).await;
    let mut caller = TestClient::connect(&harness, "DESK").await;
    caller.send_line("35=A|34=1|98=0|108=30|141=Y").await;
    report.expect(&["logon"]).await;
    let ticket = *report.tickets.wait_for(|ticket| *ticket != LogonTicket::default()).await.unwrap();
    harness.handle().decide(ticket, LogonDecision::Reject("not today".to_owned())).unwrap();
    assert!(caller.receive().await.unwrap().contains("|58=the Logon was refused: not today|"));
    assert_eq!(caller.receive().await, None);
    report.expect(&["disconnected: the Logon was refused: not today"]).await;
    harness.stop().await;
}

/// Accepts the password, and never decides about a Logon without one.
fn authenticator() -> LogonAuthenticator {
    Arc::new(|_, _, logon| {
        let password = logon.text(tag::PASSWORD).map(str::to_owned);
        Box::pin(async move {
            let verdict = match password.as_deref() {
                None => std::future::pending().await,
                Some("open sesame") => LogonDecision::Accept,
                Some(_) => LogonDecision::Reject("wrong password".to_owned()),
            };
            Some(Box::new(move || verdict) as PreparedDecision)
        })
    })
}

#[tokio::test]
async fn a_client_is_not_locked_out_by_a_pending_authentication() {
    let (application, mut report) = observer(LogonDecision::Reject("nobody introduced this one".to_owned()));
    let harness = FixHarness::with_authenticator(acceptor("DESK"), application, Some(authenticator())).await;
    let mut strangers = Vec::new();
    for _ in 0..3 {
        let mut stranger = TestClient::connect(&harness, "DESK").await;
        stranger.send_line("35=A|34=1|98=0|108=30").await;
        strangers.push(stranger);
    }
    let mut client = TestClient::connect(&harness, "DESK").await;
    client.send_line("35=A|34=1|98=0|108=30|554=open sesame").await;
    assert!(client.receive().await.unwrap().contains("|35=A|34=1|"));
    report.expect(&["logged on"]).await;
    // A second one is rejected, whatever its password.
    for password in ["open sesame", "guess"] {
        let mut second = TestClient::connect(&harness, "DESK").await;
        second.send_line(&format!("35=A|34=1|98=0|108=30|554={password}")).await;
        assert_eq!(second.receive().await, None);
    }
    client.send_line("35=1|34=2|112=still here").await;
    assert!(client.receive().await.unwrap().contains("|112=still here|"));
    harness.stop().await;
}

/// Takes as long as a wrong password is ever delayed.
fn slow_authenticator() -> LogonAuthenticator {
    Arc::new(|_, _, _| {
        Box::pin(async {
            tokio::time::sleep(std::time::Duration::from_secs(15)).await;
            Some(Box::new(|| LogonDecision::Accept) as PreparedDecision)
        })
    })
}

/// Time is paused unless all tasks are idle, and then it jumps.
#[tokio::test(start_paused = true)]
async fn a_slow_authentication_is_accepted_in_the_end() {
    let harness =
        FixHarness::with_authenticator(acceptor("DESK"), fix::EchoApplication::default(), Some(slow_authenticator()))
            .await;
    let mut client = TestClient::connect(&harness, "DESK").await;
    client.send_line("35=A|34=1|98=0|108=30").await;
    assert!(client.receive().await.unwrap().contains("|35=A|34=1|"));
    tokio::time::resume();
    client.hang_up().await;
    harness.stop().await;
}

/// Silent sockets from a second loopback address of Linux; one that is closed reconnects.
#[cfg(target_os = "linux")]
async fn keep_calling(port: u16, from: [u8; 4], sockets: usize) {
    let mut silent = Vec::new();
    loop {
        while silent.len() < sockets {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind((std::net::IpAddr::from(from), 0).into()).unwrap();
            silent.extend(socket.connect(([127, 0, 0, 1], port).into()).await);
        }
        let is_open = |socket: &TcpStream| {
            let read = socket.try_read(&mut [0]);
            read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
        };
        silent.retain(is_open);
        tokio::task::yield_now().await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn four_hundred_silent_sockets_lock_no_client_out() {
    for stranger in [[127, 0, 0, 1], [127, 0, 0, 2]] {
        let harness = FixHarness::echo(acceptor("DESK")).await;
        let crowd = tokio::spawn(keep_calling(harness.port(), stranger, 400));
        for number in 1..=8 {
            let mut client = TestClient::connect(&harness, "DESK").await;
            client.send_until_answered(&format!("35=A|34={number}|98=0|108=30")).await;
            client.hang_up().await;
        }
        crowd.abort();
        harness.stop().await;
    }
}

#[tokio::test]
async fn a_rejected_peer_leaves_no_trace() {
    let (application, mut report) = observer(LogonDecision::Accept);
    let harness = FixHarness::with_authenticator(acceptor("DESK"), application, Some(authenticator())).await;
    let mut stranger = TestClient::connect(&harness, "DESK").await;
    stranger.send_line("35=A|34=1|98=0|108=30|554=guess").await;
    assert_eq!(stranger.receive().await, None);
    report.expect(&["disconnected: the Logon was refused: wrong password"]).await;
    let mut client = TestClient::connect(&harness, "DESK").await;
    client.send_until_answered("35=A|34=1|98=0|108=30|554=open sesame").await;
    let status = harness.handle().status().await.unwrap();
    assert_eq!((status.next_incoming, status.next_outgoing), (2, 2));
    harness.stop().await;
}

#[tokio::test]
async fn many_messages_are_sent_page_by_page_and_none_is_dropped() {
    /// Three times what the session's queue holds.
    const ANSWERS: usize = 24_576;
    let (application, mut report) = observer(LogonDecision::Accept);
    let harness = FixHarness::with(acceptor("DESK"), application).await;
    let mut caller = TestClient::logged_on(&harness, "DESK").await;
    report.expect(&["logon", "logged on"]).await;
    let handle = harness.handle().clone();
    let sending = tokio::spawn(async move { handle.send_all((0..ANSWERS).map(|n| order(&n.to_string()))).await });
    for n in 0..ANSWERS {
        assert!(caller.receive_type("D").await.contains(&format!("|11={n}|")));
    }
    sending.await.unwrap().unwrap();
    harness.stop().await;
}

#[tokio::test]
async fn a_message_without_a_logged_on_peer_comes_back() {
    let (application, mut report) = observer(LogonDecision::Accept);
    let harness = FixHarness::with(acceptor("DESK"), application).await;
    harness.handle().send(OutgoingMessage::new("8")).unwrap();
    report.expect(&["unsent 8"]).await;
    harness.stop().await;
}

#[tokio::test]
async fn what_a_client_missed_is_sent_again_however_slowly_it_reads() {
    const MISSED: usize = 20_000;
    let (application, mut report) = observer(LogonDecision::Accept);
    let harness = FixHarness::with(acceptor("DESK"), application).await;
    let mut caller = TestClient::logged_on(&harness, "DESK").await;
    report.expect(&["logon", "logged on"]).await;
    for number in 0..MISSED {
        while harness.handle().send(order(&format!("order-{number}"))).is_err() {
            caller.receive().await.unwrap();
        }
    }
    caller.hang_up().await;
    let mut caller = TestClient::connect(&harness, "DESK").await;
    caller.send_until_answered("35=A|34=2|98=0|108=30").await;
    caller.send_line("35=2|34=3|7=2|16=0").await;
    let end = harness.handle().status().await.unwrap().next_outgoing;
    let first = caller.receive_type("D").await;
    assert!(first.contains("|34=2|43=Y|") && first.contains("|11=order-0|"), "{first}");
    for expected in 3..end - 1 {
        let message = caller.receive().await.unwrap();
        assert_eq!(harness::number(&message), expected, "{message}");
    }
    assert!(caller.receive().await.unwrap().contains(&format!("|36={end}|123=Y|")), "our Logon is a gap to be filled");
    assert!(end > 100, "all that was sent before the line broke comes again");
    harness.stop().await;
}

#[tokio::test]
async fn an_operator_sets_sequence_numbers_only_while_no_peer_is_connected() {
    let harness = FixHarness::echo(acceptor("DESK")).await;
    assert!(harness.handle().set_numbers(7, 9).await.unwrap());
    let mut caller = TestClient::connect(&harness, "DESK").await;
    caller.send_line("35=A|34=7|98=0|108=30").await;
    assert!(caller.receive().await.unwrap().contains("|35=A|34=9|"));
    assert!(!harness.handle().set_numbers(1, 1).await.unwrap());
    harness.handle().reset().await.unwrap();
    assert!(caller.receive().await.unwrap().contains("|35=5|34=10|"));
    assert_eq!(caller.receive().await, None);
    harness.stop().await;
}

#[tokio::test]
async fn a_stopping_session_logs_out_first() {
    let harness = FixHarness::echo(acceptor("DESK")).await;
    let mut caller = TestClient::logged_on(&harness, "DESK").await;
    let stopping = tokio::spawn(harness.stop());
    let goodbye = caller.receive().await.unwrap();
    assert!(goodbye.contains("|35=5|34=2|") && goodbye.contains("|58=the server stops|"), "{goodbye}");
    caller.send_line("35=5|34=2").await;
    assert_eq!(caller.receive().await, None);
    stopping.await.unwrap();
}
