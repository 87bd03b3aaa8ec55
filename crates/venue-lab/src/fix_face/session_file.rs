//! Session file: sequence numbers and sent messages of a FIX session, kept over a restart of the lab.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fix::{MemoryStore, MessageStore, MessageVisitor, SeqNum, StoreError, Traffic, UtcTimestamp};
use fix_net::DurableStore;
use minicbor::{Decode, Encode};
use storage::append_log::AppendLog;
use storage::{OsFileSystem, StorageError};

use super::reported_trades::ReportedTrades;

/// One change of a session.
#[derive(Debug, PartialEq, Eq, Encode, Decode)]
enum SessionRecord {
    /// The numbers begin here; what was sent before cannot be requested any more.
    #[n(0)]
    Began {
        #[n(0)]
        created_nanos: i64,
        #[n(1)]
        next_incoming: SeqNum,
        #[n(2)]
        next_outgoing: SeqNum,
    },
    #[n(1)]
    Sent {
        #[n(0)]
        next_incoming: SeqNum,
        /// Empty where it is of the session layer, which is never sent again.
        #[cbor(n(1), with = "minicbor::bytes")]
        message: Vec<u8>,
    },
    #[n(2)]
    Received {
        #[n(0)]
        next_incoming: SeqNum,
    },
}

/// A session's numbers and messages: in memory for reading, in a file for the next start.
pub(super) struct SessionFile {
    memory: MemoryStore,
    path: PathBuf,
    log: AppendLog,
    /// The incoming number that the file has.
    recorded_incoming: SeqNum,
    /// Where somebody asks which trades were reported, with the name of the session there.
    reported: Option<(ReportedTrades, String)>,
}

impl SessionFile {
    /// The file of a session in a folder.
    pub(super) fn path_of(folder: &Path, face: &str, comp_id: &str) -> PathBuf {
        let mut name = format!("{face}-");
        for byte in comp_id.bytes() {
            if byte.is_ascii_alphanumeric() || byte == b'-' {
                name.push(char::from(byte));
            } else {
                // Writing to a text does not fail.
                let _ = write!(name, "_{byte:02x}");
            }
        }
        folder.join(name)
    }

    pub(super) fn open(path: PathBuf, now: UtcTimestamp) -> Result<Self, StorageError> {
        let mut memory = MemoryStore::new(now);
        let (found, mut log) = AppendLog::open(&path, &mut |payload| replay(&mut memory, payload))?;
        log.confirm_found()?;
        let recorded_incoming = memory.next_incoming();
        let mut file = Self { memory, path, log, recorded_incoming, reported: None };
        if found.records == 0 {
            file.log.append(&encode(&file.beginning()))?;
        }
        Ok(file)
    }

    /// Tells the trades that it has reported and will report.
    pub(super) fn telling(mut self, reported: Option<ReportedTrades>, session: &str) -> Result<Self, StoreError> {
        if let Some(reported) = &reported {
            let mut visit = |number, message: &[u8]| reported.add(session, number, message);
            self.memory.read(1, self.memory.next_outgoing(), &mut visit)?;
        }
        self.reported = reported.map(|reported| (reported, session.to_owned()));
        Ok(self)
    }

    fn beginning(&self) -> SessionRecord {
        SessionRecord::Began {
            created_nanos: self.memory.created().nanos(),
            next_incoming: self.memory.next_incoming(),
            next_outgoing: self.memory.next_outgoing(),
        }
    }

    fn record(&mut self, record: &SessionRecord) -> Result<(), StoreError> {
        self.log.append(&encode(record)).map_err(|error| failed(&error))?;
        self.recorded_incoming = self.memory.next_incoming();
        Ok(())
    }

    /// A new file without what cannot be requested any more.
    fn begin(&mut self) -> Result<(), StoreError> {
        let records = [encode(&self.beginning())];
        self.log = AppendLog::replace_on(&OsFileSystem, &self.path, records).map_err(|error| failed(&error))?;
        self.recorded_incoming = self.memory.next_incoming();
        Ok(())
    }

    fn record_incoming(&mut self) -> Result<(), StoreError> {
        let next_incoming = self.memory.next_incoming();
        if next_incoming == self.recorded_incoming {
            return Ok(());
        }
        self.record(&SessionRecord::Received { next_incoming })
    }
}

fn failed(error: &StorageError) -> StoreError {
    StoreError(error.to_string())
}

fn encode(record: &SessionRecord) -> Vec<u8> {
    minicbor::to_vec(record).expect("a vector takes all that is written")
}

fn replay(memory: &mut MemoryStore, payload: &[u8]) -> Result<(), String> {
    let record: SessionRecord = minicbor::decode(payload).map_err(|error| error.to_string())?;
    let applied = match record {
        SessionRecord::Began { created_nanos, next_incoming, next_outgoing } => {
            *memory = MemoryStore::new(UtcTimestamp::from_nanos(created_nanos));
            let outgoing = memory.set_next_outgoing(next_outgoing);
            outgoing.and_then(|()| memory.set_next_incoming(next_incoming, Traffic::Session))
        }
        SessionRecord::Sent { next_incoming, message } => {
            let traffic = if message.is_empty() { Traffic::Session } else { Traffic::Application };
            let appended = memory.append(memory.next_outgoing(), traffic, &message);
            appended.and_then(|()| memory.set_next_incoming(next_incoming, traffic))
        }
        SessionRecord::Received { next_incoming } => memory.set_next_incoming(next_incoming, Traffic::Session),
    };
    applied.map_err(|error| error.to_string())
}

impl MessageStore for SessionFile {
    fn created(&self) -> UtcTimestamp {
        self.memory.created()
    }

    fn next_outgoing(&self) -> SeqNum {
        self.memory.next_outgoing()
    }

    fn next_incoming(&self) -> SeqNum {
        self.memory.next_incoming()
    }

    fn append(&mut self, number: SeqNum, traffic: Traffic, message: &[u8]) -> Result<(), StoreError> {
        self.memory.append(number, traffic, message)?;
        self.reported.iter().for_each(|(reported, session)| reported.add(session, number, message));
        let message = if traffic == Traffic::Application { message.to_vec() } else { Vec::new() };
        self.record(&SessionRecord::Sent { next_incoming: self.memory.next_incoming(), message })
    }

    /// Recorded with what is sent next. A number that is lost with the process is of an unanswered message, which the client may send
    /// again.
    fn set_next_incoming(&mut self, next: SeqNum, traffic: Traffic) -> Result<(), StoreError> {
        self.memory.set_next_incoming(next, traffic)
    }

    fn set_next_outgoing(&mut self, next: SeqNum) -> Result<(), StoreError> {
        self.memory.set_next_outgoing(next)?;
        self.begin()
    }

    fn read(&mut self, from: SeqNum, to: SeqNum, visit: &mut MessageVisitor<'_>) -> Result<(), StoreError> {
        self.memory.read(from, to, visit)
    }

    fn reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        self.memory.reset(now)?;
        self.reported.iter().for_each(|(reported, session)| reported.drop_all(session));
        self.begin()
    }

    /// No other process changes the file.
    fn refresh(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// What was written survives the end of the process; only a power cut can take it, until the connection has ended.
impl DurableStore for SessionFile {
    fn flush(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(self.record_incoming())
    }

    fn flush_on_disconnect(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        let recorded = self.record_incoming();
        std::future::ready(recorded.and_then(|()| self.log.sync().map_err(|error| failed(&error))))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn numbers(file: &SessionFile) -> (SeqNum, SeqNum) {
        (file.next_incoming(), file.next_outgoing())
    }

    fn open(path: &Path, at: i64) -> SessionFile {
        SessionFile::open(path.to_owned(), UtcTimestamp::from_nanos(at)).unwrap()
    }

    fn sent(file: &mut SessionFile) -> Vec<(SeqNum, Vec<u8>)> {
        let mut messages = Vec::new();
        file.read(1, 100, &mut |number, message| messages.push((number, message.to_vec()))).unwrap();
        messages
    }

    #[test]
    fn numbers_and_sent_messages_are_there_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = SessionFile::path_of(folder.path(), "fix44", "DESK/1");
        assert_eq!(path, folder.path().join("fix44-DESK_2f1"));
        let mut file = open(&path, 7);
        assert_eq!(numbers(&file), (1, 1));
        file.append(1, Traffic::Session, b"logon").unwrap();
        file.set_next_incoming(3, Traffic::Application).unwrap();
        file.append(2, Traffic::Application, b"report").unwrap();
        file.set_next_incoming(4, Traffic::Session).unwrap();
        drop(file);
        let mut again = open(&path, 8);
        assert_eq!((numbers(&again), again.created()), ((3, 3), UtcTimestamp::from_nanos(7)), "4 was never answered");
        assert_eq!(sent(&mut again), [(2, b"report".to_vec())]);
    }

    #[test]
    fn after_a_reset_the_file_has_nothing_of_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = SessionFile::path_of(folder.path(), "fix44", "ALPHA");
        let mut file = open(&path, 0);
        file.append(1, Traffic::Application, &[b'x'; 10_000]).unwrap();
        file.reset(UtcTimestamp::from_nanos(9)).unwrap();
        file.append(1, Traffic::Application, b"new").unwrap();
        file.set_next_outgoing(7).unwrap();
        drop(file);
        assert!(fs::metadata(&path).unwrap().len() < 1_000);
        let mut again = open(&path, 0);
        assert_eq!((numbers(&again), again.created()), ((1, 7), UtcTimestamp::from_nanos(9)));
        assert_eq!(sent(&mut again), []);
    }
}
