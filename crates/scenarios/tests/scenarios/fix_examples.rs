//! The programs of `examples/fix`, as a user runs them: those in C++ and Python buy at the market, with the dictionary that the
//! server hands out, and again on a second connection whose numbers go on. The engines of the others are not to be had from
//! Debian or PyPI: of the programs in Go and C# only the syntax is looked at, of that in Java nothing, of all their settings
//! whether they say the same.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use scenarios::server::RunningServer;
use tempfile::TempDir;

use crate::test_platform::{TestPlatform, TraderClient};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/fix");

/// The environment variable that names a Python with QuickFIX; `make test` installs it and sets this.
const PYTHON: &str = "EXAMPLES_PYTHON";

/// The demo's sessions for clients that have the clock of the wall, while the desk has another.
fn start_server() -> TestPlatform {
    let server = TestPlatform::new();
    fs::create_dir_all(server.data().join("fix")).unwrap();
    let demo = include_str!("../../../fix-gateway/src/demo.cfg");
    fs::write(server.data().join("fix/sessions.cfg"), demo.replace("[DEFAULT]\n", "[DEFAULT]\nCheckLatency=N\n"))
        .unwrap();
    server
}

/// A folder as the comments of the programs ask for it: the settings for this server, and its dictionary.
fn folder(server: &RunningServer) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let settings = fs::read_to_string(Path::new(EXAMPLES).join("cpp/client.cfg")).unwrap();
    let port = format!("SocketConnectPort={}", server.port_address("fix").port());
    let settings = settings.replace("SocketConnectPort=9876", &port);
    let settings = settings.replace("[DEFAULT]\n", "[DEFAULT]\nCheckLatency=N\n");
    fs::write(folder.path().join("client.cfg"), settings).unwrap();
    let dictionary = server.client().get("/docs/fix/FIX44.xml").unwrap();
    fs::write(folder.path().join("FIX44.xml"), dictionary.body).unwrap();
    folder
}

/// Runs the program for two orders; what it prints is what became of each.
fn buys_twice(program: &Path, arguments: &[PathBuf]) {
    let desk = start_server();
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
    let python = env::var_os(PYTHON).unwrap_or_else(|| panic!("{PYTHON} is not set; `make test` sets it"));
    let python = PathBuf::from(python);
    let quickfix = Command::new(&python).args(["-c", "import quickfix"]).output();
    let quickfix = quickfix.unwrap_or_else(|error| panic!("{}: {error}; `make setup` installs it", python.display()));
    let said = String::from_utf8_lossy(&quickfix.stderr);
    assert!(quickfix.status.success(), "{said}\n`make setup` installs QuickFIX for Python");
    buys_twice(&python, &[Path::new(EXAMPLES).join("python/client.py")]);
}

#[test]
fn the_programs_in_go_and_c_sharp_have_no_error_of_syntax() {
    for (program, arguments, file) in [("gofmt", "-d", "go/client.go"), ("mcs", "--parse", "dotnet/Client.cs")] {
        let run = Command::new(program).args([arguments, file]).current_dir(EXAMPLES).output();
        let run = run.unwrap_or_else(|error| panic!("{program}: {error}; `make setup` installs it"));
        let said = [run.stdout, run.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
        assert!(run.status.success() && said[0].is_empty(), "{file}: {said:?}");
    }
}

/// A settings file without its remarks, what differs from engine to engine and the sections, which QuickFIX/J writes small.
fn settings_of(engine: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(Path::new(EXAMPLES).join(engine).join("client.cfg")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '[']));
    let pairs = lines.map(|line| line.split_once('=').unwrap_or_else(|| panic!("{engine}: {line}")));
    let own = ["ConnectionType", "UseDataDictionary", "TimeZone", "EnableNextExpectedMsgSeqNum"];
    pairs.filter(|(name, _)| !own.contains(name)).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn the_settings_of_every_engine_say_what_those_say_that_trade() {
    let proven = settings_of("cpp");
    assert_eq!(proven.len(), 13, "{proven:?}");
    for engine in ["java", "dotnet", "go"] {
        assert_eq!(settings_of(engine), proven, "{engine}");
    }
}
