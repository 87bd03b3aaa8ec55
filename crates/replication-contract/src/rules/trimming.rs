//! Rules of `trim`.

use storage::replication::{Epoch, LogError, LogOutcome, LogPosition};

use super::stories::{
    accepted, ensure, expect, expect_journal, frames_in, leader, read_all, read_from, read_until_fault,
};
use crate::lab::{LogLab, Rule, Verdict};
use crate::sample_frames::frames;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "a reader behind the trimmed part is told where the log begins", check: told },
    Rule { name: "a reader ahead of the trimmed part, and the leader, go on", check: go_on },
    Rule { name: "what this process does not know to be accepted is not trimmed", check: too_far },
    Rule { name: "only who leads trims", check: leader_alone },
    Rule { name: "the last entry stays, so that a candidate can lead behind it", check: last_stays },
];

fn told(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 5)?;
    expect("trim", &client.log.trim(LogPosition(4)), &Ok(()))?;
    expect("trim of what is gone", &client.log.trim(LogPosition(2)), &Ok(()))?;
    let (events, _, error) = read_until_fault(&mut lab.connect());
    expect("entries that are read", &events.len(), &0)?;
    expect("fault", &error, &Some(LogError::Trimmed { next: LogPosition(1), first: LogPosition(4) }))
}

fn go_on(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 5)?;
    let mut reader = lab.connect();
    let cursor = read_all(&mut reader)?.1;
    expect("trim", &client.log.trim(LogPosition(4)), &Ok(()))?;
    accepted("append after the trim", &client.log.append(&frames()[5]), 7)?;
    let (events, cursor, error) = read_from(&mut reader, cursor);
    expect("fault", &error, &None)?;
    expect("position of the cursor", &cursor.position(), &LogPosition(7))?;
    ensure(frames_in(&events) == frames()[5..6], "the reader gets the next frame", &events)
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
    accepted("append", &client.log.append(&frames()[3]), 5)?;
    expect("trim of all but the last entry", &client.log.trim(LogPosition(5)), &Ok(()))?;
    let (events, cursor, error) = read_from(&mut candidate, before);
    expect("fault", &error, &None)?;
    ensure(frames_in(&events) == frames()[3..4], "the last entry is read", &events)?;
    accepted("lead behind it", &candidate.log.lead(Epoch(2), &cursor), 6)
}
