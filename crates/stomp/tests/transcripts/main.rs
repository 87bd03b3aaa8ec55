//! Plays every transcript in `contract/stomp/` and compares all that comes out. `contract/stomp/README.md` says how to
//! read and write them; `UPDATE_EXPECT=1` writes what came out into the files.

/// The smallest broker that has everything: sessions, lanes, topics and queues, all on a virtual clock.
mod broker;
/// Bytes as one line of text, and back.
mod text;

use std::path::{Path, PathBuf};

use broker::Broker;

#[test]
fn every_transcript_is_true() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contract/stomp");
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut transcripts: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ext| ext == "txt")).collect();
    transcripts.sort();
    assert!(transcripts.len() >= 10, "the transcripts are found");
    for path in transcripts {
        let script = std::fs::read_to_string(&path).unwrap();
        expect_test::expect_file![path].assert_eq(&play(&script));
    }
}

/// The script with what comes out behind each of its lines.
fn play(script: &str) -> String {
    let mut broker = Broker::default();
    let mut played = String::new();
    for line in script.lines().filter(|line| !is_output(line)) {
        played.push_str(line);
        played.push('\n');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        for output in broker.play(line) {
            played.push_str(&output);
            played.push('\n');
        }
    }
    played
}

fn is_output(line: &str) -> bool {
    let word = line.split(' ').nth(1);
    !line.starts_with('#') && matches!(word, Some("<" | "closed" | "audited"))
}
