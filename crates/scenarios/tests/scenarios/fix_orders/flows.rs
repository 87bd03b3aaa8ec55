//! Flows, byte by byte: what a client sends and what the server answers, as docs/fix.md shows them. `UPDATE_EXPECT=1`
//! writes the output into the page.

use std::fs;
use std::path::Path;

use scenarios::server::RunningServer;

use super::client::{FixClient, Message};
use super::reaches;
use crate::test_platform::TestPlatform;

const BEGIN: &str = "<!-- flows: written by a test of crates/scenarios, UPDATE_EXPECT=1 writes it -->\n";
const END: &str = "<!-- end of flows -->\n";

/// A client that writes down what goes over its line.
struct FlowRecorder {
    client: FixClient,
    page: String,
}

impl FlowRecorder {
    fn begin(title: &str, page: &mut String) {
        page.push_str(&format!("\n{title}\n\n```text\n"));
    }

    fn tell(&mut self, title: &str, flow: impl FnOnce(&mut Self)) {
        Self::begin(title, &mut self.page);
        flow(self);
        self.page.push_str("```\n");
    }

    fn log_on(&mut self, server: &RunningServer, body: &str) {
        self.client.connect(server.port_address("fix"));
        self.client.send_admin("A", body);
        self.wrote();
    }

    fn say(&mut self, message: &str) {
        self.client.send(message);
        self.wrote();
    }

    fn say_admin(&mut self, kind: &str, body: &str) {
        self.client.send_admin(kind, body);
        self.wrote();
    }

    fn wrote(&mut self) {
        let fields = self.client.written.split('\u{1}').filter_map(|field| field.split_once('='));
        let fields = fields.map(|(tag, value)| (tag.parse().unwrap(), value.to_owned()));
        let line = masked(&Message(fields.collect()));
        self.page.push_str(&format!("> {line}\n"));
    }

    /// So many messages of the server.
    fn hear(&mut self, count: usize) -> Vec<Message> {
        let heard: Vec<_> = (0..count).map(|_| self.client.next_frame().expect("the line holds")).collect();
        for message in &heard {
            let number: u64 = message.get(34).unwrap().parse().unwrap();
            let next = message.get(36).map_or(number + 1, |next| next.parse().unwrap());
            self.client.next_in = self.client.next_in.max(next);
            self.page.push_str(&format!("< {}\n", masked(message)));
        }
        heard
    }
}

/// As bytes, with `|` for the delimiter; what is another every time has a name.
fn masked(message: &Message) -> String {
    let field = |(tag, value): &(u32, String)| match tag {
        9 => "9=<length>|".to_owned(),
        10 => "10=<sum>|".to_owned(),
        52 | 60 | 122 => format!("{tag}=<time>|"),
        17 => "17=<ExecID>|".to_owned(),
        112 => "112=<id>|".to_owned(),
        _ => format!("{tag}={value}|"),
    };
    message.0.iter().map(field).collect()
}

type Flow = fn(&mut FlowRecorder, &RunningServer);

/// All flows, one after the other, on one session of the demo.
fn flows(server: &RunningServer) -> String {
    let mut scribe = FlowRecorder { client: FixClient::new("CLIENT2"), page: String::new() };
    let all: [(&str, Flow); 6] = [
        ("**Logon, filled in part, the rest cancelled.** 300 are offered at 272.41.", filled_in_part),
        ("**The fill was faster than the cancel.**", cancel_race),
        ("**A chain of replaces**, the second by the name of the first order, and its end.", replaces),
        ("**A term that is not offered.**", term),
        ("**Cut and resend.** The three reports above the cut were lost on the way.", cut),
        ("**The same with 789.** Nobody has to ask.", cut_with_next_expected),
    ];
    for (title, flow) in all {
        scribe.tell(title, |scribe| flow(scribe, server));
    }
    scribe.page
}

fn filled_in_part(scribe: &mut FlowRecorder, server: &RunningServer) {
    scribe.log_on(server, "98=0|108=30");
    scribe.hear(1);
    scribe.say("35=D|11=part-1|54=1|38=400|40=2|44=272.41|48=1|55=AAPL|59=1");
    scribe.hear(3);
    scribe.say("35=F|11=part-2|41=part-1|54=1|38=400|48=1|55=AAPL");
    scribe.hear(2);
}

fn cancel_race(scribe: &mut FlowRecorder, _: &RunningServer) {
    scribe.say("35=D|11=race-1|54=2|38=10|40=1|48=1|55=AAPL");
    scribe.hear(3);
    scribe.say("35=F|11=race-2|41=race-1|54=2|38=10|48=1|55=AAPL");
    scribe.hear(1);
}

fn replaces(scribe: &mut FlowRecorder, _: &RunningServer) {
    scribe.say("35=D|11=chain-1|54=1|38=100|40=2|44=250|48=1|55=AAPL|59=1");
    scribe.hear(2);
    scribe.say("35=G|11=chain-2|41=chain-1|54=1|38=150|40=2|44=251|48=1|55=AAPL|59=1");
    scribe.hear(2);
    scribe.say("35=G|11=chain-3|41=chain-1|54=1|38=150|40=2|44=252|48=1|55=AAPL|59=1");
    scribe.hear(2);
    scribe.say("35=F|11=chain-4|41=chain-3|54=1|38=150|48=1|55=AAPL");
    scribe.hear(2);
}

fn term(scribe: &mut FlowRecorder, _: &RunningServer) {
    scribe.say("35=D|11=term-1|54=1|38=100|40=2|44=280|48=1|55=AAPL|18=G");
    scribe.hear(1);
}

/// Sends an order and loses its reports; says from where on.
fn lose(scribe: &mut FlowRecorder, server: &RunningServer, order: &str) -> u64 {
    let from = scribe.client.next_in;
    scribe.say(&format!("35=D|11={order}|54=2|38=10|40=1|48=1|55=AAPL"));
    scribe.hear(3);
    scribe.client.disconnect();
    reaches(server, "CLIENT2", "DISCONNECTED");
    scribe.page.push_str("  the line breaks\n");
    scribe.client.next_in = from;
    from
}

fn cut(scribe: &mut FlowRecorder, server: &RunningServer) {
    let from = lose(scribe, server, "cut-1");
    scribe.log_on(server, "98=0|108=30");
    let sign = scribe.hear(2).remove(1);
    scribe.say_admin("2", &format!("7={from}|16=0"));
    scribe.hear(4);
    scribe.say_admin("0", &format!("112={}", sign.get(112).unwrap()));
}

fn cut_with_next_expected(scribe: &mut FlowRecorder, server: &RunningServer) {
    let from = lose(scribe, server, "cut-2");
    scribe.log_on(server, &format!("98=0|108=30|789={from}"));
    let sign = scribe.hear(6).remove(5);
    scribe.say_admin("0", &format!("112={}", sign.get(112).unwrap()));
}

#[test]
fn the_page_shows_what_goes_over_the_line() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let told = flows(&server);
    server.stop();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fix.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("docs/fix.md has no flows");
    let (written, after) = rest.split_once(END).expect("the flows of docs/fix.md have no end");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{told}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(written, told);
}
