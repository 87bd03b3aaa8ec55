//! One connection's messages: framing, header, sequence numbers and times.

use std::io;
use std::time::Duration;

use fix::{FixMessage, Framer, OutgoingMessage, SOH, UtcTimestamp, tag};
use fix_net::SessionStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};

use super::VENUE;
use super::reject::missing;
use crate::binance::api::error::ApiError;
use crate::sequencer::now_micros;

/// A client whose socket takes nothing for so long is disconnected.
const WRITE_STALL: Duration = Duration::from_secs(20);
/// Digits of a second in our times.
const FRACTION_DIGITS: u8 = 6;
const RECV_WINDOW: tag::Tag = 25_000;
const RECV_WINDOW_MAX_MICROS: i64 = 60_000_000;
const AHEAD_MAX_MICROS: i64 = 1_000_000;

pub(super) struct FixLink {
    stream: Box<dyn SessionStream>,
    framer: Framer,
    /// SenderCompID (49) of the client; empty before its Logon.
    pub(super) client: String,
    pub(super) next_incoming: u64,
    next_outgoing: u64,
    pub(super) sent_at: Instant,
    pub(super) heard_at: Instant,
}

/// How a time reads on the wire.
pub(super) fn time_text(micros: i64) -> String {
    let mut text = Vec::new();
    UtcTimestamp::from_nanos(micros.saturating_mul(1_000)).write(FRACTION_DIGITS, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

impl FixLink {
    pub(super) fn new(stream: Box<dyn SessionStream>) -> Self {
        let now = Instant::now();
        Self {
            stream,
            framer: Framer::new(),
            client: String::new(),
            next_incoming: 1,
            next_outgoing: 1,
            sent_at: now,
            heard_at: now,
        }
    }

    /// The next message; none where the client has hung up. Safe to drop while it waits.
    pub(super) async fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            match self.framer.next_frame() {
                Ok(Some(frame)) => {
                    self.heard_at = Instant::now();
                    return Ok(Some(frame.to_vec()));
                }
                Ok(None) => {}
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{error:?}"))),
            }
            if self.stream.read_buf(self.framer.buffer()).await? == 0 {
                return Ok(None);
            }
        }
    }

    pub(super) async fn send(&mut self, message: &OutgoingMessage) -> io::Result<()> {
        let bytes = self.encode(message);
        self.next_outgoing += 1;
        self.sent_at = Instant::now();
        let written = async {
            self.stream.write_all(&bytes).await?;
            self.stream.flush().await
        };
        timeout(WRITE_STALL, written).await?
    }

    fn encode(&self, message: &OutgoingMessage) -> Vec<u8> {
        let mut body = Vec::new();
        let mut field = |tag: tag::Tag, value: &[u8]| {
            body.extend_from_slice(format!("{tag}=").as_bytes());
            body.extend_from_slice(value);
            body.push(SOH);
        };
        field(tag::MSG_TYPE, message.msg_type());
        field(tag::MSG_SEQ_NUM, self.next_outgoing.to_string().as_bytes());
        field(tag::SENDER_COMP_ID, VENUE.as_bytes());
        field(tag::SENDING_TIME, time_text(now_micros()).as_bytes());
        field(tag::TARGET_COMP_ID, self.client.as_bytes());
        for (tag, value) in message.fields_in_order() {
            field(tag, value);
        }
        let mut bytes = format!("8=FIX.4.4\x019={}\x01", body.len()).into_bytes();
        bytes.extend_from_slice(&body);
        let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
        bytes
    }

    /// Header of a message after the Logon: sender and number.
    pub(super) fn check_header(&mut self, message: &FixMessage<'_>) -> Result<(), ApiError> {
        if message.text(tag::SENDER_COMP_ID) != Some(&self.client) {
            let text = "SenderCompId(49) contains an incorrect value. The SenderCompID value should not change throughout the \
                        lifetime of a session.";
            return Err(ApiError::bad_request(-1_178, text));
        }
        if message.number(tag::MSG_SEQ_NUM) != Some(self.next_incoming) {
            let expected = self.next_incoming;
            let text = format!("MsgSeqNum(34) contains an unexpected value. Expected: '{expected}'.");
            return Err(ApiError::bad_request(-1_179, text));
        }
        self.next_incoming += 1;
        Ok(())
    }

    pub(super) async fn close(&mut self) {
        // The client may be gone already.
        let _ = self.stream.shutdown().await;
    }
}

/// Until when a message may reach the matching engine; none where it does not say. A Logon has a window always.
pub(super) fn check_time(message: &FixMessage<'_>, usual: Option<i64>, now: i64) -> Result<Option<i64>, ApiError> {
    let sent = message.time(tag::SENDING_TIME).ok_or_else(|| missing(tag::SENDING_TIME))?.nanos() / 1_000;
    let window = match message.text(RECV_WINDOW) {
        None => usual,
        Some(text) => {
            let window = crate::exchange::Units::parse(text).map_err(|_| ApiError::invalid("25000"))?;
            // Milliseconds with three decimals are microseconds.
            Some(window.0 / 100_000)
        }
    };
    if window.is_some_and(|window| window > RECV_WINDOW_MAX_MICROS) {
        return Err(ApiError::bad_request(-1_131, "recvWindow must be less than 60000."));
    }
    if sent >= now + AHEAD_MAX_MICROS {
        let text = "Timestamp for this request was 1000ms ahead of the server's time.";
        return Err(ApiError::bad_request(-1_021, text));
    }
    let deadline = window.map(|window| sent.saturating_add(window));
    if deadline.is_some_and(|deadline| now > deadline) {
        return Err(ApiError::bad_request(-1_021, "Timestamp for this request is outside of the recvWindow."));
    }
    Ok(deadline)
}
