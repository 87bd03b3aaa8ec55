//! A schedule that breaks a promise, made shorter: parts are left out as long as the same promise is still broken.

use std::io;

use crate::schedule::{Happening, Step};
use crate::simulation::{Plan, RunReport, run};

/// Runs that a shortening may take.
const RUNS_MAX: usize = 200;

/// Whole kinds of steps, which are left out first: what is left when a request alone is enough has no fault that hides it.
const KINDS: [fn(&Happening) -> bool; 6] = [
    |what| matches!(what, Happening::Fault(_)),
    |what| matches!(what, Happening::StompClient { .. }),
    |what| matches!(what, Happening::Administrator { .. }),
    |what| matches!(what, Happening::Strategy { .. }),
    |what| matches!(what, Happening::FixClient { .. }),
    |what| matches!(what, Happening::Client { .. }),
];

/// The shortest schedule found that breaks the same promise, and its report.
pub fn shorten(plan: &Plan, failed: RunReport) -> io::Result<(Vec<Step>, RunReport)> {
    let Some(invariant) = failed.violation.as_ref().map(|violation| violation.invariant) else {
        return Ok((plan.steps.clone(), failed));
    };
    // What comes after the end of the failed run played no part in it.
    let steps = plan.steps.iter().filter(|step| step.at <= failed.simulated).cloned().collect();
    let mut found = Shortened { plan, invariant, steps, report: failed, runs: 0 };
    for is_kind in KINDS {
        found.try_steps(found.steps.iter().filter(|step| !is_kind(&step.what)).cloned().collect())?;
    }
    found.leave_out_parts()?;
    Ok((found.steps, found.report))
}

/// The shortest schedule so far.
struct Shortened<'a> {
    plan: &'a Plan,
    invariant: &'static str,
    steps: Vec<Step>,
    report: RunReport,
    runs: usize,
}

impl Shortened<'_> {
    /// Takes the schedule where it breaks the same promise.
    fn try_steps(&mut self, steps: Vec<Step>) -> io::Result<bool> {
        self.runs += 1;
        let tried = run(&Plan { steps: steps.clone(), is_traced: false, ..self.plan.clone() })?;
        let is_same = tried.violation.as_ref().is_some_and(|violation| violation.invariant == self.invariant);
        if is_same {
            (self.steps, self.report) = (steps, tried);
        }
        Ok(is_same)
    }

    /// Halves, then smaller parts, until no single step can be left out.
    fn leave_out_parts(&mut self) -> io::Result<()> {
        let mut part = self.steps.len().div_ceil(2).max(1);
        while self.runs < RUNS_MAX {
            let (mut is_shorter, mut start) = (false, 0);
            while start < self.steps.len() && self.runs < RUNS_MAX {
                let is_left_out = self.try_steps(without(&self.steps, start, part))?;
                is_shorter |= is_left_out;
                start += if is_left_out { 0 } else { part };
            }
            if part == 1 && !is_shorter {
                break;
            }
            part = if is_shorter { part } else { part.div_ceil(2) };
        }
        Ok(())
    }
}

fn without(steps: &[Step], start: usize, count: usize) -> Vec<Step> {
    let end = (start + count).min(steps.len());
    [&steps[..start], &steps[end..]].concat()
}
