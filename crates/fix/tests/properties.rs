//! Properties of every session, whatever the peer sends.

#![allow(clippy::unwrap_used, reason = "a test that can't go on may say so")]

mod test_peer;

use proptest::prelude::*;
use test_peer::{TestPeer, wire_of};

/// One step of a peer; numbers are relative to what we expect next.
#[derive(Debug, Clone)]
struct Step {
    kind: Kind,
    ahead: i64,
    poss_dup: bool,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Heartbeat,
    TestRequest,
    Order,
    GapFill,
    ResendRequest,
    BadOrder,
    Rubbish,
}

fn any_step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        Just(Kind::Heartbeat),
        Just(Kind::TestRequest),
        Just(Kind::Order),
        Just(Kind::GapFill),
        Just(Kind::ResendRequest),
        Just(Kind::BadOrder),
        Just(Kind::Rubbish),
    ];
    (kind, prop_oneof![4 => Just(0), 2 => 1_i64..4, 1 => -2_i64..0], any::<bool>())
        .prop_map(|(kind, ahead, poss_dup)| Step { kind, ahead, poss_dup })
}

impl Step {
    fn bytes(&self, peer: &TestPeer, id: usize) -> Vec<u8> {
        let number = (i64::try_from(peer.next_incoming()).unwrap() + self.ahead).max(1);
        let dup = if self.poss_dup { "|43=Y|122=<now-1>" } else { "" };
        let line = match self.kind {
            Kind::Heartbeat => format!("35=0|34={number}{dup}"),
            Kind::TestRequest => format!("35=1|34={number}{dup}|112=t"),
            Kind::Order => format!("35=D|34={number}{dup}|11=id{id}|38=1|40=1|54=1|55=I|60=<now>"),
            Kind::BadOrder => format!("35=D|34={number}{dup}|11=id{id}|38=x|40=1|54=1|55=I|60=<now>"),
            Kind::GapFill => format!("35=4|34={number}{dup}|36={}|123=Y", number + 2),
            Kind::ResendRequest => format!("35=2|34={number}{dup}|7=1|16=0"),
            Kind::Rubbish => "8=FIX.4.4|9=5|35=0|34=1|10=000|".to_owned(),
        };
        wire_of(&line, peer.now())
    }
}

/// A line of what we sent: its type, its number, and whether it was sent before.
fn sent(line: &str) -> Option<(&str, u64, bool)> {
    let mut fields = line.strip_prefix("E ")?.split('|');
    let kind = fields.next()?.strip_prefix("35=")?;
    let number = fields.next()?.strip_prefix("34=")?.parse().ok()?;
    Some((kind, number, line.contains("|43=Y|")))
}

/// Plays the steps, with a new Logon whenever we have closed; returns all that we sent.
fn play(peer: &mut TestPeer, steps: &[Step]) -> String {
    let mut said = String::new();
    for (id, step) in steps.iter().enumerate() {
        if !peer.is_logged_on() {
            peer.connect();
            let logon = format!("35=A|34={}|98=0|108=30", peer.next_incoming());
            peer.send(&wire_of(&logon, peer.now()));
        }
        let bytes = step.bytes(peer, id);
        peer.send(&bytes);
        said += &peer.take_received();
    }
    said
}

proptest! {
    #[test]
    fn our_numbers_have_no_gap_and_no_repetition(steps in proptest::collection::vec(any_step(), 0..60)) {
        let said = play(&mut TestPeer::new(""), &steps);
        let fresh = said.lines().filter_map(sent).filter(|(_, _, again)| !again).map(|(_, number, _)| number);
        for (expected, number) in (1..).zip(fresh) {
            prop_assert_eq!(number, expected, "{}", said);
        }
    }

    #[test]
    fn nothing_is_asked_for_twice_on_one_connection(steps in proptest::collection::vec(any_step(), 0..60)) {
        let said = play(&mut TestPeer::new(""), &steps);
        let mut asked_from = 0;
        for line in said.lines() {
            match sent(line) {
                Some(("A", ..)) => asked_from = 0,
                Some(("2", ..)) => {
                    let from: u64 = line.split("|7=").nth(1).unwrap().split('|').next().unwrap().parse().unwrap();
                    prop_assert!(from > asked_from, "{}", said);
                    asked_from = from;
                }
                _ => {}
            }
        }
    }

    #[test]
    fn every_order_is_delivered_once_when_the_gap_is_filled(order in proptest::collection::vec(0_usize..12, 1..24)) {
        let mut peer = TestPeer::new("");
        peer.connect();
        peer.send(&wire_of("35=A|34=1|98=0|108=30", peer.now()));
        let line = |n: usize| format!("35=D|34={}|43=Y|122=<now>|11=id{n}|38=1|40=1|54=1|55=I|60=<now>", n + 2);
        for n in order.iter().copied().chain(0..12) {
            peer.send(&wire_of(&line(n), peer.now()));
        }
        let said = peer.take_received();
        let echoed: Vec<_> = said.lines().filter_map(|line| line.split("|11=").nth(1)?.split('|').next()).collect();
        let expected: Vec<_> = (0..12).map(|n| format!("id{n}")).collect();
        prop_assert_eq!(echoed, expected);
        prop_assert_eq!(peer.next_incoming(), 14);
    }

    #[test]
    fn any_split_of_the_bytes_gives_the_same_answers(
        kinds in proptest::collection::vec((any_step(), 1_usize..40), 1..20),
    ) {
        let logon = |peer: &TestPeer| wire_of("35=A|34=1|98=0|108=30", peer.now());
        let (mut whole, mut split) = (TestPeer::new(""), TestPeer::new(""));
        whole.connect();
        split.connect();
        let mut bytes = logon(&whole);
        for (id, (step, _)) in kinds.iter().enumerate() {
            bytes.extend(step.bytes(&whole, id));
        }
        whole.send(&bytes);
        let mut rest = bytes.as_slice();
        for (_, length) in kinds.iter().cycle().take(bytes.len()) {
            let (piece, later) = rest.split_at((*length).min(rest.len()));
            split.send(piece);
            rest = later;
        }
        prop_assert_eq!(split.take_received(), whole.take_received());
    }

    #[test]
    fn rubbish_never_panics_and_never_counts(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut peer = TestPeer::new("");
        peer.connect();
        peer.send(&wire_of("35=A|34=1|98=0|108=30", peer.now()));
        peer.send(&bytes);
        prop_assert_eq!(peer.next_incoming(), 2);
    }

    #[test]
    fn near_messages_never_panic(lines in proptest::collection::vec("35=[0-5AD](\\|(34|36|7|16|43|122|123|141|98|108|112|78|79|453|60)=[0-9YN]{0,3}){0,8}", 0..12)) {
        let mut peer = TestPeer::new("ValidateIncomingMessage=N");
        peer.connect();
        peer.send(&wire_of("35=A|34=1|98=0|108=30", peer.now()));
        for line in lines {
            peer.send(&wire_of(&format!("8=FIX.4.4|9=<ok>|{line}|49=TW44|52=<now>|56=ISLD|10=<ok>"), peer.now()));
            peer.wait(1);
        }
    }
}
