//! A connection that is lost while the strategy leaves.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use domain::command::CancelOrder;
use domain::{Command, StrategyId, Timestamp};
use runtime::strategies::protocol::StrategyRequest;
use stomp::{FrameDecoder, FrameLimits, StompCommand, StompFrame, StompVersion};

use super::*;
use crate::distributed::process::server_connection::ProcessTransport;

/// A broker with a server behind it, for one strategy.
struct TestBroker {
    stream: TcpStream,
    decoder: FrameDecoder,
    unread: Vec<u8>,
}

impl TestBroker {
    fn accept(listener: &TcpListener) -> Self {
        let (stream, _) = listener.accept().unwrap();
        let mut broker = Self { stream, decoder: FrameDecoder::new(FrameLimits::default()), unread: vec![] };
        assert_eq!(broker.next().map(|frame| frame.command), Some(StompCommand::Connect));
        broker.send(&StompFrame::new(StompCommand::Connected).with("version", "1.2"));
        broker.decoder.set_version(StompVersion::V12);
        broker
    }

    /// None where the process has ended.
    fn next(&mut self) -> Option<StompFrame> {
        loop {
            let mut rest = self.unread.as_slice();
            let frame = self.decoder.decode(&mut rest).unwrap();
            self.unread = rest.to_vec();
            if frame.is_some() {
                return frame;
            }
            let mut bytes = [0; 4_096];
            let length = self.stream.read(&mut bytes).unwrap();
            if length == 0 {
                return None;
            }
            self.unread.extend_from_slice(&bytes[..length]);
        }
    }

    fn send(&mut self, frame: &StompFrame) {
        self.stream.write_all(&frame.to_bytes(StompVersion::V12)).unwrap();
    }

    fn request(&mut self) -> Option<StrategyRequest> {
        loop {
            let frame = self.next()?;
            if frame.command == StompCommand::Send {
                return Some(minicbor::decode(&frame.body).unwrap());
            }
        }
    }

    fn welcome(&mut self, epoch: u64, run: u64) {
        let (id, reference, now) = (StrategyId(2), vec![], Timestamp(0));
        let is_resumed = run == 7;
        self.tell(epoch, ServerMessage::Welcome { id, run, is_resumed, reference, now, has_diary: false });
    }

    fn tell(&mut self, epoch: u64, message: ServerMessage) {
        let frame = StompFrame::new(StompCommand::Message).with("subscription", "own");
        self.send(&frame.with_body(message.into_bytes(epoch, 1)));
    }
}

/// A client whose strategy has left, and whose connection was lost while its last requests were on their way.
fn client_of_strategy_that_left(address: String) -> BusClient {
    let broker = Arc::new(move || Ok(address.clone()));
    let transport = ProcessTransport::Broker { broker, token: None };
    let process = ProcessIdentity { transport, strategy: "ONE".into(), address: "here".into() };
    let (runs, _) = crossbeam_channel::bounded(1);
    let (outgoing, queued) = mpsc::channel(8);
    let queues = ClientQueues { runs, outgoing: outgoing.downgrade(), queued };
    let mut client = BusClient::new(process, false, ServerTime::new(), queues);
    let identity = StrategyIdentity { id: StrategyId(2), name: "ONE".into(), run: 7 };
    let (run, _) = CurrentRun::begin(identity, Arc::default(), false, outgoing);
    (client.run, client.state, client.exit_requested) = (Some(run), LinkState::Resuming, true);
    client
}

fn process_of_strategy_that_left(listener: &TcpListener) -> JoinHandle<Result<(), LinkLost>> {
    let client = client_of_strategy_that_left(listener.local_addr().unwrap().to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || runtime.block_on(client.run()))
}

#[test]
fn the_last_requests_of_a_strategy_are_sent_again_where_the_connection_is_lost_while_it_leaves() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = client_of_strategy_that_left(listener.local_addr().unwrap().to_string());
    let cancel = Command::Cancel(CancelOrder::new("A-1".parse().unwrap()));
    let cancel = client.unanswered.command(ServerTime::new().now(), Box::new(cancel));
    let entered = StrategyRequestBody::Entered { phase: StrategyPhase::Exit, wishes: vec![] };
    client.run.as_mut().unwrap().phases.on_request(&entered);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let process = std::thread::spawn(move || runtime.block_on(client.run()));
    let mut broker = TestBroker::accept(&listener);
    let hello = broker.request().unwrap();
    assert!(matches!(hello.body, StrategyRequestBody::Hello { resume: Some(_), .. }));
    broker.welcome(hello.epoch, 7);
    let sent: Vec<_> = std::iter::from_fn(|| broker.request()).map(|request| request.body).collect();
    assert_eq!(sent, [cancel, StrategyRequestBody::Exit, entered]);
    assert_eq!(process.join().unwrap(), Ok(()));
}

/// As a new leader of a cluster, which knows nothing of the run.
#[test]
fn a_strategy_that_left_does_not_end_well_where_the_server_begins_a_new_run() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let process = process_of_strategy_that_left(&listener);
    let mut broker = TestBroker::accept(&listener);
    let hello = broker.request().unwrap();
    broker.welcome(hello.epoch, 8);
    assert_eq!(process.join().unwrap(), Err(LinkLost(DROPPED.to_owned())));
}

#[test]
fn a_strategy_that_left_does_not_end_well_where_the_server_has_ended_its_run() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let process = process_of_strategy_that_left(&listener);
    let mut broker = TestBroker::accept(&listener);
    let hello = broker.request().unwrap();
    broker.tell(hello.epoch, ServerMessage::Disconnected { reason: "it was silent".into(), may_return: true });
    let _again = TestBroker::accept(&listener);
    assert_eq!(process.join().unwrap(), Err(LinkLost(DROPPED.to_owned())));
}

/// As one that has just begun to serve, and has not heard the Hello of this connection yet.
#[test]
fn a_process_that_the_server_does_not_know_yet_says_hello_again_for_its_run() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let process = process_of_strategy_that_left(&listener);
    let mut broker = TestBroker::accept(&listener);
    let hello = broker.request().unwrap();
    broker.tell(hello.epoch, ServerMessage::HelloRejected { code: NOT_ATTACHED.into(), text: "who is that?".into() });
    let mut broker = TestBroker::accept(&listener);
    let again = broker.request().unwrap();
    assert!(matches!(again.body, StrategyRequestBody::Hello { resume: Some(Resume { run: 7, .. }), .. }));
    broker.welcome(again.epoch, 7);
    assert_eq!(broker.request().map(|request| request.body), Some(StrategyRequestBody::Exit));
    assert_eq!(process.join().unwrap(), Ok(()));
}
