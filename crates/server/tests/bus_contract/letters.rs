//! What only a network needs: both ends of one build, a command that is sent twice, a command that comes too late.

use std::io::{Read, Write};
use std::net::TcpStream;

use domain::command::{GenericEvent, Phase};
use domain::{Command, EventClass, Text, Timestamp};
use runtime::strategies::protocol::{Letter, Message, Parcel, Request, Resume, encoded};
use scenarios::patience::PATIENCE;
use stomp::{Command as Verb, Decoder, Frame, Limits, Version};

use crate::desk::{Desk, NAME, STRATEGY};
use crate::roads::OpenBroker;

/// A strategy that writes its letters by hand.
struct Writer {
    stream: TcpStream,
    decoder: Decoder,
    unread: Vec<u8>,
    address: &'static str,
    epoch: u64,
}

impl Writer {
    fn at(broker: &OpenBroker) -> Self {
        Self::living_at(broker, "here")
    }

    fn living_at(broker: &OpenBroker, address: &'static str) -> Self {
        let stream = TcpStream::connect(broker.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut writer = Self { stream, decoder: Decoder::new(Limits::default()), unread: vec![], address, epoch: 1 };
        writer.frame(&Frame::new(Verb::Connect).with("accept-version", "1.2").with("host", "rialto"));
        assert_eq!(writer.next().command, Verb::Connected);
        writer.decoder.agree_on(Version::V12);
        let queue = format!("/queue/strategy-bus.{NAME}.{address}.delivery");
        writer.frame(&Frame::new(Verb::Subscribe).with("id", "own").with("destination", &queue));
        writer
    }

    fn frame(&mut self, frame: &Frame) {
        self.stream.write_all(&frame.to_bytes(Version::V12)).unwrap();
    }

    fn next(&mut self) -> Frame {
        loop {
            let mut rest = self.unread.as_slice();
            let found = self.decoder.decode(&mut rest).unwrap();
            self.unread = rest.to_vec();
            if let Some(frame) = found {
                return frame;
            }
            let mut bytes = [0; 65_536];
            let length = self.stream.read(&mut bytes).unwrap();
            assert!(length > 0, "the broker has closed");
            self.unread.extend_from_slice(&bytes[..length]);
        }
    }

    fn write(&mut self, request: Request) {
        let letter = Letter { strategy: NAME.into(), epoch: self.epoch, request, address: self.address.into() };
        let send = Frame::new(Verb::Send).with("destination", "/queue/strategy-bus.request");
        self.frame(&send.with_body(encoded(letter)));
    }

    /// The next message that is an answer or a word about the connection itself.
    fn answer(&mut self) -> Message {
        self.until(|message| !matches!(message, Message::Event { .. } | Message::Enter { .. }))
    }

    fn until(&mut self, is_it: impl Fn(&Message) -> bool) -> Message {
        loop {
            let parcel: Parcel = minicbor::decode(&self.next().body).unwrap();
            if parcel.epoch == self.epoch && is_it(&parcel.message) {
                return parcel.message;
            }
        }
    }

    fn hello(&mut self) {
        self.write(hello(false));
        assert!(matches!(self.answer(), Message::Welcome { is_resumed: false, .. }));
    }
}

fn hello(takes_over: bool) -> Request {
    let build = format!("{}/{}", env!("CARGO_PKG_VERSION"), runtime::strategies::protocol::PROTOCOL);
    Request::Hello { build: build.into(), resume: None, takes_over }
}

fn say(key: u64, expires: Timestamp) -> Request {
    let event = GenericEvent { strategy: STRATEGY, name: "once".into(), body: "{}".into() };
    Request::Command { key, expires, command: Box::new(Command::Publish(event)) }
}

fn refused(message: &Message) -> Option<Text> {
    match message {
        Message::Answer { refusal, .. } => refusal.as_ref().map(|refusal| refusal.code.clone()),
        Message::Unwelcome { code, .. } => Some(code.clone()),
        other => panic!("not an answer: {other:?}"),
    }
}

#[test]
fn a_strategy_of_another_build_is_refused() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.write(Request::Hello { build: "0.0.1/1".into(), resume: None, takes_over: false });
    let Message::Unwelcome { code, text } = writer.answer() else { panic!("it was let in") };
    assert_eq!(&*code, "build-mismatch");
    assert!(text.contains("the strategy is build 0.0.1/1: build both alike"), "{text}");
}

#[test]
fn who_did_not_say_hello_is_refused() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.write(Request::Alive { heard: 0 });
    assert_eq!(refused(&writer.answer()), Some("not-attached".into()));
}

#[test]
fn a_command_that_is_sent_twice_takes_effect_once_and_is_answered_twice() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.hello();
    let mut said = desk.bus.feed.listen(&[EventClass::Generic], 8);
    let later = (desk.clock)().plus_seconds(60);
    for _ in 0..2 {
        writer.write(say(1, later));
        assert_eq!(refused(&writer.answer()), None);
    }
    writer.write(say(2, later));
    assert_eq!(refused(&writer.answer()), None);
    assert_eq!(std::iter::from_fn(|| said.poll()).count(), 2);
}

#[test]
fn a_command_after_its_deadline_has_no_effect() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.hello();
    let mut said = desk.bus.feed.listen(&[EventClass::Generic], 8);
    writer.write(say(1, Timestamp(1)));
    assert_eq!(refused(&writer.answer()), Some("deadline-passed".into()));
    assert!(said.poll().is_none());
}

#[test]
fn a_strategy_cannot_speak_for_another() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.hello();
    let event = GenericEvent { strategy: crate::desk::OTHER, name: "forged".into(), body: "{}".into() };
    let later = (desk.clock)().plus_seconds(60);
    writer.write(Request::Command { key: 1, expires: later, command: Box::new(Command::Publish(event)) });
    assert_eq!(refused(&writer.answer()), Some("foreign-strategy".into()));
}

#[test]
fn a_command_that_never_came_or_came_too_late_is_told_of_in_the_diary() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.hello();
    let later = (desk.clock)().plus_seconds(60);
    // The second comes too late; the third and the fourth were given up on the way.
    for (key, expires) in [(1, later), (2, Timestamp(1)), (5, later)] {
        writer.write(say(key, expires));
        writer.answer();
    }
    assert_eq!(desk.leaves.load(std::sync::atomic::Ordering::SeqCst), 3);
}

#[test]
fn nobody_writes_in_the_diary_of_another() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut writer = Writer::at(&broker);
    writer.hello();
    writer.write(Request::Diary { key: 1, leaf: b"not mine".to_vec() });
    assert_eq!(refused(&writer.answer()), Some("foreign-strategy".into()));
    assert_eq!(desk.leaves.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[test]
fn a_second_process_is_refused_while_the_first_is_well_and_hears_nothing_of_what_is_for_it() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut first = Writer::at(&broker);
    first.hello();
    let mut second = Writer::living_at(&broker, "elsewhere");
    second.write(hello(false));
    assert_eq!(refused(&second.answer()), Some("strategy-lives".into()));
    first.write(say(1, (desk.clock)().plus_seconds(60)));
    assert_eq!(refused(&first.answer()), None);
    second.write(hello(true));
    assert!(matches!(second.answer(), Message::Welcome { is_resumed: false, .. }));
}

#[test]
fn one_that_is_cut_off_in_a_phase_comes_back_and_is_told_of_the_phase_again() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut before = Writer::at(&broker);
    before.write(hello(false));
    let Message::Welcome { run, .. } = before.answer() else { panic!("it was not let in") };
    let init =
        |writer: &mut Writer| writer.until(|message| matches!(message, Message::Enter { phase: Phase::Init, .. }));
    init(&mut before);
    drop(before);
    let mut after = Writer { epoch: 2, ..Writer::at(&broker) };
    let Request::Hello { build, takes_over, .. } = hello(false) else { panic!("a hello") };
    after.write(Request::Hello { build, resume: Some(Resume { run, heard: 0 }), takes_over });
    assert!(matches!(after.answer(), Message::Welcome { is_resumed: true, .. }));
    init(&mut after);
}
