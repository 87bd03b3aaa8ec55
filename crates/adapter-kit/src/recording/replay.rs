//! Replay: feeds a recording into an adapter, in its order and with its times.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use domain::Timestamp;

use super::RecordedMessage;

/// A longer line is no recording of ours.
pub const RECORDED_LINE_BYTES_MAX: u64 = 128 * 1_024 * 1_024;

/// The part of an adapter that decodes messages: it gets everything that passed the connections, in both directions.
pub trait ReplayTarget {
    fn on_recorded(&mut self, at: Timestamp, message: &RecordedMessage);
}

#[derive(Debug)]
pub enum RecordingError {
    Io(io::Error),
    /// `line` cannot be read; the messages before it were replayed.
    Malformed {
        line: usize,
        reason: String,
    },
}

/// Returns the number of messages. A last line that is cut off (a crash while it was written) is left out.
pub fn replay(path: &Path, target: &mut dyn ReplayTarget) -> Result<usize, RecordingError> {
    let mut reader = BufReader::new(File::open(path).map_err(RecordingError::Io)?);
    for line in 1.. {
        let Some(text) = read_line(&mut reader, line)? else { return Ok(line - 1) };
        let malformed = |reason: String| RecordingError::Malformed { line, reason };
        let message: RecordedMessage = serde_json::from_slice(&text).map_err(|reason| malformed(reason.to_string()))?;
        let at = message.at.parse().map_err(|_| malformed("its time cannot be read".to_owned()))?;
        target.on_recorded(at, &message);
    }
    Ok(usize::MAX)
}

/// `None` at the end, also where the last line was not finished.
fn read_line(reader: &mut impl BufRead, line: usize) -> Result<Option<Vec<u8>>, RecordingError> {
    let mut text = Vec::new();
    reader.take(RECORDED_LINE_BYTES_MAX).read_until(b'\n', &mut text).map_err(RecordingError::Io)?;
    if text.len() as u64 >= RECORDED_LINE_BYTES_MAX {
        return Err(RecordingError::Malformed { line, reason: "it is too long".to_owned() });
    }
    Ok(text.ends_with(b"\n").then_some(text))
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(reason) => write!(f, "the recording cannot be read: {reason}"),
            Self::Malformed { line, reason } => write!(f, "line {line} of the recording cannot be read: {reason}"),
        }
    }
}

impl std::error::Error for RecordingError {}
