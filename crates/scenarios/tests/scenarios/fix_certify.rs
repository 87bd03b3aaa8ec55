//! `rialto fix certify` with a client made with QuickFIX: the plan passes, and what the client does wrong is told.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use scenarios::binary;
use scenarios::wait::DEADLINE;

use crate::quickfix::client::Client;

struct Certification {
    process: Child,
    lines: Receiver<String>,
    port: u16,
}

impl Certification {
    fn start() -> Self {
        let mut command = Command::new(binary::rialto());
        command.args(["fix", "certify", "--client", "CLIENT", "--port", "0", "--seconds", "300"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || out.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        let first = lines.recv_timeout(DEADLINE).unwrap();
        let address = first.strip_prefix("waiting on ").and_then(|rest| rest.split(' ').next()).unwrap();
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        Self { process, lines, port }
    }

    /// A client with short heartbeat intervals.
    fn client(&self) -> Client {
        let settings = format!(
            "[SESSION]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={}\nHeartBtInt=5\n\
             BeginString=FIX.4.4\nSenderCompID=CLIENT\nTargetCompID=RIALTO\nStartTime=00:00:00\nEndTime=00:00:00\n\
             UseDataDictionary=N\nCheckLatency=N\n",
            self.port
        );
        let client = Client::start(&settings, &[]);
        assert_eq!(client.hear(), "logged on");
        client
    }

    /// Until all of these are told, in any order.
    fn wait_for(&self, wanted: &[&str]) {
        let mut open = wanted.to_vec();
        while !open.is_empty() {
            let line = self.lines.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("not told: {open:?}"));
            open.retain(|wanted| line != *wanted);
        }
    }

    /// The last lines, and how it ends.
    fn end(mut self) -> (Vec<String>, ExitStatus) {
        let status = self.process.wait().unwrap();
        (self.lines.iter().collect(), status)
    }
}

fn order(id: &str, quantity: u32) -> String {
    format!("35=D|11={id}|55=AAPL|54=1|60=20261116-12:00:00|38={quantity}|40=2|44=250|59=1")
}

#[test]
fn a_quickfix_client_passes_the_whole_plan() {
    let certification = Certification::start();
    let mut client = certification.client();
    certification.wait_for(&["passed    logon", "passed    test-request", "passed    gap", "passed    sequence-reset"]);
    client.say(&order("rests", 100));
    assert_eq!(client.hear_reports("0/0"), ["rests 0/0 filled 0"]);
    certification.wait_for(&["passed    new-order", "passed    resend", "passed    poss-dup"]);
    client.say(&order("fills", 200));
    assert_eq!(client.hear_reports("F/2"), ["fills 0/0 filled 0", "fills F/1 filled 100", "fills F/2 filled 200"]);
    client.say("35=G|11=replaces|41=rests|55=AAPL|54=1|60=20261116-12:00:00|38=150|40=2|44=251|59=1");
    assert_eq!(client.hear_reports("5/0"), ["replaces for rests 5/0 filled 0"]);
    client.say("35=F|11=cancels|41=replaces|55=AAPL|54=1|60=20261116-12:00:00|38=150");
    assert_eq!(client.hear_reports("4/4"), ["cancels for replaces 4/4 filled 0"]);
    client.say(&order("refused", 300));
    assert_eq!(client.hear_reports("8/8"), ["refused 8/8 filled 0"]);
    certification.wait_for(&["passed    reject", "passed    heartbeat"]);
    assert_eq!(client.leave(), ["logged out"]);
    let (lines, status) = certification.end();
    assert_eq!(lines.last().map(String::as_str), Some("15 passed, 0 failed, 0 not seen"), "{lines:#?}");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_client_that_repeats_an_id_and_leaves_without_a_logout_fails() {
    let certification = Certification::start();
    let mut client = certification.client();
    client.say(&order("same", 100));
    assert_eq!(client.hear_reports("0/0"), ["same 0/0 filled 0"]);
    client.say(&order("same", 100));
    assert_eq!(client.hear_reports("8/8"), ["same 8/8 filled 0"]);
    // A side that the standard does not have.
    client.say(&order("odd", 100).replace("54=1", "54=Z"));
    let refused = client.hear_message("3");
    assert_eq!(refused.get(&371).map(String::as_str), Some("54"));
    drop(client);
    let (lines, status) = certification.end();
    let told = |wanted: &str| assert!(lines.iter().any(|line| line == wanted), "{wanted}: {lines:#?}");
    told("FAILED    unique-ids: ClOrdID (11) same was used before");
    told(
        "FAILED    valid-messages: its message D is rejected: Value is incorrect (out of range) for this tag (tag 54)",
    );
    told("FAILED    logout: the peer closed the connection");
    told("not seen  cancel: cancel (F) the order that rests");
    assert_eq!(status.code(), Some(1));
}
