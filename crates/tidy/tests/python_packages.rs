//! The packages of PyPI that `make setup` installs: all that are missing at once, and one that cannot be installed is named.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An environment whose Python has the module `stomp` alone and whose pip cannot install a package with `bad` in its name.
fn environment(folder: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let program = |name: &str, text: &str| {
        let program = folder.join("bin").join(name);
        fs::write(&program, format!("#!/bin/sh\n{text}\n")).expect("a file for the test");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a file of our own");
    };
    fs::create_dir_all(folder.join("bin")).expect("a folder for the test");
    program("python", "[ \"$2\" = 'import stomp' ]");
    program("pip", "shift 3; echo \"pip $*\"; case $* in *bad*) exit 1 ;; esac");
    program("schemathesis", "");
    folder
}

fn install(folder: &str, tools: &[&str]) -> String {
    let environment = environment(folder);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/install-python.sh");
    let output = Command::new("sh").arg(script).arg(&environment).args(tools).output().expect("a shell");
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let printed = printed.replace(&environment.display().to_string(), "VENV");
    format!("{printed}exit {}\n", output.status.code().unwrap_or(-1))
}

const THERE: [&str; 2] = ["bin/schemathesis=schemathesis==4", "stomp=stomp.py==9"];

#[test]
fn nothing_is_installed_where_nothing_is_missing() {
    assert_eq!(install("python-complete", &THERE), "exit 0\n");
}

#[test]
fn all_that_are_missing_are_installed_at_once() {
    let tools = [THERE[0], "yaml=PyYAML==6", THERE[1], "ccxt,binance=ccxt==4 binance==1", "bin/nats=nats==2"];
    let expected = "installing PyYAML==6 ccxt==4 binance==1 nats==2 into VENV\n\
                    pip PyYAML==6 ccxt==4 binance==1 nats==2\nexit 0\n";
    assert_eq!(install("python-missing", &tools), expected);
}

#[test]
fn a_package_that_cannot_be_installed_is_named_and_keeps_no_other_away() {
    let tools = ["yaml=PyYAML==6", "bad=bad==1", "bin/nats=nats==2"];
    let expected = "installing PyYAML==6 bad==1 nats==2 into VENV\npip PyYAML==6 bad==1 nats==2\n\
                    pip PyYAML==6\npip bad==1\npip nats==2\ncould not install bad==1: it needs PyPI\nexit 1\n";
    assert_eq!(install("python-bad", &tools), expected);
}
