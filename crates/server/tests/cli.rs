//! The program as a shell sees it: words and variables in; exit code, standard output and standard error out.

// The lint knows test functions only, not what they share.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use expect_test::{Expect, expect};
use storage::journal::{InstanceId, Journal, JournalBatch, JournalOptions, JournalRecord};
use storage::lock::DataDirLock;

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
        rialto 0.2.0
        exit 0
    "#]],
    );
}

#[test]
fn wrong_configurations_end_with_2_and_every_reason() {
    let words = ["check-config", "--set", "bind=everywhere", "--set", "htp.port=1"];
    check(
        &words,
        &[("RIALTO_LOG_LEVEL", "loud"), ("RIALTO_HTP_PORT", "1")],
        &expect![[r#"
            rialto: the configuration can't be used:
              RIALTO_HTP_PORT: unknown variable; did you mean 'RIALTO_HTTP_PORT'?
              --set: unknown key 'htp.port'; did you mean 'http.port'?
              --set: bind: 'everywhere' is not an IP address, such as 127.0.0.1, ::1 or 0.0.0.0
              RIALTO_LOG_LEVEL: log.level: 'loud' is not one of error, warn, info, debug, trace
            exit 2
        "#]],
    );
}

/// The program with something on its standard input; dates, prefixes and secrets are blotted out.
fn rialto_with(folder: &Path, words: &[&str], input: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rialto"));
    command.args(words).current_dir(folder).env_clear().stdin(Stdio::piped());
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that refuses at once does not read on.
    drop(running.stdin.take().unwrap().write_all(input.as_bytes()));
    let ended = running.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    blotted(&format!("{}{}exit {}\n", text(&ended.stdout), text(&ended.stderr), ended.status.code().unwrap()))
}

fn blotted(text: &str) -> String {
    let is_date = |word: &str| word.len() == 20 && word.ends_with('Z');
    let is_chance = |word: &str| [12, 64].contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let blot = |part: &str| {
        let word = part.trim_end_matches([' ', '_', '\n', ';']);
        if is_date(word) || is_chance(word) { part.replace(word, "*") } else { part.to_owned() }
    };
    text.split_inclusive([' ', '_', '\n', ';']).map(blot).collect()
}

#[test]
fn users_are_added_changed_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let rialto = |words: &[&str], input: &str| rialto_with(folder.path(), words, input);
    let told = [
        rialto(&["user", "list"], ""),
        rialto(&["user", "add", "anna", "--role", "trader"], "correct horse\n"),
        rialto(&["user", "add", "anna", "--role", "admin"], "battery staple\n"),
        rialto(&["user", "add", "anna", "--role", "admin", "--replace"], "battery staple\n"),
        rialto(&["user", "add", "momentum", "--role", "strategy", "--strategy", "MOMENTUM"], "correct horse\n"),
        rialto(&["user", "list"], ""),
        rialto(&["user", "remove", "anna"], ""),
        rialto(&["user", "remove", "anna"], ""),
    ];
    expect![[r#"
        there are no users
        exit 0
        user anna may log in, role trader
        no user is an admin: until one is, only this command line manages users
        exit 0
        rialto: there is a user called anna already; --replace changes password and role
        exit 2
        user anna may log in, role admin
        exit 0
        user momentum may log in, role strategy MOMENTUM
        exit 0
        anna      admin              since *
        momentum  strategy MOMENTUM  since *
        exit 0
        user anna is removed
        no user is an admin: until one is, only this command line manages users
        exit 0
        rialto: there is no user called anna
        exit 2
    "#]]
    .assert_eq(&told.concat());
}

#[test]
fn a_user_who_cannot_be_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let rialto = |words: &[&str], input: &str| rialto_with(folder.path(), words, input);
    let told = [
        rialto(&["user", "add", "anna b", "--role", "trader"], "correct horse\n"),
        rialto(&["user", "add", "anna", "--role", "trader"], "short\n"),
        rialto(&["user", "add", "anna", "--role", "trader"], ""),
        rialto(&["user", "add", "anna", "--role", "strategy"], "correct horse\n"),
        rialto(&["user", "add", "anna", "--role", "admin", "--strategy", "MOMENTUM"], "correct horse\n"),
        rialto(&["user", "add", "anna", "--role", "king"], "correct horse\n"),
    ];
    expect![[r#"
        rialto: the name 'anna b' must be 1 to 64 letters, digits or any of . _ @ -
        exit 2
        rialto: the password must have at least 8 characters
        exit 2
        rialto: the password must have at least 8 characters
        exit 2
        rialto: the role strategy needs the name of a strategy
        exit 2
        rialto: only the role strategy is bound to a strategy
        exit 2
        error: invalid value 'king' for '--role <ROLE>'
          [possible values: viewer, trader, strategy, admin]

        For more information, try '--help'.
        exit 2
    "#]]
    .assert_eq(&told.concat());
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let rialto = |words: &[&str]| rialto_with(folder.path(), words, "");
    let told = [
        rialto(&["token", "list"]),
        rialto(&["token", "new", "robot", "--role", "strategy", "--strategy", "MOMENTUM", "--days", "7"]),
        rialto(&["token", "new", "robot", "--role", "viewer"]),
        rialto(&["token", "new", "eternal", "--role", "viewer", "--days", "9999"]),
        rialto(&["token", "new", "screen", "--role", "viewer"]),
        rialto(&["token", "list"]),
        rialto(&["token", "list", "--set", "clock.offset=864000"]),
        rialto(&["token", "revoke", "robot"]),
        rialto(&["token", "revoke", "robot"]),
    ];
    expect![[r#"
        there are no tokens
        exit 0
        rialto_*_*
        token robot, role strategy MOMENTUM, valid until *; it is shown only now:
        exit 0
        rialto: there is a token called robot already
        exit 2
        rialto: a token lives from 1 to 3650 days
        exit 2
        rialto_*_*
        token screen, role viewer, valid until *; it is shown only now:
        exit 0
        robot (rialto_*_…)   strategy MOMENTUM  valid until *
        screen (rialto_*_…)  viewer             valid until *
        exit 0
        robot (rialto_*_…)   strategy MOMENTUM  expired *
        screen (rialto_*_…)  viewer             valid until *
        exit 0
        token robot is revoked
        exit 0
        rialto: there is no token called robot
        exit 2
    "#]]
    .assert_eq(&told.concat());
}

#[test]
fn a_damaged_register_ends_with_4() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/access.sqlite"), "users: anna\n".repeat(100)).unwrap();
    let told = rialto_with(folder.path(), &["user", "list"], "");
    assert_eq!(told, "rialto: data/access.sqlite is damaged: file is not a database\nexit 4\n");
}

#[test]
fn a_server_that_others_could_reach_needs_a_user() {
    let folder = tempfile::tempdir().unwrap();
    let told = rialto_with(folder.path(), &["serve", "--set", "bind=0.0.0.0", "--set", "log.level=error"], "");
    expect![[r#"
        rialto: the configuration can't be used:
          bind: 0.0.0.0 can be reached from other machines, and nobody can log in yet: add a user first, for instance with rialto user add admin --role admin
        exit 2
    "#]].assert_eq(&told);
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
        http.port = 1  (--set)
        demo.activity = off  (RIALTO_DEMO_ACTIVITY)
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
    let lock = DataDirLock::acquire(folder).unwrap();
    let options = JournalOptions { segment_bytes: 1 << 16, ..JournalOptions::new(InstanceId([7; 16])) };
    let (_, mut journal) = Journal::open(&lock, &options, &mut |_| {}).unwrap();
    for sequence in 1..=3 {
        let record = JournalRecord { sequence, kind: 0, payload: vec![0; 100] };
        journal.append(JournalBatch { time: 0, records: vec![record] }).unwrap();
        while journal.durable() < sequence {
            journal.durability_events().recv().unwrap();
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

/// The client id is another one in each run.
fn without_client_id(text: &str) -> String {
    let steady =
        |line: &str| line.split_once("client id R").map_or(line, |(head, _)| head).trim_end().to_owned() + "\n";
    text.lines().map(steady).collect()
}

#[test]
fn a_simulated_venue_is_checked_in_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["venues", "check", "ALPHA", "--set", "demo.activity=off", "--set", "log.level=error"];
    expect![[r#"
        log-on: ok: 0 orders and 0 fills of this check, a complete list
        balances: ok: 1 assets
        prices: ok: bid 272.39, ask 272.41
        far order: ok: buy 1 AAPL at 136.19,
        inquiry: ok: open, with the terms that were sent
        open orders: ok: open, with the terms that were sent
        reconnect: ok: open, with the terms that were sent
        cancel: ok: cancelled
        end of the order: ok: the venue has it as cancelled, without fills
        fills: ok: none of the order among 0
        balances again: ok: as before the order
        transcript: not offered: the venue type records nothing
        exit 0
    "#]]
    .assert_eq(&without_client_id(&rialto(folder.path(), &words, &[])));
    let mut left: Vec<_> =
        fs::read_dir(folder.path().join("data")).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort_unstable();
    assert_eq!(left, ["instance", "lock"]);
}

#[test]
fn a_check_of_a_venue_is_refused_beside_a_server_without_leave_and_for_what_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let refusals = |words: &[&str]| rialto(folder.path(), &[&["venues", "check"], words].concat(), &[]);
    expect![[r#"
        rialto: 'ALPA' is no venue; did you mean 'ALPHA'? (known: ALPHA, BETA)
        exit 2
    "#]]
    .assert_eq(&refusals(&["ALPA"]));
    expect![[r#"
        rialto: --limit: 'much' is no price
        exit 2
    "#]]
    .assert_eq(&refusals(&["ALPHA", "--limit", "much"]));
    let live = ["type=binance-spot", "environment=live", "allowLive=true", "credentials=key.toml"];
    let live: Vec<String> = live.iter().map(|setting| format!("--set=venues.MAIN.{setting}")).collect();
    let words: Vec<&str> = ["MAIN"].into_iter().chain(live.iter().map(String::as_str)).collect();
    expect![[r#"
        rialto: MAIN may trade with real money (allowLive). The check buys the smallest quantity far below the market and cancels it. Add --yes-live to allow that
        exit 2
    "#]]
    .assert_eq(&refusals(&words));
    assert!(!folder.path().join("data").exists());
    let _server = DataDirLock::acquire(&folder.path().join("data")).unwrap();
    let refused = refusals(&["ALPHA"]);
    assert!(refused.ends_with("): stop the server, then check the venue\nexit 3\n"), "{refused}");
}
