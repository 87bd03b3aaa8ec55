//! Rules of `lead`.

use storage::replication::{Epoch, LogEvent, LogPosition, LogRefusal};

use super::stories::{
    accepted, ensure, expect, expect_journal, fenced, frames_in, leader, read_all, read_from, refused, start,
    successor, unknown,
};
use crate::faults::StoreFault;
use crate::lab::{LogLab, Rule, Verdict};
use crate::sample_frames::frames;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "an empty log is led by its first candidate", check: first_candidate },
    Rule { name: "of two candidates at one position one leads", check: one_of_two },
    Rule { name: "the record of another candidate is not taken for one's own", check: own_record },
    Rule { name: "an epoch is above every epoch before it", check: rising_epoch },
    Rule { name: "a candidate that has not read to the end does not lead", check: read_first },
    Rule { name: "an unknown lead is settled like a frame", check: unknown_lead },
    Rule { name: "a new leader goes on with the chain of the old one", check: one_chain },
    Rule { name: "a leader may begin a further epoch", check: further_epoch },
];

fn first_candidate(lab: &mut dyn LogLab) -> Verdict {
    let mut client = lab.connect();
    expect("what an empty log has", &read_all(&mut client)?.0, &Vec::new())?;
    accepted("lead of an empty log", &client.log.lead(Epoch(1), &start()), 1)?;
    let (events, cursor) = read_all(&mut lab.connect())?;
    let is_led = matches!(events[..], [LogEvent::Led { position, epoch, .. }] if (position, epoch) == (LogPosition(1), Epoch(1)));
    ensure(is_led, "the log has one epoch record", &events)?;
    expect("epoch that was read", &cursor.epoch(), &Epoch(1))
}

fn one_of_two(lab: &mut dyn LogLab) -> Verdict {
    let (mut first, mut second) = (lab.connect(), lab.connect());
    accepted("lead of the first", &first.log.lead(Epoch(1), &start()), 1)?;
    fenced("lead of the second", &second.log.lead(Epoch(1), &start()))?;
    fenced("lead of the second, with a higher epoch", &second.log.lead(Epoch(2), &start()))?;
    refused("append of the second", &second.log.append(&frames()[0]), LogRefusal::NotLeading)?;
    expect("entries", &read_all(&mut lab.connect())?.0.len(), &1)
}

fn own_record(lab: &mut dyn LogLab) -> Verdict {
    let (mut first, mut second) = (lab.connect(), lab.connect());
    first.faults.on_store(StoreFault::LOST_ANSWER);
    unknown("lead whose answer is lost", &first.log.lead(Epoch(1), &start()))?;
    fenced("lead of the same epoch by another", &second.log.lead(Epoch(1), &start()))?;
    accepted("settled lead", &first.log.settle(), 1)
}

fn rising_epoch(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 1)?;
    let mut candidate = lab.connect();
    let cursor = read_all(&mut candidate)?.1;
    for epoch in [Epoch(0), Epoch(1)] {
        let reason = LogRefusal::EpochNotRising { epoch, known: Epoch(1) };
        refused("lead of an epoch that was there", &candidate.log.lead(epoch, &cursor), reason)?;
    }
    accepted("lead of the next epoch", &candidate.log.lead(Epoch(2), &cursor), 3)
}

fn read_first(lab: &mut dyn LogLab) -> Verdict {
    let mut old = leader(lab, 1)?;
    let mut candidate = lab.connect();
    let cursor = read_all(&mut candidate)?.1;
    accepted("append while the candidate waits", &old.log.append(&frames()[1]), 3)?;
    fenced("lead behind the end", &candidate.log.lead(Epoch(2), &cursor))?;
    let (events, cursor, _) = read_from(&mut candidate, cursor);
    expect("frames that were missing", &frames_in(&events).len(), &1)?;
    accepted("lead at the end", &candidate.log.lead(Epoch(2), &cursor), 4)
}

fn unknown_lead(lab: &mut dyn LogLab) -> Verdict {
    let mut client = lab.connect();
    client.faults.on_store(StoreFault::LOST_REQUEST);
    unknown("lead whose request is lost", &client.log.lead(Epoch(1), &start()))?;
    refused("append before it is settled", &client.log.append(&frames()[0]), LogRefusal::Unsettled)?;
    refused("a second lead before it is settled", &client.log.lead(Epoch(2), &start()), LogRefusal::Unsettled)?;
    accepted("settled lead", &client.log.settle(), 1)?;
    accepted("first frame", &client.log.append(&frames()[0]), 2)?;
    expect_journal(lab, 1)
}

fn one_chain(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 9)?;
    let mut next = successor(lab, 2)?;
    accepted("first frame of the new leader", &next.log.append(&frames()[9]), 12)?;
    accepted("second frame of the new leader", &next.log.append(&frames()[10]), 13)?;
    expect_journal(lab, 11)
}

fn further_epoch(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    let cursor = read_all(&mut client)?.1;
    accepted("its second lead", &client.log.lead(Epoch(2), &cursor), 3)?;
    accepted("append in the second epoch", &client.log.append(&frames()[1]), 4)?;
    expect("epoch that is read", &read_all(&mut lab.connect())?.1.epoch(), &Epoch(2))?;
    expect_journal(lab, 2)
}
