//! The programs of `examples/fix`, as a user runs them: each buys at the market, with the dictionary that the server hands out,
//! and again on a second connection whose numbers go on.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use scenarios::server::Server;
use tempfile::TempDir;

use crate::desk::{Desk, Trader};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/fix");

/// The environment variable that names a Python; the program in Python is run where that has QuickFIX, which is long to compile
/// and so not installed for the tests.
const PYTHON: &str = "EXAMPLES_PYTHON";

/// The demo's sessions for clients that have the clock of the wall, while the desk has another.
fn desk() -> Desk {
    let desk = Desk::new();
    fs::create_dir_all(desk.data().join("fix")).unwrap();
    let demo = include_str!("../../../fix-gateway/src/demo.cfg");
    fs::write(desk.data().join("fix/sessions.cfg"), demo.replace("[DEFAULT]\n", "[DEFAULT]\nCheckLatency=N\n"))
        .unwrap();
    desk
}

/// A folder as the comments of the programs ask for it: the settings for this server, and its dictionary.
fn folder(server: &Server) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let settings = fs::read_to_string(Path::new(EXAMPLES).join("cpp/client.cfg")).unwrap();
    let port = format!("SocketConnectPort={}", server.door("fix").port());
    let settings = settings.replace("SocketConnectPort=9876", &port);
    let settings = settings.replace("[DEFAULT]\n", "[DEFAULT]\nCheckLatency=N\n");
    fs::write(folder.path().join("client.cfg"), settings).unwrap();
    let dictionary = server.client().get("/docs/fix/FIX44.xml").unwrap();
    fs::write(folder.path().join("FIX44.xml"), dictionary.body).unwrap();
    folder
}

/// Runs the program for two orders; what it prints is what became of each.
fn buys_twice(program: &Path, arguments: &[PathBuf]) {
    let desk = desk();
    let server = desk.start();
    let folder = folder(&server);
    for order in ["first", "second"] {
        let run = Command::new(program).args(arguments).args(["client.cfg", order]).current_dir(folder.path()).output();
        let run = run.unwrap_or_else(|error| panic!("{} can't be started: {error}", program.display()));
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        let errors = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(said, "logged on\nA/A filled 0\n0/0 filled 0\nF/2 filled 100\n", "{order}: {errors}");
        assert!(run.status.success(), "{order}: {errors}");
        assert_eq!(server.client().order(order)["status"], "EXECUTED");
    }
    server.stop();
}

#[test]
fn the_program_in_cpp_buys() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("client");
    // QuickFIX 1.15 still says throw(...), which later standards have given up.
    let compiled = Command::new("g++")
        .args(["-std=c++14", "-w", "-I/usr/include/quickfix", "-o"])
        .args([&program, &Path::new(EXAMPLES).join("cpp/client.cpp")])
        .args(["-lquickfix", "-lpthread"])
        .output()
        .unwrap_or_else(|error| panic!("g++: {error}; `make setup` installs it"));
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}\nthis needs libquickfix-dev; `make setup` installs it");
    buys_twice(&program, &[]);
}

#[test]
fn the_program_in_python_buys() {
    let Some(python) = env::var_os(PYTHON).map(PathBuf::from) else { return };
    let has_quickfix = Command::new(&python).args(["-c", "import quickfix"]).output();
    if has_quickfix.is_ok_and(|output| output.status.success()) {
        buys_twice(&python, &[Path::new(EXAMPLES).join("python/client.py")]);
    }
}
