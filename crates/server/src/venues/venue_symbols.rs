//! `rialto venues symbols NAME`: what a venue lists, as a table or as a folder of reference data.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use adapters::venue_type::{ListedSymbol, VenueContext};
use bus::Catalogue;
use clap::Args;

use crate::clock::SystemClock;
use crate::config::{Config, ConfigArgs, ConfiguredVenue};
use crate::data_dir::traces::VENUES;
use crate::exit_failure::{Exit, ExitFailure};
use crate::venues::symbol_folder;
use crate::venues::venue_check::find;

const HEADINGS: [&str; 9] =
    ["SYMBOL", "STATUS", "BASE", "QUOTE", "TICK", "LOT", "MIN QUANTITY", "MAX QUANTITY", "MIN NOTIONAL"];

#[derive(Debug, Args)]
pub struct VenueSymbolsArgs {
    /// Name of the venue in the configuration
    #[arg(value_name = "NAME")]
    name: String,
    /// Only symbols that are paid in this asset, such as USDT (several: A,B)
    #[arg(long, value_name = "ASSETS", value_delimiter = ',')]
    quote: Vec<String>,
    /// Write them to this folder as reference data, for `reference.path` or `rialto import`; a folder that is there is brought up to date
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
}

/// The text to print.
pub(crate) fn execute(arguments: VenueSymbolsArgs) -> Result<String, ExitFailure> {
    let VenueSymbolsArgs { name, quote, write, config } = arguments;
    let config = Config::load(&config.into_sources()).map_err(|problems| ExitFailure::configuration(&problems))?;
    let venue = find(&config, &name)?;
    let mut symbols = ask(&config, &venue)?;
    symbols.retain(|listed| quote.is_empty() || quote.iter().any(|asset| **asset == *listed.quote));
    symbols.sort_by(|one, other| one.symbol.cmp(&other.symbol));
    match write {
        None => Ok(table(&symbols)),
        Some(folder) => symbol_folder::write(&folder, &name, &symbols),
    }
}

/// No server needs to be stopped for it and nothing of the data folder is changed, except where a venue's sequence numbers go on from
/// one log-on to the next: they are used, and refused while a server has them.
fn ask(config: &Config, venue: &ConfiguredVenue) -> Result<Vec<ListedSymbol>, ExitFailure> {
    let name = venue.settings.name();
    let folder = config.data_dir.join(VENUES);
    let context = VenueContext {
        instance: 0,
        records: None,
        adapter: venue.adapter(),
        folder: &folder,
        clock: Arc::new(SystemClock::new(0)).wall(),
        catalogue: Catalogue::default(),
        opening_quotes: &BTreeMap::new(),
        last_prices: &BTreeMap::new(),
        opening_cash: None,
    };
    match venue.kind.list_symbols(&venue.settings, &context) {
        None => {
            let kind = venue.kind.name();
            Err(ExitFailure::new(
                Exit::Refused,
                format!("{name}, of type {kind}, has no list of symbols as it is configured"),
            ))
        }
        Some(listed) => listed.map_err(|error| ExitFailure::new(Exit::Failed, format!("venue {name}: {error}"))),
    }
}

fn table(symbols: &[ListedSymbol]) -> String {
    let rows: Vec<_> = [HEADINGS.map(str::to_owned)].into_iter().chain(symbols.iter().map(row)).collect();
    let widths: [usize; 9] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end()).expect("a string takes every text");
    }
    text
}

fn row(listed: &ListedSymbol) -> [String; 9] {
    let shown = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let listing = &listed.listing;
    [
        listed.symbol.to_string(),
        listing.status.name().to_owned(),
        listed.base.to_string(),
        listed.quote.to_string(),
        shown(listing.tick.map(|tick| tick.to_string())),
        shown(listing.lot.map(|lot| lot.to_string())),
        shown(listing.quantity_min.map(|quantity| quantity.to_string())),
        shown(listing.quantity_max.map(|quantity| quantity.to_string())),
        shown(listing.notional_min.map(|amount| amount.to_string())),
    ]
}
