//! The programs of `examples/stomp`, as a user runs them: each receives the events of an order, loses its connection,
//! and resumes where it stopped.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use scenarios::http::HttpClient;
use scenarios::proxy::CuttableProxy;
use scenarios::wait::wait_for;
use tempfile::TempDir;

use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit, with_id};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/stomp");

/// The environment variable that names a Python with stomp.py; `make test` installs it and sets this.
const PYTHON: &str = "EXAMPLES_PYTHON";

/// A program that listens.
struct Example {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Example {
    fn start(mut command: Command) -> Self {
        let command = command.current_dir(EXAMPLES).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?} can't be started: {error}"));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("the program has ended early").unwrap()
    }

    /// The next lines, apart from those about orders that stand, which come when they come.
    fn hears(&mut self, expected: &[&str]) {
        let lines = std::iter::repeat_with(|| self.line()).filter(|line| !line.starts_with("standing "));
        assert_eq!(lines.take(expected.len()).collect::<Vec<_>>(), expected);
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn place(client: &mut HttpClient, id: &str) {
    client.place(&with_id(limit(AAPL, "BUY", 10, "272.00"), id));
    client.wait_for_status(id, "SUBMITTED");
}

/// A program that ends between its line and its note is told again, as it must be.
fn wait_until_written_down(client: &mut HttpClient, order: &str, last_event: &Path) {
    let events = client.get_json(&format!("/rest/history/order/{order}/event"));
    let last = format!("{}-", events.as_array().unwrap().last().unwrap()["sequenceNumber"]);
    let is_written = || fs::read_to_string(last_event).ok().filter(|kept| kept.starts_with(&last));
    wait_for("the note of the last event", is_written);
}

/// The story of a program on a wire that can be cut: `command` starts it against an address, with the file for its last
/// event.
fn goes_on_after_a_cut(command: impl Fn(SocketAddr, &Path) -> Command) {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    let (wire, kept) = (CuttableProxy::to(server.port_address("brokerTcp")), TempDir::new().unwrap());
    let last_event = kept.path().join("last-event");
    place(&mut client, "before");
    let mut example = Example::start(command(wire.address(), &last_event));
    example.hears(&["listening", "before OPEN", "before SUBMITTED"]);
    place(&mut client, "live");
    example.hears(&["live OPEN", "live SUBMITTED"]);
    wire.cut();
    place(&mut client, "missed");
    wire.restore();
    example.hears(&["listening", "missed OPEN", "missed SUBMITTED"]);
    wait_until_written_down(&mut client, "missed", &last_event);
    drop(example);
    place(&mut client, "away");
    let mut again = Example::start(command(wire.address(), &last_event));
    again.hears(&["listening", "away OPEN", "away SUBMITTED"]);
    server.stop();
}

/// The same where the server itself is killed and comes back: a WebSocket must be called by the port that is the server's.
fn goes_on_after_a_kill(port_key: &str, command: impl Fn(SocketAddr, &Path) -> Command) {
    let address = free_address();
    let desk = TestPlatform::new().set(port_key, address.port());
    let server = desk.start();
    let kept = TempDir::new().unwrap();
    let last_event = kept.path().join("last-event");
    place(&mut server.client(), "before");
    let mut example = Example::start(command(address, &last_event));
    example.hears(&["listening", "before OPEN", "before SUBMITTED"]);
    wait_until_written_down(&mut server.client(), "before", &last_event);
    server.stop();
    let server = desk.start();
    place(&mut server.client(), "missed");
    example.hears(&["listening", "missed OPEN", "missed SUBMITTED"]);
    server.stop();
}

/// The system does not reuse a port soon after it was free.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn a_python_program_goes_on_over_tcp() {
    if python().is_none() {
        return;
    }
    goes_on_after_a_cut(|address, last_event| {
        let mut python = python().unwrap();
        python.arg("listen.py").arg(format!("tcp://{address}")).arg(last_event);
        python
    });
}

#[test]
fn a_python_program_goes_on_over_a_websocket() {
    if python().is_none() {
        return;
    }
    goes_on_after_a_kill("broker.ws.port", |address, last_event| {
        let mut python = python().unwrap();
        python.arg("listen.py").arg(format!("ws://{address}/stomp")).arg(last_event);
        python
    });
}

/// With users every client must log in; a token is as good as a password.
#[test]
fn programs_log_in_with_a_token_over_tls_on_either_port() {
    let desk = TestPlatform::new();
    let server = desk.start();
    place(&mut server.client(), "first");
    let made = server.client().post("/rest/token", r#"{"name": "feed", "role": "VIEWER", "days": 1}"#).unwrap();
    let token: serde_json::Value = serde_json::from_str(&made.body).unwrap();
    let certificate = desk.data().join("tls/cert.pem");
    let kept = TempDir::new().unwrap();
    for (number, door) in ["brokerTls", "brokerTcp"].into_iter().enumerate() {
        // By name: the certificate is checked.
        let url = format!("tls://localhost:{}", server.port_address(door).port());
        for (name, command) in [("python", python_with("listen.py")), ("go", go(kept.path()))] {
            let Some(mut command) = command else { continue };
            command.arg(&url).arg(kept.path().join(format!("{name}-{number}")));
            command.env("RIALTO_CA", &certificate).env("RIALTO_LOGIN", "feed");
            command.env("RIALTO_PASSCODE", token["token"].as_str().unwrap());
            Example::start(command).hears(&["listening", "first OPEN", "first SUBMITTED"]);
        }
    }
    server.stop();
}

#[test]
fn a_node_program_resumes_over_the_websocket_of_the_http_port() {
    if node().is_none() {
        return;
    }
    goes_on_after_a_kill("http.port", |address, last_event| {
        let mut node = node().unwrap();
        node.arg("listen.mjs").arg(format!("ws://{address}/stomp")).arg(last_event);
        node
    });
}

#[test]
fn a_program_in_go_goes_on() {
    let built = TempDir::new().unwrap();
    if go(built.path()).is_none() {
        return;
    }
    goes_on_after_a_cut(|address, last_event| {
        let mut program = Command::new(built.path().join("listen"));
        program.arg(format!("tcp://{address}")).arg(last_event);
        program
    });
}

#[test]
fn a_program_in_rust_goes_on() {
    let built = TempDir::new().unwrap();
    let program = built.path().join("listen");
    let mut rustc = Command::new("rustc");
    let rustc = rustc.current_dir(EXAMPLES).args(["--edition", "2021", "-D", "warnings", "-o"]);
    compile(rustc.arg(&program).arg("listen.rs"));
    goes_on_after_a_cut(|address, last_event| {
        let mut program = Command::new(&program);
        program.arg(address.to_string()).arg(last_event);
        program
    });
}

#[test]
fn a_program_in_c_sharp_goes_on() {
    if !there_is(is_installed("mcs") && is_installed("mono"), "mono-mcs") {
        return;
    }
    let built = TempDir::new().unwrap();
    let program = built.path().join("listen.exe");
    compile(Command::new("mcs").current_dir(EXAMPLES).arg(format!("-out:{}", program.display())).arg("Listen.cs"));
    goes_on_after_a_cut(|address, last_event| {
        let mut mono = Command::new("mono");
        mono.arg(&program).arg(format!("tcp://{address}")).arg(last_event);
        mono
    });
}

fn compile(command: &mut Command) {
    let done = command.output().unwrap_or_else(|error| panic!("{command:?} can't be started: {error}"));
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A Python that has stomp.py.
pub(crate) fn python() -> Option<Command> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/venv/bin/python"));
    let python = env::var_os(PYTHON).map_or_else(beside, PathBuf::from);
    let has_stomp =
        || Command::new(&python).args(["-c", "import stomp"]).output().is_ok_and(|tried| tried.status.success());
    there_is(has_stomp(), "stomp.py").then(|| Command::new(&python))
}

fn python_with(program: &str) -> Option<Command> {
    let mut python = python()?;
    python.arg(program);
    Some(python)
}

fn node() -> Option<Command> {
    let is_there = PathBuf::from(EXAMPLES).join("node_modules/@stomp/stompjs").is_dir();
    there_is(is_there, "@stomp/stompjs").then(|| Command::new("node"))
}

/// The program in Go, built into that folder.
fn go(folder: &Path) -> Option<Command> {
    if !there_is(is_installed("go"), "golang-go") {
        return None;
    }
    let program = folder.join("listen");
    let mut build = Command::new("go");
    // All tests have one, or each would compile the standard library: since 1.20 Go does not bring it compiled.
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache");
    build.current_dir(EXAMPLES).env("GOCACHE", cache).env("GO111MODULE", "off");
    compile(build.args(["build", "-o"]).arg(&program).arg("listen.go"));
    Some(Command::new(program))
}

fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Without it the test is skipped, except where everything must run.
fn there_is(is_there: bool, package: &str) -> bool {
    assert!(is_there || env::var_os(PYTHON).is_none() && env::var_os("CI").is_none(), "{package} is not installed");
    if !is_there {
        eprintln!("NOT TESTED: {package} is not installed; `make test` does it");
    }
    is_there
}
