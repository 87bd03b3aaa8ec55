//! The two initiators and the venue as programs of their own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::Outcome;
use crate::figures::Figures;
use crate::quickfix::{compile, dictionary};

/// Who sends the orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Initiator {
    Ours,
    /// With its FileStore, and whether it checks what comes against its dictionary.
    QuickFix {
        checks: bool,
    },
    /// The same, and its sequence numbers are on disk before a message leaves.
    SyncedQuickFix,
}

/// Where the store of an initiator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StorePlace {
    /// The disk that the project lies on.
    Disk,
    /// A file system in memory: a sync costs nothing there.
    Memory,
}

/// Orders of a turn, and how many of them are under way at any time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) orders: usize,
    pub(crate) under_way: usize,
}

pub(crate) struct Programs {
    ours: PathBuf,
    quickfix: PathBuf,
    folder: TempDir,
}

impl Programs {
    pub(crate) fn make() -> Outcome<Self> {
        let ours = std::env::current_exe()?;
        let folder = tempfile::tempdir_in(ours.parent().ok_or("a program lies in a folder")?)?;
        let quickfix = folder.path().join("quickfix-initiator");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fix-initiator-bench");
        compile(&sources.join("quickfix_initiator.cpp"), &quickfix)?;
        Ok(Self { ours, quickfix, folder })
    }

    /// One turn with a store of its own.
    pub(crate) fn run(&self, initiator: Initiator, place: StorePlace, turn: Turn) -> Outcome<Figures> {
        let (venue, store) = (Venue::start(&self.ours)?, self.store(place)?);
        let mut command = self.command(initiator, &store, venue.port, turn)?;
        let done = command.stderr(Stdio::inherit()).output()?;
        let said = String::from_utf8_lossy(&done.stdout);
        match done.status.success() {
            true => said.parse(),
            false => Err(format!("{initiator:?}: {} {said}", done.status).into()),
        }
    }

    /// How many instructions it takes, by valgrind's callgrind.
    pub(crate) fn instructions(&self, initiator: Initiator, turn: Turn) -> Outcome<u64> {
        let (venue, store) = (Venue::start(&self.ours)?, self.store(StorePlace::Memory)?);
        let command = self.command(initiator, &store, venue.port, turn)?;
        let out = store.path().join("callgrind.out");
        let mut counted = Command::new("valgrind");
        counted.args(["--tool=callgrind", "-q"]).arg(format!("--callgrind-out-file={}", out.display()));
        counted.arg(command.get_program()).args(command.get_args());
        let done = counted.output().map_err(|error| format!("valgrind: {error}"))?;
        if !done.status.success() {
            return Err(format!("{initiator:?} under valgrind: {}", String::from_utf8_lossy(&done.stderr)).into());
        }
        let text = fs::read_to_string(&out)?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        Ok(total.ok_or("callgrind tells no total")?.trim().parse()?)
    }

    fn store(&self, place: StorePlace) -> Outcome<TempDir> {
        Ok(match place {
            StorePlace::Disk => tempfile::tempdir_in(self.folder.path())?,
            StorePlace::Memory => tempfile::tempdir_in("/dev/shm")?,
        })
    }

    fn command(&self, initiator: Initiator, store: &TempDir, port: u16, turn: Turn) -> Outcome<Command> {
        let numbers = [turn.orders, turn.under_way].map(|number| number.to_string());
        let checks = match initiator {
            Initiator::Ours => {
                let mut command = Command::new(&self.ours);
                command.args(["ours", &port.to_string()]).arg(store.path()).args(numbers);
                return Ok(command);
            }
            Initiator::QuickFix { checks } => checks,
            Initiator::SyncedQuickFix => true,
        };
        let settings = self.folder.path().join(format!("{port}.cfg"));
        fs::write(&settings, quickfix_settings(port, store.path(), checks)?)?;
        let mut command = Command::new(&self.quickfix);
        command.arg(settings).args(numbers);
        if initiator == Initiator::SyncedQuickFix {
            command.arg(store.path());
        }
        Ok(command)
    }
}

/// Like ours it keeps numbers and no messages, which it would only need to send them again.
fn quickfix_settings(port: u16, store: &Path, checks: bool) -> Outcome<String> {
    Ok(format!(
        "[SESSION]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={port}\nStartTime=00:00:00\n\
         EndTime=00:00:00\nBeginString=FIX.4.4\nSenderCompID=DESK\nTargetCompID=VENUE\nHeartBtInt=30\nPersistMessages=N\n\
         SocketNodelay=Y\nFileStorePath={}\nUseDataDictionary={}\nDataDictionary={}\n",
        store.display(),
        if checks { "Y" } else { "N" },
        dictionary()?.display()
    ))
}

/// The venue, ended when this is dropped.
struct Venue {
    process: Child,
    port: u16,
}

impl Venue {
    fn start(program: &Path) -> Outcome<Self> {
        let mut process = Command::new(program).arg("acceptor").stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        Ok(Self { process, port: line.trim().parse()? })
    }
}

impl Drop for Venue {
    fn drop(&mut self) {
        // It may have ended by itself; there is nothing of it to keep.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
