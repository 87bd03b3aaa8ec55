//! Every transcript in `contract/fix` is played and must come out letter by letter. Its README explains the format;
//! `UPDATE_EXPECT=1 cargo test -p fix` writes what came out into the files.

#![allow(clippy::unwrap_used, reason = "a test that can't go on may say so")]

mod test_peer;

use expect_test::expect_file;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use test_peer::{EPOCH, TestPeer, wire_of};

#[test]
fn every_transcript_comes_out_letter_by_letter() {
    let stories = stories();
    assert!(stories.len() > 20, "the stories are not where they should be");
    for path in stories {
        let text = std::fs::read_to_string(&path).unwrap();
        expect_file![&path].assert_eq(&played(&text));
    }
}

#[allow(clippy::disallowed_types, reason = "the stories are files")]
fn stories() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contract/fix");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut stories: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    stories.sort();
    stories
}

/// The transcript again, with our answers in place of those in the file.
fn played(text: &str) -> String {
    let settings = text.lines().find_map(|line| line.strip_prefix("settings ")).unwrap_or_default();
    let mut peer = TestPeer::new(settings);
    let mut out = String::new();
    let mut connected = false;
    for line in text.lines().filter(|line| !is_answer(line)) {
        writeln!(out, "{line}").unwrap();
        if line.is_empty() || line.starts_with('#') || line.starts_with("settings ") {
            continue;
        }
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        if !connected && verb != "C" {
            peer.connect();
            connected = true;
        }
        act(&mut peer, verb, rest, &mut connected);
        out += &peer.take_received();
    }
    out
}

fn is_answer(line: &str) -> bool {
    ["E ", "X ", "@ ", "= "].iter().any(|mark| line.starts_with(mark))
}

fn act(peer: &mut TestPeer, verb: &str, rest: &str, connected: &mut bool) {
    match verb {
        "C" => {
            peer.connect();
            *connected = true;
        }
        "I" => peer.send(&wire_of(rest, peer.now())),
        "D" => peer.hang_up(),
        "R" => peer.wait(rest.parse().expect("R takes seconds")),
        "S" => peer.application_sends(rest),
        "L" => peer.operator_logs_out(rest),
        "Z" => peer.operator_resets(),
        "?" => peer.ask_numbers(),
        _ => panic!("a line begins with {verb}"),
    }
}

#[test]
fn a_story_starts_at_noon_of_a_monday() {
    assert_eq!(EPOCH, "20260105-12:00:00");
}
