//! Rules of `settle`: outcomes that are not known.

use storage::replication::{LogOutcome, LogPosition, LogRefusal, StoreReply, UnknownCause};

use super::stories::{accepted, expect, expect_journal, fenced, leader, read_all, refused, successor, unknown};
use crate::faults::StoreFault;
use crate::lab::{LogLab, Rule, Verdict};
use crate::sample_frames::frames;

pub(super) const RULES: &[Rule] = &[
    Rule { name: "a lost request is settled by the same frame", check: lost_request },
    Rule { name: "a lost answer is settled by the same frame, stored once", check: lost_answer },
    Rule { name: "nothing else is sent while an outcome is unknown", check: one_in_flight },
    Rule { name: "an unknown outcome is not decided by the end of the log", check: not_by_the_end },
    Rule { name: "a delayed request changes nothing after it was settled", check: delayed },
    Rule { name: "a rejection of a repeated frame settles nothing", check: rejected_later },
    Rule { name: "a rejection of the first attempt is certain", check: rejected_first },
    Rule { name: "a machine that is behind fences no leader", check: behind },
    Rule { name: "an entry in progress is unknown", check: in_progress },
    Rule { name: "where everything is known there is nothing to settle", check: nothing_to_settle },
    Rule { name: "a log that forgot the message id holds no second copy", check: forgotten_id },
];

fn lost_request(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    client.faults.on_store(StoreFault::LOST_REQUEST);
    client.faults.on_store(StoreFault::LOST_REQUEST);
    unknown("append", &client.log.append(&frames()[1]))?;
    unknown("first settle", &client.log.settle())?;
    expect_journal(lab, 1)?;
    accepted("second settle", &client.log.settle(), 3)?;
    accepted("the next append", &client.log.append(&frames()[2]), 4)?;
    expect_journal(lab, 3)
}

fn lost_answer(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    client.faults.on_store(StoreFault::LOST_ANSWER);
    client.faults.on_store(StoreFault::LOST_ANSWER);
    unknown("append", &client.log.append(&frames()[1]))?;
    unknown("first settle", &client.log.settle())?;
    accepted("second settle", &client.log.settle(), 3)?;
    accepted("the next append", &client.log.append(&frames()[2]), 4)?;
    expect_journal(lab, 3)
}

fn one_in_flight(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    client.faults.on_store(StoreFault::LOST_REQUEST);
    unknown("append", &client.log.append(&frames()[1]))?;
    for frame in &frames()[1..4] {
        refused("append while an outcome is unknown", &client.log.append(frame), LogRefusal::Unsettled)?;
    }
    expect("entries", &read_all(&mut lab.connect())?.0.len(), &2)
}

/// The frame was lost, and another entry took its position: the end of the log is where the frame would have put it.
fn not_by_the_end(lab: &mut dyn LogLab) -> Verdict {
    let mut old = leader(lab, 1)?;
    old.faults.on_store(StoreFault::LOST_REQUEST);
    unknown("append", &old.log.append(&frames()[1]))?;
    successor(lab, 2)?;
    fenced("settled append", &old.log.settle())?;
    expect_journal(lab, 1)
}

fn delayed(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    client.faults.on_store(StoreFault::Delayed);
    unknown("append that is under way", &client.log.append(&frames()[1]))?;
    accepted("settled append", &client.log.settle(), 3)?;
    client.faults.release();
    accepted("the next append", &client.log.append(&frames()[2]), 4)?;
    expect_journal(lab, 3)
}

fn rejected_later(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    client.faults.on_store(StoreFault::LOST_ANSWER);
    client.faults.on_store(StoreFault::rejection());
    unknown("append", &client.log.append(&frames()[1]))?;
    unknown("settle that is rejected", &client.log.settle())?;
    accepted("second settle", &client.log.settle(), 3)?;
    expect_journal(lab, 2)
}

fn rejected_first(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    client.faults.on_store(StoreFault::rejection());
    let reason = LogRefusal::Rejected { reason: "no space left".to_owned() };
    refused("append that is rejected", &client.log.append(&frames()[1]), reason)?;
    refused("settle", &client.log.settle(), LogRefusal::NothingInFlight)?;
    expect_journal(lab, 1)?;
    accepted("the same append, later", &client.log.append(&frames()[1]), 3)?;
    expect_journal(lab, 2)
}

fn behind(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 2)?;
    for end in [LogPosition(0), LogPosition(3)] {
        client.faults.on_store(StoreFault::NotDelivered(StoreReply::OtherEnd { end: Some(end) }));
    }
    let cause = |end| LogOutcome::Unknown { cause: UnknownCause::LogBehind { end: LogPosition(end) } };
    expect("append, answered by an empty log", &client.log.append(&frames()[2]), &cause(0))?;
    expect("settle, answered in contradiction", &client.log.settle(), &cause(3))?;
    accepted("second settle", &client.log.settle(), 4)?;
    expect_journal(lab, 3)
}

fn in_progress(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    client.faults.on_store(StoreFault::NotDelivered(StoreReply::InProgress));
    let outcome = LogOutcome::Unknown { cause: UnknownCause::InProgress };
    expect("append", &client.log.append(&frames()[1]), &outcome)?;
    expect_journal(lab, 1)?;
    accepted("settle", &client.log.settle(), 3)
}

fn nothing_to_settle(lab: &mut dyn LogLab) -> Verdict {
    let mut client = lab.connect();
    refused("settle before anything was sent", &client.log.settle(), LogRefusal::NothingInFlight)?;
    let mut client = leader(lab, 2)?;
    refused("settle after an accepted append", &client.log.settle(), LogRefusal::NothingInFlight)?;
    expect_journal(lab, 2)
}

/// The condition holds where the id is forgotten: a frame that is there is not stored again, one that is not there is stored now.
fn forgotten_id(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    client.faults.on_store(StoreFault::LOST_REQUEST);
    unknown("append whose request is lost", &client.log.append(&frames()[1]))?;
    if !lab.forget_ids() {
        return Ok(());
    }
    accepted("settled append", &client.log.settle(), 3)?;
    client.faults.on_store(StoreFault::LOST_ANSWER);
    unknown("append whose answer is lost", &client.log.append(&frames()[2]))?;
    lab.forget_ids();
    fenced("settle of a frame that the log has and does not remember", &client.log.settle())?;
    expect_journal(lab, 3)
}
