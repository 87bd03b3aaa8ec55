//! Rules of `read`: entries that were harmed on the way or on a disk.

use storage::journal::ChainError;
use storage::replication::{EntryFault, Epoch, LogError, LogPayload, LogPosition};

use super::stories::{
    accepted, ensure, expect, expect_journal, fenced, frames_in, leader, read_from, read_until_fault, start,
};
use crate::faults::LoadFault;
use crate::lab::{LogLab, Rule, Verdict};
use crate::sample_frames::frames;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "a flipped bit is named with its position", check: flipped_bit },
    Rule { name: "a missing entry is named, and nothing behind it is delivered", check: gap },
    Rule { name: "an entry that one machine has lost or changed is read from another copy", check: another_copy },
    Rule { name: "the entry at a position is shown, from another copy where one machine has lost it", check: shown },
    Rule { name: "a candidate that cannot see the last entry does not lead", check: hidden_end },
    Rule { name: "entries in another order are named", check: swapped },
    Rule { name: "an entry that is delivered for another is named", check: replaced },
    Rule { name: "a reader gets as many entries as it asked for, and goes on behind them", check: in_parts },
];

/// What is delivered before position `bad` is good, the cursor stands before it, and it is read when the fault is gone.
fn expect_fault(lab: &mut dyn LogLab, bad: u64, faults: &[LoadFault]) -> Result<LogError, String> {
    let mut client = lab.connect();
    faults.iter().for_each(|fault| client.faults.on_load(fault.clone()));
    let (events, cursor, error) = read_until_fault(&mut client);
    let Some(error) = error else { return Err(format!("no fault was named; {} entries were read", events.len())) };
    expect("entries before the fault", &(events.len() as u64), &(bad - 1))?;
    expect("position of the cursor", &cursor.position(), &LogPosition(bad - 1))?;
    client.faults.clear_load();
    let (more, cursor, rest) = read_from(&mut client, cursor);
    expect("fault when the entry is good again", &rest, &None)?;
    let all = [frames_in(&events), frames_in(&more)].concat();
    ensure(all == frames()[..all.len()], "the frames are those that were appended", &all.len())?;
    ensure(cursor.position() > LogPosition(bad), "everything is read in the end", &cursor.position())?;
    Ok(error)
}

fn flipped_bit(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 5)?;
    for byte in [0, 4, 6, 12, 25, 40, 100, -40, -5, -1] {
        let error = expect_fault(lab, 3, &[LoadFault::FlippedBit { position: 3, byte }])?;
        let is_named = matches!(&error, LogError::Bad { position, .. } if *position == LogPosition(3));
        ensure(is_named, "the entry is named", &error)?;
    }
    Ok(())
}

fn gap(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 5)?;
    let error = expect_fault(lab, 3, &[LoadFault::Hidden { position: 3 }])?;
    expect("fault", &error, &LogError::Gap { position: LogPosition(3), next: LogPosition(4) })
}

fn another_copy(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 5)?;
    let faults = [LoadFault::FlippedOnce { position: 3, byte: 40 }, LoadFault::HiddenOnce { position: 5 }];
    let mut client = lab.connect();
    faults.iter().for_each(|fault| client.faults.on_load(fault.clone()));
    let (events, _, error) = read_until_fault(&mut client);
    expect("fault", &error, &None)?;
    ensure(frames_in(&events) == frames()[..5], "the frames are those that were appended", &events.len())
}

fn shown(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 4)?;
    let mut client = lab.connect();
    let faults = [LoadFault::FlippedOnce { position: 3, byte: 40 }, LoadFault::HiddenOnce { position: 4 }];
    faults.iter().for_each(|fault| client.faults.on_load(fault.clone()));
    for position in 1..=6_usize {
        let entry = client.log.entry(LogPosition(position as u64)).map_err(|error| error.to_string())?;
        let is_right = match (position, entry.map(|entry| entry.payload)) {
            (1, Some(LogPayload::EpochRecord { .. })) | (6, None) => true,
            (2..=5, Some(LogPayload::Frame(frame))) => frames().get(position - 2) == Some(&frame),
            _ => false,
        };
        ensure(is_right, "the entry is that of its position", &position)?;
    }
    Ok(())
}

/// What a reader cannot see it cannot name. But it cannot lead either: only the condition of the append decides.
fn hidden_end(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 3)?;
    let mut candidate = lab.connect();
    candidate.faults.on_load(LoadFault::Hidden { position: 4 });
    let (_, cursor, error) = read_until_fault(&mut candidate);
    expect("fault", &error, &None)?;
    expect("end as it is seen", &cursor.position(), &LogPosition(3))?;
    fenced("lead before the hidden entry", &candidate.log.lead(Epoch(2), &cursor))?;
    candidate.faults.clear_load();
    let (_, cursor, _) = read_from(&mut candidate, cursor);
    accepted("lead behind it", &candidate.log.lead(Epoch(2), &cursor), 5)?;
    expect_journal(lab, 3)
}

fn swapped(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 6)?;
    let faults = [LoadFault::Replaced { position: 3, by: 4 }, LoadFault::Replaced { position: 4, by: 3 }];
    let error = expect_fault(lab, 3, &faults)?;
    let is_named = |fault: &EntryFault| matches!(fault, EntryFault::Chain(ChainError::NotContinued { .. }));
    let is_named = matches!(&error, LogError::Bad { fault, .. } if is_named(fault));
    ensure(is_named, "the broken chain is named", &error)
}

fn replaced(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 6)?;
    let error = expect_fault(lab, 5, &[LoadFault::Replaced { position: 5, by: 3 }])?;
    let is_named = matches!(&error, LogError::Bad { fault: EntryFault::Chain(_), .. });
    ensure(is_named, "the broken chain is named", &error)
}

fn in_parts(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 7)?;
    let (mut client, mut cursor, mut events) = (lab.connect(), start(), Vec::new());
    for expected in [3, 3, 2, 0] {
        let part = client.log.read(&mut cursor, 3).map_err(|error| error.to_string())?;
        expect("entries of one call", &part.len(), &expected)?;
        events.extend(part);
    }
    ensure(frames_in(&events) == frames()[..7], "the parts are the whole", &events.len())
}
