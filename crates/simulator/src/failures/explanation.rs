//! A failure in words, for the command line and for tests: the promise, a short schedule that breaks it, the last lines of its run.

use std::fmt;

use super::shorten::ShortSchedule;
use crate::simulation::RunReport;

impl RunReport {
    /// Whether the promises were kept, or the one that was broken.
    pub fn verdict(&self) -> String {
        self.violation.as_ref().map_or("kept".to_owned(), |violation| format!("BROKEN {violation}"))
    }

    /// What happened last, a line each.
    pub fn ending(&self) -> String {
        let lines = self.last_lines.iter().map(|line| format!("    {line}\n"));
        std::iter::once("  its last lines:\n".to_owned()).chain(lines).collect()
    }
}

impl fmt::Display for ShortSchedule {
    /// What each step did; what the schedule says of those that the run did not come to.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self { plan, report, .. }, steps) = (self, self.plan.steps.len());
        let hint = if self.is_minimal { "each of which is needed" } else { "some of which may not be needed" };
        writeln!(f, "  a schedule of {steps} steps that breaks it, {hint}: {}", report.verdict())?;
        report.actions.iter().try_for_each(|action| writeln!(f, "    {action}"))?;
        plan.steps.iter().skip(report.actions.len()).try_for_each(|step| writeln!(f, "    {step}"))
    }
}
