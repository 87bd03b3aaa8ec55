//! Fuzz targets: codec and session. As plain tests they run a bounded number of random inputs and every input kept in
//! `__fuzz__`; CONTRIBUTING.md says how to let them run longer, or under a fuzzer that looks at coverage.

use std::sync::Arc;

use bolero::TypeGenerator;
use stomp::session::{DeliveryFlags, DeliveryToken, Permissions, StompAction, StompRules, StompSession, WriteOutcome};
use stomp::{
    Destination, DestinationPattern, FrameDecoder, FrameLimits, FramingError, Headers, MonotonicTime, StompFrame,
    StompMessage, StompVersion,
};

/// Random inputs of one run as a plain test.
const ITERATIONS: usize = 2_000;

/// A client of each version.
const OPENINGS: [&str; 3] = [
    "CONNECT\naccept-version:1.2,1.1,1.0\nhost:a\nheart-beat:1000,1000\n\n\0",
    "STOMP\naccept-version:1.1\nhost:a\n\n\0",
    "CONNECT\n\n\0",
];

/// Bytes from 128 on stand for these, so that random inputs get past the first line.
const WORDS: [&str; 20] = [
    "CONNECT\naccept-version:1.2\n\n\0",
    "SUBSCRIBE\nid:1\ndestination:/queue/a\nack:client-individual\n\n\0",
    "SUBSCRIBE\nid:2\ndestination:/topic/a.*,/topic/b.>\nack:client\nprefetch:2\nreceipt:r\n\n\0",
    "SEND\ndestination:/queue/a\ncontent-length:3\n\na\0b\0",
    "SEND\ndestination:/topic/a.b\nkey:\\c\\n\\\\\ntransaction:t\n\nhello\0",
    "BEGIN\ntransaction:t\n\n\0",
    "COMMIT\ntransaction:t\nreceipt:c\n\n\0",
    "ABORT\ntransaction:t\n\n\0",
    "ACK\nid:1-1\n\n\0",
    "ACK\nid:2-2\ntransaction:t\n\n\0",
    "NACK\nid:1-2\n\n\0",
    "ACK\nsubscription:1\nmessage-id:1\n\n\0",
    "UNSUBSCRIBE\nid:1\n\n\0",
    "DISCONNECT\nreceipt:d\n\n\0",
    "SEND\n",
    "content-length:",
    "\r\n",
    ":",
    "\\",
    "\n\n\0",
];

fn spelled(input: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for byte in input {
        match byte.checked_sub(128) {
            None => bytes.push(*byte),
            Some(word) => bytes.extend(WORDS[usize::from(word) % WORDS.len()].bytes()),
        }
    }
    bytes
}

/// Frames and errors of a stream that arrives in chunks of this size.
fn decoded(version: StompVersion, bytes: &[u8], piece: usize) -> (Vec<StompFrame>, Option<FramingError>) {
    let mut decoder = FrameDecoder::new(FrameLimits::default());
    decoder.set_version(version);
    let mut frames = Vec::new();
    for mut piece in bytes.chunks(piece.max(1)) {
        loop {
            match decoder.decode(&mut piece) {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(fault) => return (frames, Some(fault)),
            }
        }
    }
    (frames, None)
}

#[test]
fn codec() {
    bolero::check!().with_iterations(ITERATIONS).for_each(|input| {
        let bytes = spelled(input);
        for version in StompVersion::ALL {
            let whole = decoded(version, &bytes, bytes.len());
            assert_eq!(decoded(version, &bytes, 1), whole);
            assert_eq!(decoded(version, &bytes, 7), whole);
            for frame in whole.0 {
                let (again, fault) = decoded(version, &frame.to_bytes(version), usize::MAX);
                assert_eq!((again.len(), fault), (1, None), "what we write of it can be read");
            }
        }
    });
}

/// What happens to a session.
#[derive(Debug, TypeGenerator)]
enum Step {
    Receive(Vec<u8>),
    /// One more message for every subscription.
    Deliver,
    /// So many milliseconds pass.
    Wait(#[generator(1..5_000_u16)] u16),
    Refuse,
}

fn everything() -> Arc<Permissions> {
    let all: Vec<DestinationPattern> =
        ["/topic/>", "/queue/>"].iter().map(|text| DestinationPattern::parse(text).expect("a pattern")).collect();
    Arc::new(Permissions { send: all.clone(), subscribe: all, ..Permissions::default() })
}

fn message() -> StompMessage {
    StompMessage::new(1, &Destination::parse("/queue/a").expect("a queue"), &Headers::default(), b"x")
}

/// Writes a message for each subscription that has room.
fn deliver(session: &mut StompSession, token: &mut u64) {
    let subscriptions = session.subscriptions();
    let keys: Vec<_> = subscriptions.keys().collect();
    for key in keys.into_iter().filter(|key| subscriptions.has_room(*key)).collect::<Vec<_>>() {
        *token += 1;
        let written = subscriptions.write_head(
            key,
            &message(),
            Some(DeliveryToken(*token)),
            DeliveryFlags::default(),
            &mut Vec::new(),
        );
        assert!(!matches!(written, WriteOutcome::Gone), "the subscription is open");
    }
}

#[test]
fn session() {
    bolero::check!().with_iterations(ITERATIONS).with_type::<(u8, Vec<Step>)>().for_each(|(opening, steps)| {
        let mut session = StompSession::new(MonotonicTime(0), "1".to_owned(), Arc::new(StompRules::new("Rialto")));
        let (mut now, mut token) = (MonotonicTime(0), 0);
        let mut all = Vec::new();
        session.receive(now, OPENINGS[usize::from(*opening) % OPENINGS.len()].as_bytes(), &mut all);
        session.on_authenticated(now, everything(), &mut all);
        for step in steps {
            match step {
                Step::Receive(input) => session.receive(now, &spelled(input), &mut all),
                Step::Deliver => deliver(&mut session, &mut token),
                Step::Wait(millis) => {
                    now = now.after(std::time::Duration::from_millis(u64::from(*millis)));
                    session.tick(now, &mut all);
                }
                Step::Refuse => session.close_with_error("enough", None, &mut all),
            }
        }
        let closes = all.iter().filter(|action| matches!(action, StompAction::Close(_))).count();
        assert_eq!(closes, usize::from(session.is_closed()), "{all:?}");
        assert!(closes == 0 || matches!(all.last(), Some(StompAction::Close(_))), "nothing follows the end: {all:?}");
    });
}
