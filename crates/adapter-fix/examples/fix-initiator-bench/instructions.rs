//! Instructions of an order, from its making to its report: what two runs of different length differ by. A busy machine does not change them.

use std::process::{Command, Stdio};

use crate::Outcome;
use crate::figures::row;
use crate::programs::{Initiator, Programs, Turn};

const SHORT: usize = 2_000;
const LONG: usize = 10_000;

pub(crate) fn print(programs: &Programs) -> Outcome<()> {
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("without valgrind instructions are not counted");
        return Ok(());
    }
    for under_way in [1, 1_000] {
        let (checked, unchecked) = (Initiator::QuickFix { checks: true }, Initiator::QuickFix { checks: false });
        let [ours, theirs, least] =
            [Initiator::Ours, checked, unchecked].map(|one| of_an_order(programs, one, under_way));
        let (ours, theirs, least) = (ours?, theirs?, least?);
        let cells = |what: &str, theirs: u64| {
            let reached = format!("{:.2} x", ours as f64 / theirs as f64);
            [
                format!("instructions an order, {under_way} under way{what}"),
                ours.to_string(),
                theirs.to_string(),
                reached,
            ]
        };
        row(cells("", theirs));
        row(cells(", no check", least));
    }
    Ok(())
}

fn of_an_order(programs: &Programs, initiator: Initiator, under_way: usize) -> Outcome<u64> {
    let of = |orders| programs.instructions(initiator, Turn { orders, under_way });
    let (long, short) = (of(LONG)?, of(SHORT)?);
    Ok(long.saturating_sub(short) / (LONG - SHORT) as u64)
}
