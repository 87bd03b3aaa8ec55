//! Plans that a test runs one after the other: what was reached, what broke, and how the first failure comes about.

use std::io;

use super::shorten::{SearchLimit, shorten};
use crate::coverage::Coverage;
use crate::simulation::{Plan, run};

/// Runs that the search for a shorter schedule may take, so that the test ends before its runner gives it up.
const SHORTENING_RUNS_MAX: usize = 200;

#[derive(Default)]
pub struct CheckedPlans {
    pub coverage: Coverage,
    /// Each seed that broke a promise, and with the first a schedule that does.
    pub failures: Vec<String>,
}

impl CheckedPlans {
    /// Runs all of them, whatever they break.
    pub fn run(plans: impl IntoIterator<Item = Plan>) -> io::Result<Self> {
        let mut checked = Self::default();
        plans.into_iter().try_for_each(|plan| checked.add(&plan))?;
        Ok(checked)
    }

    /// A test that fails shows all failures as they are.
    pub fn expect_kept(&self) {
        assert!(self.failures.is_empty(), "\n{}\n", self.failures.join("\n"));
    }

    fn add(&mut self, plan: &Plan) -> io::Result<()> {
        let report = run(plan)?;
        self.coverage.add(&report.coverage);
        if report.violation.is_none() {
            return Ok(());
        }
        let mut failure = format!("seed {}: {}", plan.seed, report.verdict());
        // At once, because the search may take long.
        eprintln!("{failure}");
        if self.failures.is_empty() {
            let short = shorten(plan, report, SearchLimit::of_runs(SHORTENING_RUNS_MAX))?;
            failure = format!("{failure}\n{short}{}", short.report.ending());
        }
        self.failures.push(failure);
        Ok(())
    }
}
