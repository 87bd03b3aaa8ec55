//! Server process: started on its own folder and free ports, stopped or killed.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::binary;
use crate::http::HttpClient;
use crate::wait::{DEADLINE, poll};

/// A start reads the journal again, which takes its time on a disk and on cores that others use too.
const START_DEADLINE: Duration = Duration::from_secs(120);

/// How to start it.
#[derive(Debug, Clone)]
pub struct ServerLauncher {
    program: PathBuf,
    folder: PathBuf,
    settings: Vec<String>,
    open_files: Option<u32>,
    environment: Vec<(String, OsString)>,
    log_is_read: bool,
    cluster: Option<PathBuf>,
}

/// A running server. Dropping it kills it.
pub struct RunningServer {
    process: ServerProcess,
    address: SocketAddr,
    https_port: Option<u16>,
    ready_line: String,
    pub time_to_ready: Duration,
}

/// How a process ended, with all its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerExit {
    /// None where a signal ended it.
    pub code: Option<i32>,
    pub output: String,
    pub log: String,
}

impl ServerLauncher {
    /// On this data folder, with all listeners on free ports, a standing market and no strategies.
    pub fn in_folder(folder: &Path) -> Self {
        Self::with_program(&binary::rialto(), folder)
    }

    /// As [`Self::in_folder`], of another binary with the same command line.
    pub fn with_program(program: &Path, folder: &Path) -> Self {
        let launch = Self {
            program: program.to_owned(),
            folder: folder.to_owned(),
            settings: vec![],
            open_files: None,
            environment: vec![],
            log_is_read: true,
            cluster: None,
        };
        let launch = launch.set("demo.activity", "off").set("strategies.instances", "");
        binary::port_keys(program).iter().fold(launch, |launch, key| launch.set(key, 0))
    }

    /// Sets a key; the last value counts.
    pub fn set(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.settings.retain(|setting| !setting.starts_with(&format!("{key}=")));
        self.settings.push(format!("{key}={value}"));
        self
    }

    /// The same on another data folder.
    pub fn on_folder(mut self, folder: &Path) -> Self {
        self.folder = folder.to_owned();
        self
    }

    /// The same by another program, such as that of another version, which knows all settings.
    pub fn of_program(mut self, program: &Path) -> Self {
        self.program = program.to_owned();
        self
    }

    /// As a member of a cluster, which the file describes.
    pub fn with_cluster(mut self, file: &Path) -> Self {
        self.cluster = Some(file.to_owned());
        self
    }

    /// The system allows it no more open files than this.
    pub fn with_open_files(mut self, open_files: u32) -> Self {
        self.open_files = Some(open_files);
        self
    }

    /// With another variable in its environment.
    pub fn with_variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Its standard error is not read, so the pipe fills up.
    pub fn with_unread_log(mut self) -> Self {
        self.log_is_read = false;
        self
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts it and waits until it serves.
    ///
    /// # Panics
    /// Where it ends or stays silent instead, with its log.
    pub fn start(&self) -> RunningServer {
        let begun = Instant::now();
        let process = self.spawn();
        let line = match process.lines.recv_timeout(START_DEADLINE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                let threads = threads(process.child.id());
                panic!("no ready line in {START_DEADLINE:?}; its threads: {threads}; its log:\n{}", process.log())
            }
            Err(RecvTimeoutError::Disconnected) => panic!("the server did not start: {}", process.wait()),
        };
        let time_to_ready = begun.elapsed();
        let address = address_in(&line, "http").unwrap_or_else(|| panic!("not a ready line: {line}"));
        let https_port = address_in(&line, "https").map(|address| address.port());
        RunningServer { process, address, https_port, ready_line: line, time_to_ready }
    }

    /// Starts a server that is expected to fail, and waits for its end.
    pub fn expect_refused(&self) -> ServerExit {
        self.spawn().wait()
    }

    /// Restores a backup to its folder by its own clock: what the command writes must not be days away from what the server writes.
    pub fn restore(&self, backup: &Path, words: &[&str]) -> ServerExit {
        let backup = backup.to_str().expect("paths of tests are text");
        let clock = self.settings.iter().find(|setting| setting.starts_with("clock.offset="));
        let settings: Vec<&str> = clock.iter().flat_map(|clock| ["--set", clock.as_str()]).collect();
        self.run(&[&["restore", backup], words, &settings].concat())
    }

    /// Runs another command of the binary on the same folder.
    pub fn run(&self, words: &[&str]) -> ServerExit {
        ServerProcess::spawn(base_command(&self.program).args(words).arg("--data-dir").arg(&self.folder)).wait()
    }

    /// As [`Self::run`], but SIGKILL ends it at the first of these system calls, by `strace`.
    pub fn run_killed_at(&self, calls: &str, words: &[&str]) -> ServerExit {
        let mut command = base_command(Path::new("strace"));
        command.args(["-f", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
        command.args(["-e", &format!("inject={calls}:signal=KILL:when=1")]);
        command.arg(&self.program).args(words).arg("--data-dir").arg(&self.folder);
        ServerProcess::spawn(&mut command).wait()
    }

    /// Runs a command of the binary that needs no folder.
    pub fn run_without_folder(&self, words: &[&str]) -> ServerExit {
        ServerProcess::spawn(base_command(&self.program).args(words)).wait()
    }

    fn spawn(&self) -> ServerProcess {
        let mut command = self.command();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.arg("serve").arg("--data-dir").arg(&self.folder);
        command.args(self.cluster.iter().flat_map(|file| [OsStr::new("--cluster"), file.as_os_str()]));
        for setting in &self.settings {
            command.args(["--set", setting]);
        }
        ServerProcess::spawn_with(&mut command, self.log_is_read)
    }

    fn command(&self) -> Command {
        let Some(open_files) = self.open_files else { return base_command(&self.program) };
        let mut shell = base_command(Path::new("sh"));
        shell.args(["-c", &format!("ulimit -n {open_files} && exec \"$0\" \"$@\"")]).arg(&self.program);
        shell
    }
}

impl RunningServer {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The HTTPS port.
    ///
    /// # Panics
    /// Where that port is off.
    pub fn https_port(&self) -> u16 {
        self.https_port.expect("the door for HTTPS is open")
    }

    /// Another address of the ready line by its key, such as `brokerTls`.
    ///
    /// # Panics
    /// Where that port is off.
    pub fn port_address(&self, key: &str) -> SocketAddr {
        let (_, rest) = self.ready_line.split_once(&format!("\"{key}\":\"")).expect("the door is open");
        let url = rest.split_once('"').map(|(url, _)| url);
        url.and_then(|url| url.split_once("://")?.1.parse().ok()).expect("the ready line names addresses")
    }

    /// The first line that it printed.
    pub fn ready_line(&self) -> &str {
        &self.ready_line
    }

    /// Waits for a later line on standard output that has this text.
    ///
    /// # Panics
    /// Where none comes in time.
    pub fn wait_for_output(&self, text: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.process.lines.recv_timeout(left) {
                Ok(line) if line.contains(text) => return line,
                Ok(_) => {}
                Err(error) => panic!("no line with {text}: {error}; its log:\n{}", self.log()),
            }
        }
    }

    /// A new connection to it.
    pub fn client(&self) -> HttpClient {
        HttpClient::new(self.address)
    }

    pub fn pid(&self) -> u32 {
        self.process.child.id()
    }

    /// Whether it ended by itself, or was killed.
    pub fn has_ended(&mut self) -> bool {
        self.process.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// What it has written to standard error so far.
    pub fn log(&self) -> String {
        self.process.log()
    }

    /// SIGKILL: no shutdown, no last write.
    pub fn kill(mut self) -> ServerExit {
        self.kill_process();
        self.wait()
    }

    /// SIGKILL, without waiting until it has taken effect.
    pub(crate) fn kill_process(&mut self) {
        // It may have ended by itself.
        let _ = self.process.child.kill();
    }

    /// SIGTERM, and an orderly end.
    ///
    /// # Panics
    /// Where it does not end in order.
    pub fn stop(self) -> ServerExit {
        terminate(self.pid());
        let ended = self.wait();
        assert_eq!(ended.code, Some(0), "an orderly stop: {ended}");
        ended
    }

    /// Waits until it ends by itself.
    pub fn wait(self) -> ServerExit {
        self.process.wait()
    }
}

/// The binary, without the ports and folders of the test's environment.
fn base_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (variable, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("RIALTO_")) {
        command.env_remove(variable);
    }
    command
}

/// The shell's own `kill` is everywhere, the command is not.
fn terminate(pid: u32) {
    send_signal(pid, "TERM");
}

/// Sends a signal by its name without `SIG`, such as `STOP`.
///
/// # Panics
/// Where the process is gone.
pub fn send_signal(pid: u32, signal: &str) {
    let told = Command::new("sh").args(["-c", "kill -\"$1\" \"$0\"", &pid.to_string(), signal]).status();
    assert!(told.is_ok_and(|status| status.success()), "process {pid} can't be sent {signal}");
}

/// What each thread of a process is blocked on.
fn threads(pid: u32) -> String {
    let read = |folder: &Path, name| fs::read_to_string(folder.join(name)).unwrap_or_default().trim().to_owned();
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let told = threads.map(|thread| format!("{} in {}", read(&thread.path(), "comm"), read(&thread.path(), "wchan")));
    told.collect::<Vec<_>>().join(", ")
}

/// `"http":"http://127.0.0.1:40001"` inside the ready line.
fn address_in(ready_line: &str, scheme: &str) -> Option<SocketAddr> {
    let (_, rest) = ready_line.split_once(&format!("\"{scheme}\":\"{scheme}://"))?;
    rest.split_once('"')?.0.parse().ok()
}

/// Of the log of a server whose scenario failed.
const LOG_LINES_SHOWN: usize = 40;

/// A child with its outputs collected.
struct ServerProcess {
    child: Child,
    lines: Receiver<String>,
    log: Arc<Mutex<String>>,
    readers: Vec<JoinHandle<()>>,
    /// A pipe that stays open and is not read.
    _unread: Option<ChildStderr>,
}

impl ServerProcess {
    fn spawn(command: &mut Command) -> Self {
        Self::spawn_with(command, true)
    }

    fn spawn_with(command: &mut Command, log_is_read: bool) -> Self {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap_or_else(|error| panic!("{command:?} can't be started: {error}"));
        let (out, err) = (child.stdout.take().expect("it is piped"), child.stderr.take().expect("it is piped"));
        let (sender, lines) = mpsc::channel();
        let log = Arc::new(Mutex::new(String::new()));
        let shared = log.clone();
        let mut readers = vec![thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).for_each(|l| drop(sender.send(l)));
        })];
        let unread = if log_is_read {
            readers.push(thread::spawn(move || collect(err, &shared)));
            None
        } else {
            Some(err)
        };
        Self { child, lines, log, readers, _unread: unread }
    }

    fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn wait(mut self) -> ServerExit {
        let look = &mut || self.child.try_wait().expect("a child can be waited for");
        let Some(status) = poll(DEADLINE, look) else {
            self.end();
            panic!("it did not end in {DEADLINE:?}; its log:\n{}", self.log());
        };
        self.readers.drain(..).for_each(|reader| drop(reader.join()));
        ServerExit {
            code: ExitStatus::code(&status),
            output: self.lines.iter().collect::<Vec<_>>().join("\n"),
            log: self.log(),
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let ended = self.child.try_wait().ok().flatten();
        self.end();
        // What the scenario met may have its reason here, above all where the server ended by itself.
        if thread::panicking() {
            let log = self.log();
            let tail: Vec<_> = log.lines().rev().take(LOG_LINES_SHOWN).collect();
            let tail: Vec<_> = tail.into_iter().rev().collect();
            eprintln!("a server that the failed scenario used had ended: {ended:?}; its log:\n{}", tail.join("\n"));
        }
    }
}

fn collect(mut err: impl Read, log: &Mutex<String>) {
    let mut bytes = [0; 4096];
    while let Ok(length) = err.read(&mut bytes) {
        if length == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&bytes[..length]);
        log.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
    }
}

impl fmt::Display for ServerExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit code {:?}; its output:\n{}\nits log:\n{}", self.code, self.output, self.log)
    }
}
