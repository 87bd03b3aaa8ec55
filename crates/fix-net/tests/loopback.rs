//! Real sockets on the loopback: authentication, connection slots, broken connections.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

#[allow(dead_code, reason = "stories about days use more of it")]
mod world;

use fix::{Application, DisconnectReason, Introduction, Line, LogonTicket, Message, Outgoing, Verdict, tag};
use fix_net::Doorman;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::{mpsc, watch};
use world::{Caller, World, acceptor, initiator};

/// Reports application events to the test.
struct Witness {
    seen: mpsc::UnboundedSender<String>,
    tickets: watch::Sender<LogonTicket>,
    verdict: Verdict,
}

impl Application for Witness {
    fn logon(&mut self, _logon: &Message<'_>, ticket: LogonTicket) -> Verdict {
        self.tell("logon".to_owned());
        self.tickets.send_replace(ticket);
        self.verdict.clone()
    }

    fn logged_on(&mut self, _line: &mut dyn Line) {
        self.tell("logged on".to_owned());
    }

    fn received(&mut self, message: &Message<'_>, _line: &mut dyn Line) {
        self.tell(format!("received {}", message.text(11).unwrap_or("?")));
    }

    fn logged_out(&mut self) {
        self.tell("logged out".to_owned());
    }

    fn disconnected(&mut self, reason: &DisconnectReason) {
        self.tell(format!("disconnected: {reason}"));
    }

    fn unsent(&mut self, message: Outgoing) {
        self.tell(format!("unsent {}", String::from_utf8_lossy(message.msg_type())));
    }
}

impl Witness {
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

fn witness(verdict: Verdict) -> (Witness, Report) {
    let (seen, lines) = mpsc::unbounded_channel();
    let (ticket, tickets) = watch::channel(LogonTicket::default());
    (Witness { seen, tickets: ticket, verdict }, Report { lines, tickets })
}

fn order(id: &str) -> Outgoing {
    let mut order = Outgoing::new("D");
    order.field(11, id).field(38, "100").field(40, "1").field(54, "1").field(55, "AAPL").field(60, "20260105-12:00:00");
    order
}

#[tokio::test]
async fn our_initiator_trades_with_our_acceptor_and_both_part_in_order() {
    let world = World::echo(acceptor("DESK")).await;
    let (application, mut report) = witness(Verdict::Admit);
    let caller = World::calling(initiator("DESK", world.port()), application);
    report.expect(&["logged on"]).await;
    caller.handle().send(order("first")).unwrap();
    caller.handle().send(order("second")).unwrap();
    report.expect(&["received first", "received second"]).await;
    let status = caller.handle().status().await.unwrap();
    assert_eq!((status.next_incoming, status.next_outgoing), (4, 4));
    caller.stop().await;
    report.expect(&["logged out", "disconnected: we logged out and the peer answered"]).await;
    world.stop().await;
}

#[tokio::test]
async fn a_second_caller_is_turned_away_and_the_first_is_undisturbed() {
    let world = World::echo(acceptor("DESK")).await;
    let mut first = Caller::logged_on(&world, "DESK").await;
    let mut second = Caller::connect(&world, "DESK").await;
    second.say("35=A|34=1|98=0|108=30").await;
    assert_eq!(second.hear().await, None);
    first.say("35=1|34=2|112=still here").await;
    assert!(first.hear().await.unwrap().contains("|112=still here|"));
    first.hang_up().await;
    let mut third = Caller::connect(&world, "DESK").await;
    third.say_until_heard("35=A|34=3|98=0|108=30").await;
    world.stop().await;
}

#[tokio::test]
async fn strangers_are_closed_without_a_word() {
    let settings = acceptor("DESK").replace("[SESSION]", "[SESSION]\nAllowedRemoteAddresses=192.0.2.1");
    let world = World::echo(settings).await;
    for (name, line) in [
        ("NOBODY", "35=A|34=1|98=0|108=30"),
        ("DESK", "35=A|34=1|98=0|108=30"),
        ("DESK", "this is no message at all but it ends like one|10=000"),
    ] {
        let mut caller = Caller::connect(&world, name).await;
        caller.say(line).await;
        assert_eq!(caller.hear().await, None, "{name}");
    }
    world.stop().await;
}

#[tokio::test]
async fn a_logon_may_be_decided_elsewhere() {
    let (application, mut report) = witness(Verdict::Later);
    let world = World::with(acceptor("DESK"), application).await;
    let mut caller = Caller::connect(&world, "DESK").await;
    caller.say("35=A|34=1|98=0|108=30|141=Y").await;
    report.expect(&["logon"]).await;
    let ticket = *report.tickets.wait_for(|ticket| *ticket != LogonTicket::default()).await.unwrap();
    world.handle().decide(ticket, Verdict::Refuse("not today".to_owned())).unwrap();
    assert!(caller.hear().await.unwrap().contains("|58=the Logon was refused: not today|"));
    assert_eq!(caller.hear().await, None);
    report.expect(&["disconnected: the Logon was refused: not today"]).await;
    world.stop().await;
}

/// Accepts the password, and never decides about a Logon without one.
fn doorman() -> Doorman {
    Arc::new(|_, _, logon| {
        let password = logon.text(tag::PASSWORD).map(str::to_owned);
        Box::pin(async move {
            let verdict = match password.as_deref() {
                None => std::future::pending().await,
                Some("open sesame") => Verdict::Admit,
                Some(_) => Verdict::Refuse("wrong password".to_owned()),
            };
            Some(Box::new(move || verdict) as Introduction)
        })
    })
}

#[tokio::test]
async fn a_client_is_not_locked_out_by_a_pending_authentication() {
    let (application, mut report) = witness(Verdict::Refuse("nobody introduced this one".to_owned()));
    let world = World::guarded(acceptor("DESK"), application, Some(doorman())).await;
    let mut strangers = Vec::new();
    for _ in 0..3 {
        let mut stranger = Caller::connect(&world, "DESK").await;
        stranger.say("35=A|34=1|98=0|108=30").await;
        strangers.push(stranger);
    }
    let mut client = Caller::connect(&world, "DESK").await;
    client.say("35=A|34=1|98=0|108=30|554=open sesame").await;
    assert!(client.hear().await.unwrap().contains("|35=A|34=1|"));
    report.expect(&["logged on"]).await;
    // A second one is rejected, whatever its password.
    for password in ["open sesame", "guess"] {
        let mut second = Caller::connect(&world, "DESK").await;
        second.say(&format!("35=A|34=1|98=0|108=30|554={password}")).await;
        assert_eq!(second.hear().await, None);
    }
    client.say("35=1|34=2|112=still here").await;
    assert!(client.hear().await.unwrap().contains("|112=still here|"));
    world.stop().await;
}

/// Takes as long as a wrong password is ever delayed.
fn slow_doorman() -> Doorman {
    Arc::new(|_, _, _| {
        Box::pin(async {
            tokio::time::sleep(std::time::Duration::from_secs(15)).await;
            Some(Box::new(|| Verdict::Admit) as Introduction)
        })
    })
}

/// Time is paused unless all tasks are idle, and then it jumps.
#[tokio::test(start_paused = true)]
async fn a_slow_authentication_is_accepted_in_the_end() {
    let world = World::guarded(acceptor("DESK"), fix::Echo::default(), Some(slow_doorman())).await;
    let mut client = Caller::connect(&world, "DESK").await;
    client.say("35=A|34=1|98=0|108=30").await;
    assert!(client.hear().await.unwrap().contains("|35=A|34=1|"));
    tokio::time::resume();
    client.hang_up().await;
    world.stop().await;
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
        let world = World::echo(acceptor("DESK")).await;
        let crowd = tokio::spawn(keep_calling(world.port(), stranger, 400));
        for number in 1..=8 {
            let mut client = Caller::connect(&world, "DESK").await;
            client.say_until_heard(&format!("35=A|34={number}|98=0|108=30")).await;
            client.hang_up().await;
        }
        crowd.abort();
        world.stop().await;
    }
}

#[tokio::test]
async fn a_rejected_peer_leaves_no_trace() {
    let (application, mut report) = witness(Verdict::Admit);
    let world = World::guarded(acceptor("DESK"), application, Some(doorman())).await;
    let mut stranger = Caller::connect(&world, "DESK").await;
    stranger.say("35=A|34=1|98=0|108=30|554=guess").await;
    assert_eq!(stranger.hear().await, None);
    report.expect(&["disconnected: the Logon was refused: wrong password"]).await;
    let mut client = Caller::connect(&world, "DESK").await;
    client.say_until_heard("35=A|34=1|98=0|108=30|554=open sesame").await;
    let status = world.handle().status().await.unwrap();
    assert_eq!((status.next_incoming, status.next_outgoing), (2, 2));
    world.stop().await;
}

#[tokio::test]
async fn many_messages_are_sent_page_by_page_and_none_is_dropped() {
    /// Three times what the session's queue holds.
    const ANSWERS: usize = 24_576;
    let (application, mut report) = witness(Verdict::Admit);
    let world = World::with(acceptor("DESK"), application).await;
    let mut caller = Caller::logged_on(&world, "DESK").await;
    report.expect(&["logon", "logged on"]).await;
    let handle = world.handle().clone();
    let sending = tokio::spawn(async move { handle.send_all((0..ANSWERS).map(|n| order(&n.to_string()))).await });
    for n in 0..ANSWERS {
        assert!(caller.hear_type("D").await.contains(&format!("|11={n}|")));
    }
    sending.await.unwrap().unwrap();
    world.stop().await;
}

#[tokio::test]
async fn a_message_without_a_logged_on_peer_comes_back() {
    let (application, mut report) = witness(Verdict::Admit);
    let world = World::with(acceptor("DESK"), application).await;
    world.handle().send(Outgoing::new("8")).unwrap();
    report.expect(&["unsent 8"]).await;
    world.stop().await;
}

#[tokio::test]
async fn what_a_client_missed_is_sent_again_however_slowly_it_reads() {
    const MISSED: usize = 20_000;
    let (application, mut report) = witness(Verdict::Admit);
    let world = World::with(acceptor("DESK"), application).await;
    let mut caller = Caller::logged_on(&world, "DESK").await;
    report.expect(&["logon", "logged on"]).await;
    for number in 0..MISSED {
        while world.handle().send(order(&format!("order-{number}"))).is_err() {
            caller.hear().await.unwrap();
        }
    }
    caller.hang_up().await;
    let mut caller = Caller::connect(&world, "DESK").await;
    caller.say_until_heard("35=A|34=2|98=0|108=30").await;
    caller.say("35=2|34=3|7=2|16=0").await;
    let end = world.handle().status().await.unwrap().next_outgoing;
    let first = caller.hear_type("D").await;
    assert!(first.contains("|34=2|43=Y|") && first.contains("|11=order-0|"), "{first}");
    for expected in 3..end - 1 {
        let message = caller.hear().await.unwrap();
        assert_eq!(world::number(&message), expected, "{message}");
    }
    assert!(caller.hear().await.unwrap().contains(&format!("|36={end}|123=Y|")), "our Logon is a gap to be filled");
    assert!(end > 100, "all that was sent before the line broke comes again");
    world.stop().await;
}

#[tokio::test]
async fn an_operator_sets_sequence_numbers_only_while_no_peer_is_connected() {
    let world = World::echo(acceptor("DESK")).await;
    assert!(world.handle().set_numbers(7, 9).await.unwrap());
    let mut caller = Caller::connect(&world, "DESK").await;
    caller.say("35=A|34=7|98=0|108=30").await;
    assert!(caller.hear().await.unwrap().contains("|35=A|34=9|"));
    assert!(!world.handle().set_numbers(1, 1).await.unwrap());
    world.handle().reset().await.unwrap();
    assert!(caller.hear().await.unwrap().contains("|35=5|34=10|"));
    assert_eq!(caller.hear().await, None);
    world.stop().await;
}

#[tokio::test]
async fn a_stopping_session_logs_out_first() {
    let world = World::echo(acceptor("DESK")).await;
    let mut caller = Caller::logged_on(&world, "DESK").await;
    let stopping = tokio::spawn(world.stop());
    let goodbye = caller.hear().await.unwrap();
    assert!(goodbye.contains("|35=5|34=2|") && goodbye.contains("|58=the server stops|"), "{goodbye}");
    caller.say("35=5|34=2").await;
    assert_eq!(caller.hear().await, None);
    stopping.await.unwrap();
}
