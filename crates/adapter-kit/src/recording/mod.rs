//! Recording of every message to and from a venue, masked, and its replay into an adapter.
//!
//! One JSON object a line, so that a recording can be read, cut and given away. What is secret is masked
//! before it reaches the file.

mod masker;
mod recorder;
mod replay;

use serde::{Deserialize, Serialize};

pub use masker::{MASK, Masker};
pub use recorder::{LineRecorder, MessageRecorder, RECORDING_BYTES_MAX, RecorderClock};
pub use replay::{RECORDED_LINE_BYTES_MAX, RecordingError, ReplayTarget, replay};

/// One message of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedMessage {
    /// Our time, as text.
    pub at: String,
    /// The connection, such as `rest` or `user-stream`.
    pub line: String,
    #[serde(flatten)]
    pub event: RecordedEvent,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum RecordedEvent {
    /// `number` connects a request with its answer.
    Request {
        number: u64,
        method: String,
        path: String,
        headers: Vec<(String, String)>,
        body: String,
    },
    Response {
        number: u64,
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
    },
    /// The request had no answer; `sent` is false where the venue certainly did not receive it.
    NoResponse {
        number: u64,
        sent: bool,
        reason: String,
    },
    Opened {
        address: String,
    },
    /// Of a WebSocket.
    Sent {
        text: String,
    },
    Received {
        text: String,
    },
    /// As Base64.
    ReceivedBinary {
        bytes: String,
    },
    Closed {
        reason: String,
    },
    /// The recording reached its largest size; nothing after this was recorded.
    Full,
}
