//! `rialto simulate`: a plan in, a run on virtual time, results out. See `docs/simulation.md`.

pub mod arguments;
mod from_journal;
mod generate;
mod onlooker;
mod output;
pub mod plan;
mod refusals;
mod report;
mod stage;
mod unheard;
mod watch;

use std::path::{Path, PathBuf};
use std::time::Instant;

use runtime::simulation::{Ended, Simulation, SimulationError};
use strategy::Registry;

use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::logs;
use arguments::{SimulateArgs, SimulateCommand};
use onlooker::Onlooker;
use output::Output;
use plan::Plan;
use report::Report;
use stage::Stage;
use watch::{Watch, Watched};

pub fn execute(arguments: SimulateArgs, registry: &Registry) -> Result<String, Failure> {
    let config =
        Config::load(&arguments.config.into_sources()).map_err(|problems| Failure::configuration(&problems))?;
    logs::start(&config);
    if arguments.strategies && arguments.from_journal.is_none() {
        return Err(Failure::new(
            Exit::Refused,
            "--strategies goes with --from-journal; a plan names its strategies itself",
        ));
    }
    match (arguments.command, arguments.from_journal, arguments.plan) {
        (Some(SimulateCommand::Generate(wish)), _, _) => generate::write(&wish),
        (None, Some(folder), _) => from_journal::replay(&folder, arguments.strategies, &config, registry),
        (None, None, Some(file)) => run(&file, arguments.out.as_deref(), registry),
        (None, None, None) => Err(Failure::new(Exit::Refused, "say which plan to run, or see: rialto simulate --help")),
    }
}

/// Runs a plan, writes its results and prints the summary, whose last line is the digest.
fn run(file: &Path, out: Option<&Path>, registry: &Registry) -> Result<String, Failure> {
    let plan = Plan::read(file)?;
    let folder: PathBuf = out.map_or_else(|| plan.output.clone(), Path::to_owned);
    let mut stage = Stage::set(&plan, registry)?;
    let watched = Watched::of(&stage.setup);
    let output = Output::open(&folder, |traces| watch::on_interrupt(watched.clone(), traces))?;
    let _watch = Watch::over(watched).map_err(|error| Failure::new(Exit::Failed, format!("no thread: {error}")))?;
    let mut onlooker = Onlooker::new(&plan, std::mem::take(&mut stage.recorded), output.aside());
    let began = Instant::now();
    let ended = play(stage, &mut onlooker)?;
    let seconds = began.elapsed().as_secs_f64();
    let report = Report::of(&plan, &ended, onlooker, seconds)?;
    report.write(output.aside())?;
    output.publish()?;
    Ok(report.summary(&folder))
}

fn play(stage: Stage, onlooker: &mut Onlooker) -> Result<Ended, Failure> {
    let Stage { setup, source, .. } = stage;
    let simulation = Simulation::new(setup, Box::new(source), onlooker).map_err(|error| failed(&error))?;
    simulation.run().map_err(|error| failed(&error))
}

fn failed(error: &SimulationError) -> Failure {
    let exit = match error {
        SimulationError::Witness(_) => Exit::Failed,
        SimulationError::Data(_)
        | SimulationError::NoData
        | SimulationError::Refused(_)
        | SimulationError::FeedTooLate => Exit::Refused,
    };
    Failure::new(exit, error.to_string())
}
