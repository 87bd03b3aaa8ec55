//! A schedule that breaks a promise, made shorter: parts are left out as long as the same promise is still broken.

use std::io;

use crate::schedule::Step;
use crate::simulation::{Plan, RunReport, run};

/// Runs that a shortening may take.
const RUNS_MAX: usize = 200;

/// The shortest schedule found that breaks the same promise, and its report.
pub fn shorten(plan: &Plan, failed: RunReport) -> io::Result<(Vec<Step>, RunReport)> {
    let Some(invariant) = failed.violation.as_ref().map(|violation| violation.invariant) else {
        return Ok((plan.steps.clone(), failed));
    };
    let (mut steps, mut report) = (plan.steps.clone(), failed);
    // What comes after the end of the failed run played no part in it.
    steps.retain(|step| step.at <= report.simulated);
    let (mut part, mut runs) = (steps.len().div_ceil(2).max(1), 0);
    while runs < RUNS_MAX {
        let mut is_shorter = false;
        let mut start = 0;
        while start < steps.len() && runs < RUNS_MAX {
            runs += 1;
            let rest = without(&steps, start, part);
            let tried = run(&Plan { steps: rest.clone(), is_traced: false, ..plan.clone() })?;
            if tried.violation.as_ref().is_some_and(|violation| violation.invariant == invariant) {
                (steps, report, is_shorter) = (rest, tried, true);
            } else {
                start += part;
            }
        }
        if part == 1 && !is_shorter {
            break;
        }
        part = if is_shorter { part } else { part.div_ceil(2) };
    }
    Ok((steps, report))
}

fn without(steps: &[Step], start: usize, count: usize) -> Vec<Step> {
    let end = (start + count).min(steps.len());
    [&steps[..start], &steps[end..]].concat()
}
