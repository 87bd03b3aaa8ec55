//! A sample program of QuickFIX as a process, with a folder for its sequence numbers.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A wait that takes longer than this has failed, on any machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

pub(crate) struct QuickfixProgram {
    name: &'static str,
    version: &'static str,
    pub(crate) port: u16,
    folder: TempDir,
    process: Option<Child>,
}

fn programs() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/quickfix-programs");
    std::env::var_os("QUICKFIX_PROGRAMS").map_or_else(beside, PathBuf::from)
}

impl QuickfixProgram {
    pub(crate) fn start(name: &'static str, version: &'static str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut program = Self { name, version, port, folder: tempfile::tempdir().unwrap(), process: None };
        program.run();
        program
    }

    /// Ends it at once and starts it again: its sequence numbers go on, its orders and ExecIDs do not.
    pub(crate) fn restart(&mut self) {
        self.kill();
        self.run();
    }

    fn run(&mut self) {
        let folder = self.folder.path();
        let settings = format!(
            "[DEFAULT]\nConnectionType=acceptor\nStartTime=00:00:00\nEndTime=00:00:00\nNonStopSession=Y\n\
             UseDataDictionary=N\nFileStorePath={0}\nFileLogPath={0}\nSocketAcceptPort={1}\nSocketReuseAddress=Y\n\
             [SESSION]\nBeginString={2}\nSenderCompID=VENUE\nTargetCompID=RIALTO\n",
            folder.display(),
            self.port,
            self.version
        );
        let file = folder.join("program.cfg");
        std::fs::write(&file, settings).unwrap();
        let path = programs().join(self.name);
        let mut command = Command::new(&path);
        command.arg(&file).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn();
        self.process =
            Some(process.unwrap_or_else(|error| panic!("{}: {error}; `make setup` unpacks it", path.display())));
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(begun.elapsed() < WAIT_MAX, "{} does not listen", self.name);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

impl Drop for QuickfixProgram {
    fn drop(&mut self) {
        self.kill();
    }
}
