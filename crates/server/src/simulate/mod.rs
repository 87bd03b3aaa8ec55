//! `rialto simulate`: a plan in, a run on virtual time, results out. See `docs/simulation.md`.

pub mod arguments;
mod journal_replay;
mod generate;
mod run_observer;
mod results_folder;
pub mod plan;
mod report;
mod inputs;
mod missing_data;
mod watchdog;

use std::path::{Path, PathBuf};
use std::time::Instant;

use runtime::simulation::{Simulation, SimulationError, SimulationResult};
use strategy::StrategyRegistry;

use crate::config::Config;
use crate::exit_failure::{Exit, ExitFailure};
use crate::logging;
use arguments::{SimulateArgs, SimulateCommand};
use inputs::SimulationInputs;
use plan::SimulationPlan;
use report::SimulationReport;
use results_folder::ResultsFolder;
use run_observer::RunObserver;
use watchdog::{RunWatchdog, WatchedRun};

pub fn execute(arguments: SimulateArgs, registry: &StrategyRegistry) -> Result<String, ExitFailure> {
    let config =
        Config::load(&arguments.config.into_sources()).map_err(|problems| ExitFailure::configuration(&problems))?;
    logging::start(&config);
    if arguments.strategies && arguments.from_journal.is_none() {
        return Err(ExitFailure::new(
            Exit::Refused,
            "--strategies goes with --from-journal; a plan names its strategies itself",
        ));
    }
    match (arguments.command, arguments.from_journal, arguments.plan) {
        (Some(SimulateCommand::Generate(wish)), _, _) => generate::write(&wish),
        (None, Some(folder), _) => {
            journal_replay::replay(&folder, arguments.up_to, arguments.strategies, &config, registry)
        }
        (None, None, Some(file)) => run(&file, arguments.out.as_deref(), registry),
        (None, None, None) => {
            Err(ExitFailure::new(Exit::Refused, "say which plan to run, or see: rialto simulate --help"))
        }
    }
}

/// Runs a plan, writes its results and prints the summary, whose last line is the digest.
fn run(file: &Path, out: Option<&Path>, registry: &StrategyRegistry) -> Result<String, ExitFailure> {
    let plan = SimulationPlan::read(file)?;
    let folder: PathBuf = out.map_or_else(|| plan.output.clone(), Path::to_owned);
    let mut stage = SimulationInputs::prepare(&plan, registry)?;
    let watched = WatchedRun::of(&stage.setup);
    let output = ResultsFolder::open(&folder, |traces| watchdog::on_interrupt(watched.clone(), traces))?;
    let _watch =
        RunWatchdog::start(watched).map_err(|error| ExitFailure::new(Exit::Failed, format!("no thread: {error}")))?;
    let mut observer = RunObserver::new(&plan, std::mem::take(&mut stage.recorded), output.staging());
    let began = Instant::now();
    let ended = run_simulation(stage, &mut observer)?;
    let seconds = began.elapsed().as_secs_f64();
    let report = SimulationReport::from_run(&plan, &ended, observer, seconds)?;
    report.write(output.staging())?;
    output.publish()?;
    Ok(report.summary(&folder))
}

fn run_simulation(stage: SimulationInputs, observer: &mut RunObserver) -> Result<SimulationResult, ExitFailure> {
    let SimulationInputs { setup, source, .. } = stage;
    let simulation = Simulation::new(setup, Box::new(source), observer).map_err(|error| failed(&error))?;
    simulation.run().map_err(|error| failed(&error))
}

fn failed(error: &SimulationError) -> ExitFailure {
    let exit = match error {
        SimulationError::Observer(_) => Exit::Failed,
        SimulationError::Data(_)
        | SimulationError::NoData
        | SimulationError::Refused(_)
        | SimulationError::FeedTooLate => Exit::Refused,
    };
    ExitFailure::new(exit, error.to_string())
}
