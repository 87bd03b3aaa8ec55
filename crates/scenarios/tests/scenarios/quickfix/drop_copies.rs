//! Drop copies: a client made with QuickFIX is told of the orders of others.

use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::json;

use super::client::{Client, Fields, shown};
use super::relay::Relay;
use super::{SESSIONS, order};
use crate::fix_orders::client::{FixClient, Message};
use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit, market, with_id};

/// Receives the reports on orders of FIX clients and REST, and takes none itself.
const COPIES: &str = "
[SESSION]
ConnectionType=acceptor
SocketAcceptPort=0
BeginString=FIX.4.4
SenderCompID=RIALTO
TargetCompID=BACKOFFICE
NonStopSession=Y
UseDataDictionary=Y
ValidateIncomingMessage=Y
CheckLatency=N
FileLogPath=log
DropCopy=Y
DropCopySources=FIX,REST
";

/// A server with a client that trades and one that receives copies, the latter over a line that can be cut.
struct CopyStory {
    desk: TestPlatform,
    server: RunningServer,
    relay: Relay,
    trader: Client,
    copies: Client,
}

impl CopyStory {
    fn begin(copies: &str) -> Self {
        let desk = TestPlatform::new();
        let sessions = desk.data().with_file_name("sessions.cfg");
        std::fs::write(&sessions, SESSIONS.to_owned() + copies).unwrap();
        let desk = desk.set("fix.settings", sessions.display());
        let server = desk.start();
        let relay = Relay::new();
        relay.lead_to(server.port_address("fix"));
        let trader = Client::call(server.port_address("fix").port(), &[]);
        assert_eq!(trader.hear(), "logged on");
        let copies = Client::start(&settings("BACKOFFICE", relay.port()), &[]);
        assert_eq!(copies.hear(), "logged on");
        Self { desk, server, relay, trader, copies }
    }

    /// The copies line leads to the server again, and the client is logged on.
    fn reconnect(&self) {
        self.relay.lead_to(self.server.port_address("fix"));
        // QuickFIX says so once more when an attempt in between has failed.
        let before = self.copies.hear_until("logged on");
        assert!(before.iter().all(|line| line == "logged out"), "{before:?}");
    }
}

fn settings(comp_id: &str, port: u16) -> String {
    format!(
        "[DEFAULT]\nReconnectInterval=1\n[SESSION]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\n\
         SocketConnectPort={port}\nHeartBtInt=30\nBeginString=FIX.4.4\nSenderCompID={comp_id}\nTargetCompID=RIALTO\n\
         StartTime=00:00:00\nEndTime=00:00:00\nUseDataDictionary=N\nCheckLatency=N\n"
    )
}

/// What is told of one order, to its end.
fn reports(client: &Client, last: &str) -> Vec<Fields> {
    let mut heard = Vec::new();
    loop {
        let report = client.hear_message("8");
        let is_last = shown(&report).contains(last);
        heard.push(report);
        if is_last {
            return heard;
        }
    }
}

/// Without the numbers of the session and what a copy has beside the report.
fn content(reports: &[Fields]) -> Vec<Fields> {
    let of_session = [9, 10, 34, 43, 49, 52, 56, 122, 447, 448, 452, 453, 523, 797, 802, 803];
    let own = |report: &Fields| report.clone().into_iter().filter(|(tag, _)| !of_session.contains(tag)).collect();
    reports.iter().map(own).collect()
}

#[test]
fn the_orders_of_others_are_copied_with_the_same_exec_ids_and_orders_are_refused() {
    let mut story = CopyStory::begin(COPIES);
    story.trader.say(&order("part", "38=400|40=2|44=272.41|59=1"));
    let told = reports(&story.trader, "F/1");
    let copied = reports(&story.copies, "F/1");
    assert_eq!(content(&copied), content(&told), "a copy says what the report says, under the same ExecID");
    assert!(
        copied.iter().all(|report| report[&797] == "Y" && report[&448] == "CLIENT" && report[&523] == "SERVER"),
        "{copied:?}"
    );

    story.trader.say("35=F|11=cancel|41=part|48=1|54=1|60=20261116-12:00:00|38=400");
    assert_eq!(content(&reports(&story.copies, "I/4")), content(&reports(&story.trader, "I/4")));

    let mut rest = story.server.client();
    rest.place(&with_id(market(AAPL, "SELL", 10), "by-rest"));
    let told: Vec<_> = reports(&story.copies, "F/2").iter().map(shown).collect();
    assert_eq!(told, ["by-rest A/A filled 0", "by-rest 0/0 filled 0", "by-rest F/2 filled 10"]);

    story.copies.say(&order("mine", "38=10|40=1"));
    let refused = story.copies.hear_message("j");
    assert_eq!(
        [&refused[&372], &refused[&380], &refused[&58]],
        ["D", "3", "this is a drop copy session: it takes no orders and no questions"]
    );
    assert_eq!(story.copies.leave(), ["logged out"]);
    assert_eq!(story.trader.leave(), ["logged out"], "nothing of others was told to the one who trades");
    story.server.stop();
}

#[test]
fn copies_that_were_missed_come_later_once_and_without_a_gap() {
    let mut story = CopyStory::begin(COPIES);
    story.relay.become_deaf();
    story.trader.say(&order("lost", "38=10|40=1"));
    let told = reports(&story.trader, "F/2");
    wait_for("the copy of the fill to be sent", || story.relay.has_lost("150=F").then_some(()));
    story.relay.cut();
    assert_eq!(story.copies.hear_until("logged out"), Vec::<String>::new());
    // While it is away, and while the server is.
    let mut rest = story.server.client();
    rest.place(&with_id(limit(AAPL, "BUY", 5, "250"), "resting"));
    rest.wait_for_status("resting", "SUBMITTED");
    story.server.stop();
    story.server = story.desk.start();
    story.server.client().delete("/rest/execution/order/resting").unwrap();
    story.server.client().wait_for_status("resting", "CANCELED");
    story.reconnect();
    let copied = reports(&story.copies, "F/2");
    assert_eq!(content(&copied), content(&told));
    assert!(copied.iter().all(|report| report[&43] == "Y"), "asked for again by their numbers: {copied:?}");
    // Those of a connection that broke before they were read come again, as such.
    let later: Vec<_> =
        reports(&story.copies, "I/4").iter().map(|report| shown(report).replace(" again", "")).collect();
    let expected = ["resting A/A filled 0", "resting 0/0 filled 0", "resting 6/6 filled 0", "resting I/4 filled 0"];
    assert_eq!(later, expected);
    assert_eq!(story.copies.leave(), ["logged out"]);
    story.server.stop();
}

#[test]
fn a_rule_says_which_orders_are_copied() {
    let rule = COPIES.replace("DropCopySources=FIX,REST", "DropCopySessions=CLIENT\nDropCopyStrategies=TREND,SERVER");
    let mut story = CopyStory::begin(&rule);
    let mut rest = story.server.client();
    rest.place(&with_id(market(AAPL, "SELL", 10), "by-rest"));
    rest.wait_for_status("by-rest", "EXECUTED");
    story.trader.say(&order("by-fix", "38=10|40=1"));
    let told: Vec<_> = reports(&story.copies, "F/2").iter().map(shown).collect();
    assert_eq!(told, ["by-fix A/A filled 0", "by-fix 0/0 filled 0", "by-fix F/2 filled 10"]);
    assert_eq!(rest.order("by-rest")["status"], json!("EXECUTED"));
    assert_eq!(story.copies.leave(), ["logged out"]);
    story.server.stop();
}

#[test]
fn a_copy_says_whose_order_it_is() {
    let desk = TestPlatform::new();
    let sessions = desk.data().with_file_name("sessions.cfg");
    std::fs::write(&sessions, SESSIONS.to_owned() + COPIES).unwrap();
    let desk = desk.set("fix.settings", sessions.display());
    let server = desk.start();
    let mut copies = FixClient::new("BACKOFFICE");
    copies.log_on(server.port_address("fix"));
    let mut trader = FixClient::new("CLIENT");
    trader.log_on(server.port_address("fix"));
    trader.send("35=D|11=by-fix|54=1|38=10|40=2|44=250|48=1|59=1");
    trader.wait_for_messages(2);
    server.client().place(&with_id(limit(AAPL, "BUY", 5, "250"), "by-rest"));
    copies.wait_for_messages(4);
    let parties = |copy: &Message| {
        let fields = copy.0.iter().filter(|(tag, _)| [11, 447, 448, 452, 453, 523, 797, 802, 803].contains(tag));
        fields.map(|(tag, value)| format!("{tag}={value}")).collect::<Vec<_>>().join("|")
    };
    let party =
        |id: &str, origin: &str| format!("11={id}|453=1|448={origin}|447=D|452=13|802=1|523=SERVER|803=4|797=Y");
    let told: Vec<_> = copies.received.iter().map(parties).collect();
    let [fix, rest] = [party("by-fix", "CLIENT"), party("by-rest", "REST")];
    assert_eq!(told, [&fix, &fix, &rest, &rest].map(Clone::clone));
    server.stop();
}

#[test]
fn where_numbers_begin_anew_the_state_of_each_order_is_copied() {
    let desk = TestPlatform::new();
    let sessions = desk.data().with_file_name("sessions.cfg");
    let anew = COPIES.replace("DropCopy=Y", "DropCopy=Y\nResetOnLogon=Y");
    std::fs::write(&sessions, SESSIONS.to_owned() + &anew).unwrap();
    let desk = desk.set("fix.settings", sessions.display());
    let server = desk.start();
    let mut copies = FixClient::new("BACKOFFICE");
    copies.log_on_anew(server.port_address("fix"));
    copies.log_out();
    let mut rest = server.client();
    rest.place(&with_id(limit(AAPL, "BUY", 5, "250"), "open"));
    rest.place(&with_id(market(AAPL, "SELL", 10), "done"));
    rest.wait_for_status("open", "SUBMITTED");
    rest.wait_for_status("done", "EXECUTED");
    copies.log_on_anew(server.port_address("fix"));
    let mut told = copies.wait_for_messages(2);
    told.sort();
    assert_eq!(told, ["8 done I/2 10/10", "8 open I/0 0/5"]);
    assert!(copies.received.iter().all(|copy| copy.get(797) == Some("Y")));
    server.stop();
}
