//! `rialto strategy new`: the crate that it writes is built, knows its strategy, and serves it.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

use std::path::{Path, PathBuf};
use std::process::Command;

use scenarios::server::ServerLauncher;
use scenarios::wait::wait_for;

/// Where this test was built; the crate is built beside it, so that what both use is compiled once.
fn target() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

fn build(folder: &Path) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--quiet"]).current_dir(folder).env("CARGO_TARGET_DIR", target());
    let built = cargo.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target().join("debug").join("my-idea")
}

#[test]
fn the_crate_that_is_written_is_rialto_with_ones_own_strategy_inside() {
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    server::strategy_template::create(folder.path(), "my-idea", &sources).unwrap();
    let program = build(&folder.path().join("my-idea"));
    let listed = Command::new(&program).args(["strategy", "list"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("my-idea: buys when the price falls"), "{listed}");
    assert!(listed.contains("moving-average-cross: "), "{listed}");
    let launch = ServerLauncher::with_program(&program, &folder.path().join("data"));
    let server = launch.set("strategies.instances", "MINE:my-idea security=EUR.USD fall=0.5").start();
    let mut client = server.client();
    wait_for("its strategy at work", || {
        let strategies = client.get("/rest/strategy").unwrap().body;
        strategies.contains(r#""name":"MINE","autoActivate":true,"phase":"RUN""#).then_some(())
    });
    server.stop();
}
