//! Outgoing numbers of a session, reserved in the journal of a cluster before they are used. The member that takes over begins behind
//! the reserved ones: the venue asks for those that it lacks, and they are filled as a gap. So a number costs nothing but the
//! one record for each block.

use adapters::AdapterRecords;
use bus::{InboxError, ReplyReceiver};
use fix::{SeqNum, StoreError};

use crate::sessions::session_numbers::SessionNumbers;

/// Numbers of one block; the next one is asked for when half of them are used.
pub(crate) const RESERVED_NUMBERS: SeqNum = 1_000;

pub(crate) struct NumberReservation {
    records: AdapterRecords,
    name: String,
    /// Numbers below it may be used: the journal has it.
    reserved: SeqNum,
    /// Perhaps not durable yet.
    asked: Option<PendingReservation>,
}

/// Numbers below it may be used when the reply has come.
pub(crate) struct PendingReservation {
    reserved: SeqNum,
    reply: ReplyReceiver,
}

impl PendingReservation {
    /// The first number that may not be used then.
    pub(crate) async fn recv(self) -> Result<SeqNum, StoreError> {
        let failed = |reason: String| StoreError(format!("the journal did not take the sequence numbers: {reason}"));
        let reply = self.reply.recv().await.map_err(|_| failed("it has ended".to_owned()))?;
        reply.outcome.map(|_| self.reserved).map_err(|refusal| failed(refusal.to_string()))
    }
}

impl NumberReservation {
    /// With what the journal has of the session.
    pub(crate) fn read(records: AdapterRecords, name: String) -> Result<(Self, Option<SessionNumbers>), String> {
        let unclear = |text: &str| format!("the record {name} in the journal is no sequence numbers: {text:?}");
        let known = records.read(&name);
        let known = known.map(|text| SessionNumbers::parse(&text).ok_or_else(|| unclear(&text))).transpose()?;
        Ok((Self { records, name, reserved: 0, asked: None }, known))
    }

    /// Into the journal, with a new block behind the outgoing number.
    pub(crate) fn record(&mut self, numbers: SessionNumbers) -> Result<(), InboxError> {
        let reserved = numbers.outgoing + RESERVED_NUMBERS;
        let line = SessionNumbers { outgoing: reserved, ..numbers }.to_string();
        self.asked = Some(PendingReservation { reserved, reply: self.records.write(&self.name, &line)? });
        Ok(())
    }

    /// Numbers have begun anew: nothing leaves before the journal has that.
    pub(crate) fn begin_anew(&mut self, numbers: SessionNumbers) -> Result<(), InboxError> {
        self.reserved = 0;
        self.record(numbers)
    }

    /// What must be waited for before the messages below the outgoing number leave.
    pub(crate) fn needed(&mut self, numbers: SessionNumbers) -> Result<Option<PendingReservation>, InboxError> {
        self.note_reply();
        let is_enough = numbers.outgoing <= self.reserved;
        let asked = self.asked.as_ref().map_or(self.reserved, |asked| asked.reserved);
        let wanted = if is_enough { numbers.outgoing + RESERVED_NUMBERS / 2 } else { numbers.outgoing };
        let extended = if asked < wanted { self.record(numbers) } else { Ok(()) };
        if is_enough {
            // What could not be asked for now is asked for with the next message.
            return Ok(None);
        }
        extended.map(|()| self.asked.take())
    }

    pub(crate) fn confirm(&mut self, reserved: SeqNum) {
        self.reserved = reserved;
    }

    fn note_reply(&mut self) {
        let Some(asked) = &mut self.asked else { return };
        if let Some(reply) = asked.reply.try_recv() {
            if reply.is_ok_and(|reply| reply.outcome.is_ok()) {
                self.reserved = asked.reserved;
            }
            self.asked = None;
        }
    }
}
