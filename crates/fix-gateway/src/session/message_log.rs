//! Message log of a session, secrets masked. A thread of its own writes, so that the disk never delays an order; lines
//! that it cannot keep up with are dropped and counted.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fix::{Direction, SessionId, UtcTimestamp, masked};

use crate::limits::{LOG_FILE_BYTES_MAX, LOG_LINES_MAX};

/// The log of one session; without a path there is none.
#[derive(Debug)]
pub(crate) struct MessageLog {
    lines: Option<SyncSender<LoggedFrame>>,
    dropped: u64,
}

#[derive(Debug)]
struct LoggedFrame {
    at: UtcTimestamp,
    direction: Direction,
    frame: Vec<u8>,
    /// Number of lines before it that were not written.
    dropped: u64,
}

impl MessageLog {
    pub(crate) fn open(folder: Option<&Path>, id: &SessionId) -> io::Result<Self> {
        let Some(folder) = folder else { return Ok(Self { lines: None, dropped: 0 }) };
        std::fs::create_dir_all(folder)?;
        let name = format!("{}-{}-{}.messages.log", id.begin_string, id.sender, id.target);
        let mut file = LogFile::open(folder.join(name.replace(['/', '\\'], "_")))?;
        let (lines, waiting) = sync_channel(LOG_LINES_MAX);
        let write = move || {
            if let Err(error) = file.write_queued(&waiting) {
                tracing::error!(%error, file = %file.path.display(), "FIX message log cannot be written and is closed");
            }
        };
        std::thread::Builder::new().name("fix-log".into()).spawn(write)?;
        Ok(Self { lines: Some(lines), dropped: 0 })
    }

    pub(crate) fn write(&mut self, at: UtcTimestamp, direction: Direction, frame: &[u8]) {
        let Some(lines) = &self.lines else { return };
        let line = LoggedFrame { at, direction, frame: frame.to_vec(), dropped: self.dropped };
        self.dropped = if lines.try_send(line).is_ok() { 0 } else { self.dropped + 1 };
    }
}

struct LogFile {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
}

impl LogFile {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path, file: BufWriter::new(file), bytes })
    }

    fn write_queued(&mut self, waiting: &Receiver<LoggedFrame>) -> io::Result<()> {
        while let Ok(line) = waiting.recv() {
            self.write(&line)?;
            waiting.try_iter().try_for_each(|line| self.write(&line))?;
            self.file.flush()?;
        }
        Ok(())
    }

    fn write(&mut self, line: &LoggedFrame) -> io::Result<()> {
        if self.bytes > LOG_FILE_BYTES_MAX {
            self.rotate()?;
        }
        let text = format_line(line);
        self.bytes += text.len() as u64;
        self.file.write_all(text.as_bytes())
    }

    /// The previous file is kept, the one before that is not.
    fn rotate(&mut self) -> io::Result<()> {
        self.file.flush()?;
        std::fs::rename(&self.path, self.path.with_extension("log.1"))?;
        *self = Self::open(self.path.clone())?;
        Ok(())
    }
}

fn format_line(line: &LoggedFrame) -> String {
    let mut at = Vec::new();
    line.at.write(6, &mut at);
    let mark = match line.direction {
        Direction::In => '<',
        Direction::Out => '>',
    };
    let gap = if line.dropped > 0 { format!("({} lines are missing)\n", line.dropped) } else { String::new() };
    format!("{gap}{} {mark} {}\n", String::from_utf8_lossy(&at), masked(&line.frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stand_in_the_file_with_secrets_masked() {
        let folder = tempfile::tempdir().unwrap();
        let id = SessionId { begin_string: "FIX.4.4".into(), sender: "RIALTO".into(), target: "DESK/1".into() };
        let mut log = MessageLog::open(Some(folder.path()), &id).unwrap();
        let frame = b"8=FIX.4.4\x019=17\x0135=A\x01554=secret\x0110=192\x01";
        log.write(UtcTimestamp::from_nanos(0), Direction::In, frame);
        let path = folder.path().join("FIX.4.4-RIALTO-DESK_1.messages.log");
        let text = loop {
            let text = std::fs::read_to_string(&path).unwrap();
            if text.ends_with('\n') {
                break text;
            }
            std::thread::yield_now();
        };
        assert!(text.starts_with("19700101-00:00:00.000000 < "), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}
