//! NautilusTrader's Rust crates as one more line of the simulation benchmark: the moving-average cross over the shared data,
//! which the peer has in memory before its clock starts.
//!
//! `bench-nautilus DATA_DIR quotes|bars FAST SLOW [N]`; with FAST = 0 the strategy only counts. Prints one line of JSON.

/// The strategy, written against the peer's traits.
mod cross;
/// The shared files as the peer's events.
mod shared;

use std::fs;

use anyhow::{Context, bail};
use cross::{Cross, Rule};
use nautilus_backtest::config::{BacktestEngineConfig, SimulatedVenueConfig};
use nautilus_backtest::engine::BacktestEngine;
use nautilus_common::logging::logger::LoggerConfig;
use nautilus_model::enums::{AccountType, BookType, OmsType};
use nautilus_model::identifiers::Venue;
use nautilus_model::instruments::stubs::audusd_sim;
use nautilus_model::instruments::{Instrument, InstrumentAny};
use nautilus_model::types::Money;
use shared::Kind;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, kind, fast, slow, rest @ ..] = &words[..] else {
        bail!("usage: bench-nautilus DATA_DIR quotes|bars FAST SLOW [N]");
    };
    let rows = rest.first().map_or(Ok(usize::MAX), |text| text.parse())?;
    let kind: Kind = kind.parse()?;
    let (fast, slow) = (fast.parse()?, slow.parse()?);
    let mut engine = engine()?;
    let pair = audusd_sim();
    engine.add_instrument(&InstrumentAny::CurrencyPair(pair.clone()))?;
    let data = shared::read(folder, kind, pair.id(), rows)?;
    let events = data.len();
    engine.add_strategy(Cross::new(pair.id(), kind, Rule::new(fast, slow)))?;
    engine.add_data(data, None, true, true)?;
    let before = processor_seconds()?;
    engine.run(None, None, None, false)?;
    let cpu = processor_seconds()? - before;
    println!(
        "{{\"engine\":\"nautilus-0.57.0\",\"kind\":\"{}\",\"fast\":{fast},\"slow\":{slow},\"events\":{events},\
         \"orders\":{},\"cpu_s\":{cpu:.3},\"events_per_cpu_s\":{:.0},\"peak_rss_mb\":{}}}",
        kind.name(),
        engine.get_result().total_orders,
        events as f64 / cpu,
        peak_megabytes()?,
    );
    Ok(())
}

fn engine() -> anyhow::Result<BacktestEngine> {
    let stdout_level = "ERROR".parse().context("a level of the peer's log")?;
    let quiet = LoggerConfig { stdout_level, ..Default::default() };
    let mut engine = BacktestEngine::new(BacktestEngineConfig::builder().logging(quiet).build())?;
    engine.add_venue(
        SimulatedVenueConfig::builder()
            .venue(Venue::from("SIM"))
            .oms_type(OmsType::Netting)
            .account_type(AccountType::Margin)
            .book_type(BookType::L1_MBP)
            .starting_balances(vec![Money::from("100_000_000 USD")])
            .build(),
    )?;
    Ok(engine)
}

/// User and system time of the process, which the kernel counts in hundredths of a second.
fn processor_seconds() -> anyhow::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(") ").context("a name in parentheses")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) / 100.0)
}

fn peak_megabytes() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("the peak of resident memory")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<u64>()? / 1024)
}
