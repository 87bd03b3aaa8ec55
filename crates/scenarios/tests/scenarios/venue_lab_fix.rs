//! The generic FIX faces of the venue lab, judged by clients made with QuickFIX (C++) that check every message against QuickFIX's own
//! dictionary; what they are told is compared line by line, and with the ledger.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use scenarios::lab::{LabProcess, command};
use serde_json::Value;

use crate::quickfix::client::Client;
use crate::quickfix::relay::Relay;

/// Fields that differ from run to run, and those of the session.
const VARYING: [&str; 9] = ["8", "9", "10", "34", "49", "52", "56", "60", "273"];

/// QuickFIX's dictionary, as the package that we read ours from has it.
fn dictionary(version: &str) -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let listed = Command::new(cargo).args(["metadata", "--offline", "--format-version", "1"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let packages = listed["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "hotfix-dictionary").unwrap();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    manifest.with_file_name("src").join(format!("resources/quickfix/FIX-{version}.xml"))
}

/// A settings file of QuickFIX for a session of the lab.
fn settings(version: &str, port: u16, comp_id: &str, more: &str) -> String {
    format!(
        "[DEFAULT]\nReconnectInterval=1\n[SESSION]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\n\
         SocketConnectPort={port}\nHeartBtInt=30\nBeginString=FIX.{version}\nSenderCompID={comp_id}\nTargetCompID=LAB\n\
         StartTime=00:00:00\nEndTime=00:00:00\nDataDictionary={}\n{more}",
        dictionary(version).display()
    )
}

fn port(lab: &LabProcess, face: &str) -> u16 {
    lab.address(face).rsplit(':').next().unwrap().parse().unwrap()
}

fn log_on(version: &str, port: u16, comp_id: &str) -> Client {
    let client = Client::start(&settings(version, port, comp_id, ""), &[]);
    assert_eq!(client.hear(), "logged on");
    client
}

/// A message without what differs from run to run. The number of a reject and the date of a trade are of the day.
fn shown(line: &str) -> String {
    let fields = line.trim_end_matches('|').split('|').filter_map(|field| {
        let (tag, value) = field.split_once('=').unwrap_or((field, ""));
        match tag {
            "17" if value.starts_with('R') => Some("17=R".to_owned()),
            "272" => None,
            "122" => Some("122=T".to_owned()),
            _ => (!VARYING.contains(&tag)).then(|| field.to_owned()),
        }
    });
    fields.collect::<Vec<_>>().join("|").replace(".00000000", "")
}

/// What a client asked and was told, a line each.
#[derive(Default)]
struct Transcript {
    text: String,
    reports: Vec<BTreeMap<String, String>>,
}

impl Transcript {
    /// Sends a message and hears so many answers.
    fn ask(&mut self, client: &mut Client, message: &str, answers: usize) {
        client.say(message);
        self.text.push_str(&format!("> {}\n", message.replace("|60=20261116-12:00:00", "")));
        self.hear(client, answers);
    }

    fn hear(&mut self, client: &Client, answers: usize) {
        for _ in 0..answers {
            let line = client.hear();
            self.text.push_str(&format!("< {}\n", shown(&line)));
            let fields = line.split('|').filter_map(|field| field.split_once('='));
            let fields: BTreeMap<_, _> = fields.map(|(tag, value)| (tag.to_owned(), value.to_owned())).collect();
            if fields["35"] == "8" {
                self.reports.push(fields);
            }
        }
    }

    /// As the file has it; `UPDATE_EXPECT=1` writes it.
    fn check(&self, name: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("venue_lab").join(name);
        if env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, &self.text).unwrap();
        }
        assert_eq!(self.text, fs::read_to_string(&path).unwrap_or_default(), "{name}");
    }

    /// The last report of each order has what the ledger has, and every trade was reported.
    fn agrees_with_ledger(&self, lab: &LabProcess) {
        let (_, ledger) = lab.get("admin", "/ledger");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let of = |report: &BTreeMap<String, String>, tag: &str| report.get(tag).cloned().unwrap_or_default();
        let orders = ledger["orders"].as_array().unwrap();
        assert!(!orders.is_empty());
        for order in orders {
            let is_same = |report: &&BTreeMap<String, String>| {
                of(report, "37") == text(&order["orderId"]) && of(report, "55") == text(&order["symbol"])
            };
            let last = self.reports.iter().rev().find(is_same).unwrap_or_else(|| panic!("nothing was told of {order}"));
            let status = match of(last, "39").as_str() {
                "0" | "5" => "NEW",
                "1" => "PARTIALLY_FILLED",
                "2" => "FILLED",
                "4" => "CANCELED",
                "C" => "EXPIRED",
                other => panic!("{other} in {last:?}"),
            };
            let [filled, quantity, id] = ["14", "38", "11"].map(|tag| of(last, tag));
            let id = if status == "CANCELED" { of(last, "41") } else { id };
            let told = [status, &filled, &quantity, &id];
            assert_eq!(
                told.map(ToOwned::to_owned),
                ["status", "filled", "quantity", "clientOrderId"].map(|name| text(&order[name]))
            );
        }
        for trade in ledger["trades"].as_array().unwrap() {
            let is_same = |report: &&BTreeMap<String, String>| {
                let id = text(&trade["tradeId"]);
                of(report, "55") == text(&trade["symbol"])
                    && (of(report, "527") == id || of(report, "58").starts_with(&format!("trade {id},")))
            };
            let told = self.reports.iter().find(is_same).unwrap_or_else(|| panic!("{trade} was not told"));
            assert_eq!(
                ["31", "32", "12"].map(|tag| of(told, tag)),
                ["price", "quantity", "commission"].map(|name| text(&trade[name]))
            );
        }
    }
}

const TIME: &str = "60=20261116-12:00:00";

fn buy(id: &str, terms: &str) -> String {
    format!("35=D|11={id}|55=BTCUSDT|54=1|{TIME}|{terms}")
}

/// The opening quotes of BTCUSDT are at 59999.99 and 60000.01 with 0.5 on each side, and more behind them.
#[test]
fn a_quickfix_client_trades_on_fix_44_and_agrees_with_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), &["activity=off"]);
    let mut desk = log_on("4.4", port(&lab, "fix44"), "ALPHA");
    let mut copy = log_on("4.4", port(&lab, "fix44"), "ALPHA-DROP");
    let mut told = Transcript::default();
    for (message, answers) in [
        ("35=x|320=list|559=4".to_owned(), 1),
        ("35=x|320=one|559=0|55=ETHBTC".to_owned(), 1),
        ("35=x|320=none|559=0|55=NOSUCH".to_owned(), 1),
        ("35=V|262=book|263=1|264=1|265=1|267=[269=0;269=1;269=2]|146=[55=BTCUSDT]".to_owned(), 1),
        ("35=V|262=book|263=1|264=1|265=1|267=[269=0]|146=[55=BTCUSDT]".to_owned(), 1),
        ("35=V|262=odd|263=0|264=0|267=[269=7]|146=[55=BTCUSDT]".to_owned(), 1),
        ("35=V|262=lost|263=0|264=0|267=[269=0]|146=[55=NOSUCH]".to_owned(), 1),
        // Orders of every type; the book is followed meanwhile.
        (buy("limit", "38=0.01|40=2|44=59000|59=1"), 1),
        (buy("best", "38=0.02|40=2|44=60000|59=1"), 2),
        (buy("market", "38=0.01|40=1"), 3),
        (buy("cash", "152=600|40=1"), 3),
        (buy("maker", "38=0.01|40=2|44=58000|18=6"), 1),
        (buy("taking-maker", "38=0.01|40=2|44=60010|18=6"), 1),
        (buy("immediate", "38=0.01|40=2|44=59000|59=3"), 2),
        (buy("all-or-none", "38=0.01|40=2|44=60010|59=4"), 3),
        (format!("35=D|11=stop|55=BTCUSDT|54=2|{TIME}|38=0.01|40=3|99=59000"), 1),
        (format!("35=D|11=stop-limit|55=BTCUSDT|54=2|{TIME}|38=0.01|40=4|99=59000|44=58990"), 1),
        (format!("35=D|11=touched|55=BTCUSDT|54=2|{TIME}|38=0.01|40=J|99=61000"), 1),
        // What cannot be taken.
        (buy("limit", "38=0.01|40=2|44=59000"), 1),
        (buy("day", "38=0.01|40=2|44=59000|59=0"), 1),
        (buy("tick", "38=0.01|40=2|44=59000.001"), 1),
        (buy("no-price", "38=0.01|40=2"), 1),
        (buy("rich", "38=1000|40=2|44=60000"), 1),
        (format!("35=D|11=whose|1=BETA|55=BTCUSDT|54=1|{TIME}|38=0.01|40=1"), 1),
        (format!("35=D|11=where|55=NOSUCH|54=1|{TIME}|38=0.01|40=1"), 1),
        // Replaced, queried, cancelled.
        (format!("35=G|11=limit-2|41=limit|55=BTCUSDT|54=1|{TIME}|38=0.02|40=2|44=59100"), 1),
        (format!("35=G|11=limit-3|41=limit-2|55=BTCUSDT|54=1|{TIME}|38=0.03|40=2|44=60010"), 3),
        (format!("35=G|11=best-2|41=best|55=BTCUSDT|54=1|{TIME}|38=0.01|40=2|44=60000"), 2),
        (format!("35=G|11=market|41=best-2|55=BTCUSDT|54=1|{TIME}|38=0.02|40=2|44=60000"), 1),
        ("35=H|11=best-2|55=BTCUSDT|54=1|790=q1".to_owned(), 1),
        ("35=H|11=market|55=BTCUSDT|54=1".to_owned(), 1),
        ("35=H|11=nobody|55=BTCUSDT|54=1".to_owned(), 1),
        ("35=AF|584=all|585=7".to_owned(), 5),
        ("35=AF|584=eth|585=1|55=ETHUSDT".to_owned(), 1),
        (format!("35=F|11=c1|41=maker|55=BTCUSDT|54=1|{TIME}"), 1),
        (format!("35=F|11=c2|41=maker|55=BTCUSDT|54=1|{TIME}"), 1),
        (format!("35=F|11=c3|41=nobody|55=BTCUSDT|54=1|{TIME}"), 1),
        ("35=V|262=book|263=2|264=1|265=1|267=[269=0]|146=[55=BTCUSDT]".to_owned(), 0),
        (format!("35=F|11=c4|41=best-2|55=BTCUSDT|54=1|{TIME}"), 1),
        // What a venue of this kind has not.
        (format!("35=q|11=all|530=7|{TIME}"), 1),
    ] {
        told.ask(&mut desk, &message, answers);
    }
    told.check("quickfix44.txt");
    told.agrees_with_ledger(&lab);

    let mut copied = Transcript::default();
    let executions = told.reports.iter().filter(|report| !["8", "I"].contains(&report["150"].as_str())).count();
    copied.hear(&copy, executions);
    assert!(copied.reports.iter().all(|report| report["797"] == "Y"));
    copied.agrees_with_ledger(&lab);
    copied.ask(&mut copy, &buy("copied", "38=0.01|40=1"), 1);
    assert!(
        copied.text.ends_with("< 35=j|45=2|58=Unsupported Message Type|372=D|379=copied|380=3\n"),
        "{}",
        copied.text
    );
    assert_eq!((desk.leave(), copy.leave()), (vec!["logged out".to_owned()], vec!["logged out".to_owned()]));
}

#[test]
fn a_quickfix_client_trades_on_fix_42_and_agrees_with_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), &["activity=off"]);
    let mut desk = log_on("4.2", port(&lab, "fix42"), "BETA");
    let mut told = Transcript::default();
    for (message, answers) in [
        ("35=V|262=book|263=0|264=2|267=[269=0;269=1;269=2]|146=[55=BTCUSDT]".to_owned(), 1),
        ("35=V|262=full|263=1|264=1|265=0|267=[269=0]|146=[55=BTCUSDT]".to_owned(), 1),
        (buy("limit", "21=1|38=0.01|40=2|44=60000|59=1"), 2),
        (format!("35=G|11=limit-2|41=limit|55=BTCUSDT|54=1|{TIME}|21=1|38=0.02|40=2|44=59000"), 2),
        (buy("market", "21=1|38=0.6|40=1"), 3),
        ("35=H|11=limit-2|55=BTCUSDT|54=1".to_owned(), 1),
        ("35=H|11=nobody|55=BTCUSDT|54=1".to_owned(), 1),
        (buy("limit", "21=1|38=0.01|40=2|44=60000"), 1),
        (buy("rich", "21=1|38=1000|40=2|44=60000"), 1),
        (format!("35=F|11=c1|41=limit-2|55=BTCUSDT|54=1|{TIME}"), 1),
        (format!("35=F|11=c2|41=limit-2|55=BTCUSDT|54=1|{TIME}"), 1),
        (format!("35=F|11=c3|41=nobody|55=BTCUSDT|54=1|{TIME}"), 1),
    ] {
        told.ask(&mut desk, &message, answers);
    }
    told.check("quickfix42.txt");
    told.agrees_with_ledger(&lab);
    assert_eq!(desk.leave(), ["logged out"]);
}

const TWO_DESKS: &str = r#"fix44.sessions=[{compId="ONE",account="ALPHA"},{compId="TWO",account="ALPHA"}]"#;

/// Reports of a client, as `id type/status`.
fn reports(client: &Client, count: usize) -> Vec<String> {
    (0..count).map(|_| crate::quickfix::client::shown(&client.hear_message("8"))).collect()
}

#[test]
fn a_client_is_told_what_it_missed_where_the_venue_sends_again() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), &["activity=off", TWO_DESKS]);
    let relay = Relay::new();
    relay.lead_to(lab.address("fix44").parse().unwrap());
    let mut one = log_on("4.4", relay.port(), "ONE");
    let mut two = log_on("4.4", port(&lab, "fix44"), "TWO");
    one.say(&buy("seen", "38=0.01|40=2|44=59000"));
    assert_eq!(reports(&one, 1), ["seen 0/0 filled 0.00000000"]);
    // On its way to the client when the line breaks.
    relay.become_deaf();
    two.say(&buy("lost", "38=0.01|40=1"));
    assert_eq!(reports(&two, 3).len(), 3);
    scenarios::wait::wait_for("the fill to be sent", || relay.has_lost("150=F").then_some(()));
    relay.cut();
    assert_eq!(one.hear(), "logged out");
    // Told to nobody when it happened.
    two.say(&buy("away", "38=0.01|40=1"));
    assert_eq!(reports(&two, 2).len(), 2);
    relay.lead_to(lab.address("fix44").parse().unwrap());
    assert_eq!(one.hear(), "logged on");
    let mut told = reports(&one, 4);
    told.sort();
    assert_eq!(
        told,
        [
            "away 0/0 filled 0.00000000",
            "away F/2 filled 0.01000000",
            "lost 0/0 filled 0.00000000 again",
            "lost F/2 filled 0.01000000 again",
        ]
    );
    one.say(&buy("after", "38=0.01|40=2|44=59000"));
    assert_eq!(reports(&one, 1), ["after 0/0 filled 0.00000000"]);
}

#[test]
fn a_client_must_ask_where_the_venue_sends_nothing_again() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), &["activity=off", "fix44.resends=false", TWO_DESKS]);
    let relay = Relay::new();
    relay.lead_to(lab.address("fix44").parse().unwrap());
    let one = Client::start(&settings("4.4", relay.port(), "ONE", "ResetOnLogon=Y\n"), &[]);
    assert_eq!(one.hear(), "logged on");
    let mut two = log_on("4.4", port(&lab, "fix44"), "TWO");
    let mut one = one;
    relay.cut();
    assert_eq!(one.hear(), "logged out");
    two.say(&buy("away", "38=0.01|40=2|44=59000"));
    assert_eq!(reports(&two, 1), ["away 0/0 filled 0.00000000"]);
    relay.lead_to(lab.address("fix44").parse().unwrap());
    assert_eq!(one.hear(), "logged on");
    one.say("35=AF|584=all|585=7");
    assert_eq!(reports(&one, 1), ["away I/0 filled 0.00000000"], "nothing is told before it asks");
}

/// A client that has kept its own numbers goes on where it was, and is told once more what it lost.
#[test]
fn numbers_and_messages_are_there_after_a_restart_of_the_lab() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), &["activity=off", TWO_DESKS]);
    let relay = Relay::new();
    relay.lead_to(lab.address("fix44").parse().unwrap());
    let mut one = log_on("4.4", relay.port(), "ONE");
    let mut two = log_on("4.4", port(&lab, "fix44"), "TWO");
    one.say(&buy("before", "38=0.01|40=2|44=59000"));
    assert_eq!(reports(&one, 1), ["before 0/0 filled 0.00000000"]);
    relay.become_deaf();
    two.say(&buy("lost", "38=0.01|40=1"));
    assert_eq!(reports(&two, 3).len(), 3);
    scenarios::wait::wait_for("the fill to be sent", || relay.has_lost("150=F").then_some(()));
    relay.cut();
    assert_eq!(one.hear(), "logged out");
    lab.stop();
    let lab = LabProcess::start(folder.path(), &["activity=off", TWO_DESKS]);
    relay.lead_to(lab.address("fix44").parse().unwrap());
    assert!(one.hear_until("logged on").iter().all(|line| line == "logged out"), "attempts while the lab was away");
    assert_eq!(reports(&one, 2), ["lost 0/0 filled 0.00000000 again", "lost F/2 filled 0.01000000 again"]);
    one.say(&buy("after", "38=0.01|40=2|44=59000"));
    assert_eq!(reports(&one, 1), ["after 0/0 filled 0.00000000"]);
}

/// The ids of a client are used up for good, so a message that comes again after a kill does not trade again.
#[test]
fn an_order_that_comes_again_after_a_kill_is_not_taken_twice() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), &["activity=off"]);
    let mut desk = log_on("4.4", port(&lab, "fix44"), "ALPHA");
    desk.say(&buy("once", "38=0.01|40=1"));
    assert_eq!(reports(&desk, 2), ["once 0/0 filled 0.00000000", "once F/2 filled 0.01000000"]);
    let before = lab.get("admin", "/ledger");
    lab.kill();
    let lab = LabProcess::start(folder.path(), &["activity=off"]);
    // Another process, which begins with number 1.
    let mut desk = Client::start(&settings("4.4", port(&lab, "fix44"), "ALPHA", "ResetOnLogon=Y\n"), &[]);
    assert_eq!(desk.hear(), "logged on");
    desk.say(&format!("{}|97=Y", buy("once", "38=0.01|40=1")));
    let refused = desk.hear_message("8");
    assert_eq!(
        ["39", "103", "58"].map(|tag| refused[&tag.parse().unwrap()].as_str()),
        ["8", "6", "Duplicate order sent."]
    );
    assert_eq!(lab.get("admin", "/ledger"), before);
}

#[test]
fn fix_sessions_that_cannot_work_are_refused_with_their_key() {
    for (setting, reason) in [
        (r#"fix44.sessions=[{compId="X",account="GAMMA"}]"#, "fix44.sessions: X: there is no account GAMMA"),
        (r#"fix42.sessions=[{compId="",account="ALPHA"}]"#, "fix42.sessions: : no CompID"),
        (
            r#"fix42.sessions=[{compId="X",account="ALPHA"},{compId="X",account="BETA"}]"#,
            "fix42.sessions: X is there twice",
        ),
        ("fix44.resends=perhaps", "invalid type: string"),
    ] {
        let run = command(tempfile::tempdir().unwrap().path(), &[setting]).output().expect("the binary can be started");
        let text = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{setting}: {text}");
        assert!(text.contains(reason), "{setting}: {text}");
    }
}

/// A client with a plain socket, which says exactly what a story wants. It has no clock: its times are those of the lab's messages.
struct PlainClient {
    socket: TcpStream,
    received: Vec<u8>,
    number: u64,
    time: String,
}

impl PlainClient {
    fn connect(lab: &LabProcess, number: u64) -> Self {
        let socket = TcpStream::connect(lab.address("fix44")).unwrap();
        socket.set_read_timeout(Some(scenarios::wait::DEADLINE)).unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        // Seconds of the day are enough of a time; the day is that of the machine.
        let day = Command::new("date").args(["-u", "-d", &format!("@{now}"), "+%Y%m%d-%H:%M:%S"]).output().unwrap();
        let time = String::from_utf8(day.stdout).unwrap().trim().to_owned();
        Self { socket, received: Vec::new(), number, time }
    }

    fn say(&mut self, kind: &str, fields: &str) {
        let body = format!("35={kind}|34={}|49=ALPHA|52={}|56=LAB|{fields}", self.number, self.time);
        let body = body.trim_end_matches('|').replace('|', "\x01") + "\x01";
        let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
        let sum = frame.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        frame.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
        self.socket.write_all(&frame).unwrap();
        self.number += 1;
    }

    /// The next message without what differs from run to run, its number first; none where the lab has hung up.
    fn hear(&mut self) -> Option<String> {
        loop {
            let end = self.received.windows(4).position(|window| window == b"\x0110=").map(|sum| sum + 8);
            if let Some(end) = end.filter(|end| *end <= self.received.len()) {
                let message: Vec<u8> = self.received.drain(..end).collect();
                let message = String::from_utf8_lossy(&message).replace('\x01', "|");
                let number = message.split('|').find(|field| field.starts_with("34=")).unwrap_or_default().to_owned();
                return Some(format!("{number} {}", shown(&message)));
            }
            let mut piece = [0; 4096];
            match self.socket.read(&mut piece) {
                Ok(count @ 1..) => self.received.extend_from_slice(&piece[..count]),
                _ => return None,
            }
        }
    }

    fn hear_all(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.hear().unwrap_or_default()).collect()
    }
}

fn arm(lab: &LabProcess, fault: &str) {
    let address = lab.address("admin");
    let mut stream = TcpStream::connect(&address).unwrap();
    let body = format!(r#"{{"fault":"{fault}"}}"#);
    let length = body.len();
    write!(
        stream,
        "POST /faults HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn the_faults_of_fix_strike_a_session_and_leave_the_ledger_true() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), &["activity=off"]);
    let mut client = PlainClient::connect(&lab, 1);
    client.say("A", "98=0|108=30");
    assert_eq!(client.hear_all(1), ["34=1 35=A|98=0|108=30"]);

    arm(&lab, "fix-contradiction");
    let order = |id: &str| format!("11={id}|38=0.01|40=2|44=59000|54=1|55=BTCUSDT|60=20261116-12:00:00");
    client.say("D", &order("a"));
    client.say("F", "11=c|41=a|54=1|55=BTCUSDT|60=20261116-12:00:00");
    let report = "35=8|1=ALPHA|6=0|11=a|14=0|17=BTCUSDT-N|37=1|38=0.01000000|39=0|40=2|44=59000|54=1|55=BTCUSDT|59=1";
    assert_eq!(
        client.hear_all(2),
        [
            format!("34=2 {}|150=0|151=0.01000000", report.replace("-N", "-1")),
            format!("34=3 {}|150=4|151=0.01000000", report.replace("-N", "-2")),
        ],
        "the second is the report of the cancel"
    );
    assert_eq!(lab.get("admin", "/ledger").1["orders"][0]["status"], "CANCELED");

    arm(&lab, "fix-gap-flags");
    client.say("2", "7=1|16=1");
    assert_eq!(client.hear_all(2), ["34=1 35=4|122=T|36=2", "34=1 35=4|122=T|36=2"]);
    client.say("2", "7=1|16=1");
    assert_eq!(client.hear_all(1), ["34=1 35=4|43=Y|122=T|36=2|123=Y"], "the next one is right");

    arm(&lab, "fix-numbers-reset");
    client.say("D", &order("b"));
    let told: Vec<String> = std::iter::from_fn(|| client.hear()).collect();
    assert!(told.iter().any(|line| line.contains("35=5|58=Sequence numbers are reset")), "{told:?}");
    let mut client = PlainClient::connect(&lab, client.number);
    client.say("A", "98=0|108=30");
    assert_eq!(client.hear_all(2), ["34=1 35=A|98=0|108=30", "34=2 35=2|7=1|16=0"]);
    drop(client);

    arm(&lab, "fix-logon-blocked");
    let log_on = || {
        let mut client = PlainClient::connect(&lab, 1);
        client.say("A", "98=0|108=1|141=Y");
        client.hear()
    };
    assert_eq!(log_on().unwrap(), "34=1 35=5|58=the Logon was refused: SenderCompID (49) is in use");
    scenarios::wait::wait_for("the session to be free again", || log_on().filter(|line| line.contains("35=A")));
    let (_, faults) = lab.get("admin", "/faults");
    assert_eq!(faults["injected"].as_array().unwrap().len(), 4, "{faults}");
    let (_, ledger) = lab.get("admin", "/ledger");
    let statuses: Vec<_> = ledger["orders"].as_array().unwrap().iter().map(|order| &order["status"]).collect();
    assert_eq!(statuses, ["CANCELED", "NEW"]);
}
