//! A real FIX client, made with QuickFIX, trades with the real binary.

pub(crate) mod client;
pub(crate) mod relay;
mod sessions;
mod drop_copies;
mod account;
mod market_data;

use scenarios::server::RunningServer;
use scenarios::wait::wait_for;

use crate::test_platform::{AAPL, SAP, TestPlatform, TraderClient};
use client::{Client, shown};
use relay::Relay;

/// Numbers that go on from connection to connection; the market's own hours, not the session's, decide what trades. QuickFIX
/// has the clock of the wall, and the desk another.
const SESSIONS: &str = "
[SESSION]
ConnectionType=acceptor
SocketAcceptPort=0
BeginString=FIX.4.4
SenderCompID=RIALTO
TargetCompID=CLIENT
NonStopSession=Y
UseDataDictionary=Y
ValidateIncomingMessage=Y
CheckLatency=N
FileLogPath=log
";

/// A server that knows this client, a line to it, and the client, logged on.
struct Story {
    desk: TestPlatform,
    relay: Relay,
    server: RunningServer,
    client: Client,
}

impl Story {
    fn begin() -> Self {
        Self::begin_with(&[])
    }

    fn begin_with(arguments: &[&str]) -> Self {
        Self::begin_in(SESSIONS, arguments)
    }

    fn begin_in(sessions: &str, arguments: &[&str]) -> Self {
        let desk = TestPlatform::new();
        let file = desk.data().with_file_name("sessions.cfg");
        std::fs::write(&file, sessions).unwrap();
        let desk = desk.set("fix.settings", file.display());
        let server = desk.start();
        let relay = Relay::new();
        relay.lead_to(server.port_address("fix"));
        let client = Client::call(relay.port(), arguments);
        assert_eq!(client.hear(), "logged on");
        Self { desk, relay, server, client }
    }
}

/// A buy order of AAPL, which opens at 272.39 to 272.41 with 300 on each side.
fn order(id: &str, terms: &str) -> String {
    buy(AAPL, id, terms)
}

fn buy(security: u64, id: &str, terms: &str) -> String {
    format!("35=D|11={id}|48={security}|54=1|60=20261116-12:00:00|{terms}")
}

#[test]
fn every_type_of_order_and_every_time_in_force() {
    let mut story = Story::begin();
    let told = [
        ("market", "38=10|40=1", "F/2", &["A/A filled 0", "0/0 filled 0", "F/2 filled 10"][..]),
        ("limit", "38=10|40=2|44=250", "0/0", &["A/A filled 0", "0/0 filled 0"]),
        ("stop", "38=10|40=3|99=300", "0/0", &["A/A filled 0", "0/0 filled 0"]),
        ("stop-limit", "38=10|40=4|99=300|44=310", "0/0", &["A/A filled 0", "0/0 filled 0"]),
        ("day", "38=10|40=2|44=250|59=0", "0/0", &["A/A filled 0", "0/0 filled 0"]),
        ("cancelled", "38=10|40=2|44=250|59=1", "0/0", &["A/A filled 0", "0/0 filled 0"]),
        ("immediate", "38=10|40=2|44=250|59=3", "I/4", &["A/A filled 0", "0/0 filled 0", "I/4 filled 0"]),
        ("all-or-none", "38=10|40=2|44=272.41|59=4", "F/2", &["A/A filled 0", "0/0 filled 0", "F/2 filled 10"]),
        ("till-date", "38=10|40=2|44=250|59=6|432=20261130", "0/0", &["A/A filled 0", "0/0 filled 0"]),
    ];
    for (id, terms, last, reports) in told {
        story.client.say(&order(id, terms));
        let expected: Vec<_> = reports.iter().map(|report| format!("{id} {report}")).collect();
        assert_eq!(story.client.hear_reports(last), expected, "{terms}");
    }
    // At noon the opening auction is over, and the venue says so.
    for (id, tif, last) in [("at-the-open", "2", "8/8"), ("at-the-close", "7", "0/0")] {
        story.client.say(&buy(SAP, id, &format!("38=10|40=2|44=210|59={tif}")));
        let expected = [format!("{id} A/A filled 0"), format!("{id} {last} filled 0")];
        assert_eq!(story.client.hear_reports(last), expected);
    }
    assert_eq!(story.client.leave(), ["logged out"]);
    story.server.stop();
}

#[test]
fn replace_and_cancel_keep_the_order_and_change_its_name() {
    let mut story = Story::begin();
    let client = &mut story.client;
    client.say(&order("first", "38=100|40=2|44=250|59=1"));
    client.hear_reports("0/0");
    client.say("35=G|11=second|41=first|48=1|54=1|60=20261116-12:00:00|38=150|40=2|44=251|59=1");
    assert_eq!(client.hear_reports("I/0"), ["second for first E/E filled 0", "second for first I/0 filled 0"]);
    client.say("35=F|11=third|41=second|48=1|54=1|60=20261116-12:00:00|38=150");
    assert_eq!(client.hear_reports("I/4"), ["third for second 6/6 filled 0", "third for second I/4 filled 0"]);
    client.say("35=F|11=fourth|41=second|48=1|54=1|60=20261116-12:00:00|38=150");
    let refused = client.hear_message("9");
    let part = |tag: u32| refused.get(&tag).map_or("?", String::as_str);
    assert_eq!([part(11), part(41), part(39), part(434), part(37)], ["fourth", "second", "4", "1", "first"]);
}

#[test]
fn what_is_wrong_is_rejected_at_its_own_level() {
    let mut story = Story::begin();
    let client = &mut story.client;
    client.say("35=D|11=nothing|48=999999|54=1|60=20261116-12:00:00|38=10|40=1");
    let refused = client.hear_message("8");
    assert_eq!((shown(&refused), refused[&37].as_str()), ("nothing 8/8 filled 0".to_owned(), "NONE"));
    client.say("35=F|11=b|41=nobody|48=1|54=1|60=20261116-12:00:00|38=10");
    let refused = client.hear_message("9");
    assert_eq!((refused[&37].as_str(), refused[&39].as_str(), refused[&102].as_str()), ("NONE", "8", "1"));
    client.say("35=D|11=c|48=1|54=Z|60=20261116-12:00:00|38=10|40=1");
    let rejected = client.hear_message("3");
    assert_eq!((rejected[&371].as_str(), rejected[&373].as_str()), ("54", "5"));
    client.say("35=H|11=d|48=1|54=1");
    assert_eq!(client.hear_message("j")[&380], "3");
}

#[test]
fn what_was_lost_on_the_line_is_sent_again() {
    let mut story = Story::begin();
    story.client.say(&order("heard", "38=10|40=2|44=250|59=1"));
    story.client.hear_reports("0/0");
    story.relay.become_deaf();
    story.client.say(&order("lost", "38=10|40=1"));
    wait_for("the fill to be sent", || story.relay.has_lost("150=F").then_some(()));
    story.relay.cut();
    assert_eq!(story.client.hear_until("logged out"), Vec::<String>::new());
    story.relay.lead_to(story.server.port_address("fix"));
    assert_eq!(story.client.hear_until("logged on"), Vec::<String>::new());
    assert_eq!(
        story.client.hear_reports("F/2"),
        ["lost A/A filled 0 again", "lost 0/0 filled 0 again", "lost F/2 filled 10 again"]
    );
}

/// A client that says by 789 what it expects need not ask: none of its Resend Requests gets through here.
#[test]
fn a_client_that_says_what_it_expects_is_told_everything_after_a_cut() {
    let mut story = Story::begin_with(&["next-expected"]);
    story.relay.swallow_resend_requests();
    story.client.say(&order("heard", "38=10|40=2|44=250|59=1"));
    story.client.hear_reports("0/0");
    story.relay.become_deaf();
    for (n, id) in ["lost-1", "lost-2", "lost-3"].into_iter().enumerate() {
        story.client.say(&order(id, "38=10|40=1"));
        wait_for("the fill to be sent", || (story.relay.times_lost("150=F") > n).then_some(()));
    }
    story.relay.cut();
    assert_eq!(story.client.hear_until("logged out"), Vec::<String>::new());
    story.relay.lead_to(story.server.port_address("fix"));
    assert_eq!(story.client.hear_until("logged on"), Vec::<String>::new());
    let told: Vec<_> = (0..9).map(|_| shown(&story.client.hear_message("8"))).collect();
    let expected = ["lost-1", "lost-2", "lost-3"]
        .map(|id| ["A/A filled 0", "0/0 filled 0", "F/2 filled 10"].map(|report| format!("{id} {report} again")));
    assert_eq!(told, expected.concat());
    story.client.say(&order("after", "38=10|40=1"));
    assert_eq!(story.client.hear_reports("F/2"), ["after A/A filled 0", "after 0/0 filled 0", "after F/2 filled 10"]);
    assert_eq!(story.client.leave(), ["logged out"]);
}

#[test]
fn a_client_trades_on_after_the_server_was_restarted() {
    let mut story = Story::begin();
    story.client.say(&order("resting", "38=100|40=2|44=250|59=1"));
    let before = story.client.hear_reports("0/0");
    assert_eq!(before, ["resting A/A filled 0", "resting 0/0 filled 0"]);
    story.relay.cut();
    story.client.hear_until("logged out");
    story.server.stop();
    story.server = story.desk.start();
    story.server.client().delete("/rest/execution/order/resting").unwrap();
    story.server.client().wait_for_status("resting", "CANCELED");
    story.relay.lead_to(story.server.port_address("fix"));
    story.client.hear_until("logged on");
    let missed = story.client.hear_reports("I/4");
    assert_eq!(missed.last().map(String::as_str), Some("resting I/4 filled 0"), "{missed:?}");
    story.client.say(&order("resting", "38=10|40=1"));
    assert_eq!(shown(&story.client.hear_message("8")), "resting 8/8 filled 0");
    story.client.say(&order("after", "38=10|40=1"));
    assert_eq!(story.client.hear_reports("F/2").last().map(String::as_str), Some("after F/2 filled 10"));
}
