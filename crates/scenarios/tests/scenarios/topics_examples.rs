//! The programs of `examples/stomp`, as a user runs them: each hears what becomes of an order.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use scenarios::patience::wait_for;
use scenarios::server::Server;

use crate::desk::{AAPL, Desk, Trader, limit, with_id};

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
        let mut example = Self { child, lines };
        assert_eq!(example.line(), "listening");
        example
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("the program has ended early").unwrap()
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the program, places an order, and waits for its two lines and its end.
fn hears_of_an_order(server: &Server, command: Command) {
    let mut example = Example::start(command);
    server.client().place(&with_id(limit(AAPL, "BUY", 10, "272.00"), "my-first"));
    assert_eq!([example.line(), example.line()], ["my-first OPEN", "my-first SUBMITTED"]);
    let ended = wait_for("the end of the program", || example.child.try_wait().unwrap());
    assert!(ended.success(), "{ended:?}");
}

#[test]
fn a_python_program_listens_over_tcp() {
    let Some(mut python) = python() else { return };
    let desk = Desk::new();
    let server = desk.start();
    python.args(["listen_tcp.py", &server.door("brokerTcp").to_string(), "2"]);
    hears_of_an_order(&server, python);
    server.stop();
}

#[test]
fn a_python_program_listens_over_tls_on_either_port() {
    let desk = Desk::new();
    let server = desk.start();
    let certificate = desk.data().join("tls/cert.pem");
    for (order, door) in ["brokerTls", "brokerTcp"].into_iter().enumerate() {
        let Some(mut python) = python() else { return };
        // By name: the certificate is looked at.
        let address = format!("localhost:{}", server.door(door).port());
        python.args(["listen_tls.py", &address]).arg(&certificate).arg("2");
        let mut example = Example::start(python);
        let id = format!("order-{order}");
        server.client().place(&with_id(limit(AAPL, "BUY", 10, "272.00"), &id));
        assert_eq!([example.line(), example.line()], [format!("{id} OPEN"), format!("{id} SUBMITTED")]);
    }
    server.stop();
}

#[test]
fn a_python_program_listens_over_a_websocket() {
    let Some(mut python) = python() else { return };
    let desk = Desk::new();
    let server = desk.start();
    python.args(["listen_websocket.py", &server.door("brokerWs").to_string(), "2"]);
    hears_of_an_order(&server, python);
    server.stop();
}

#[test]
fn a_node_program_listens_at_the_door_of_pages() {
    let Some(mut node) = node() else { return };
    let desk = Desk::new();
    let server = desk.start();
    node.args(["listen.mjs", &format!("ws://{}/stomp", server.address()), "2"]);
    hears_of_an_order(&server, node);
    server.stop();
}

/// A Python that has stomp.py.
pub(crate) fn python() -> Option<Command> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/venv/bin/python"));
    let python = env::var_os(PYTHON).map_or_else(beside, PathBuf::from);
    let has_stomp =
        || Command::new(&python).args(["-c", "import stomp"]).output().is_ok_and(|tried| tried.status.success());
    there_is(has_stomp(), "stomp.py").then(|| Command::new(&python))
}

fn node() -> Option<Command> {
    let is_there = PathBuf::from(EXAMPLES).join("node_modules/@stomp/stompjs").is_dir();
    there_is(is_there, "@stomp/stompjs").then(|| Command::new("node"))
}

/// Without it the story is not told, except where everything must hold.
fn there_is(is_there: bool, package: &str) -> bool {
    assert!(is_there || env::var_os(PYTHON).is_none() && env::var_os("CI").is_none(), "{package} is not installed");
    if !is_there {
        eprintln!("NOT TESTED: {package} is not installed; `make test` does it");
    }
    is_there
}
