//! Recorder: writes messages to a file, masked. Trading never waits for it and never fails with it.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64ct::{Base64, Encoding};
use domain::Timestamp;

use super::{Masker, RecordedEvent, RecordedMessage};
use crate::connection::{RequestFailure, SocketMessage, VenueRequest, VenueResponse};
use crate::credentials::VenueCredentials;

/// A recording ends at this size, with a last line that says so.
pub const RECORDING_BYTES_MAX: u64 = 1_024 * 1_024 * 1_024;

/// Our present time.
pub type RecorderClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The recording of all connections of one venue.
pub struct MessageRecorder {
    path: PathBuf,
    clock: RecorderClock,
    state: Mutex<RecorderState>,
}

struct RecorderState {
    masker: Masker,
    /// `None` after an error or at the largest size.
    file: Option<File>,
    bytes: u64,
    bytes_max: u64,
    requests: u64,
}

impl MessageRecorder {
    /// A new file that only its owner can read. An existing one is not overwritten.
    pub fn create(path: &Path, masker: Masker, clock: RecorderClock) -> io::Result<Self> {
        Self::create_bounded(path, masker, clock, RECORDING_BYTES_MAX)
    }

    pub fn create_bounded(path: &Path, masker: Masker, clock: RecorderClock, bytes_max: u64) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let state = RecorderState { masker, file: Some(file), bytes: 0, bytes_max, requests: 0 };
        Ok(Self { path: path.to_owned(), clock, state: Mutex::new(state) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The recorder of one connection.
    pub fn line(self: &Arc<Self>, name: &str) -> LineRecorder {
        LineRecorder { recorder: Arc::clone(self), line: name.to_owned() }
    }

    /// To be called before new credentials are used.
    pub fn add_credentials(&self, credentials: &VenueCredentials) {
        self.lock().masker.add_credentials(credentials);
    }

    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, line: &str, make: impl FnOnce(&mut RecorderState) -> RecordedEvent) {
        let mut state = self.lock();
        let event = make(&mut state);
        if state.file.is_none() {
            return;
        }
        let message = RecordedMessage { at: (self.clock)().to_string(), line: line.to_owned(), event };
        if let Err(reason) = state.write(&message) {
            state.file = None;
            tracing::warn!(file = %self.path.display(), %reason, "recording stopped; trading goes on");
        }
    }
}

impl RecorderState {
    fn write(&mut self, message: &RecordedMessage) -> io::Result<()> {
        let text = encode(message)?;
        if self.bytes + text.len() as u64 > self.bytes_max {
            let last = RecordedMessage { event: RecordedEvent::Full, ..message.clone() };
            self.append(&encode(&last)?)?;
            return Err(io::Error::other("it reached its largest size"));
        }
        self.append(&text)
    }

    fn append(&mut self, text: &[u8]) -> io::Result<()> {
        self.bytes += text.len() as u64;
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(text))
    }

    fn next_number(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }
}

fn encode(message: &RecordedMessage) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(message)?;
    text.push(b'\n');
    Ok(text)
}

/// Records the messages of one connection.
#[derive(Clone)]
pub struct LineRecorder {
    recorder: Arc<MessageRecorder>,
    line: String,
}

impl LineRecorder {
    /// Returns the number for the answer.
    pub fn on_request(&self, request: &VenueRequest) -> u64 {
        let mut number = 0;
        self.recorder.record(&self.line, |state| {
            number = state.next_number();
            RecordedEvent::Request {
                number,
                method: request.method.to_owned(),
                path: state.masker.mask(&request.path),
                headers: state.masker.mask_headers(&request.headers),
                body: state.masker.mask(&request.body),
            }
        });
        number
    }

    pub fn on_response(&self, number: u64, outcome: &Result<VenueResponse, RequestFailure>) {
        self.recorder.record(&self.line, |state| match outcome {
            Ok(response) => RecordedEvent::Response {
                number,
                status: response.status,
                headers: state.masker.mask_headers(&response.headers),
                body: state.masker.mask(&response.text()),
            },
            Err(failure) => RecordedEvent::NoResponse {
                number,
                sent: matches!(failure, RequestFailure::Unknown(_)),
                reason: state.masker.mask(&failure.to_string()),
            },
        });
    }

    pub fn on_opened(&self, address: &str) {
        self.recorder.record(&self.line, |state| RecordedEvent::Opened { address: state.masker.mask(address) });
    }

    pub fn on_sent(&self, text: &str) {
        self.recorder.record(&self.line, |state| RecordedEvent::Sent { text: state.masker.mask(text) });
    }

    pub fn on_received(&self, message: &SocketMessage) {
        self.recorder.record(&self.line, |state| match message {
            SocketMessage::Text(text) => RecordedEvent::Received { text: state.masker.mask(text) },
            SocketMessage::Binary(bytes) => RecordedEvent::ReceivedBinary { bytes: Base64::encode_string(bytes) },
        });
    }

    pub fn on_closed(&self, reason: &str) {
        self.recorder.record(&self.line, |state| RecordedEvent::Closed { reason: state.masker.mask(reason) });
    }
}

impl fmt::Debug for MessageRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageRecorder({})", self.path.display())
    }
}

impl fmt::Debug for LineRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LineRecorder({}, {})", self.recorder.path.display(), self.line)
    }
}
