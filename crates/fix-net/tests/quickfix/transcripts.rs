//! The transcripts of `contract/fix`, played to an echo acceptor that is made with QuickFIX: what the files say that
//! our session answers is what QuickFIX answers, letter by letter.

use crate::acceptors::Acceptor;
use crate::transcript::{QuickfixTranscript, TranscriptClient};
use std::error::Error;
use std::path::Path;

/// An engine that differs every time is different.
const PLAYS_MAX: usize = 3;

/// Transcripts that QuickFIX 1.15 answers differently, and why we do not follow it.
const DIFFERENT: [(&str, &str); 14] = [
    ("dictionary-group-order", "it takes the members of a group in any order"),
    ("dictionary-not-validated", "it has no ValidateIncomingMessage"),
    ("garbled", "a good message that comes in one piece with a garbled one is lost with it"),
    ("logon-faults", "it stays silent until its time-out"),
    ("logon-without-heartbeat", "it stays silent until its time-out"),
    ("next-expected-sent", "it has no SendNextExpectedMsgSeqNum before 1.16"),
    ("number-missing", "it hangs up without a word"),
    ("number-out-of-reach", "it counts with fewer digits"),
    ("number-too-high-chunks", "it has no ResendRequestChunkSize"),
    ("number-too-high-chunks-short", "it has no ResendRequestChunkSize"),
    ("resend-request-wrong", "it fills a gap backwards"),
    ("reset-without-one", "it resets to a number that it then misses"),
    ("sending-time-missing", "it hangs up, and the message is not counted"),
    ("resend-reject", "it fills the gap of a Reject, so its peer never learns that its message was not taken"),
];

fn is_different(story: &QuickfixTranscript) -> bool {
    DIFFERENT.iter().any(|(name, _)| *name == story.name)
}

#[test]
fn quickfix_tells_the_same_stories() {
    let folder = tempfile::tempdir().unwrap();
    let program = Acceptor::compile_quickfix(folder.path()).unwrap();
    let stories: Vec<_> =
        QuickfixTranscript::all().into_iter().filter(QuickfixTranscript::is_for_any_acceptor).collect();
    for (name, _) in DIFFERENT {
        assert!(stories.iter().any(|story| story.name == name), "there is no story {name}");
    }
    let told: Vec<_> = stories.iter().filter(|story| !is_different(story)).collect();
    assert!(told.len() > 30, "{} stories", told.len());
    for story in told {
        assert_eq!(told_by(&program, folder.path(), story), story.text, "{}", story.name);
    }
}

/// The transcript again, with the program's answers in place of those in the file. QuickFIX answers by the machine's clock and
/// listens at a port that was free a moment ago, so where the machine is busy a transcript is played once more.
fn told_by(program: &Path, folder: &Path, story: &QuickfixTranscript) -> String {
    let played = || play(program, folder, story).unwrap_or_else(|error| format!("{error}\n"));
    (1..PLAYS_MAX).map(|_| played()).find(|told| *told == story.text).unwrap_or_else(played)
}

fn play(program: &Path, folder: &Path, story: &QuickfixTranscript) -> Result<String, Box<dyn Error>> {
    let acceptor = Acceptor::start(program, folder, &story.settings)?;
    TranscriptClient::new(acceptor.port).play(story)
}
