//! What only a network needs: both ends of one build, a command that is sent twice, a command that comes too late.

use std::io::{Read, Write};
use std::net::TcpStream;

use domain::command::GenericEvent;
use domain::{Command, EventClass, Text, Timestamp};
use runtime::strategies::protocol::{Letter, Message, Parcel, Request, encoded};
use scenarios::patience::PATIENCE;
use stomp::{Command as Verb, Decoder, Frame, Limits, Version};

use crate::desk::{Desk, NAME, STRATEGY};
use crate::roads::OpenBroker;

const EPOCH: u64 = 1;

/// A strategy that writes its letters by hand.
struct Writer {
    stream: TcpStream,
    decoder: Decoder,
    unread: Vec<u8>,
}

impl Writer {
    fn at(broker: &OpenBroker) -> Self {
        let stream = TcpStream::connect(broker.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut writer = Self { stream, decoder: Decoder::new(Limits::default()), unread: vec![] };
        writer.frame(&Frame::new(Verb::Connect).with("accept-version", "1.2").with("host", "rialto"));
        assert_eq!(writer.next().command, Verb::Connected);
        writer.decoder.agree_on(Version::V12);
        let queue = format!("/queue/strategy-bus.{NAME}.delivery");
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
        let letter = Letter { strategy: NAME.into(), epoch: EPOCH, request };
        let send = Frame::new(Verb::Send).with("destination", "/queue/strategy-bus.request");
        self.frame(&send.with_body(encoded(letter)));
    }

    /// The next message that is an answer or a word about the connection itself.
    fn answer(&mut self) -> Message {
        loop {
            let parcel: Parcel = minicbor::decode(&self.next().body).unwrap();
            match parcel.message {
                Message::Event { .. } | Message::Enter { .. } => {}
                message => return message,
            }
        }
    }

    fn hello(&mut self) {
        let build = format!("{}/{}", env!("CARGO_PKG_VERSION"), runtime::strategies::protocol::PROTOCOL);
        self.write(Request::Hello { build: build.into(), resume: None });
        assert!(matches!(self.answer(), Message::Welcome { is_resumed: false, .. }));
    }
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
    writer.write(Request::Hello { build: "0.0.1/1".into(), resume: None });
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
