//! The stages of `make test`: one that fails fails the run and hides no other.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the stages with a `make` that prints the stage and fails at those whose name begins with `bad`.
fn run(folder: &str, stages: &[&str]) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    let make = folder.join("make");
    fs::write(&make, "#!/bin/sh\necho \"running $2\"\ncase $2 in bad*) exit 2 ;; esac\n").expect("a file for the test");
    fs::set_permissions(&make, fs::Permissions::from_mode(0o755)).expect("a file of our own");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/test-stages.sh");
    let output = Command::new("sh").arg(script).args(stages).env("MAKE", &make).output().expect("a shell");
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    format!("{}exit {}\n", without_seconds(&printed), output.status.code().unwrap_or(-1))
}

/// How long a stage took is no matter here.
fn without_seconds(printed: &str) -> String {
    printed.lines().map(|line| line.rsplit_once(", ").map_or(line, |(before, _)| before).to_owned() + "\n").collect()
}

#[test]
fn good_stages_print_their_duration_and_the_rust_tests_come_last() {
    let printed = run("good", &["lint", "test-rust"]);
    assert_eq!(printed, "running lint\n== lint: ok\nrunning test-rust\nexit 0\n");
}

#[test]
fn a_failing_stage_fails_the_run_and_the_others_still_report() {
    let printed = run("bad", &["bad-lint", "test-screen", "test-rust"]);
    let expected = "running bad-lint\nrunning test-screen\n== test-screen: ok\nrunning test-rust\n\
                    == bad-lint: FAILED\n== failed before the Rust tests: bad-lint\nexit 1\n";
    assert_eq!(printed, expected);
}
