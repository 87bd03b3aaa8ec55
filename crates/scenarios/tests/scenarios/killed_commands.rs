//! What is killed while it works on a data folder: the server while it writes a snapshot, a backup beside a server that trades, the
//! archive, the import of older users. The script of `make kill-years` with few kills.

use std::env;
use std::process::{Command, id};

use scenarios::binary;

/// The environment variable that names a Python; `make test` sets it.
const PYTHON: &str = "EXAMPLES_PYTHON";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/kill-years.py");
/// The server is killed; docs/proof.md counts it.
const KILLS_OF_SERVER: u32 = 2;
/// Backup, archive and import are commands.
const KILLS_OF_COMMAND: u32 = 5;

#[test]
fn a_server_that_is_killed_while_it_writes_snapshots_loses_nothing() {
    lose_nothing(KILLS_OF_SERVER, &["snapshots"]);
}

#[test]
fn backups_archives_and_imports_that_are_killed_lose_nothing() {
    lose_nothing(KILLS_OF_COMMAND, &["backups", "archives", "imports"]);
}

fn lose_nothing(kills: u32, parts: &[&str]) {
    let mut script = Command::new(env::var_os(PYTHON).unwrap_or_else(|| "python3".into()));
    script.arg(SCRIPT).arg(binary::rialto()).args([kills.to_string(), id().to_string()]);
    let ended = script.args(parts).output().unwrap();
    let (told, errors) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{told}{errors}");
    let lines: Vec<_> = told.lines().skip(1).collect();
    let is_complete = |(line, part): (&&str, &&str)| {
        line.starts_with(&format!("{part}: {kills} kills, ")) && line.contains(", lost 0, doubled 0;")
    };
    assert!(lines.len() == parts.len() && lines.iter().zip(parts).all(is_complete), "{told}");
}
