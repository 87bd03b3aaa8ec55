//! Plays every transcript in `contract/stomp/` and compares all output. `contract/stomp/README.md` describes the
//! format; `UPDATE_EXPECT=1` writes the output into the files.

mod broker;
mod text;

use std::path::{Path, PathBuf};

use broker::TranscriptBroker;

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

/// The script with the output after each of its lines.
fn play(script: &str) -> String {
    let mut broker = TranscriptBroker::default();
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
