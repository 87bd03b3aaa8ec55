//! A QuickFIX client, with the dictionary that the server hands out, reads prices and the list of securities.

use scenarios::wait::wait_for;

use super::client::{Client, fields_of};
use super::relay::Relay;
use super::{SESSIONS, TestPlatform, TraderClient};
use crate::fix_orders::session;
use crate::test_platform::{AAPL, body_of, market};

const PRICES: &str = "
[SESSION]
ConnectionType=acceptor
SocketAcceptPort=0
BeginString=FIX.4.4
SenderCompID=RIALTO
TargetCompID=PRICES
NonStopSession=Y
UseDataDictionary=Y
ValidateIncomingMessage=Y
CheckLatency=N
ResetOnLogon=Y
MarketData=Y
MaxSubscriptions=3
";

/// The demo with both sessions, and a QuickFIX client of that for prices.
struct Story {
    server: scenarios::server::RunningServer,
    relay: Relay,
    client: Client,
    _desk: TestPlatform,
}

impl Story {
    fn begin() -> Self {
        let desk = TestPlatform::new();
        let file = desk.data().with_file_name("sessions.cfg");
        std::fs::write(&file, format!("{SESSIONS}{PRICES}")).unwrap();
        let desk = desk.set("fix.settings", file.display());
        let server = desk.start();
        let relay = Relay::new();
        relay.lead_to(server.port_address("fix"));
        let dictionary = desk.data().with_file_name("FIX44.xml");
        std::fs::write(&dictionary, server.client().get("/docs/fix/FIX44.xml").unwrap().body).unwrap();
        let settings = format!(
            "[DEFAULT]\nReconnectInterval=1\n[SESSION]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\n\
             SocketConnectPort={}\nHeartBtInt=30\nBeginString=FIX.4.4\nSenderCompID=PRICES\nTargetCompID=RIALTO\n\
             StartTime=00:00:00\nEndTime=00:00:00\nUseDataDictionary=Y\nDataDictionary={}\nCheckLatency=N\n\
             ResetOnLogon=Y\n",
            relay.port(),
            dictionary.display()
        );
        let client = Client::start(&settings, &[]);
        assert_eq!(client.hear(), "logged on");
        Self { server, relay, client, _desk: desk }
    }

    /// The answer to a message, as it is between header and trailer; times are left out.
    fn ask(&mut self, message: &str) -> String {
        self.client.say(message);
        self.hear()
    }

    /// The trading status of a security.
    fn status(&mut self, id: &str) -> String {
        self.ask(&format!("35=e|324={id}|263=0|55=AAPL|48=1"))
    }

    fn hear(&self) -> String {
        body(&self.client.hear())
    }

    fn buy(&self, id: &str, quantity: u64) {
        let order = crate::test_platform::with_id(market(AAPL, "BUY", quantity), id);
        self.server.client().place(&order);
        self.server.client().wait_for_status(id, "EXECUTED");
    }
}

fn body(line: &str) -> String {
    let is_shown = |field: &&str| {
        !["8=", "9=", "10=", "34=", "49=", "52=", "56=", "272=", "273="].iter().any(|tag| field.starts_with(tag))
    };
    line.split('|').filter(|field| !field.is_empty()).filter(is_shown).collect::<Vec<_>>().join("|")
}

const TOP: &str = "264=1|265=1|267=[269=0;269=1]|146=[55=AAPL,48=1]";

#[test]
fn a_client_subscribes_to_prices_and_is_told_what_changes_until_it_ends_that() {
    let mut story = Story::begin();
    assert_eq!(
        story.ask(&format!("35=V|262=top|263=1|{TOP}")),
        "35=W|48=1|55=AAPL|262=top|268=2|269=0|270=272.39|271=300|276=A|269=1|270=272.41|271=300|276=A"
    );
    story.buy("first", 100);
    assert_eq!(story.hear(), "35=X|262=top|268=1|279=1|269=1|55=AAPL|48=1|270=272.41|271=200|276=A");
    let trades = "35=V|262=trades|263=1|264=1|265=1|267=[269=2]|146=[55=AAPL,48=1]";
    assert_eq!(story.ask(trades), "35=W|48=1|55=AAPL|262=trades|268=1|269=2|270=272.41|271=100");
    story.buy("second", 50);
    let told: Vec<_> = (0..2).map(|_| story.hear()).collect();
    assert!(
        told.contains(&"35=X|262=top|268=1|279=1|269=1|55=AAPL|48=1|270=272.41|271=150|276=A".to_owned()),
        "{told:?}"
    );
    let trade = told.iter().find(|line| line.starts_with("35=X|262=trades|268=1|279=0|269=2|")).unwrap();
    assert!(trade.ends_with("55=AAPL|48=1|270=272.41|271=50"), "{trade}");
    // Whole books, and a snapshot alone.
    let deep = story.ask("35=V|262=deep|263=0|264=2|267=[269=1]|146=[55=AAPL,48=1]");
    assert!(
        deep.starts_with("35=W|48=1|55=AAPL|262=deep|268=2|269=1|270=272.41|271=150|276=A|269=1|270=272.4"),
        "{deep}"
    );
    for id in ["top", "trades"] {
        story.client.say(&format!("35=V|262={id}|263=2|{TOP}"));
    }
    // An end is not answered: whoever is answered afterwards knows that it was read.
    assert_eq!(story.status("before"), "35=f|48=1|55=AAPL|324=before|325=N|326=17");
    story.buy("third", 50);
    assert_eq!(story.status("after"), "35=f|48=1|55=AAPL|324=after|325=N|326=17", "no price came before it");
    assert_eq!(story.client.leave(), ["logged out"]);
    story.server.stop();
}

#[test]
fn a_client_gets_the_list_of_securities() {
    let mut story = Story::begin();
    let count = body_of(&story.server.client().get("/rest/security").unwrap()).as_array().unwrap().len();
    let all = story.ask("35=x|320=all|559=4");
    assert_eq!(all.matches("|55=").count(), count, "{all}");
    let fields = fields_of(&all);
    let told = [320, 146, 393, 560, 893].map(|tag| fields[&tag].clone());
    assert_eq!(told, ["all".to_owned(), count.to_string(), count.to_string(), "0".to_owned(), "Y".to_owned()]);
    let one = story.ask("35=x|320=one|559=0|55=AAPL|7006=Y");
    let (begin, end) = (one.find("55=AAPL").unwrap(), one.find("|320=").unwrap());
    assert_eq!(
        &one[begin..end],
        "55=AAPL|48=1|454=1|455=US0378331005|456=4|167=CS|231=1|207=XRCM|107=Apple Inc.|15=USD|561=1|562=1|969=0.01|\
         1140=1000000"
    );
    assert_eq!(story.ask("35=x|320=none|559=0|55=NOPE"), "35=y|320=none|322=L3|560=2");
    story.server.stop();
}

#[test]
fn what_is_not_offered_is_refused_with_the_reason_and_the_session_goes_on() {
    let mut story = Story::begin();
    let types = "267=[269=0]";
    for (request, answer) in [
        (
            format!("262=a|263=1|264=1|265=1|{types}|146=[55=NOPE]"),
            "35=Y|58=unknown-security: Symbol (55) NOPE is not known|262=a|281=0",
        ),
        (
            format!("262=a|263=1|264=50|265=1|{types}|146=[55=AAPL]"),
            "35=Y|58=bad-field: MarketDepth (264) 50 is not 0 (all levels), 1 (best prices) or a number of levels up to \
             20|262=a|281=5",
        ),
        (
            format!("262=a|263=1|264=1|265=1|{types}|146=[55=AAPL;55=MSFT;55=NVDA;55=AMZN]"),
            "35=Y|58=too-many-subscriptions: more than 3 securities of all requests (MaxSubscriptions)|262=a|281=2",
        ),
        (
            format!("262=a|263=2|264=1|265=1|{types}|146=[55=AAPL]"),
            "35=Y|58=unknown-request: no request has MDReqID (262) a|262=a",
        ),
    ] {
        assert_eq!(story.ask(&format!("35=V|{request}")), answer);
    }
    assert!(story.ask(&format!("35=V|262=a|263=1|{TOP}")).starts_with("35=W|"));
    let again = story.ask(&format!("35=V|262=a|263=1|{TOP}"));
    assert_eq!(again, "35=Y|58=duplicate-request: MDReqID (262) a is in use|262=a|281=1");
    let missing = fields_of(&story.ask("35=V|263=1|264=1|267=[269=0]|146=[55=AAPL]"));
    assert_eq!((missing[&35].as_str(), missing[&371].as_str(), missing[&373].as_str()), ("3", "262", "1"));
    let order = fields_of(&story.ask("35=D|11=o|48=1|54=1|60=20261116-12:00:00|38=10|40=1"));
    let text = "this is a market data session: it takes no orders, only V, x and e";
    assert_eq!((order[&35].as_str(), order[&380].as_str(), order[&58].as_str()), ("j", "3", text));
    // Nor are prices on a session for orders.
    let orders = Client::call(story.server.port_address("fix").port(), &[]);
    let mut orders = orders;
    assert_eq!(orders.hear(), "logged on");
    orders.say(&format!("35=V|262=a|263=1|{TOP}"));
    let refused = orders.hear_message("j");
    let text = "this session takes orders: prices and securities are offered on a session with MarketData=Y";
    assert_eq!((refused[&380].as_str(), refused[&58].as_str()), ("3", text));
    story.server.stop();
}

#[test]
fn a_connection_that_ends_ends_its_subscriptions_and_the_next_begins_at_one() {
    let mut story = Story::begin();
    assert!(story.ask(&format!("35=V|262=top|263=1|{TOP}")).starts_with("35=W|"));
    story.relay.cut();
    story.client.hear_until("logged out");
    wait_for("the server to notice", || (session(&story.server, "PRICES")["state"] == "DISCONNECTED").then_some(()));
    story.buy("meanwhile", 100);
    story.relay.lead_to(story.server.port_address("fix"));
    story.client.hear_until("logged on");
    // The id is free again, and the price is that of now; nothing came before it.
    assert_eq!(
        story.ask(&format!("35=V|262=top|263=1|{TOP}")),
        "35=W|48=1|55=AAPL|262=top|268=2|269=0|270=272.39|271=300|276=A|269=1|270=272.41|271=200|276=A"
    );
    assert_eq!(session(&story.server, "PRICES")["nextOut"], 3);
    story.server.stop();
}
