//! Resend Request: application messages are sent again with PossDup, each run of others becomes one gap fill. Only a
//! chunk is read at a time, so that a request for a million messages blocks no other session.

use super::connection_state::Resend;
use super::{Actions, FixSession};
use crate::codec::{FixMessage, OutgoingMessage, UtcTimestamp};
use crate::message_store::{MessageStore, SeqNum, StoreError, Traffic};
use crate::reject::{MessageFault, SessionRejectReason};
use crate::tag;

/// Sequence numbers per chunk, after which the driver may write and read again.
pub const RESEND_CHUNK: SeqNum = 256;

impl<S: MessageStore> FixSession<S> {
    /// Answered whatever its own number is: a peer with wrong sequence numbers must be able to request a resend.
    pub(super) fn on_resend_request(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if !self.check_trust(now, message, actions)? {
            return Ok(());
        }
        match self.requested_range(message) {
            Ok((from, to)) => {
                self.advance_incoming(number, Traffic::Session)?;
                self.resend(now, from, to, actions)
            }
            Err(fault) => self.reject(now, fault, message, actions),
        }
    }

    fn requested_range(&self, message: &FixMessage<'_>) -> Result<(SeqNum, SeqNum), MessageFault> {
        let wrong = |tag| MessageFault::at(SessionRejectReason::ValueIncorrect, tag);
        let last = self.store.next_outgoing() - 1;
        let from = message.number(tag::BEGIN_SEQ_NO).ok_or(wrong(tag::BEGIN_SEQ_NO))?.max(1);
        let to = match message.number(tag::END_SEQ_NO).ok_or(wrong(tag::END_SEQ_NO))? {
            0 => last,
            to => to.min(last),
        };
        if from > last {
            return Err(wrong(tag::BEGIN_SEQ_NO));
        }
        if to < from {
            return Err(wrong(tag::END_SEQ_NO));
        }
        Ok((from, to))
    }

    /// Resends what the peer has requested, by a Resend Request or by its Logon (789).
    pub(super) fn resend(
        &mut self,
        now: UtcTimestamp,
        from: SeqNum,
        to: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        self.start_resend(from, to);
        self.continue_resend(now, actions).map(drop)
    }

    /// A second request while the first is being answered widens it.
    fn start_resend(&mut self, from: SeqNum, to: SeqNum) {
        let resend = match self.connection.resend {
            Some(open) => {
                Resend { next: from.min(open.gap_from.unwrap_or(open.next)), end: to.max(open.end), gap_from: None }
            }
            None => Resend { next: from, end: to, gap_from: None },
        };
        self.connection.resend = Some(resend);
    }

    /// The next chunk; returns whether there is more. Messages that are sent in between have their own numbers and do
    /// not interfere.
    pub fn continue_resend(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<bool, StoreError> {
        let Some(mut resend) = self.connection.resend.take() else { return Ok(false) };
        let piece_end = resend.end.min(resend.next.saturating_add(RESEND_CHUNK - 1));
        if self.settings.persist_messages {
            self.resend_chunk(now, &mut resend, piece_end, actions)?;
        }
        if resend.next <= piece_end {
            resend.gap_from.get_or_insert(resend.next);
            resend.next = piece_end + 1;
        }
        if resend.next <= resend.end {
            self.connection.resend = Some(resend);
            return Ok(true);
        }
        if let Some(from) = resend.gap_from {
            self.fill_gap(now, from, resend.end + 1, actions);
        }
        Ok(false)
    }

    pub fn is_resending(&self) -> bool {
        self.connection.resend.is_some()
    }

    fn resend_chunk(
        &mut self,
        now: UtcTimestamp,
        resend: &mut Resend,
        piece_end: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let mut piece = Vec::new();
        self.store.read(resend.next, piece_end, &mut |number, bytes| {
            piece.push((number, bytes.to_vec()));
        })?;
        for (number, bytes) in piece {
            if number > resend.next {
                resend.gap_from.get_or_insert(resend.next);
            }
            if let Some(from) = resend.gap_from.take() {
                self.fill_gap(now, from, number, actions);
            }
            self.resend_message(now, number, &bytes, actions)?;
            resend.next = number + 1;
        }
        Ok(())
    }

    fn resend_message(
        &mut self,
        now: UtcTimestamp,
        number: SeqNum,
        bytes: &[u8],
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let broken = |why: &dyn std::fmt::Display| StoreError(format!("message {number} can't be sent again: {why}"));
        let mut replay = std::mem::take(&mut self.replay);
        let message = replay.decode(bytes).map_err(|garbled| broken(&garbled))?;
        let mut original_time =
            message.get(tag::SENDING_TIME).ok_or_else(|| broken(&"it has no SendingTime"))?.to_vec();
        // A wall that was ahead then: no peer takes what was first sent after it is sent again.
        if message.time(tag::SENDING_TIME).is_some_and(|original| original > self.wall(now)) {
            original_time.clear();
            self.wall(now).write(self.settings.fraction_digits, &mut original_time);
        }
        draft_resend(&message, self.settings.send_last_processed, &mut self.draft);
        self.retransmit(now, number, &original_time, actions);
        self.replay = replay;
        Ok(())
    }

    fn fill_gap(&mut self, now: UtcTimestamp, from: SeqNum, next: SeqNum, actions: &mut Actions) {
        self.draft.begin("4").number(tag::NEW_SEQ_NO, next).field(tag::GAP_FILL_FLAG, b"Y");
        let mut original_time = Vec::new();
        self.wall(now).write(self.settings.fraction_digits, &mut original_time);
        self.retransmit(now, from, &original_time, actions);
    }
}

/// The same message for another sending: the body is in order already. LastMsgSeqNumProcessed (369) is updated where we
/// send it.
fn draft_resend(message: &FixMessage<'_>, is_processed_told: bool, draft: &mut OutgoingMessage) {
    draft.begin(message.msg_type());
    let body = message.fields().position(|field| !tag::is_header(field.tag)).unwrap_or(message.field_count());
    let is_told_anew =
        |tag| tag::is_per_transmission(tag) || (is_processed_told && tag == tag::LAST_MSG_SEQ_NUM_PROCESSED);
    for field in message.fields().take(body).filter(|field| !is_told_anew(field.tag)) {
        draft.field(field.tag, field.value);
    }
    message.copy_body_verbatim(draft);
}
