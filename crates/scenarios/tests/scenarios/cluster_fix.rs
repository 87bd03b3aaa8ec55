//! A FIX client that has two addresses, made with QuickFIX, trades on at the new leader with its numbers.

use scenarios::ports::reserve_ports;
use scenarios::server::{RunningServer, ServerLauncher, send_signal};
use scenarios::wait::wait_for;
use std::net::TcpStream;

use crate::binance::wait_for_session;
use crate::cluster::{TestCluster, open_orders, wait_for_health};
use crate::quickfix::client::{Client, Fields, shown};
use crate::test_platform::TraderClient;

/// Both members have the same file; where they listen is a setting of each.
const SESSIONS: &str = "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=RIALTO\n\
    TargetCompID=CLIENT\nNonStopSession=Y\nFileLogPath=log\nMaxOrdersPerSecond=0\n";

/// The second address is QuickFIX's own setting: it tries one after the other.
pub(crate) fn client_settings(ports: &[u16]) -> String {
    let address = |(number, port): (usize, &u16)| {
        let suffix = if number == 0 { String::new() } else { number.to_string() };
        format!("SocketConnectHost{suffix}=127.0.0.1\nSocketConnectPort{suffix}={port}\n")
    };
    let addresses: String = ports.iter().enumerate().map(address).collect();
    format!(
        "[DEFAULT]\nReconnectInterval=1\n[SESSION]\nConnectionType=initiator\n{addresses}HeartBtInt=5\nBeginString=FIX.4.4\n\
         SenderCompID=CLIENT\nTargetCompID=RIALTO\nStartTime=00:00:00\nEndTime=00:00:00\nUseDataDictionary=N\nCheckLatency=N\n"
    )
}

pub(crate) fn with_fix(cluster: &TestCluster, member: &str, port: u16) -> ServerLauncher {
    let file = cluster.data(member).with_extension("cfg");
    std::fs::write(&file, SESSIONS).unwrap();
    cluster.launcher(member).set("fix.settings", file.display()).set("fix.port", port)
}

fn buy(id: &str) -> String {
    format!("35=D|11={id}|48=1|54=1|60=20261116-12:00:00|38=0.01|40=2|44=20000|59=1")
}

/// The reports up to one of this kind; their numbers follow each other.
fn hear_in_sequence(client: &Client, last: &str, numbers: &mut Vec<u64>) -> Vec<String> {
    let mut heard: Vec<String> = vec![];
    while heard.last().is_none_or(|report| !report.contains(last)) {
        let report: Fields = client.hear_message("8");
        numbers.push(report[&34].parse().unwrap());
        heard.push(shown(&report));
    }
    heard
}

fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[test]
fn a_fix_client_with_two_addresses_trades_on_at_the_new_leader_with_its_numbers() {
    let cluster = TestCluster::start(0);
    let ports = reserve_ports(2);
    let first = with_fix(&cluster, "a", ports[0]).start();
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut rest = first.client();
    wait_for_session(&mut rest, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut rest);
    let second: RunningServer = with_fix(&cluster, "b", ports[1]).start();
    wait_for_health(&mut second.client(), "/health/ready", 200, "follower");
    assert!(!listens(ports[1]), "a follower has no FIX port, so a client goes on to the next address");

    let mut client = Client::start(&client_settings(&ports), &[]);
    assert_eq!(client.hear(), "logged on");
    let mut numbers = vec![];
    wait_for("prices of what the account holds", || {
        client.say(&buy(&format!("first-{}", numbers.len())));
        let heard = hear_in_sequence(&client, "/", &mut numbers);
        heard[0].contains("A/A").then_some(())
    });
    let open = open_orders(&mut rest);
    hear_in_sequence(&client, "0/0", &mut numbers);

    first.kill();
    assert_eq!(client.hear_until("logged out"), Vec::<String>::new());
    // QuickFIX gives it its number and keeps it: the new leader asks for it, and gets it as a possible duplicate.
    client.say(&buy("meanwhile"));
    second.wait_for_output("\"role\":\"leader\",\"epoch\":2");
    // Every attempt at an address that is not open ends with a logout.
    assert!(client.hear_until("logged on").iter().all(|line| line == "logged out"));
    let heard = hear_in_sequence(&client, "meanwhile 0/0", &mut numbers);
    assert_eq!(heard, ["meanwhile A/A filled 0", "meanwhile 0/0 filled 0"]);
    client.say(&buy("after"));
    let heard = hear_in_sequence(&client, "0/0", &mut numbers);
    assert_eq!(heard, ["after A/A filled 0", "after 0/0 filled 0"]);

    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "none came twice: {numbers:?}");
    let mut rest = second.client();
    assert_eq!(open_orders(&mut rest).len(), open.len() + 2);
    let session = &rest.get_json("/rest/fix/sessions")[0];
    assert_eq!(session["nextOut"], numbers.last().unwrap() + 1, "{session}");
    client.leave();
    second.stop();
    cluster.lab.stop();
}

/// Its FIX port is open, and it waits for its venue.
fn waiting_leader(launcher: &ServerLauncher, port: u16) -> RunningServer {
    let server = launcher.start();
    wait_for("the FIX port of a leader", || listens(port).then_some(()));
    server
}

#[test]
fn a_new_leader_that_waits_for_its_venue_stops_at_once_and_never_says_that_it_serves() {
    let cluster = TestCluster::start(0);
    let port = reserve_ports(1)[0];
    // Requests of a leader before could arrive there for more than a minute.
    let launcher = with_fix(&cluster, "a", port).set("venues.LAB.receiveWindowMillis", 60_000);
    let server = waiting_leader(&launcher, port);
    // Orders for venues that are there are taken already, and so it is shown.
    let mut client = cluster.client("a");
    wait_for("the gate to be open", || {
        let overview = client.get("/rest/cluster").ok()?;
        overview.body.contains("\"gate\":\"OPEN\"").then_some(())
    });
    send_signal(server.pid(), "TERM");
    let ended = server.wait();
    assert_eq!(ended.code, Some(0), "{ended}");
    assert!(!ended.output.contains("\"role\":\"leader\""), "{ended}");
    let mut served = ended.log.lines().filter(|line| line.contains("serving on"));
    assert!(served.all(|line| line.contains("following; serving on")), "{ended}");
    cluster.lab.stop();
}

/// What the start logs where a venue has not answered a log-on before the limit.
const NOT_ANSWERED: &str = "a venue has not answered a log-on yet";

/// The limit is the same with every venue; that it was not reached is in the log.
#[test]
fn a_venue_that_is_away_does_not_keep_the_fix_clients_of_a_new_leader_waiting() {
    let cluster = TestCluster::start(0);
    let ports = reserve_ports(2);
    let closed = format!("127.0.0.1:{}", ports[1]);
    let file = |name: &str| cluster.lab.folder.path().join(name).display().to_string();
    let away = [
        ("type", "binance-spot".to_owned()),
        ("environment", "testnet".to_owned()),
        ("account", "Away".to_owned()),
        ("credentials", file("key.toml")),
        ("trustedCertificates", file("lab/tls/cert.pem")),
        ("rest", format!("http://{closed}")),
        ("wsApi", format!("ws://{closed}/ws-api/v3")),
        ("streams", format!("ws://{closed}")),
        ("receiveWindowMillis", "1000".to_owned()),
    ];
    let launcher = with_fix(&cluster, "a", ports[0]).set("venues.LAB.receiveWindowMillis", 1_000);
    let launcher =
        away.iter().fold(launcher, |launcher, (key, value)| launcher.set(&format!("venues.AWAY.{key}"), value));
    let server = waiting_leader(&launcher, ports[0]);
    let client = Client::start(&client_settings(&ports[..1]), &[]);
    assert_eq!(client.hear(), "logged on", "its first Logon is answered");
    client.leave();
    let ended = server.stop();
    assert!(ended.log.contains("venue session lost or refused"), "the venue that is away was asked: {ended}");
    assert!(!ended.log.contains(NOT_ANSWERED), "its clients waited for the venue that is away: {ended}");
    cluster.lab.stop();
}
