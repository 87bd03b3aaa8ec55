//! Fields of the header that a broker wants: of every message of a session, of some messages, or of the Logon.

use domain::{Order, SecurityId, Side};

use crate::scripted_venue::{Fields, ScriptedVenue};
use crate::test_adapter::{TestAdapter, order};

/// What a broker asks for, as docs/fix-out.md shows it, and a field that only some messages have.
const HEADER: &str = r#"
[[session.header]]
tag = 50 # SenderSubID
value = "TRADER-7"

[[session.header]]
tag = 57 # TargetSubID
value = "PRICES"
sessions = ["prices"]

[[logon.fields]]
tag = 142 # SenderLocationID
value = "ZRH"

[[fields]]
messages = ["D", "V", "e"]
tag = 57
value = "DESK"

[[fields]]
tag = 116 # OnBehalfOfSubID
value = "{account}"

[securityStatus]
"#;

fn header(fields: &Fields) -> String {
    let shown = [35, 50, 57, 116, 142].into_iter().filter_map(|tag| Some(format!("{tag}={}", fields.get(&tag)?)));
    shown.collect::<Vec<_>>().join("|")
}

#[test]
fn header_fields_of_the_dialect_are_on_the_messages_that_it_names() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let file = folder.path().join("header.toml");
    std::fs::write(&file, adapter_fix::shipped_dialect("generic-44").unwrap().to_owned() + HEADER).unwrap();
    let dialect = Box::leak(file.display().to_string().into_boxed_str());
    let mut desk = TestAdapter::open(&folder, dialect, &venue.address());
    let mut told = Vec::new();
    desk.connect_while(|| told.push(header(&venue.log_on())));
    desk.deliver();
    told.push(header(&venue.expect("e")));
    venue.send("1", "112=are you there");
    told.push(header(&venue.expect("0")));
    desk.submit(&order(1, Side::Buy));
    told.push(header(&venue.expect("D")));
    desk.cancel(&Order { request: 1, ..order(2, Side::Buy) });
    told.push(header(&venue.expect("F")));
    desk.subscribe(SecurityId(1));
    told.push(header(&venue.expect("V")));
    assert_eq!(
        told,
        [
            "35=A|50=TRADER-7|142=ZRH",
            "35=e|50=TRADER-7|57=DESK",
            "35=0|50=TRADER-7",
            "35=D|50=TRADER-7|57=DESK|116=DESK",
            "35=F|50=TRADER-7",
            "35=V|50=TRADER-7|57=DESK",
        ]
    );
}
