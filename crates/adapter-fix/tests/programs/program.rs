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
    /// Further lines of the settings.
    further: String,
}

/// The interpreter with QuickFIX's package, which `make setup` installs.
fn python() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/venv/bin/python");
    std::env::var_os("EXAMPLES_PYTHON").map_or_else(beside, PathBuf::from)
}

fn programs() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/quickfix-programs");
    std::env::var_os("QUICKFIX_PROGRAMS").map_or_else(beside, PathBuf::from)
}

impl QuickfixProgram {
    pub(crate) fn start(name: &'static str, version: &'static str) -> Self {
        Self::start_with(name, version, "UseDataDictionary=N\n".to_owned())
    }

    /// One that lets in a second client under this CompID.
    #[allow(dead_code, reason = "only a scenario has two")]
    pub(crate) fn start_for_two(name: &'static str, version: &'static str, second: &str) -> Self {
        let unchecked = "UseDataDictionary=N\n";
        let session = format!("[SESSION]\nBeginString={version}\nSenderCompID=VENUE\nTargetCompID={second}\n");
        Self::start_with(name, version, format!("{unchecked}{session}{unchecked}"))
    }

    /// A program in Python of this folder, whose QuickFIX checks what comes against its dictionaries of FIX 5.0SP2 and FIXT 1.1.
    pub(crate) fn start_50sp2(name: &'static str) -> Self {
        let files = python().parent().unwrap().join("../share/quickfix");
        let further = format!(
            "DefaultApplVerID=FIX.5.0SP2\nUseDataDictionary=Y\nTransportDataDictionary={0}/FIXT11.xml\n\
             AppDataDictionary={0}/FIX50SP2.xml\n",
            files.display()
        );
        Self::start_with(name, "FIXT.1.1", further)
    }

    fn start_with(name: &'static str, version: &'static str, further: String) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let mut program = Self { name, version, port, folder, process: None, further };
        program.run();
        program
    }

    /// Ends it at once and starts it again: its sequence numbers go on, its orders and ExecIDs do not.
    pub(crate) fn restart(&mut self) {
        self.kill();
        self.run();
    }

    #[allow(dead_code, reason = "only a scenario suspends it")]
    pub(crate) fn pid(&self) -> u32 {
        self.process.as_ref().expect("it runs").id()
    }

    fn run(&mut self) {
        let folder = self.folder.path();
        let settings = format!(
            "[DEFAULT]\nConnectionType=acceptor\nStartTime=00:00:00\nEndTime=00:00:00\nNonStopSession=Y\n\
             FileStorePath={0}\nFileLogPath={0}\nSocketAcceptPort={1}\nSocketReuseAddress=Y\n\
             [SESSION]\nBeginString={2}\nSenderCompID=VENUE\nTargetCompID=RIALTO\n{3}",
            folder.display(),
            self.port,
            self.version,
            self.further
        );
        let file = folder.join("program.cfg");
        std::fs::write(&file, settings).unwrap();
        let path = self.path();
        let mut command = if self.is_script() { Command::new(python()) } else { Command::new(&path) };
        command
            .args(self.is_script().then_some(&path))
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = command.spawn();
        self.process =
            Some(process.unwrap_or_else(|error| panic!("{}: {error}; `make setup` unpacks it", path.display())));
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(begun.elapsed() < WAIT_MAX, "{} does not listen", self.name);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn is_script(&self) -> bool {
        self.name.ends_with(".py")
    }

    fn path(&self) -> PathBuf {
        let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        if self.is_script() { own } else { programs() }.join(self.name)
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
