//! The search for planted bugs: the first seed that finds each.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use domain::PlantedBug;
use domain::planted_bugs::plant;
use simulator::{BrokenInvariant, Plan, run};

/// What was found of a bug: the seed, and the promise that it broke.
type Finding = Option<(u64, BrokenInvariant)>;

/// What is searched, and by which runs.
pub(super) struct BugSearch {
    pub(super) first_seed: u64,
    pub(super) seeds: u64,
    pub(super) minutes: u32,
    pub(super) jobs: usize,
    /// One alone, by its name.
    pub(super) bug: Option<String>,
    pub(super) page: Option<PathBuf>,
}

/// Searches on several threads, each for one bug at a time.
pub(super) fn search_bugs(plan: &BugSearch) -> io::Result<ExitCode> {
    let wanted = wanted(plan)?;
    let (begun, next, runs) = (Instant::now(), AtomicUsize::new(0), AtomicU64::new(0));
    let found = Mutex::new(vec![None; wanted.len()]);
    thread::scope(|scope| {
        let search = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(bug) = wanted.get(place) else { return Ok::<(), io::Error>(()) };
                let finding = search_bug(plan, *bug, &runs)?;
                found.lock().expect("a search does not panic")[place] = finding;
            }
        };
        let threads: Vec<_> = (0..plan.jobs.max(1)).map(|_| scope.spawn(search)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a search does not panic"))
    })?;
    let found = found.into_inner().expect("a search does not panic");
    let missed = found.iter().filter(|finding| finding.is_none()).count();
    let (runs, seconds) = (runs.into_inner(), begun.elapsed().as_secs_f64());
    let summary = format!("{} bugs, {missed} not found, {runs} runs in {seconds:.0} s", wanted.len());
    println!("{summary}");
    if let Some(path) = &plan.page {
        fs::write(path, page(plan, &summary, wanted.iter().zip(&found)))?;
    }
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All bugs, or the one that is named.
fn wanted(plan: &BugSearch) -> io::Result<Vec<PlantedBug>> {
    let is_wanted = |bug: &PlantedBug| plan.bug.as_ref().is_none_or(|wanted| *wanted == format!("{bug:?}"));
    let wanted: Vec<_> = PlantedBug::ALL.into_iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        let name = plan.bug.as_deref().unwrap_or_default();
        return Err(io::Error::other(format!("--bug {name}: no planted bug has this name")));
    }
    Ok(wanted)
}

/// The first seed that finds the bug, and keeps every promise without it. Switches are those of the thread.
fn search_bug(plan: &BugSearch, bug: PlantedBug, runs: &AtomicU64) -> io::Result<Finding> {
    plant(Some(bug));
    let mut found = None;
    for seed in plan.first_seed..plan.first_seed.saturating_add(plan.seeds) {
        runs.fetch_add(1, Ordering::Relaxed);
        found = run(&Plan::of_seed(seed, plan.minutes))?.violation.map(|violation| (seed, violation));
        if found.is_some() {
            break;
        }
    }
    plant(None);
    if let Some((seed, _)) = &found {
        keeps_promises(*seed, plan.minutes)?;
    }
    match &found {
        Some((seed, violation)) => println!("{bug:?}: found by seed {seed}: {violation}"),
        None => println!("{bug:?}: NOT FOUND by {} seeds", plan.seeds),
    }
    Ok(found)
}

/// What a seed breaks without any bug is no finding of one, and there is something to repair first.
fn keeps_promises(seed: u64, minutes: u32) -> io::Result<()> {
    let broken = run(&Plan::of_seed(seed, minutes))?.violation;
    broken
        .map_or(Ok(()), |broken| Err(io::Error::other(format!("seed {seed} without any planted bug: BROKEN {broken}"))))
}

/// A page for docs: how many seeds each bug took.
fn page<'a>(plan: &BugSearch, summary: &str, found: impl Iterator<Item = (&'a PlantedBug, &'a Finding)>) -> String {
    let mut page = format!(
        "# The search for planted bugs\n\nWritten by `make simulate-bugs`; [the simulator](simulator.md#planted-bugs) explains it. Each \
         bug was searched from seed {} on, by runs of {} simulated minutes of faults, with {} seeds at the most.\n\n{summary}.\n\n\
         | Bug | Seeds | The promise that it broke |\n|---|---|---|\n",
        plan.first_seed, plan.minutes, plan.seeds
    );
    for (bug, finding) in found {
        let (seeds, promise) = match finding {
            Some((seed, violation)) => ((seed - plan.first_seed + 1).to_string(), violation.invariant),
            None => ("not found".to_owned(), "none"),
        };
        // A string takes all that is written.
        let _ = writeln!(page, "| `{bug:?}` | {seeds} | {promise} |");
    }
    page
}
