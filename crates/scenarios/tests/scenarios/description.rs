//! The server against its OpenAPI description: schemathesis generates requests from `/openapi.json`, valid and invalid,
//! and searches for internal errors and for undescribed responses.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use scenarios::server::RunningServer;

use crate::test_platform::TestPlatform;

/// The environment variable that names the tool; `make test` installs it and sets this.
const VARIABLE: &str = "SCHEMATHESIS_BIN";

const CONFIGURATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schemathesis.toml");

/// The caller stays an admin, also once the tool has added users.
#[test]
fn every_answer_is_one_that_is_described() {
    let Some(schemathesis) = tool() else { return };
    let desk = TestPlatform::new().set("auth.anonymousRole", "admin");
    let server = desk.start();
    let mut command = Command::new(schemathesis);
    command.args(["--config-file", CONFIGURATION, "run", &format!("http://{}/openapi.json", server.address())]);
    // An interface that is switched off responds 503, which is not an error.
    for path in closed_endpoints(&server) {
        command.args(["--exclude-path", path]);
    }
    let tried = command.current_dir(desk.data()).output().unwrap();
    let told = String::from_utf8_lossy(&tried.stdout);
    assert!(tried.status.success(), "{told}\n{}", String::from_utf8_lossy(&tried.stderr));
    assert!(told.contains("No issues found"), "{told}");
    server.stop();
}

fn closed_endpoints(server: &RunningServer) -> Vec<&'static str> {
    let mut client = server.client();
    let doors = ["/rest/broker/url/main", "/rest/broker/url/ws"];
    doors.into_iter().filter(|path| client.get(path).unwrap().status == 503).collect()
}

/// Its path; without the tool the test is skipped, except where everything must run.
fn tool() -> Option<PathBuf> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/venv/bin/schemathesis"));
    let tool = env::var_os(VARIABLE).map_or_else(beside, Into::into);
    if tool.is_file() {
        return Some(tool);
    }
    assert!(env::var_os(VARIABLE).is_none() && env::var_os("CI").is_none(), "there is no {}", tool.display());
    eprintln!("NOT TESTED: schemathesis is not installed; `make test` does it");
    None
}
