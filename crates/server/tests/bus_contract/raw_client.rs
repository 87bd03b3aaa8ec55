//! A strategy that writes its letters by hand, so that a story can have it do what no strategy of ours does.

use std::io::{Read, Write};
use std::net::TcpStream;

use domain::command::GenericEvent;
use domain::{Command, StrategyId, Text, Timestamp};
use runtime::strategies::protocol::{ServerEnvelope, ServerMessage, StrategyRequest, StrategyRequestBody, encode};
use scenarios::wait::DEADLINE;
use stomp::{FrameDecoder, FrameLimits, StompCommand as Verb, StompFrame, StompVersion};

use crate::harness::{NAME, STRATEGY};
use crate::transports::OpenBroker;

pub(crate) struct RawStrategyClient {
    name: &'static str,
    stream: TcpStream,
    decoder: FrameDecoder,
    unread: Vec<u8>,
    address: &'static str,
    pub(crate) epoch: u64,
}

impl RawStrategyClient {
    pub(crate) fn at(broker: &OpenBroker) -> Self {
        Self::living_at(broker, "here")
    }

    pub(crate) fn living_at(broker: &OpenBroker, address: &'static str) -> Self {
        let mut writer = Self::taking_nothing(broker, NAME, address);
        writer.listen();
        writer
    }

    pub(crate) fn of(broker: &OpenBroker, name: &'static str) -> Self {
        let mut writer = Self::taking_nothing(broker, name, "there");
        writer.listen();
        writer
    }

    /// It speaks and does not listen.
    pub(crate) fn taking_nothing(broker: &OpenBroker, name: &'static str, address: &'static str) -> Self {
        let stream = TcpStream::connect(broker.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let decoder = FrameDecoder::new(FrameLimits::default());
        let mut writer = Self { name, stream, decoder, unread: vec![], address, epoch: 1 };
        writer.frame(&StompFrame::new(Verb::Connect).with("accept-version", "1.2").with("host", "rialto"));
        assert_eq!(writer.next().command, Verb::Connected);
        writer.decoder.set_version(StompVersion::V12);
        writer
    }

    pub(crate) fn listen(&mut self) {
        let queue = format!("/queue/strategy-bus.{}.{}.delivery", self.name, self.address);
        self.frame(&StompFrame::new(Verb::Subscribe).with("id", "own").with("destination", &queue));
    }

    fn frame(&mut self, frame: &StompFrame) {
        self.stream.write_all(&frame.to_bytes(StompVersion::V12)).unwrap();
    }

    fn next(&mut self) -> StompFrame {
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

    pub(crate) fn write(&mut self, request: StrategyRequestBody) {
        let letter = StrategyRequest {
            strategy: self.name.into(),
            epoch: self.epoch,
            body: request,
            address: self.address.into(),
        };
        let send = StompFrame::new(Verb::Send).with("destination", "/queue/strategy-bus.request");
        self.frame(&send.with_body(encode(letter)));
    }

    /// The next message that is an answer or a word about the connection itself.
    pub(crate) fn answer(&mut self) -> ServerMessage {
        self.until(|message| !matches!(message, ServerMessage::Event { .. } | ServerMessage::Enter { .. }))
    }

    pub(crate) fn until(&mut self, is_it: impl Fn(&ServerMessage) -> bool) -> ServerMessage {
        loop {
            let parcel: ServerEnvelope = minicbor::decode(&self.next().body).unwrap();
            if parcel.epoch == self.epoch && is_it(&parcel.message) {
                return parcel.message;
            }
        }
    }

    pub(crate) fn hello(&mut self) {
        self.write(hello(false));
        assert!(matches!(self.answer(), ServerMessage::Welcome { is_resumed: false, .. }));
    }
}

pub(crate) fn hello(takes_over: bool) -> StrategyRequestBody {
    let (version, source) = (env!("CARGO_PKG_VERSION"), env!("RIALTO_SOURCE"));
    let build = format!("{version}/{}/{source}", runtime::strategies::protocol::PROTOCOL);
    StrategyRequestBody::Hello { build: build.into(), resume: None, takes_over }
}

pub(crate) fn request_command(key: u64, expires: Timestamp) -> StrategyRequestBody {
    request_command_as(STRATEGY, key, expires)
}

pub(crate) fn request_command_as(strategy: StrategyId, key: u64, expires: Timestamp) -> StrategyRequestBody {
    let event = GenericEvent { strategy, name: "once".into(), body: "{}".into() };
    StrategyRequestBody::Command { key, expires, command: Box::new(Command::Publish(event)) }
}

pub(crate) fn refused(message: &ServerMessage) -> Option<Text> {
    match message {
        ServerMessage::Answer { refusal, .. } => refusal.as_ref().map(|refusal| refusal.code.clone()),
        ServerMessage::HelloRejected { code, .. } => Some(code.clone()),
        other => panic!("not an answer: {other:?}"),
    }
}
