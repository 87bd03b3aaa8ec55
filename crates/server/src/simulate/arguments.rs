//! Command line of `rialto simulate`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use domain::{BarSize, Decimal, Timestamp};
use storage::price_files::PriceFileKind;

use crate::config::ConfigArgs;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SimulateArgs {
    #[command(subcommand)]
    pub command: Option<SimulateCommand>,
    /// What to simulate (TOML); files in it are relative to it.
    #[arg(value_name = "CONFIG")]
    pub plan: Option<PathBuf>,
    /// Where the results go [default: what the plan says, else a folder beside it].
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Replay the journal of a live session instead: its data folder.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["plan", "out"])]
    pub from_journal: Option<PathBuf>,
    /// With --from-journal: run the strategies again and show the first command that differs.
    #[arg(long, requires = "from_journal")]
    pub strategies: bool,
    /// With --from-journal: replay up to this record only.
    #[arg(long, value_name = "SEQUENCE", requires = "from_journal")]
    pub up_to: Option<u64>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Subcommand)]
pub enum SimulateCommand {
    /// Make up prices from a seed, as a CSV file that a simulation reads.
    Generate(Box<GenerateArgs>),
}

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// The file to write.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// tick, trade, book or a bar size: SEC_1, MIN_1, MIN_5, MIN_15, HOUR_1, DAY_1.
    #[arg(long, default_value = "tick", value_parser = kind)]
    pub kind: PriceFileKind,
    #[arg(long, default_value_t = 10_000)]
    pub rows: u64,
    /// The same seed gives the same prices.
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// The first instant.
    #[arg(long, default_value = "2025-01-01T00:00:00Z")]
    pub from: Timestamp,
    /// Milliseconds between two rows; bars have their size.
    #[arg(long, value_name = "MILLIS", default_value_t = 1_000)]
    pub every: i64,
    /// The first price.
    #[arg(long, default_value = "100")]
    pub price: Decimal,
    #[arg(long, value_name = "SIZE", default_value = "0.01")]
    pub tick: Decimal,
    /// The widest step from price to price, in ticks.
    #[arg(long, value_name = "TICKS", default_value_t = 2)]
    pub step: u32,
}

fn kind(text: &str) -> Result<PriceFileKind, String> {
    match text {
        "tick" => Ok(PriceFileKind::Tick),
        "trade" => Ok(PriceFileKind::Trade),
        "book" => Ok(PriceFileKind::Book),
        size => bar_size(size).map(PriceFileKind::Bar),
    }
}

pub(super) fn bar_size(text: &str) -> Result<BarSize, String> {
    let found = BarSize::ALL.into_iter().find(|size| size.name() == text);
    found.ok_or_else(|| format!("'{text}' is not one of {}", BarSize::ALL.map(BarSize::name).join(", ")))
}
