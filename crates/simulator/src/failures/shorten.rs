//! A schedule that breaks a promise, made as short as it can be: steps are left out as long as the same promise is still broken in the
//! same way, until every single one is needed.

use std::io;
use std::time::Instant;

use super::defect::DefectWords;
use crate::schedule::{SECOND, Step, StepKind};
use crate::simulation::{Plan, RunReport, run};

/// A run that ends so long after its last step is tried first: what is left out then makes all further tries short.
const LENGTH_BEHIND_LAST_STEP: i64 = SECOND;

/// Whole kinds of steps, which are left out first: what is left when a request alone is enough has no fault that hides it.
const KINDS: [fn(&StepKind) -> bool; 8] = [
    |what| matches!(what, StepKind::Fault(_)),
    |what| matches!(what, StepKind::StompClient { .. }),
    |what| matches!(what, StepKind::UserClient { .. }),
    |what| matches!(what, StepKind::Administrator { .. }),
    |what| matches!(what, StepKind::HttpRead { .. }),
    |what| matches!(what, StepKind::Strategy { .. }),
    |what| matches!(what, StepKind::FixClient { .. }),
    |what| matches!(what, StepKind::Client { .. }),
];

/// The shortest schedule found that breaks the same promise in the same way, and what its run reports.
pub struct ShortSchedule {
    pub plan: Plan,
    pub report: RunReport,
    /// Without any single one of its steps the promise is not broken so.
    pub is_minimal: bool,
    /// What is left of it.
    limit: SearchLimit,
}

/// How long a short schedule is searched: a run that has begun is ended.
#[derive(Debug, Clone, Copy)]
pub struct SearchLimit {
    pub runs: usize,
    /// In real time.
    pub until: Option<Instant>,
}

impl SearchLimit {
    /// By nothing else than the number of runs, so that the same is found again.
    pub fn of_runs(runs: usize) -> Self {
        Self { runs, until: None }
    }

    fn is_reached(&self) -> bool {
        self.runs == 0 || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Makes the schedule of a failed run short, within about this limit. Behind it, it is the shortest so far, which may have steps
/// that are not needed.
pub fn shorten(plan: &Plan, failed: RunReport, limit: SearchLimit) -> io::Result<ShortSchedule> {
    let plan = Plan { is_traced: false, ..plan.clone() };
    let mut found = ShortSchedule { plan, report: failed, is_minimal: false, limit };
    let Some(broken) = found.report.violation.as_ref() else { return Ok(found) };
    let defect = DefectWords::of(broken);
    // What comes after the end of the failed run played no part in it.
    let end = found.report.simulated;
    found.plan.steps.retain(|step| step.at <= end);
    for is_kind in KINDS {
        if found.limit.is_reached() {
            return Ok(found);
        }
        let others = found.plan.steps.iter().filter(|step| !is_kind(&step.what)).cloned().collect();
        found.try_steps(&defect, others)?;
    }
    found.try_shorter_length(&defect)?;
    found.leave_out_parts(&defect)?;
    Ok(found)
}

impl ShortSchedule {
    fn try_steps(&mut self, defect: &DefectWords, steps: Vec<Step>) -> io::Result<bool> {
        self.try_plan(defect, Plan { steps, ..self.plan.clone() })
    }

    /// Takes the plan where it breaks the same promise in the same way.
    fn try_plan(&mut self, defect: &DefectWords, plan: Plan) -> io::Result<bool> {
        self.limit.runs = self.limit.runs.saturating_sub(1);
        let tried = run(&plan)?;
        let is_same = tried.violation.as_ref().is_some_and(|broken| DefectWords::of(broken) == *defect);
        if is_same {
            (self.plan, self.report) = (plan, tried);
        }
        Ok(is_same)
    }

    fn try_shorter_length(&mut self, defect: &DefectWords) -> io::Result<()> {
        let last = self.plan.steps.last().map_or(0, |step| step.at);
        let length = self.plan.length.min(last + LENGTH_BEHIND_LAST_STEP);
        self.try_plan(defect, Plan { length, ..self.plan.clone() }).map(drop)
    }

    /// Halves, then smaller parts, until no single step can be left out: a step that was needed may not be any more when another is gone,
    /// so all are tried once more after each success.
    fn leave_out_parts(&mut self, defect: &DefectWords) -> io::Result<()> {
        let mut part = self.plan.steps.len().div_ceil(2).max(1);
        loop {
            let is_shorter = self.leave_out_each(defect, part)?;
            if self.limit.is_reached() {
                return Ok(());
            }
            if part == 1 && !is_shorter {
                self.is_minimal = true;
                return Ok(());
            }
            part = if is_shorter { part } else { part.div_ceil(2) };
        }
    }

    /// One pass, from the end: what comes last depends on what was before. Whether anything was left out.
    fn leave_out_each(&mut self, defect: &DefectWords, part: usize) -> io::Result<bool> {
        let (mut is_shorter, mut end) = (false, self.plan.steps.len());
        while end > 0 && !self.limit.is_reached() {
            let start = end.saturating_sub(part);
            is_shorter |= self.try_steps(defect, without(&self.plan.steps, start, end))?;
            end = start;
        }
        Ok(is_shorter)
    }
}

fn without(steps: &[Step], start: usize, end: usize) -> Vec<Step> {
    [&steps[..start], &steps[end..]].concat()
}
