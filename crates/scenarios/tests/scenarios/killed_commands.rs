//! What is killed while it works on a data folder: the server while it writes a snapshot, a backup beside a server that trades, the
//! archive, the import of older users. The script of `make kill-years` with few kills.

use std::env;
use std::process::{Command, id};

use scenarios::binary;

/// The environment variable that names a Python; `make test` sets it.
const PYTHON: &str = "EXAMPLES_PYTHON";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/kill-years.py");
const KILLS_OF_EACH: u32 = 5;
const PARTS: [&str; 4] = ["snapshots", "backups", "archives", "imports"];

#[test]
fn snapshots_backups_archives_and_imports_that_are_killed_lose_nothing() {
    let mut script = Command::new(env::var_os(PYTHON).unwrap_or_else(|| "python3".into()));
    script.arg(SCRIPT).arg(binary::rialto()).args([KILLS_OF_EACH.to_string(), id().to_string()]);
    let ended = script.args(PARTS).output().unwrap();
    let (told, errors) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{told}{errors}");
    let lines: Vec<_> = told.lines().skip(1).collect();
    let is_complete = |(line, part): (&&str, &str)| {
        line.starts_with(&format!("{part}: {KILLS_OF_EACH} kills, ")) && line.contains(", lost 0, doubled 0;")
    };
    assert!(lines.len() == PARTS.len() && lines.iter().zip(PARTS).all(is_complete), "{told}");
}
