//! Sequence numbers. Each message counts once and in order: one that is too high is queued while the gap is requested,
//! a duplicate with PossDupFlag is ignored, and a number that is too low without it ends the connection.

use super::connection_state::{Gap, OutOfOrderMessage};
use super::{Actions, DisconnectReason, FixSession, LogonPhase};
use crate::codec::{FixMessage, UtcTimestamp};
use crate::message_store::{MessageStore, SEQ_NUM_MAX, SeqNum, StoreError, Traffic};
use crate::reject::{MessageFault, SessionRejectReason};
use crate::tag;
use std::cmp::Ordering;

impl<S: MessageStore> FixSession<S> {
    /// Whether this message is in sequence; if not, the consequences are handled.
    pub(super) fn check_sequence(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<bool, StoreError> {
        if !self.check_trust(now, message, actions)? {
            return Ok(false);
        }
        match number.cmp(&self.store.next_incoming()) {
            Ordering::Equal => {
                self.keep_promise(now);
                return Ok(true);
            }
            Ordering::Greater => {
                self.connection.out_of_order.enqueue(number, OutOfOrderMessage::Message(message.bytes().to_vec()));
                self.request_gap(now, number, actions)?;
            }
            Ordering::Less if message.flag(tag::POSS_DUP_FLAG) => self.on_duplicate(now, message, actions)?,
            Ordering::Less => self.on_seq_num_too_low(now, number, actions)?,
        }
        Ok(false)
    }

    /// The message with the next number is handled; any other does not change the count.
    pub(super) fn advance_incoming(&mut self, number: SeqNum, traffic: Traffic) -> Result<(), StoreError> {
        if number != self.store.next_incoming() {
            return Ok(());
        }
        self.store.set_next_incoming(number + 1, traffic)
    }

    /// The next queued message that is in sequence now; the driver passes it like one that arrives now.
    pub fn next_out_of_order(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let mut next = self.store.next_incoming();
        while let Some((number, out_of_order)) = self.connection.out_of_order.pop_up_to(next) {
            match out_of_order {
                OutOfOrderMessage::Message(bytes) if number == next => return Ok(Some(bytes)),
                OutOfOrderMessage::Handled if number == next => {
                    self.store.set_next_incoming(next + 1, Traffic::Session)?;
                }
                // A reset or a gap fill went past it.
                OutOfOrderMessage::Message(_) | OutOfOrderMessage::Handled => {}
            }
            next = self.store.next_incoming();
        }
        Ok(None)
    }

    /// Requests all that is missing before this number, but not twice.
    pub(super) fn request_gap(
        &mut self,
        now: UtcTimestamp,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let next = self.store.next_incoming();
        if self.connection.gap.is_some_and(|gap| next <= gap.end) {
            return Ok(());
        }
        self.request_resend(now, number - 1, actions)
    }

    /// The peer knows by 789 what is missing up to this number, and sends it without a request.
    pub(super) fn await_resend(&mut self, now: UtcTimestamp, end: SeqNum) {
        self.connection.gap = Some(Gap { end, requested_to: end, promised: Some(now) });
    }

    /// When a peer that was told by 789 what is missing, and has sent nothing of it since, is asked after all.
    pub(super) fn promise_ends(&self) -> UtcTimestamp {
        let patience = match self.connection.heartbeat_seconds {
            0 => self.settings.logon_timeout_seconds,
            interval => interval.min(self.settings.logon_timeout_seconds),
        };
        let next = self.store.next_incoming();
        let open = self.connection.gap.filter(|gap| next <= gap.end && self.connection.phase == LogonPhase::LoggedOn);
        open.and_then(|gap| gap.promised)
            .map_or(UtcTimestamp::from_nanos(i64::MAX), |since| since.plus_seconds(i64::from(patience)))
    }

    pub(super) fn ask_where_a_promise_is_broken(
        &mut self,
        now: UtcTimestamp,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        match self.connection.gap {
            Some(gap) if now >= self.promise_ends() => self.request_resend(now, gap.end, actions),
            _ => Ok(()),
        }
    }

    /// Some of what was promised has come.
    pub(super) fn keep_promise(&mut self, now: UtcTimestamp) {
        if let Some(promised) = self.connection.gap.as_mut().and_then(|gap| gap.promised.as_mut()) {
            *promised = now;
        }
    }

    /// Some engines answer a chunk only with a gap fill that ends at its last number instead of after it.
    pub(super) fn request_after_gap_fill(
        &mut self,
        now: UtcTimestamp,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let next = self.store.next_incoming();
        match self.connection.gap {
            Some(gap) if next == gap.requested_to && gap.requested_to < gap.end => {
                self.request_resend(now, gap.end, actions)
            }
            _ => Ok(()),
        }
    }

    /// Where gaps are requested in chunks: the next chunk, once the one before has arrived.
    pub(super) fn request_next_chunk(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        let next = self.store.next_incoming();
        match self.connection.gap {
            Some(gap) if next > gap.end => {
                self.connection.gap = None;
                Ok(())
            }
            Some(gap) if next > gap.requested_to => self.request_resend(now, gap.end, actions),
            _ => Ok(()),
        }
    }

    /// A request without a chunk is open-ended, as in QuickFIX.
    fn request_resend(&mut self, now: UtcTimestamp, end: SeqNum, actions: &mut Actions) -> Result<(), StoreError> {
        let from = self.store.next_incoming();
        let chunk_end = self.settings.resend_request_chunk.map(|size| from.saturating_add(size - 1));
        let bounded = chunk_end.filter(|chunk_end| *chunk_end < end);
        self.connection.gap = Some(Gap { end, requested_to: bounded.unwrap_or(end), promised: None });
        self.draft.begin("2").number(tag::BEGIN_SEQ_NO, from).number(tag::END_SEQ_NO, bounded.unwrap_or(0));
        self.transmit(now, Traffic::Session, actions).map(drop)
    }

    /// A duplicate is ignored, if its OrigSendingTime is valid.
    fn on_duplicate(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if message.msg_type() == b"4" {
            return Ok(());
        }
        let Some(original) = message.time(tag::ORIG_SENDING_TIME) else {
            let fault = MessageFault::at(SessionRejectReason::RequiredTagMissing, tag::ORIG_SENDING_TIME);
            return self.reject(now, fault, message, actions);
        };
        if message.time(tag::SENDING_TIME).is_some_and(|sent| original > sent) {
            self.reject(now, MessageFault::without_tag(SessionRejectReason::SendingTimeAccuracy), message, actions)?;
            self.log_out(now, None, actions)?;
        }
        Ok(())
    }

    /// After the highest sequence number in either direction nothing can follow, and the peer is informed. A Logout of
    /// ours after the highest number is not stored, because no store has a key for it.
    pub(super) fn close_if_exhausted(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        let reason = DisconnectReason::SequenceExhausted;
        if self.connection.phase != LogonPhase::LoggedOn || !self.is_sequence_exhausted() {
            return Ok(());
        }
        if self.store.next_outgoing() <= SEQ_NUM_MAX {
            return self.log_out(now, Some(&reason.to_string()), actions);
        }
        self.send_unsequenced_logout(now, self.store.next_outgoing(), &reason.to_string(), actions);
        self.close(now, reason, actions)
    }

    pub(super) fn is_sequence_exhausted(&self) -> bool {
        self.store.next_incoming().max(self.store.next_outgoing()) > SEQ_NUM_MAX
    }

    pub(super) fn on_seq_num_too_low(
        &mut self,
        now: UtcTimestamp,
        received: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let expected = self.store.next_incoming();
        let reason = DisconnectReason::MsgSeqNumTooLow { expected, received };
        self.send_final_logout(now, &reason.to_string(), actions)?;
        self.close(now, reason, actions)
    }
}
