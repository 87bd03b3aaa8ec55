//! FIX client made with QuickFIX (C++) as a child process: the test writes its messages and reads what it receives. It
//! is compiled with g++ and Debian's libquickfix-dev, which `make setup` installs.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use scenarios::wait::DEADLINE;
use tempfile::TempDir;

/// A client that trades over FIX. Dropping it ends it.
pub(crate) struct Client {
    process: Child,
    pen: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Holds its settings.
    _folder: TempDir,
}

impl Client {
    /// Connects as CLIENT to this port, with a retry every second; with more arguments for the program.
    pub(crate) fn call(port: u16, arguments: &[&str]) -> Self {
        Self::start(&settings_for(port), arguments)
    }

    /// Connects as a settings file of QuickFIX says.
    pub(crate) fn start(text: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("client.cfg");
        fs::write(&settings, text).unwrap();
        let mut process = Command::new(program())
            .arg(&settings)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || out.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        Self { pen: process.stdin.take(), process, lines, _folder: folder }
    }

    /// Sends a message; while it is disconnected QuickFIX keeps it for the next Logon.
    pub(crate) fn say(&mut self, message: &str) {
        writeln!(self.pen.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The next message it receives.
    pub(crate) fn hear(&self) -> String {
        self.lines.recv_timeout(DEADLINE).unwrap_or_else(|error| panic!("nothing is heard: {error}"))
    }

    /// What it has received already, line by line.
    pub(crate) fn hear_now(&self) -> Option<String> {
        self.lines.try_recv().ok()
    }

    /// The next message, which must be of this type, by its fields.
    pub(crate) fn hear_message(&self, kind: &str) -> Fields {
        let line = self.hear();
        let fields = fields_of(&line);
        assert_eq!(fields.get(&35).map(String::as_str), Some(kind), "{line}");
        fields
    }

    /// Reports up to one of this ExecType and OrdStatus, each as `id type/status filled`.
    pub(crate) fn hear_reports(&self, last: &str) -> Vec<String> {
        let mut heard = Vec::new();
        while heard.last().is_none_or(|report: &String| !report.contains(last)) {
            heard.push(shown(&self.hear_message("8")));
        }
        heard
    }

    /// Waits for a line and gives all that was heard before it.
    pub(crate) fn hear_until(&self, wanted: &str) -> Vec<String> {
        let mut before = Vec::new();
        loop {
            match self.hear() {
                line if line == wanted => return before,
                line => before.push(line),
            }
        }
    }

    /// Logs out and ends; gives what was heard until then.
    pub(crate) fn leave(mut self) -> Vec<String> {
        drop(self.pen.take());
        self.process.wait().unwrap();
        self.lines.iter().collect()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) type Fields = BTreeMap<u32, String>;

pub(crate) fn fields_of(line: &str) -> Fields {
    let pairs = line.split('|').filter_map(|field| field.split_once('='));
    pairs.map(|(tag, value)| (tag.parse().unwrap(), value.to_owned())).collect()
}

/// `id type/status filled`, behind it the request's id where it answers one, `again` where it was sent before.
pub(crate) fn shown(report: &Fields) -> String {
    let field = |tag: u32| report.get(&tag).map_or("?", String::as_str);
    let asked = report.get(&41).map(|original| format!(" for {original}")).unwrap_or_default();
    let again = if field(43) == "Y" { " again" } else { "" };
    format!("{}{asked} {}/{} filled {}{again}", field(11), field(150), field(39), field(14))
}

/// QuickFIX looks for ReconnectInterval among the defaults only.
fn settings_for(port: u16) -> String {
    format!(
        "[DEFAULT]\nReconnectInterval=1\n[SESSION]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\n\
         SocketConnectPort={port}\nHeartBtInt=30\nBeginString=FIX.4.4\nSenderCompID=CLIENT\nTargetCompID=RIALTO\n\
         StartTime=00:00:00\nEndTime=00:00:00\nUseDataDictionary=N\nCheckLatency=N\n"
    )
}

/// QuickFIX 1.15 still says throw(...), which later standards have given up.
const FLAGS: [&str; 3] = ["-std=c++14", "-w", "-I/usr/include/quickfix"];
/// An upgrade of QuickFIX brings another one.
const HEADER: &str = "/usr/include/quickfix/Session.h";

/// Compiled once for all processes that run tests: its name says of what, so none is taken that was made of something else.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/quickfix/desk.cpp");
        let header = fs::metadata(HEADER).and_then(|header| header.modified()).ok();
        let mut hasher = DefaultHasher::new();
        (fs::read(&source).unwrap(), header, FLAGS).hash(&mut hasher);
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("quickfix-desk-{:016x}", hasher.finish()));
        if !program.exists() {
            compile(&source, &program);
        }
        program
    })
}

/// Other processes may be at it too, so it gets its name when it is whole.
fn compile(source: &Path, program: &Path) {
    let fresh = program.with_extension(std::process::id().to_string());
    let compiled = Command::new("g++")
        .args(FLAGS)
        .arg("-o")
        .args([fresh.as_path(), source])
        .args(["-lquickfix", "-lpthread"])
        .output()
        .unwrap_or_else(|error| panic!("g++: {error}; `make setup` installs it"));
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}\nthis needs libquickfix-dev; `make setup` installs it");
    fs::rename(&fresh, program).unwrap();
}
