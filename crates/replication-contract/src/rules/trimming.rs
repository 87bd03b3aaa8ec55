//! Rules of `mark`, `beginning` and `trim`.

use storage::journal::{ChainAnchor, FrameChain};
use storage::replication::{Epoch, LogBeginning, LogCursor, LogError, LogOutcome, LogPosition, LogRefusal};

use super::stories::{
    accepted, ensure, expect, expect_journal, frames_in, leader, read_all, read_from, read_until_fault, refused,
    unknown,
};
use crate::faults::StoreFault;
use crate::lab::{LogClient, LogLab, Rule, Verdict};
use crate::sample_frames::{INSTANCE, frames};

pub(super) const RULES: &[Rule] = &[
    Rule { name: "a mark changes nothing, and is settled like a frame", check: marked },
    Rule { name: "only a leader marks", check: leader_marks },
    Rule { name: "a reader behind the trimmed part is told where the log begins", check: told },
    Rule { name: "who has the journal up to the beginning of a trimmed log reads on from there", check: from_the_mark },
    Rule { name: "a reader ahead of the trimmed part, and the leader, go on", check: go_on },
    Rule { name: "what this process does not know to be accepted is not trimmed", check: too_far },
    Rule { name: "a log begins with a mark or an epoch record", check: only_at_marks },
    Rule { name: "only who leads trims", check: leader_alone },
    Rule { name: "the last entry stays, so that a candidate can lead behind it", check: last_stays },
];

/// A leader with five frames, a mark at position 7, and a sixth frame.
fn marked_leader(lab: &mut dyn LogLab) -> Result<LogClient, String> {
    let mut client = leader(lab, 5)?;
    accepted("mark", &client.log.mark(), 7)?;
    accepted("append behind the mark", &client.log.append(&frames()[5]), 8)?;
    Ok(client)
}

/// The chain of a journal with so many frames.
fn chain(count: usize) -> Result<FrameChain, String> {
    let add = |chain: FrameChain, frame| chain.with(frame).map_err(|error| error.to_string());
    frames()[..count].iter().try_fold(FrameChain::start(INSTANCE), add)
}

fn beginning(client: &mut LogClient) -> Result<LogBeginning, String> {
    match client.log.beginning() {
        Ok(Some(beginning)) => Ok(beginning),
        other => Err(format!("a log with entries has no beginning: {other:?}")),
    }
}

fn marked(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 3)?;
    client.faults.on_store(StoreFault::LOST_ANSWER);
    unknown("mark whose answer is lost", &client.log.mark())?;
    refused("append before it is settled", &client.log.append(&frames()[3]), LogRefusal::Unsettled)?;
    accepted("settled mark", &client.log.settle(), 5)?;
    accepted("append", &client.log.append(&frames()[3]), 6)?;
    expect_journal(lab, 4)
}

fn leader_marks(lab: &mut dyn LogLab) -> Verdict {
    let mut client = lab.connect();
    refused("mark without lead", &client.log.mark(), LogRefusal::NotLeading)?;
    expect("beginning of an empty log", &client.log.beginning(), &Ok(None))
}

fn told(lab: &mut dyn LogLab) -> Verdict {
    let mut client = marked_leader(lab)?;
    expect("trim", &client.log.trim(LogPosition(7)), &Ok(()))?;
    expect("trim of what is gone", &client.log.trim(LogPosition(7)), &Ok(()))?;
    let (events, _, error) = read_until_fault(&mut lab.connect());
    expect("entries that are read", &events.len(), &0)?;
    expect("fault", &error, &Some(LogError::Trimmed { next: LogPosition(1), first: LogPosition(7) }))
}

fn from_the_mark(lab: &mut dyn LogLab) -> Verdict {
    let mut client = marked_leader(lab)?;
    expect("after of a whole log", &beginning(&mut client)?.after, &ChainAnchor::START)?;
    expect("trim", &client.log.trim(LogPosition(7)), &Ok(()))?;
    let mut reader = lab.connect();
    let (begins, own) = (beginning(&mut reader)?, chain(5)?);
    let found = (begins.position, begins.instance, begins.epoch, begins.after);
    expect("beginning", &found, &(LogPosition(7), INSTANCE, Epoch(1), own.head()))?;
    let (events, cursor, error) = read_from(&mut reader, LogCursor::before(&begins, own));
    expect("fault", &error, &None)?;
    ensure(frames_in(&events) == frames()[5..6], "the frames behind the mark", &events)?;
    ensure(cursor.leader().is_some(), "the leader is known", &cursor)?;
    accepted("lead behind it", &reader.log.lead(Epoch(2), &cursor), 9)
}

fn go_on(lab: &mut dyn LogLab) -> Verdict {
    let mut client = marked_leader(lab)?;
    let mut reader = lab.connect();
    let cursor = read_all(&mut reader)?.1;
    expect("trim", &client.log.trim(LogPosition(7)), &Ok(()))?;
    accepted("append after the trim", &client.log.append(&frames()[6]), 9)?;
    let (events, cursor, error) = read_from(&mut reader, cursor);
    expect("fault", &error, &None)?;
    expect("position of the cursor", &cursor.position(), &LogPosition(9))?;
    ensure(frames_in(&events) == frames()[6..7], "the reader gets the next frame", &events)
}

fn only_at_marks(lab: &mut dyn LogLab) -> Verdict {
    let mut client = marked_leader(lab)?;
    let no_mark = Err(LogError::NoMark { below: LogPosition(4) });
    expect("trim at a frame", &client.log.trim(LogPosition(4)), &no_mark)?;
    expect_journal(lab, 6)
}

fn too_far(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 3)?;
    let too_far = |below, known| Err(LogError::TrimTooFar { below: LogPosition(below), known: LogPosition(known) });
    expect("trim behind the end", &client.log.trim(LogPosition(5)), &too_far(5, 4))?;
    expect_journal(lab, 3)
}

fn leader_alone(lab: &mut dyn LogLab) -> Verdict {
    let mut old = leader(lab, 3)?;
    let mut reader = lab.connect();
    let cursor = read_all(&mut reader)?.1;
    expect("trim by a reader", &reader.log.trim(LogPosition(2)), &Err(LogError::NotLeading))?;
    accepted("lead", &reader.log.lead(Epoch(2), &cursor), 5)?;
    let fenced = old.log.append(&frames()[3]);
    ensure(matches!(fenced, LogOutcome::Fenced { .. }), "the old leader is fenced", &fenced)?;
    expect("trim by a leader that was fenced", &old.log.trim(LogPosition(2)), &Err(LogError::NotLeading))?;
    expect_journal(lab, 3)
}

fn last_stays(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 3)?;
    let mut candidate = lab.connect();
    let before = read_all(&mut candidate)?.1;
    accepted("mark", &client.log.mark(), 5)?;
    expect("trim of all but the last entry", &client.log.trim(LogPosition(5)), &Ok(()))?;
    let (events, cursor, error) = read_from(&mut candidate, before);
    expect("fault", &error, &None)?;
    expect("entries that are read", &events.len(), &1)?;
    accepted("lead behind it", &candidate.log.lead(Epoch(2), &cursor), 6)
}
