//! Fields of a FIX client that go on to a FIX venue by rule: through a platform in front, over restarts, to the platform behind it.

use std::fs;
use std::path::Path;

use scenarios::server::RunningServer;
use scenarios::wait::wait_for;

use crate::fix_orders::STEADY;
use crate::fix_orders::client::FixClient;
use crate::rialto_venue::Chain;
use crate::test_platform::TraderClient;

/// The dialect `rialto`, which lets two fields pass.
fn dialect() -> String {
    let text = include_str!("../../../adapter-fix/dialects/rialto.toml");
    text.replacen("[orders]\n", "[orders]\npassThrough = [528, 5001]\n", 1)
}

/// What came from the platform in front, one message a line.
fn requests_of_front(back: &Path) -> Vec<String> {
    let log = fs::read_to_string(back.join("fix/log/FIX.4.4-RIALTO-FRONT.messages.log")).unwrap_or_default();
    let request = |line: &&str| ["35=D", "35=G"].iter().any(|kind| line.contains(kind));
    let fields = |line: &str| {
        let kept = line
            .split(['|', '\u{1}'])
            .filter(|field| ["35=", "38=", "528=", "5001=", "5002="].iter().any(|tag| field.starts_with(tag)));
        kept.collect::<Vec<_>>().join(" ")
    };
    log.lines().filter(request).map(fields).collect()
}

fn chain() -> Chain {
    let steady = STEADY.to_owned() + "PassThroughTags=528,5001,5002\n";
    let chain = Chain::with_front(&steady, |sessions| {
        // Its exchange is simulated and takes no fields of clients: here they are remarks.
        sessions.replace("[DEFAULT]\n", "[DEFAULT]\nFileLogPath=log\nValidateUserDefinedFields=N\n")
    });
    let file = chain.front.data().with_file_name("passing.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, dialect()).unwrap();
    Chain { front: chain.front.set("venues.BACK.dialect", file.display()), ..chain }
}

fn log_on(client: &mut FixClient, front: &RunningServer) {
    client.seconds_ahead = 0;
    client.log_on(front.port_address("fix"));
}

#[test]
fn fields_of_a_client_pass_to_the_venue_behind_and_survive_a_restart() {
    let chain = chain();
    let [front, back] = chain.start();
    let mut client = FixClient::new("STEADY");
    log_on(&mut client, &front);
    client.send("35=D|11=tagged|1=BACK|54=1|38=10|40=2|44=250|48=1|59=1|528=A|5001=desk 7");
    client.wait_for_messages(2);
    client.send("35=D|11=plain|1=BACK|54=1|38=20|40=2|44=250|48=1|59=1");
    client.wait_for_messages(4);
    client.disconnect();
    front.stop();

    let front = chain.front.start();
    let mut rest = front.client();
    rest.wait_for_status("tagged", "SUBMITTED");
    log_on(&mut client, &front);
    client.send("35=G|11=more|41=tagged|1=BACK|54=1|38=30|40=2|44=251|48=1|59=1");
    client.receive_until("the replace", |client| {
        client.received_summaries().iter().any(|told| told == "8 more I/0 0/30")
    });
    // What the venue has cannot become something else.
    client.send("35=G|11=other|41=more|1=BACK|54=1|38=30|40=2|44=252|48=1|59=1|5001=desk 8");
    let refused = client.expect("9");
    assert_eq!(refused.get(58), Some("field-fixed: passThrough of an order cannot be changed"));
    wait_for("the requests at the venue", || (requests_of_front(chain.back.data()).len() >= 3).then_some(()));
    assert_eq!(
        requests_of_front(chain.back.data()),
        ["35=D 38=10 528=A 5001=desk 7", "35=D 38=20", "35=G 38=30 528=A 5001=desk 7"]
    );
    front.stop();
    back.stop();
}

#[test]
fn a_field_that_the_venue_does_not_take_is_refused_before_anything_is_sent() {
    let chain = chain();
    let [front, back] = chain.start();
    let mut client = FixClient::new("STEADY");
    log_on(&mut client, &front);
    client.send("35=D|11=unknown|1=BACK|54=1|38=10|40=2|44=250|48=1|59=1|5002=x");
    client.send("35=D|11=never|1=BACK|54=1|38=10|40=2|44=250|48=1|59=1|5003=x");
    client.wait_for_messages(2);
    let mut told: Vec<_> = client.received.iter().map(|report| report.get(58).unwrap_or_default().to_owned()).collect();
    told.sort();
    assert_eq!(
        told,
        [
            "field-not-passed: the venue of FIX-BACK does not take tag 5002",
            "term-not-offered: tag 5003 is not offered on this message, and could be a term of the order"
        ]
    );
    assert_eq!(requests_of_front(chain.back.data()), Vec::<String>::new());
    front.stop();
    back.stop();
}
