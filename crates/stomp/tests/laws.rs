//! Properties for any input: splits, round trips, garbage, limits, and the topic tree against its definition.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use stomp::lanes::{Backlog, Released};
use stomp::session::{Permissions, StompAction, StompRules, StompSession};
use stomp::topics::TopicTree;
use stomp::{
    Destination, DestinationPattern, FrameDecoder, FrameLimits, FramingError, Headers, MonotonicTime, StompCommand,
    StompFrame, StompVersion,
};

/// Frames and errors of a byte stream that arrives in these chunks.
fn decode<'a>(
    version: StompVersion,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<StompFrame>, Option<FramingError>) {
    let mut decoder = FrameDecoder::new(FrameLimits::default());
    decoder.set_version(version);
    let mut frames = Vec::new();
    for mut piece in pieces {
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

/// The bytes cut at these places.
fn cut<'a>(bytes: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut ends: BTreeSet<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    ends.insert(bytes.len());
    let begins: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).collect();
    begins.into_iter().zip(ends).map(|(begin, end)| &bytes[begin..end]).collect()
}

fn version() -> impl Strategy<Value = StompVersion> {
    prop::sample::select(StompVersion::ALL.to_vec())
}

/// Text that every version can carry in a header.
fn plain_text() -> BoxedStrategy<String> {
    let letters: Vec<char> = "abcXYZ019_/.-é€".chars().collect();
    prop::collection::vec(prop::sample::select(letters), 1..12).prop_map(String::from_iter).boxed()
}

/// Text that only escapes can carry.
fn any_text() -> BoxedStrategy<String> {
    prop::collection::vec(prop_oneof![Just('\n'), Just('\r'), Just(':'), Just('\\'), any::<char>()], 1..10)
        .prop_map(|chars| chars.into_iter().filter(|c| *c != '\0').chain(['x']).collect::<String>())
        .boxed()
}

fn headers(text: BoxedStrategy<String>) -> impl Strategy<Value = Headers> {
    prop::collection::vec((text.clone(), text), 0..6).prop_map(|entries| {
        let entries = entries.iter().filter(|(name, _)| name != "content-length");
        entries.map(|(name, value)| (name.as_str(), value.as_str())).collect()
    })
}

fn frame(text: BoxedStrategy<String>) -> impl Strategy<Value = StompFrame> {
    let body = prop::collection::vec(any::<u8>(), 0..40);
    (prop::sample::select(StompCommand::ALL.to_vec()), headers(text), body).prop_map(|(command, headers, body)| {
        let body = if command.may_have_body() { body } else { Vec::new() };
        StompFrame { command, headers, body }
    })
}

fn is_escaped(frame: &StompFrame) -> bool {
    !matches!(frame.command, StompCommand::Connect | StompCommand::Stomp | StompCommand::Connected)
}

/// Near misses of the protocol: real frames, pieces of them, line ends, and anything.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&'static [u8]> = vec![
        b"CONNECT\naccept-version:1.2\n\n\0",
        b"SEND\n",
        b"SEND\ndestination:/queue/a\n\nhello\0",
        b"SUBSCRIBE\nid:1\ndestination:/topic/>\nack:client\n\n\0",
        b"ACK\nid:1-1\n\n\0",
        b"BEGIN\ntransaction:t\n\n\0",
        b"SEND\ndestination:/topic/a\ntransaction:t\n\nx\0",
        b"COMMIT\ntransaction:t\n\n\0",
        b"content-length:",
        b"3",
        b"\\n",
        b"\\t",
        b":",
        b"\n",
        b"\r\n",
        b"\0",
    ];
    let word = prop_oneof![
        8 => prop::sample::select(words).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(word, 0..20).prop_map(|words| words.concat())
}

fn everything() -> Arc<Permissions> {
    let all: Vec<DestinationPattern> =
        ["/topic/>", "/queue/>"].iter().map(|text| DestinationPattern::parse(text).expect("a pattern")).collect();
    Arc::new(Permissions { send: all.clone(), subscribe: all, ..Permissions::default() })
}

/// All actions of a session that is accepted at once.
fn converse(pieces: &[&[u8]]) -> Vec<StompAction> {
    let mut session = StompSession::new(MonotonicTime(0), "1".to_owned(), Arc::new(StompRules::new("Rialto")));
    let mut all = Vec::new();
    for piece in pieces {
        let from = all.len();
        session.receive(MonotonicTime(0), piece, &mut all);
        if all[from..].iter().any(|action| matches!(action, StompAction::Authenticate(_))) {
            session.on_authenticated(MonotonicTime(0), everything(), &mut all);
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_written_frame_is_read_back(frame in frame(plain_text()), version in version()) {
        let bytes = frame.to_bytes(version);
        prop_assert_eq!(decode(version, [&bytes[..]]), (vec![frame], None));
    }

    #[test]
    fn escapes_carry_any_text(frame in frame(any_text()).prop_filter("opening frames have none", is_escaped)) {
        let bytes = frame.to_bytes(StompVersion::V12);
        prop_assert_eq!(decode(StompVersion::V12, [&bytes[..]]), (vec![frame], None));
    }

    #[test]
    fn no_header_can_forge_another(frame in frame(any_text()), version in version()) {
        let (read, fault) = decode(version, [&frame.to_bytes(version)[..]]);
        prop_assert_eq!((read.len(), fault), (1, None));
        prop_assert!(read[0].headers.len() <= frame.headers.len());
        prop_assert_eq!(&read[0].body, &frame.body);
    }

    #[test]
    fn any_split_gives_the_same_frames(
        frames in prop::collection::vec(frame(plain_text()), 0..5),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        version in version(),
    ) {
        let bytes: Vec<u8> = frames.iter().flat_map(|frame| frame.to_bytes(version)).collect();
        prop_assert_eq!(decode(version, cut(&bytes, &places)), (frames, None));
    }

    #[test]
    fn any_split_of_garbage_gives_the_same_frames_and_fault(
        bytes in garbage(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        version in version(),
    ) {
        prop_assert_eq!(decode(version, cut(&bytes, &places)), decode(version, [&bytes[..]]));
    }

    #[test]
    fn a_session_bears_garbage_and_ends_once(
        bytes in garbage(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let whole = converse(&[&bytes]);
        let closes = whole.iter().filter(|action| matches!(action, StompAction::Close(_))).count();
        prop_assert!(closes <= 1);
        prop_assert!(closes == 0 || matches!(whole.last(), Some(StompAction::Close(_))));
        prop_assert_eq!(converse(&cut(&bytes, &places)), whole);
    }

    #[test]
    fn a_decoder_keeps_no_more_than_its_limits(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let limits = FrameLimits { command_bytes: 10, header_line_bytes: 20, headers: 4, header_bytes: 50, body_bytes: 30 };
        let mut decoder = FrameDecoder::new(limits);
        let begin = b"SEND\na:1\n\n".iter().chain(&bytes).copied().collect::<Vec<u8>>();
        let mut input = &begin[..];
        while let Ok(Some(frame)) = decoder.decode(&mut input) {
            prop_assert!(frame.body.len() <= 30 && frame.headers.len() <= 4);
        }
    }

    #[test]
    fn the_tree_finds_exactly_those_whose_pattern_matches(
        changes in prop::collection::vec((any::<bool>(), pattern(), 0..4_u32), 0..40),
        topics in prop::collection::vec(topic(), 1..10),
    ) {
        let mut tree = TopicTree::default();
        let mut model: BTreeSet<(DestinationPattern, u32)> = BTreeSet::new();
        for (joins, pattern, subscriber) in changes {
            if joins {
                prop_assert_eq!(tree.subscribe(&pattern, subscriber), model.insert((pattern, subscriber)));
            } else {
                prop_assert_eq!(tree.unsubscribe(&pattern, subscriber), model.remove(&(pattern, subscriber)));
            }
            for topic in &topics {
                let mut found: Vec<u32> = tree.subscribers(topic).collect();
                found.sort_unstable();
                let matching = model.iter().filter(|(pattern, _)| pattern.matches(topic));
                let mut expected: Vec<u32> = matching.map(|(_, subscriber)| *subscriber).collect();
                expected.sort_unstable();
                prop_assert_eq!(found, expected);
            }
        }
    }
}

/// What happens to a backlog: a value of a topic, a write, or a topic that may pass or may not.
#[derive(Debug, Clone)]
enum Move {
    Offer(u32),
    Write(usize),
    Allow(u32, bool),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        5 => (0..4_u32).prop_map(Move::Offer),
        2 => (0..5_usize).prop_map(Move::Write),
        1 => (0..4_u32, any::<bool>()).prop_map(|(topic, allowed)| Move::Allow(topic, allowed)),
    ];
    prop::collection::vec(one, 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_backlog_keeps_order_counts_what_it_skips_and_ends_with_the_newest(moves in moves()) {
        let mut backlog = Backlog::new(50);
        let mut offered = [0_u64; 4];
        let mut stopped = BTreeSet::new();
        let mut sent: Vec<Released<u32, u64>> = Vec::new();
        for step in moves.into_iter().chain((0..4).map(|topic| Move::Allow(topic, true))).chain([Move::Write(9_999)]) {
            match step {
                Move::Offer(topic) => {
                    offered[topic as usize] += 1;
                    backlog.offer(topic, offered[topic as usize], 10, false);
                }
                Move::Write(count) => {
                    sent.extend((0..count).map_while(|_| backlog.next(|topic, _| !stopped.contains(&topic))));
                }
                Move::Allow(topic, true) => {
                    stopped.remove(&topic);
                    backlog.on_room();
                }
                Move::Allow(topic, false) => {
                    stopped.insert(topic);
                }
            }
            prop_assert!(backlog.len() <= 5 + 4);
        }
        for topic in 0..4_u32 {
            let sent: Vec<_> = sent.iter().filter(|released| released.key == topic).collect();
            let newest = offered[topic as usize];
            prop_assert!(sent.windows(2).all(|pair| pair[0].value < pair[1].value));
            prop_assert_eq!(sent.last().map_or(0, |last| last.value), newest);
            prop_assert_eq!(sent.iter().map(|released| 1 + released.conflated).sum::<u64>(), newest);
        }
        prop_assert!(backlog.is_empty());
    }
}

fn pattern() -> impl Strategy<Value = DestinationPattern> {
    let segment = prop::sample::select(vec!["a", "b", "*", ">"]);
    prop::collection::vec(segment, 1..4)
        .prop_map(|segments| DestinationPattern::parse(&format!("/topic/{}", segments.join("."))).expect("a pattern"))
}

fn topic() -> impl Strategy<Value = Destination> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..4)
        .prop_map(|segments| Destination::parse(&format!("/topic/{}", segments.join("."))).expect("a topic"))
}

#[test]
fn every_split_in_two_and_every_single_octet_gives_the_same_frames() {
    let stream = b"\nCONNECT\naccept-version:1.2\r\nhost:a:b\n\n\0\r\n\nSEND\r\ndestination:/queue/a\\c\ncontent-length:3\n\n\0\n\0\0\nACK\nid:1\n\nignored\0";
    let whole = decode(StompVersion::V12, [&stream[..]]);
    assert_eq!((whole.0.len(), &whole.1), (3, &None));
    for place in 0..=stream.len() {
        assert_eq!(decode(StompVersion::V12, [&stream[..place], &stream[place..]]), whole);
    }
    assert_eq!(decode(StompVersion::V12, stream.chunks(1)), whole);
}
