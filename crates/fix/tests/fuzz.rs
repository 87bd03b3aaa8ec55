//! Fuzz targets: framing, parser, session. As plain tests they run a bounded number of random inputs and every input
//! kept in `__fuzz__`; CONTRIBUTING.md says how to let them run longer, or under a fuzzer that looks at coverage.

#![allow(clippy::unwrap_used, reason = "a test that can't go on may say so")]

mod test_peer;

use bolero::TypeGenerator;
use fix::{CheckRules, Dictionary, DictionaryChecker, FixDecoder, Framer, OutgoingMessage, SOH};
use std::sync::OnceLock;
use test_peer::{TestPeer, wire_of};

/// Random inputs of one run as a plain test.
const ITERATIONS: usize = 1_000;

/// Bytes from 128 on stand for these, so that random inputs get past the first field.
const WORDS: [&str; 16] = [
    "8=FIX.4.4|",
    "9=5|35=0|10=161|",
    "8=FIX.4.4|9=5|35=0|10=161|",
    "8=FIX.4.4|9=52|35=D|34=2|11=a|55=b|54=1|60=20260105-12:00:00|40=1|10=000|",
    "9=",
    "|10=",
    "10=000|",
    "35=D|",
    "95=3|96=",
    "78=2|79=a|80=1|79=b|",
    "453=1|448=x|802=1|523=y|803=1|",
    "52=20260105-12:00:00|",
    "-1=|",
    "|",
    "=",
    "999999999",
];

fn spelled(input: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for byte in input {
        match byte.checked_sub(128) {
            None => bytes.push(*byte),
            Some(word) => {
                let word = WORDS[usize::from(word) % WORDS.len()];
                bytes.extend(word.bytes().map(|byte| if byte == b'|' { SOH } else { byte }));
            }
        }
    }
    bytes
}

/// The frames of a stream that arrives in chunks of this size, up to an error that ends it.
fn frames(bytes: &[u8], piece: usize) -> Vec<Vec<u8>> {
    let mut framer = Framer::new();
    let mut frames = Vec::new();
    for piece in bytes.chunks(piece.max(1)) {
        framer.buffer().extend_from_slice(piece);
        loop {
            match framer.next_frame() {
                Ok(Some(frame)) => frames.push(frame.to_vec()),
                Ok(None) => break,
                Err(fix::FrameError::BadLength) => {}
                Err(fix::FrameError::TooLong) => return frames,
            }
        }
    }
    frames
}

#[test]
fn framing() {
    bolero::check!().with_iterations(ITERATIONS).for_each(|input| {
        let bytes = spelled(input);
        let whole = frames(&bytes, bytes.len());
        for frame in &whole {
            assert!(frame.starts_with(b"8=") && frame.ends_with(&[SOH]), "{}", frame.escape_ascii());
        }
        assert_eq!(frames(&bytes, 1), whole);
        assert_eq!(frames(&bytes, 7), whole);
    });
}

fn dictionary() -> &'static Dictionary {
    static DICTIONARY: OnceLock<Dictionary> = OnceLock::new();
    DICTIONARY.get_or_init(Dictionary::fix44)
}

/// With the right length and checksum a body is processed and not only discarded.
fn sealed(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("8=FIX.4.4\x019={}\x01", body.len()).into_bytes();
    frame.extend_from_slice(body);
    let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    frame.extend(format!("10={sum:03}\x01").bytes());
    frame
}

#[test]
fn parser() {
    let (mut decoder, mut checker) = (FixDecoder::new(), DictionaryChecker::default());
    bolero::check!().with_iterations(ITERATIONS).for_each(|input| {
        let bytes = spelled(input);
        let _ = decoder.decode(&bytes);
        let frame = sealed(&[b"35=D\x01", bytes.as_slice(), b"\x01"].concat());
        let Ok(message) = decoder.decode(&frame) else { return };
        let ends = message.fields().map(|field| field.value.as_ptr_range().end);
        assert!(ends.is_sorted(), "fields lie one behind the other");
        let _ = checker.check(dictionary(), CheckRules::default(), &message);
        dictionary().copy_body(&message, &mut OutgoingMessage::new("D"));
        message.copy_body_verbatim(&mut OutgoingMessage::new("D"));
    });
}

/// What a peer may do next; numbers are near those that we expect.
#[derive(Debug, Clone, TypeGenerator)]
struct Step {
    deed: FuzzAction,
    #[generator(-2..4_i8)]
    ahead: i8,
    poss_dup: bool,
    original_time: bool,
}

#[derive(Debug, Clone, TypeGenerator)]
enum FuzzAction {
    Logon {
        reset: bool,
    },
    Logout,
    Heartbeat,
    TestRequest,
    Order {
        sound: bool,
    },
    Unsupported,
    ResendRequest {
        #[generator(0..8_u8)]
        from: u8,
        #[generator(0..8_u8)]
        to: u8,
    },
    SequenceReset {
        gap_fill: bool,
        #[generator(-2..6_i8)]
        next: i8,
    },
    Stranger,
    BadClock,
    Rubbish(Vec<u8>),
    HangUp,
    Wait {
        #[generator(1..80_u8)]
        seconds: u8,
    },
    OperatorLogsOut,
    OperatorResets,
    WeSend,
}

impl Step {
    fn act(&self, peer: &mut TestPeer) {
        match &self.deed {
            FuzzAction::Rubbish(bytes) => peer.send(&spelled(bytes)),
            FuzzAction::HangUp => peer.hang_up(),
            FuzzAction::Wait { seconds } => peer.wait(i64::from(*seconds)),
            FuzzAction::OperatorLogsOut => peer.operator_logs_out("late"),
            FuzzAction::OperatorResets => peer.operator_resets(),
            FuzzAction::WeSend => peer.application_sends("35=B|148=news|33=1|58=text"),
            said => peer.send(&wire_of(&self.line(said, peer), peer.now())),
        }
    }

    fn line(&self, said: &FuzzAction, peer: &TestPeer) -> String {
        let next = i64::try_from(peer.next_incoming()).unwrap();
        let number = (next + i64::from(self.ahead)).max(0);
        let dup = if self.poss_dup { "|43=Y" } else { "" };
        let original = if self.original_time { "|122=<now-1>" } else { "" };
        let (kind, body) = match said {
            FuzzAction::Logon { reset } => ("A", format!("|98=0|108=30{}", if *reset { "|141=Y" } else { "" })),
            FuzzAction::Logout => ("5", String::new()),
            FuzzAction::TestRequest => ("1", "|112=t".to_owned()),
            FuzzAction::Order { sound } => {
                ("D", format!("|11=o{number}|38={}|40=1|54=1|55=I|60=<now>", if *sound { "1" } else { "x" }))
            }
            FuzzAction::Unsupported => ("B", "|148=news".to_owned()),
            FuzzAction::ResendRequest { from, to } => ("2", format!("|7={from}|16={to}")),
            FuzzAction::SequenceReset { gap_fill, next: jump } => {
                let flag = if *gap_fill { "Y" } else { "N" };
                ("4", format!("|36={}|123={flag}", (next + i64::from(*jump)).max(0)))
            }
            FuzzAction::Stranger => ("0", "|49=WHO".to_owned()),
            FuzzAction::BadClock => ("0", "|52=<now-500>".to_owned()),
            _ => ("0", String::new()),
        };
        format!("35={kind}|34={number}{dup}{original}{body}")
    }
}

/// The number of each message that we sent for the first time; they begin at 1 again where a Logon resets them.
fn fresh_numbers(said: &str) -> Vec<u64> {
    let fresh = said.lines().filter(|line| line.starts_with("E ") && !line.contains("|43=Y|"));
    fresh.filter_map(|line| line.split("|34=").nth(1)?.split('|').next()?.parse().ok()).collect()
}

#[test]
fn session() {
    let bare = || "ValidateIncomingMessage=N";
    bolero::check!().with_iterations(ITERATIONS).with_type::<(bool, Vec<Step>)>().for_each(|(checked, steps)| {
        let mut peer = TestPeer::new(if *checked { "" } else { bare() });
        let mut said = String::new();
        for step in steps {
            if !peer.is_connected() {
                said += &peer.take_received();
                peer.connect();
                let logon = format!("35=A|34={}|98=0|108=30", peer.next_incoming());
                peer.send(&wire_of(&logon, peer.now()));
            }
            step.act(&mut peer);
        }
        said += &peer.take_received();
        for pair in fresh_numbers(&said).windows(2) {
            assert!(pair[1] == pair[0] + 1 || pair[1] == 1, "a gap in our numbers:\n{said}");
        }
    });
}
