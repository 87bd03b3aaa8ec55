//! Terms that could change an execution and are not supported, through the port, whether messages are validated or not.

use scenarios::server::RunningServer;
use serde_json::Value;

use super::client::FixClient;
use super::{STEADY, buy, server_with};
use crate::test_platform::TraderClient;

/// An order that would trade at once: AAPL is offered at 272.41.
const AT_ONCE: &str = "54=1|38=10|40=2|44=280|48=1";

/// What FIX 4.4 has and we don't, with values that a validating session lets through.
const TERMS: [(&str, &str); 12] = [
    ("18=G", "ExecInst (18) is not offered: G"),
    ("168=20991231-12:00:00", "EffectiveTime (168) is not offered: 20991231-12:00:00"),
    ("423=1", "PriceType (423) is not offered: 1"),
    ("15=EUR", "Currency (15) EUR is not that of the security"),
    ("854=1", "QtyType (854) 1 is not that of the security"),
    ("152=1000", "CashOrderQty (152) is not offered: 1000"),
    ("211=0.05", "PegOffsetValue (211) is not offered: 0.05"),
    ("388=0|389=0.02", "DiscretionInst (388) is not offered: 0"),
    ("847=1", "TargetStrategy (847) is not offered: 1"),
    ("386=1|336=2", "NoTradingSessions (386) is not offered: 1"),
    ("63=3", "SettlType (63) is not offered: 3"),
    ("77=C", "PositionEffect (77) is not offered: C"),
];

fn trades(server: &RunningServer) -> usize {
    let answer = server.client().get("/rest/transaction/daily").unwrap();
    serde_json::from_str::<Vec<Value>>(&answer.body).unwrap().len()
}

fn no_order_trades_on_other_terms(sessions: &str) {
    let desk = server_with(sessions);
    let server = desk.start();
    let before = trades(&server);
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send(&buy("resting", 10, "250"));
    client.wait_for_messages(2);
    for (n, (term, text)) in TERMS.iter().enumerate() {
        client.send(&format!("35=D|11=d{n}|{AT_ONCE}|{term}"));
        client.wait_for_messages(3 + 2 * n);
        let refused = client.received.last().unwrap();
        let get = |tag| refused.get(tag).unwrap_or("-");
        assert_eq!(
            [get(35), get(11), get(150), get(39), get(103)],
            ["8", format!("d{n}").as_str(), "8", "8", "11"],
            "{term}"
        );
        assert_eq!(get(58), format!("term-not-offered: {text}"));
        client.send(&format!("35=G|11=g{n}|41=resting|{AT_ONCE}|{term}"));
        client.wait_for_messages(4 + 2 * n);
        let refused = client.received.last().unwrap();
        let get = |tag| refused.get(tag).unwrap_or("-");
        assert_eq!([get(35), get(11), get(39), get(102)], ["9", format!("g{n}").as_str(), "0", "99"], "{term}");
        assert_eq!(get(58), format!("term-not-offered: {text}"));
    }
    assert_eq!((trades(&server), &server.client().order("resting")["status"]), (before, &"SUBMITTED".into()));
    client.send(&format!("35=D|11=fine|{AT_ONCE}|15=USD|854=0|18=5|58=hello|453=1|448=me|447=D|452=3|528=A|21=1"));
    client
        .receive_until("the fill", |client| client.received.last().is_some_and(|report| report.get(150) == Some("F")));
    assert_eq!(trades(&server), before + 1);
    client.log_out();
    server.stop();
}

#[test]
fn no_order_trades_on_other_terms_where_messages_are_not_validated() {
    no_order_trades_on_other_terms(STEADY);
}

#[test]
fn no_order_trades_on_other_terms_where_messages_are_validated() {
    no_order_trades_on_other_terms(&STEADY.replace("ValidateIncomingMessage=N", "ValidateIncomingMessage=Y"));
}
