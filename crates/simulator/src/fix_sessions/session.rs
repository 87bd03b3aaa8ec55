//! The session layer of a simulated FIX client: numbers, gaps, resends, heart-beats. It outlives connections and restarts of the
//! platform, and it keeps everything that it sent and received: the record against the platform.

use std::collections::{BTreeMap, BTreeSet};

use fix::{FixDecoder, FixMessage, Framer, tag};

use super::message::{ClientMessage, PlatformMessage, Sending, encode};
use crate::invariants::broken_invariant::{BrokenInvariant, broken};
use crate::schedule::SECOND;

pub(crate) const I7: &str = "FIX numbers are not gapless";
/// As the sessions of the port have it.
const HEARTBEAT: i64 = 5 * SECOND;
/// A silent platform is asked for a heart-beat after this, and given up after twice of it.
const SILENCE_MAX: i64 = 6 * SECOND;
const RETRY_AFTER: i64 = 2 * SECOND;

/// Now, as the steady clock and as the wall has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: i64,
    pub(crate) wall: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientPhase {
    Away,
    LogonSent,
    LoggedOn,
    LoggingOut,
}

pub(crate) struct ClientSession {
    pub(crate) comp_id: &'static str,
    pub(crate) phase: ClientPhase,
    /// The next connection is tried then.
    pub(crate) retry_at: i64,
    next_out: u64,
    next_in: u64,
    /// Everything for the application that was sent, and when first.
    pub(crate) sent: BTreeMap<u64, (ClientMessage, i64)>,
    /// Everything for the application that was received, once.
    pub(crate) received: BTreeMap<u64, PlatformMessage>,
    /// Numbers that were filled as nothing.
    filled: BTreeSet<u64>,
    /// Up to there the platform was asked to send again.
    awaited: Option<u64>,
    highest_seen: u64,
    framer: Framer,
    heard_at: i64,
    sent_at: i64,
    is_tested: bool,
    outgoing: Vec<Vec<u8>>,
    /// What happened, for the trace.
    pub(crate) lines: Vec<String>,
    pub(crate) counts: SessionCounts,
}

/// What the session has come to, for the coverage.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SessionCounts {
    pub(crate) logons: u64,
    /// Numbers were missing, and the platform was asked for them.
    pub(crate) gaps: u64,
    /// The platform asked for messages of the client again.
    pub(crate) resends: u64,
    /// Messages that came again under their numbers, and were the same.
    pub(crate) repeats: u64,
}

impl ClientSession {
    pub(crate) fn new(comp_id: &'static str) -> Self {
        Self {
            comp_id,
            phase: ClientPhase::Away,
            retry_at: 0,
            next_out: 1,
            next_in: 1,
            sent: BTreeMap::new(),
            received: BTreeMap::new(),
            filled: BTreeSet::new(),
            awaited: None,
            highest_seen: 0,
            framer: Framer::new(),
            heard_at: 0,
            sent_at: 0,
            is_tested: false,
            outgoing: vec![],
            lines: vec![],
            counts: SessionCounts::default(),
        }
    }

    pub(crate) fn is_logged_on(&self) -> bool {
        self.phase == ClientPhase::LoggedOn
    }

    pub(crate) fn take_outgoing(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.outgoing)
    }

    /// A connection is open: the Logon goes on where the numbers were.
    pub(crate) fn log_on(&mut self, at: Moment) {
        self.framer = Framer::new();
        (self.awaited, self.is_tested, self.heard_at) = (None, false, at.now);
        self.phase = ClientPhase::LogonSent;
        self.send(at, ClientMessage::new("A").with(98, 0).with(108, HEARTBEAT / SECOND));
    }

    pub(crate) fn log_out(&mut self, at: Moment) {
        self.phase = ClientPhase::LoggingOut;
        self.send(at, ClientMessage::new("5"));
    }

    /// The connection is gone.
    pub(crate) fn on_closed(&mut self, at: Moment) {
        if self.phase != ClientPhase::Away {
            self.lines.push(format!("{} is disconnected", self.comp_id));
        }
        self.phase = ClientPhase::Away;
        self.retry_at = at.now + RETRY_AFTER;
        self.outgoing.clear();
    }

    /// Its number.
    pub(crate) fn send(&mut self, at: Moment, message: ClientMessage) -> u64 {
        let number = self.next_out;
        self.next_out += 1;
        self.transmit(at, &message, number, None);
        if message.is_application() {
            self.sent.insert(number, (message, at.wall));
        }
        number
    }

    fn transmit(&mut self, at: Moment, message: &ClientMessage, number: u64, first_sent: Option<i64>) {
        let sending = Sending { comp_id: self.comp_id, number, wall: at.wall, first_sent };
        self.outgoing.push(encode(message, &sending));
        self.sent_at = at.now;
        if message.msg_type != "0" {
            let again = if first_sent.is_some() { " again" } else { "" };
            self.lines.push(format!("{} sends {number}{again}, {message}", self.comp_id));
        }
    }

    /// The newest message for the application once more, under its own number.
    pub(crate) fn send_last_again(&mut self, at: Moment) {
        if let Some((number, (message, first))) = self.sent.last_key_value().map(|(key, sent)| (*key, sent.clone())) {
            self.transmit(at, &message, number, Some(first));
        }
    }

    /// What came before is wanted again, though nothing is missing.
    pub(crate) fn request_again(&mut self, at: Moment, from: u64, to: u64) {
        let from = from % self.next_in.max(1) + 1;
        if from < self.next_in {
            let to = if to == 0 { 0 } else { (from + to).min(self.next_in - 1) };
            self.send(at, ClientMessage::new("2").with(7, from).with(16, to));
        }
    }

    /// Heart-beats; false where the connection is given up.
    pub(crate) fn tick(&mut self, at: Moment) -> bool {
        if self.phase == ClientPhase::Away {
            return true;
        }
        let silence = at.now - self.heard_at;
        if silence > 2 * SILENCE_MAX {
            return false;
        }
        if silence > SILENCE_MAX && !std::mem::replace(&mut self.is_tested, true) && self.is_logged_on() {
            self.send(at, ClientMessage::new("1").with(112, "ALIVE"));
        }
        if self.is_logged_on() && at.now - self.sent_at >= HEARTBEAT {
            self.send(at, ClientMessage::new("0"));
        }
        true
    }

    /// Bytes have come: messages for the application, in sequence and never twice.
    pub(crate) fn receive(&mut self, at: Moment, bytes: &[u8]) -> Result<Vec<PlatformMessage>, BrokenInvariant> {
        self.framer.buffer().extend_from_slice(bytes);
        (self.heard_at, self.is_tested) = (at.now, false);
        let (mut decoder, mut accepted) = (FixDecoder::new(), Vec::new());
        loop {
            let frame = match self.framer.next_frame() {
                Ok(Some(frame)) => frame.to_vec(),
                Ok(None) => return Ok(accepted),
                Err(error) => return Err(self.broken(format!("bytes that are no message: {error:?}"))),
            };
            let message = decoder.decode(&frame).map_err(|error| self.broken(format!("garbled: {error:?}")))?;
            accepted.extend(self.on_message(at, &message)?);
        }
    }

    fn broken(&self, detail: String) -> BrokenInvariant {
        broken(I7, format!("{}: {detail}", self.comp_id))
    }

    fn on_message(&mut self, at: Moment, message: &FixMessage<'_>) -> Result<Option<PlatformMessage>, BrokenInvariant> {
        let number = message.number(tag::MSG_SEQ_NUM).unwrap_or(0);
        let kept = PlatformMessage::of(message);
        if kept.msg_type == "5" && kept.get(58).is_some_and(|text| text.contains("MsgSeqNum too")) {
            return Err(self.broken(kept.tags()));
        }
        if kept.msg_type == "2" {
            self.resend(at, message);
            self.counts.resends += 1;
        }
        if number < self.next_in {
            self.counts.repeats += 1;
            return self.on_earlier(number, &kept, message.flag(tag::POSS_DUP_FLAG)).map(|()| None);
        }
        self.highest_seen = self.highest_seen.max(number);
        if kept.msg_type == "A" {
            self.phase = ClientPhase::LoggedOn;
            self.counts.logons += 1;
            self.lines.push(format!("{} is logged on", self.comp_id));
        }
        if number > self.next_in {
            self.request_gap(at);
            return Ok(None);
        }
        self.accept(at, number, kept)
    }

    /// The message with the next number.
    fn accept(
        &mut self,
        at: Moment,
        number: u64,
        message: PlatformMessage,
    ) -> Result<Option<PlatformMessage>, BrokenInvariant> {
        self.next_in = number + 1;
        match message.msg_type.as_str() {
            "4" => self.on_sequence_reset(number, &message)?,
            "1" => {
                let id = message.get(112).unwrap_or_default().to_owned();
                self.send(at, ClientMessage::new("0").with(112, id));
            }
            "5" if self.phase == ClientPhase::LoggingOut => {}
            "5" => self.log_out(at),
            _ => {}
        }
        self.end_gap(at);
        if !message.is_application() {
            return Ok((message.msg_type == "3").then_some(message));
        }
        if let Some(before) = self.received.insert(number, message.clone()) {
            return Err(self.broken(format!("number {number} was {} and is {}", before.tags(), message.tags())));
        }
        self.lines.push(format!("{} is told {number}: {message}", self.comp_id));
        Ok(Some(message))
    }

    /// A gap fill leaves out numbers under which nothing was sent to the application, ever.
    fn on_sequence_reset(&mut self, number: u64, message: &PlatformMessage) -> Result<(), BrokenInvariant> {
        let next = message.get(36).and_then(|next| next.parse().ok()).unwrap_or(0);
        if message.get(123) != Some("Y") || next <= number {
            return Err(self.broken(format!("the platform resets numbers: {}", message.tags())));
        }
        self.filled.extend(number..next);
        self.next_in = next;
        Ok(())
    }

    /// A number that was there before: the same message again, or a gap fill.
    fn on_earlier(&self, number: u64, message: &PlatformMessage, is_duplicate: bool) -> Result<(), BrokenInvariant> {
        if !is_duplicate {
            let expected = self.next_in;
            return Err(self.broken(format!("expected {expected} and received {number} again: {}", message.tags())));
        }
        if message.msg_type == "4" {
            let next: u64 = message.get(36).and_then(|next| next.parse().ok()).unwrap_or(0);
            let lost = self.received.range(number..next.max(number)).next();
            return lost.map_or(Ok(()), |(number, lost)| {
                Err(self.broken(format!("number {number} was {} and is nothing", lost.tags())))
            });
        }
        match self.received.get(&number) {
            Some(before) if before == message => Ok(()),
            Some(before) => {
                Err(self.broken(format!("number {number} was {} and is {}", before.tags(), message.tags())))
            }
            None if message.is_application() => {
                Err(self.broken(format!("number {number} was nothing and is {}", message.tags())))
            }
            None => Ok(()),
        }
    }

    /// All that is missing, once; what comes meanwhile is left to the next request.
    fn request_gap(&mut self, at: Moment) {
        if self.awaited.is_none() {
            self.awaited = Some(self.highest_seen);
            self.counts.gaps += 1;
            let from = self.next_in;
            self.send(at, ClientMessage::new("2").with(7, from).with(16, 0));
        }
    }

    fn end_gap(&mut self, at: Moment) {
        if self.awaited.is_some_and(|awaited| self.next_in > awaited) {
            self.awaited = None;
            if self.next_in <= self.highest_seen {
                self.request_gap(at);
            }
        }
    }

    /// The platform wants to have messages again.
    fn resend(&mut self, at: Moment, request: &FixMessage<'_>) {
        let last = self.next_out - 1;
        let from = request.number(tag::BEGIN_SEQ_NO).unwrap_or(1);
        let to = request.number(tag::END_SEQ_NO).filter(|to| *to != 0).unwrap_or(last).min(last);
        let mut gap = None;
        for number in from..=to {
            match self.sent.get(&number).cloned() {
                None => drop(gap.get_or_insert(number)),
                Some((message, first)) => {
                    self.fill_gap(at, gap.take(), number);
                    self.transmit(at, &message, number, Some(first));
                }
            }
        }
        self.fill_gap(at, gap, to + 1);
    }

    fn fill_gap(&mut self, at: Moment, from: Option<u64>, next: u64) {
        if let Some(from) = from {
            let fill = ClientMessage::new("4").with(123, "Y").with(36, next);
            self.transmit(at, &fill, from, Some(at.wall));
        }
    }
}
