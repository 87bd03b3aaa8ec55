//! Resets of the sequence numbers that the store does not take at once: they are done later, and no peer is let in before.

#![allow(clippy::unwrap_used, reason = "a test that can't go on may say so")]

use fix::{
    Actions, EchoApplication, FixSession, FixSettings, MemoryStore, MessageStore, MessageVisitor, SeqNum,
    SessionEngine, StoreError, Traffic, UtcTimestamp,
};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

const SETTINGS: &str = "
    [SESSION]
    ConnectionType=acceptor
    SocketAcceptPort=0
    BeginString=FIX.4.4
    SenderCompID=RIALTO
    TargetCompID=DESK
    StartTime=00:00:00
    EndTime=00:00:00
    UseDataDictionary=N
";

/// Takes no reset while it is full.
struct FullStore {
    store: MemoryStore,
    is_full: Rc<Cell<bool>>,
}

impl MessageStore for FullStore {
    fn created(&self) -> UtcTimestamp {
        self.store.created()
    }

    fn next_outgoing(&self) -> SeqNum {
        self.store.next_outgoing()
    }

    fn next_incoming(&self) -> SeqNum {
        self.store.next_incoming()
    }

    fn append(&mut self, number: SeqNum, traffic: Traffic, message: &[u8]) -> Result<(), StoreError> {
        self.store.append(number, traffic, message)
    }

    fn set_next_incoming(&mut self, next: SeqNum, traffic: Traffic) -> Result<(), StoreError> {
        self.store.set_next_incoming(next, traffic)
    }

    fn set_next_outgoing(&mut self, next: SeqNum) -> Result<(), StoreError> {
        self.store.set_next_outgoing(next)
    }

    fn read(&mut self, from: SeqNum, to: SeqNum, visit: &mut MessageVisitor<'_>) -> Result<(), StoreError> {
        self.store.read(from, to, visit)
    }

    fn reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        match self.is_full.get() {
            true => Err(StoreError("the lane is full".to_owned())),
            false => self.store.reset(now),
        }
    }

    fn refresh(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

struct SessionStory {
    engine: SessionEngine<FullStore, EchoApplication>,
    is_full: Rc<Cell<bool>>,
    now: UtcTimestamp,
}

impl SessionStory {
    /// Logged on, after a message from each side.
    fn logged_on(further: &str) -> Self {
        let settings = FixSettings::parse(&format!("{SETTINGS}{further}\n")).unwrap().sessions.remove(0);
        let (is_full, now) = (Rc::new(Cell::new(false)), UtcTimestamp::parse(b"20260105-23:59:00").unwrap());
        let store = FullStore { store: MemoryStore::new(now), is_full: is_full.clone() };
        let echo = EchoApplication::for_settings(&settings);
        let engine = SessionEngine::new(FixSession::new(Arc::new(settings), None, store), echo);
        let mut story = Self { engine, is_full, now };
        story.engine.connect(now);
        story.say("35=A|34=1|98=0|108=30");
        story.say("35=1|34=2|112=one");
        assert_eq!(story.numbers(), (3, 3));
        story
    }

    fn say(&mut self, body: &str) -> String {
        let mut time = Vec::new();
        self.now.write(0, &mut time);
        let time = String::from_utf8(time).unwrap();
        let body = format!("{body}|49=DESK|52={time}|56=RIALTO|").replace('|', "\x01");
        let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
        let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
        frame.extend(format!("10={sum:03}\x01").bytes());
        self.engine.buffer().extend(frame);
        self.engine.process_input(self.now);
        String::from_utf8_lossy(&std::mem::take(self.engine.output())).replace('\x01', "|")
    }

    fn numbers(&self) -> (SeqNum, SeqNum) {
        let store = self.engine.session().store();
        (store.next_incoming(), store.next_outgoing())
    }

    /// Time passes up to the session's next deadline.
    fn wait(&mut self) {
        self.now = self.engine.session().deadline().max(self.now);
        self.engine.tick(self.now);
    }

    /// A Logon with number 1 on a new connection; whether it is taken.
    fn logs_on_again(&mut self) -> bool {
        self.engine.connect(self.now);
        self.say("35=A|34=1|98=0|108=30").contains("|35=A|34=1|")
    }

    /// The store had no room when the numbers were to be reset; none of that is forgotten.
    fn resets_as_soon_as_there_is_room(mut self) {
        assert_ne!(self.numbers(), (1, 1));
        assert!(!self.logs_on_again(), "the numbers are of before the reset");
        self.is_full.set(false);
        self.wait();
        assert_eq!(self.numbers(), (1, 1));
        assert!(self.logs_on_again());
    }
}

#[test]
fn the_daily_reset_is_tried_until_the_store_takes_it() {
    let mut story = SessionStory::logged_on("");
    story.is_full.set(true);
    story.now = UtcTimestamp::parse(b"20260106-00:00:00").unwrap();
    story.engine.tick(story.now);
    let before = story.now;
    story.wait();
    assert!(story.now > before, "it is not tried without end in one moment");
    story.resets_as_soon_as_there_is_room();
}

#[test]
fn a_reset_after_a_logout_or_a_disconnect_is_tried_until_the_store_takes_it() {
    let mut story = SessionStory::logged_on("ResetOnLogout=Y");
    story.is_full.set(true);
    assert!(story.say("35=5|34=3").contains("|35=5|"), "the Logout is answered");
    story.resets_as_soon_as_there_is_room();

    let mut story = SessionStory::logged_on("ResetOnDisconnect=Y");
    story.is_full.set(true);
    story.engine.on_closed(story.now);
    story.resets_as_soon_as_there_is_room();
}

#[test]
fn an_operator_learns_that_the_store_did_not_take_a_reset_and_the_numbers_are_those_of_before() {
    let mut story = SessionStory::logged_on("");
    story.is_full.set(true);
    assert_eq!(story.engine.reset(story.now), Err(StoreError("the lane is full".to_owned())));
    let before = story.numbers();
    assert_ne!(before, (1, 1));
    story.is_full.set(false);
    story.now = story.now.plus_seconds(5);
    story.engine.tick(story.now);
    assert_eq!(story.numbers(), before, "what was reported as failed is not done later");
    assert_eq!(story.engine.reset(story.now), Ok(()));
    assert_eq!(story.numbers(), (1, 1));
}

/// A member of a cluster whose clock ran a day ahead began the session anew.
#[test]
fn numbers_that_began_in_the_future_are_kept_until_the_period_ends() {
    let at = |time: &str| UtcTimestamp::parse(time.as_bytes()).unwrap();
    let settings = FixSettings::parse(SETTINGS).unwrap().sessions.remove(0);
    let mut store = MemoryStore::new(at("20260107-12:00:00"));
    store.set_next_incoming(40, Traffic::Session).unwrap();
    store.set_next_outgoing(50).unwrap();
    let mut session = FixSession::new(Arc::new(settings), None, store);
    let mut numbers = |time: &str| {
        session.tick(at(time), &mut Actions::default()).unwrap();
        (session.store().next_incoming(), session.store().next_outgoing())
    };
    assert_eq!(numbers("20260106-12:00:00"), (40, 50));
    assert_eq!(numbers("20260106-23:59:59"), (40, 50));
    assert_eq!(numbers("20260107-00:00:00"), (1, 1));
}
