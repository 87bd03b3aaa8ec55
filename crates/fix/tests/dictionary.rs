//! The built-in dictionaries, and one from a file.

#![allow(clippy::unwrap_used, reason = "a test that can't go on may say so")]

use fix::{CheckRules, Dictionary, DictionaryChecker, FixDecoder};

fn framed(body: &str) -> Vec<u8> {
    let body = format!("{body}|").replace('|', "\x01");
    let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    frame.extend(format!("10={sum:03}\x01").bytes());
    frame
}

fn verdict(dictionary: &Dictionary, body: &str) -> String {
    let frame = framed(body);
    let mut decoder = FixDecoder::new();
    let message = decoder.decode(&frame).unwrap();
    match DictionaryChecker::default().check(dictionary, CheckRules::default(), &message) {
        Ok(()) => "fine".to_owned(),
        Err(fault) => format!("{} {:?}: {}", fault.reason.code(), fault.tag, fault.reason.text()),
    }
}

const ORDER: &str = "35=D|34=2|49=A|52=20260105-12:00:00|56=B|11=id|38=1|40=2|44=1.5|54=1|55=AAPL|60=20260105-12:00:00";

#[test]
fn the_platforms_own_tags_are_known_on_an_order_only() {
    let (stock, ours) = (Dictionary::fix44(), Dictionary::fix44_with_extensions());
    let extended = format!("{ORDER}|7001=3|7002=EMA|7003=Y");
    assert_eq!(verdict(&stock, ORDER), "fine");
    assert_eq!(verdict(&ours, &extended), "fine");
    assert_eq!(verdict(&stock, &extended), "0 Some(7001): Invalid tag number");
    assert_eq!(verdict(&ours, &format!("{ORDER}|7003=X")), "6 Some(7003): Incorrect data format for value");
    let heartbeat = "35=0|34=2|49=A|52=20260105-12:00:00|56=B|7001=3";
    assert_eq!(verdict(&ours, heartbeat), "2 Some(7001): Tag not defined for this message type");
}

#[test]
fn fix_50sp2_has_the_session_messages_and_the_header_of_fixt_11() {
    let dictionary = Dictionary::fix50sp2();
    let head = |kind: &str| format!("35={kind}|34=2|49=A|52=20260105-12:00:00|56=B");
    assert_eq!(verdict(&dictionary, ORDER), "fine");
    // DisplayQty is new, and ApplVerID a field of the header.
    assert_eq!(verdict(&dictionary, &format!("{}|1128=9{}|1138=1", head("D"), &ORDER[head("D").len()..])), "fine");
    assert_eq!(verdict(&Dictionary::fix44(), &format!("{ORDER}|1138=1")), "0 Some(1138): Invalid tag number");
    assert_eq!(verdict(&dictionary, &format!("{}|98=0|108=30|1137=9", head("A"))), "fine");
    assert_eq!(verdict(&dictionary, &format!("{}|98=0|108=30", head("A"))), "1 Some(1137): Required tag missing");
    assert_eq!(verdict(&dictionary, &format!("{}|112=x", head("0"))), "fine");
    assert_eq!(verdict(&dictionary, &format!("{ORDER}|20=0")), "0 Some(20): Invalid tag number");
    let replaced = format!("{}|6=0|11=b|14=0|17=1|37=1|39=0|41=a|54=1|55=AAPL|150=5|151=1", head("8"));
    assert_eq!(verdict(&dictionary, &replaced), "fine");
    // Until FIX 4.2 an execution was told by its status; since then it is a trade.
    assert_eq!(
        verdict(&dictionary, &replaced.replace("150=5", "150=1")),
        "5 Some(150): Value is incorrect (out of range) for this tag"
    );
}

#[test]
fn a_field_that_comes_twice_is_found_unless_it_is_of_a_group() {
    let dictionary = Dictionary::fix44_with_extensions();
    let repeated = |rest: &str| {
        let frame = framed(&format!("{ORDER}|{rest}"));
        dictionary.repeated_field(&FixDecoder::new().decode(&frame).unwrap())
    };
    for (rest, expected) in [
        ("59=1", None),
        ("38=100", Some(38)),
        ("34=3", Some(34)),
        ("7003=Y|7003=N", Some(7003)),
        ("453=2|448=a|447=D|448=b|447=D", None),
        ("453=1|448=a|38=1", Some(38)),
        ("453=1|448=a|453=1|448=b", Some(453)),
        // Not of an order, or unknown.
        ("41=a|9999=1|9998=1", None),
        ("41=a|41=b", Some(41)),
        ("9999=1|9998=1|9999=2", Some(9999)),
    ] {
        assert_eq!(repeated(rest), expected, "{rest}");
    }
}

#[test]
fn a_file_says_what_its_messages_may_have() {
    let file = "<fix type='FIX' major='4' minor='4' servicepack='0'>
        <header><field name='BeginString' required='Y'/><field name='MsgSeqNum' required='Y'/></header>
        <trailer><field name='CheckSum' required='Y'/></trailer>
        <messages><message name='Wish' msgtype='U7' msgcat='app'>
            <field name='Star' required='Y'/><component name='Wishes' required='Y'/>
        </message></messages>
        <components><component name='Wishes'>
            <group name='NoWishes' required='N'><field name='Text' required='Y'/><field name='Star' required='N'/></group>
        </component></components>
        <fields>
            <field number='8' name='BeginString' type='STRING'/><field number='34' name='MsgSeqNum' type='SEQNUM'/>
            <field number='10' name='CheckSum' type='STRING'/><field number='58' name='Text' type='NEVERHEARD'/>
            <field number='20001' name='NoWishes' type='NUMINGROUP'/><field number='9' name='BodyLength' type='LENGTH'/>
            <field number='35' name='MsgType' type='STRING'/>
            <field number='20002' name='Star' type='CHAR'><value enum='A' description='ALDEBARAN'/></field>
        </fields></fix>";
    let dictionary = Dictionary::from_quickfix_xml(file).unwrap();
    assert_eq!(dictionary.version(), "FIX.4.4");
    assert_eq!(verdict(&dictionary, "35=U7|34=1|20002=A|20001=2|58=x|58=y|20002=A"), "fine");
    assert_eq!(verdict(&dictionary, "35=U7|34=1|20001=1|58=x"), "1 Some(20002): Required tag missing");
    assert_eq!(
        verdict(&dictionary, "35=U7|34=1|20002=B"),
        "5 Some(20002): Value is incorrect (out of range) for this tag"
    );
    assert_eq!(verdict(&dictionary, "35=U8|34=1|20002=A"), "11 None: Invalid MsgType");
}

/// What the server hands out to clients.
const FOR_CLIENTS: &str = include_str!("../../../docs/fix/FIX44.xml");

#[test]
fn the_dictionary_for_clients_says_what_is_checked_here() {
    let (theirs, ours) = (Dictionary::from_quickfix_xml(FOR_CLIENTS).unwrap(), Dictionary::fix44_with_extensions());
    let types: Vec<_> = theirs.msg_types().map(String::from_utf8_lossy).collect();
    let offered = [
        "0", "1", "2", "3", "4", "5", "8", "9", "A", "AD", "AE", "AF", "AN", "AO", "AP", "AQ", "D", "F", "G", "H", "V",
        "W", "X", "Y", "e", "f", "j", "q", "r", "x", "y",
    ];
    assert_eq!((theirs.version(), types), (ours.version(), offered.map(Into::into).to_vec()));
    for msg_type in offered.map(str::as_bytes) {
        assert_eq!(theirs.describe_message(msg_type), ours.describe_message(msg_type), "{msg_type:?}");
    }
}
