//! The program as a shell sees it: words and variables in; exit code, standard output and standard error out.

// The lint knows test functions only, not what they share.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};
use storage::journal::{Batch, InstanceId, Journal, Options, Record};
use storage::lock::FolderLock;

fn rialto(folder: &Path, words: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rialto"));
    let ended = command.args(words).current_dir(folder).env_clear().envs(variables.iter().copied()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!("{}{}exit {}\n", text(&ended.stdout), text(&ended.stderr), ended.status.code().unwrap())
}

fn check(words: &[&str], variables: &[(&str, &str)], expected: &Expect) {
    let folder = tempfile::tempdir().unwrap();
    expected.assert_eq(&rialto(folder.path(), words, variables));
}

#[test]
fn it_says_its_version() {
    check(
        &["--version"],
        &[],
        &expect![[r#"
        rialto 0.1.0
        exit 0
    "#]],
    );
}

#[test]
fn wrong_configurations_end_with_2_and_every_reason() {
    let words = ["check-config", "--set", "bind=0.0.0.0", "--set", "htp.port=1"];
    check(
        &words,
        &[("RIALTO_LOG_LEVEL", "loud"), ("RIALTO_HTP_PORT", "1")],
        &expect![[r#"
        rialto: the configuration can't be used:
          RIALTO_HTP_PORT: unknown variable; did you mean 'RIALTO_HTTP_PORT'?
          --set: unknown key 'htp.port'; did you mean 'http.port'?
          --set: bind: '0.0.0.0' can be reached from other machines, and that needs a user who logs in; this version has no users yet, so it listens on loopback only (127.0.0.1 or ::1)
          RIALTO_LOG_LEVEL: log.level: 'loud' is not one of error, warn, info, debug, trace
        exit 2
    "#]],
    );
}

#[test]
fn variables_reach_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("RIALTO_HTTP_PORT", "0"), ("RIALTO_DEMO_ACTIVITY", "off"), ("RIALTO_SERVICE_HOST", "10.0.0.1")];
    let answer = rialto(folder.path(), &["check-config", "--set", "http.port=1"], &variables);
    let telling =
        |line: &&str| ["http.port", "demo.activity", "note", "The", "exit"].iter().any(|word| line.starts_with(word));
    let lines: Vec<_> = answer.lines().filter(telling).collect();
    expect![[r#"
        http.port                     1                   --set
        demo.activity                 off                 RIALTO_DEMO_ACTIVITY
        note: RIALTO_SERVICE_HOST in the environment is no key and changes nothing
        The configuration is good.
        exit 0"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn the_sample_is_a_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let sample = rialto(folder.path(), &["sample-config"], &[]);
    fs::write(folder.path().join("desk.toml"), sample.strip_suffix("exit 0\n").unwrap()).unwrap();
    let answer = rialto(folder.path(), &["check-config", "--config", "desk.toml"], &[]);
    assert!(answer.ends_with("\nThe configuration is good.\nexit 0\n"), "{answer}");
}

#[test]
fn an_import_lists_what_is_wrong_and_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let answer = rialto(folder.path(), &["import", "."], &[]);
    assert!(
        answer.starts_with("rialto: the reference data can't be used:\n  ./exchanges.csv: cannot be read"),
        "{answer}"
    );
    assert!(answer.ends_with("exit 2\n"), "{answer}");
    assert!(!folder.path().join("data").exists());
}

fn write_a_journal(folder: &Path) {
    let lock = FolderLock::take(folder).unwrap();
    let options = Options { segment_bytes: 1 << 16, ..Options::new(InstanceId([7; 16])) };
    let (_, mut journal) = Journal::open(&lock, &options, &mut |_| {}).unwrap();
    for sequence in 1..=3 {
        let record = Record { sequence, kind: 0, payload: vec![0; 100] };
        journal.append(Batch { time: 0, records: vec![record] }).unwrap();
        while journal.durable() < sequence {
            journal.news().recv().unwrap();
        }
    }
    journal.close().unwrap();
}

fn flip_a_bit_in_the_middle(journal: &Path) {
    let segment = fs::read_dir(journal).unwrap().map(|file| file.unwrap().path()).min().unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[used / 2] ^= 1;
    fs::write(&segment, bytes).unwrap();
}

#[test]
fn a_journal_is_proven_or_its_damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["journal", "verify", "--data-dir", "desk"];
    assert_eq!(rialto(folder.path(), &words, &[]), "rialto: there is no journal in desk/journal\nexit 2\n");
    write_a_journal(&folder.path().join("desk"));
    let good = rialto(folder.path(), &words, &[]);
    assert!(good.contains("records         3\n") && good.ends_with("damage          none\nexit 0\n"), "{good}");
    flip_a_bit_in_the_middle(&folder.path().join("desk/journal"));
    let damaged = rialto(folder.path(), &words, &[]);
    assert!(damaged.contains("is damaged at offset") && damaged.ends_with("exit 4\n"), "{damaged}");
}
