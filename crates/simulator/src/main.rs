//! The command line of the simulator.

#[cfg(feature = "planted-bugs")]
mod bug_search;

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use simulator::{Coverage, Plan, RunReport, SearchLimit, run, shorten};

/// A run allocates small values all the time.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const NANOS_PER_SECOND: f64 = 1e9;
const NANOS_PER_MINUTE: i64 = 60_000_000_000;
const SECONDS_PER_DAY: f64 = 86_400.0;
const SECONDS_PER_MINUTE: u64 = 60;
/// Runs that the search for a shorter schedule may take.
const SHORTENING_RUNS_MAX: usize = 1_500;
/// Behind the limit of real time all failures together are searched for so long.
const SEARCH_BEHIND_LIMIT: Duration = Duration::from_secs(10 * SECONDS_PER_MINUTE);

/// Runs the whole system in simulated time, with seeded clients and faults, and checks its promises.
#[derive(Debug, Parser)]
struct Arguments {
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many seeds
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Simulated hours of each run in which things go wrong
    #[arg(long, conflicts_with = "minutes")]
    hours: Option<u32>,
    /// The same in minutes
    #[arg(long, default_value_t = 10)]
    minutes: u32,
    /// Runs at the same time; each has one thread
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// No new seed begins after so many minutes of real time; runs that have begun end as usual, and of failures a shorter schedule is
    /// searched for ten minutes more at the most
    #[arg(long, value_name = "MINUTES")]
    wall_minutes: Option<u64>,
    /// Check the promises after every step that tells somebody something or makes something durable, and not every ten simulated seconds
    /// only: slower
    #[arg(long)]
    every_step: bool,
    /// Print what happens, step by step
    #[arg(long)]
    trace: bool,
    /// Print what was reached and what never was
    #[arg(long)]
    coverage: bool,
    /// Write what was run, found and reached into this file, as a page; of a search for planted bugs, what each took
    #[arg(long)]
    page: Option<PathBuf>,
    /// The page of the runs says that it was made of this commit
    #[arg(long, requires = "page")]
    commit: Option<String>,
    /// Print a failure as it is, without a search for a shorter schedule
    #[arg(long)]
    no_shorten: bool,
    /// Search a seed for every planted bug, instead of running the platform as it is
    #[cfg(feature = "planted-bugs")]
    #[arg(long)]
    bugs: bool,
    /// Search for this one alone, by its name
    #[cfg(feature = "planted-bugs")]
    #[arg(long, requires = "bugs")]
    bug: Option<String>,
}

/// Sums over all runs.
#[derive(Default)]
struct Totals {
    coverage: Coverage,
    simulated: i64,
    runs: u64,
    /// Of those that were run.
    last_seed: u64,
    /// The seed of each failure, and the promise that it broke.
    failures: Vec<(u64, String)>,
}

fn main() -> io::Result<ExitCode> {
    let arguments = Arguments::parse();
    #[cfg(feature = "planted-bugs")]
    if arguments.bugs {
        return bug_search::search_bugs(&arguments.bug_search());
    }
    let begun = Instant::now();
    let totals = run_all(&arguments, begun)?;
    println!("{}", totals.summary(begun));
    println!("{} passed, {} failed", totals.runs - totals.failures.len() as u64, totals.failures.len());
    if let Some(path) = &arguments.page {
        fs::write(path, totals.page(&arguments, begun))?;
    }
    if arguments.coverage {
        println!("\n{}", totals.coverage);
    }
    Ok(if totals.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Arguments {
    fn plan(&self, seed: u64) -> Plan {
        let (is_traced, is_checked_at_every_step) = (self.trace, self.every_step);
        Plan { is_traced, is_checked_at_every_step, ..Plan::of_seed(seed, self.fault_minutes()) }
    }

    /// Whether a further seed may begin.
    fn has_time(&self, begun: Instant) -> bool {
        self.limit().is_none_or(|limit| begun.elapsed() < limit)
    }

    fn limit(&self) -> Option<Duration> {
        self.wall_minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(SECONDS_PER_MINUTE)))
    }

    /// How long shorter schedules may be searched in all; for ever where there is no limit.
    fn search_time(&self, elapsed: Duration) -> Option<Duration> {
        self.limit().map(|limit| limit.saturating_sub(elapsed).max(SEARCH_BEHIND_LIMIT))
    }

    #[cfg(feature = "planted-bugs")]
    fn bug_search(&self) -> bug_search::BugSearch {
        bug_search::BugSearch {
            first_seed: self.seed,
            seeds: self.seeds,
            minutes: self.fault_minutes(),
            jobs: self.jobs,
            bug: self.bug.clone(),
            page: self.page.clone(),
        }
    }

    fn fault_minutes(&self) -> u32 {
        self.hours.map_or(self.minutes, |hours| hours.saturating_mul(60))
    }
}

/// Each thread takes the next seed until there is none, or no time for it.
fn run_all(arguments: &Arguments, begun: Instant) -> io::Result<Totals> {
    let (next, end) = (AtomicU64::new(arguments.seed), arguments.seed.saturating_add(arguments.seeds));
    let (sender, reports) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..arguments.jobs.max(1) {
            let (next, sender) = (&next, sender.clone());
            scope.spawn(move || {
                while arguments.has_time(begun) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    if sender.send((seed, run(&arguments.plan(seed)))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut totals = Totals::default();
        let mut failed = Vec::new();
        for (seed, report) in reports {
            failed.extend(totals.add(seed, report?));
        }
        // At the end, because a search of many runs would hold back what the other seeds have found.
        explain_all(arguments, failed, begun)?;
        Ok(totals)
    })
}

/// Each failure gets the same part of the time that is left.
fn explain_all(arguments: &Arguments, failed: Vec<(u64, RunReport)>, begun: Instant) -> io::Result<()> {
    let end = arguments.search_time(begun.elapsed()).map(|time| Instant::now() + time);
    let mut left = u32::try_from(failed.len()).unwrap_or(u32::MAX);
    for (seed, report) in failed {
        let now = Instant::now();
        let until = end.map(|end| now + end.saturating_duration_since(now) / left);
        left -= 1;
        let limit = SearchLimit { runs: SHORTENING_RUNS_MAX, until };
        explain(&arguments.plan(seed), report, Some(limit).filter(|_| !arguments.no_shorten))?;
    }
    Ok(())
}

impl Totals {
    /// The seed again, where a promise was broken.
    fn add(&mut self, seed: u64, report: RunReport) -> Option<(u64, RunReport)> {
        self.coverage.add(&report.coverage);
        self.simulated += report.simulated;
        self.runs += 1;
        self.last_seed = self.last_seed.max(seed);
        println!("seed {seed}: {}, trace {}", report.verdict(), report.hash);
        let violation = report.violation.as_ref()?.to_string();
        self.failures.push((seed, violation));
        Some((seed, report))
    }

    #[allow(clippy::cast_precision_loss, reason = "for people to read")]
    fn summary(&self, begun: Instant) -> String {
        let (simulated, real) = (self.simulated as f64 / NANOS_PER_SECOND, begun.elapsed().as_secs_f64());
        format!(
            "{} seeds, {:.2} simulated days in {real:.1} s ({:.0} times real time), {} faults, {} failures",
            self.runs,
            simulated / SECONDS_PER_DAY,
            simulated / real.max(1e-9),
            self.coverage.faults_injected(),
            self.failures.len()
        )
    }

    /// A page for docs: what was run, what was found, what was reached.
    fn page(&self, arguments: &Arguments, begun: Instant) -> String {
        let mut page = format!("{}\n\n{}.\n\n## Broken promises\n\n", self.heading(arguments), self.summary(begun));
        if self.failures.is_empty() {
            page.push_str("None.\n");
        }
        for (seed, violation) in &self.failures {
            // A string takes all that is written.
            let _ = writeln!(page, "- seed {seed}: {violation}");
        }
        let _ = write!(page, "\n## Reached, and never reached\n\n```text\n{}```\n", self.coverage);
        page
    }

    /// What was run.
    fn heading(&self, arguments: &Arguments) -> String {
        let commit = arguments.commit.as_ref().map_or_else(String::new, |commit| format!(" Commit {commit}."));
        let limit = arguments.wall_minutes.map_or_else(String::new, |minutes| {
            let whole =
                if self.runs == arguments.seeds { "all were run before" } else { "the runs that had begun were ended" };
            format!(" No seed began after {minutes} minutes of real time; {whole}.")
        });
        format!(
            "# Runs of the simulator\n\nWritten by `make simulate`; [the simulator](simulator.md) explains it.{commit} Seeds {} to {}, {} simulated \
             minutes of faults each.{limit}",
            arguments.seed,
            self.last_seed,
            arguments.fault_minutes()
        )
    }
}

/// How the run of the seed failed, by a schedule as short as can be found, or by its last lines where none is searched.
fn explain(plan: &Plan, failed: RunReport, search: Option<SearchLimit>) -> io::Result<()> {
    println!("seed {} broke a promise:", plan.seed);
    let Some(limit) = search else {
        print!("{}", failed.ending());
        let every_step = if plan.is_checked_at_every_step { " --every-step" } else { "" };
        println!(
            "  the shortest schedule: --seed {} --minutes {}{every_step}",
            plan.seed,
            plan.length / NANOS_PER_MINUTE
        );
        return Ok(());
    };
    let short = shorten(plan, failed, limit)?;
    print!("{short}");
    if plan.is_traced {
        println!("  its trace:");
        run(&Plan { is_traced: true, ..short.plan })?;
        return Ok(());
    }
    print!("{}", short.report.ending());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(flags: &[&str]) -> String {
        let arguments =
            Arguments::parse_from([&["simulator", "--seed", "3", "--hours", "1", "--page", "runs.md"], flags].concat());
        Totals { last_seed: 7, ..Totals::default() }.heading(&arguments)
    }

    fn search_seconds(flags: &[&str], elapsed: u64) -> Option<u64> {
        let arguments = Arguments::parse_from([&["simulator"], flags].concat());
        arguments.search_time(Duration::from_secs(elapsed)).map(|time| time.as_secs())
    }

    #[test]
    fn short_schedules_are_searched_behind_the_limit_too() {
        assert_eq!(search_seconds(&[], 30), None);
        assert_eq!(search_seconds(&["--wall-minutes", "20"], 60), Some(19 * 60));
        assert_eq!(search_seconds(&["--wall-minutes", "1"], 90), Some(10 * 60));
    }

    #[test]
    fn the_page_names_its_commit_where_it_is_told() {
        let beginning =
            "# Runs of the simulator\n\nWritten by `make simulate`; [the simulator](simulator.md) explains it.";
        let seeds = "Seeds 3 to 7, 60 simulated minutes of faults each.";
        assert_eq!(heading(&["--commit", "a3770743"]), format!("{beginning} Commit a3770743. {seeds}"));
        assert_eq!(heading(&[]), format!("{beginning} {seeds}"));
    }
}
