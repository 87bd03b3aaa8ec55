//! Commands that are killed while they work on a data folder: a backup beside a server that trades, the archive, the import of older users.
//! The script of `make kill-years` with few kills; those of the server while it writes snapshots are in the kill test.

use std::env;
use std::process::{Command, id};

use scenarios::binary;

/// The environment variable that names a Python; `make test` sets it.
const PYTHON: &str = "EXAMPLES_PYTHON";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/kill-years.py");
const KILLS_OF_EACH: u32 = 5;

#[test]
fn backups_archives_and_imports_that_are_killed_lose_nothing() {
    let mut script = Command::new(env::var_os(PYTHON).unwrap_or_else(|| "python3".into()));
    script.arg(SCRIPT).arg(binary::rialto()).args([KILLS_OF_EACH.to_string(), id().to_string()]);
    let ended = script.args(["backups", "archives", "imports"]).output().unwrap();
    let (told, errors) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{told}{errors}");
    let lines: Vec<_> = told.lines().skip(1).collect();
    let parts = ["backups", "archives", "imports"];
    let is_complete = |(line, part): (&&str, &str)| {
        line.starts_with(&format!("{part}: {KILLS_OF_EACH} kills, ")) && line.contains(", lost 0, doubled 0;")
    };
    assert!(lines.len() == parts.len() && lines.iter().zip(parts).all(is_complete), "{told}");
}
