//! `rialto venues bars NAME`: bars that a venue still has become stored bars, for charts and the warm-up of strategies.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use adapters::venue_type::{PastBars, VenueContext, WantedBars, exchange_of};
use bus::Catalogue;
use clap::Args;
use domain::{Bar, BarSize, Security, Timestamp};
use storage::BarFiles;
use storage::bars::{FOLDER, SOURCES};

use crate::compose::venues::known_venue::KnownVenue;
use crate::config::{Config, ConfigArgs, ConfiguredVenue};
use crate::data_dir::DataDir;
use crate::data_dir::traces::VENUES;
use crate::exit_failure::{Exit, ExitFailure};
use crate::venues::venue_check::find;

#[derive(Debug, Args)]
pub struct VenueBarsArgs {
    /// Name of the venue in the configuration
    #[arg(value_name = "NAME")]
    name: String,
    /// Size of the bars: MIN_1, MIN_5, MIN_15, HOUR_1 or DAY_1
    #[arg(long, value_name = "SIZE", default_value = "MIN_1")]
    size: String,
    /// How many of each security, the newest
    #[arg(long, value_name = "COUNT", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// Only these securities, by a symbol of the reference data or the venue's own (several: A,B) [default: all of the venue's exchange]
    #[arg(long, value_name = "SYMBOLS", value_delimiter = ',')]
    security: Vec<String>,
    #[command(flatten)]
    config: ConfigArgs,
}

pub(crate) fn execute(arguments: VenueBarsArgs) -> Result<(), ExitFailure> {
    let VenueBarsArgs { name, size, count, security, config } = arguments;
    let size = size_of(&size)?;
    let config = Config::load(&config.into_sources()).map_err(|problems| ExitFailure::configuration(&problems))?;
    let venue = find(&config, &name)?;
    let data_dir = DataDir::open(&config).map_err(explain_in_use)?;
    let known = KnownVenue::read(&config, &data_dir, &venue)?;
    let import = BarImport { config: &config, venue: &venue, data_dir: &data_dir, known: &known };
    let securities = import.securities(&security)?;
    let mut source = import.open()?;
    let from = data_dir.clock.now().plus_seconds(-size.seconds().saturating_mul(count.into()));
    let mut failures = 0;
    for security in securities {
        let symbol = security.symbol_at(venue.settings.name()).clone();
        let wanted = WantedBars { security: security.id, symbol, size, from };
        match import.one(source.as_mut(), &wanted) {
            // Whoever does not read any more has seen enough; the bars are stored all the same.
            Ok(line) => drop(writeln!(io::stdout(), "{}: {line}", security.symbol)),
            Err(reason) => {
                failures += 1;
                eprintln!("rialto: {}: {reason}", security.symbol);
            }
        }
    }
    match failures {
        0 => Ok(()),
        failures => Err(ExitFailure::new(Exit::Failed, format!("the bars of {failures} securities are not stored"))),
    }
}

struct BarImport<'a> {
    config: &'a Config,
    venue: &'a ConfiguredVenue,
    data_dir: &'a DataDir,
    known: &'a KnownVenue,
}

impl BarImport<'_> {
    /// Those that are named, or all of the venue's exchange that can be traded.
    fn securities(&self, named: &[String]) -> Result<Vec<Arc<Security>>, ExitFailure> {
        let reference = &self.known.reference;
        let venue = self.venue.settings.name();
        let exchange = exchange_of(self.venue.settings.text("exchange").unwrap_or("*"), reference);
        let exchange = exchange.map_err(|reason| refused(&reason))?.id;
        let of_venue = || reference.securities.values().filter(move |security| security.exchange == exchange);
        if named.is_empty() {
            return Ok(of_venue().filter(|security| security.tradeable).cloned().collect());
        }
        let find = |name: &String| {
            let is_it = |security: &&Arc<Security>| *security.symbol == **name || **security.symbol_at(venue) == **name;
            of_venue().find(is_it).cloned().ok_or_else(|| refused(&format!("--security: '{name}' is not at {venue}")))
        };
        named.iter().map(find).collect()
    }

    fn open(&self) -> Result<Box<dyn PastBars>, ExitFailure> {
        let folder = self.data_dir.lock.folder().join(VENUES);
        fs::create_dir_all(&folder).map_err(|error| ExitFailure::io("create", &folder, &error))?;
        let catalogue = Catalogue::default();
        catalogue.replace(Arc::new(self.known.reference.clone()));
        let context = VenueContext {
            instance: 0,
            records: None,
            adapter: self.venue.adapter(),
            folder: &folder,
            clock: self.data_dir.clock.shared(),
            catalogue,
            opening_quotes: &BTreeMap::new(),
            last_prices: &BTreeMap::new(),
            opening_cash: None,
        };
        let (kind, name) = (self.venue.kind.name(), self.venue.settings.name());
        match self.venue.kind.past_bars(&self.venue.settings, &context) {
            None => Err(refused(&format!("venues of type {kind} have no past bars: {name}"))),
            Some(opened) => opened.map_err(|error| ExitFailure::new(Exit::Failed, format!("venue {name}: {error}"))),
        }
    }

    /// Asks for the bars of one security and stores them; gives what to print.
    fn one(&self, source: &mut dyn PastBars, wanted: &WantedBars) -> Result<String, String> {
        let bars = source.bars(wanted)?;
        let (Some(first), Some(last)) = (bars.first(), bars.last()) else {
            return Ok("the venue has no bars".to_owned());
        };
        let folder = self.data_dir.lock.folder().join(FOLDER);
        let kept = usize::try_from(self.config.history_bars_kept.0).unwrap_or(0);
        BarFiles::open(folder.clone(), kept).merge(&bars).map_err(|error| error.to_string())?;
        let now = self.data_dir.clock.now();
        note_source(&folder, &bars, source.source(), now).map_err(|error| format!("{SOURCES}: {error}"))?;
        let (count, size) = (bars.len(), wanted.size.name());
        Ok(format!("{count} bars {size} from {} to {} of {}", first.at, last.at, source.source()))
    }
}

/// Where stored bars came from, and when.
fn note_source(folder: &Path, bars: &[Bar], source: &str, now: Timestamp) -> io::Result<()> {
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else { return Ok(()) };
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join(SOURCES))?;
    if file.metadata()?.len() == 0 {
        writeln!(file, "dateTime,securityId,size,bars,from,to,source")?;
    }
    let (security, size, count) = (first.security, first.size.name(), bars.len());
    writeln!(file, "{now},{security},{size},{count},{},{},{source}", first.at, last.at)
}

/// Bars of a second are not stored.
fn size_of(name: &str) -> Result<BarSize, ExitFailure> {
    let stored: Vec<BarSize> = BarSize::ALL.into_iter().filter(|size| *size != BarSize::Sec1).collect();
    let names: Vec<&str> = stored.iter().map(|size| size.name()).collect();
    let found = stored.iter().copied().find(|size| size.name() == name);
    found.ok_or_else(|| refused(&format!("--size: '{name}' is none of {}", names.join(", "))))
}

fn refused(reason: &str) -> ExitFailure {
    ExitFailure::new(Exit::Refused, reason)
}

fn explain_in_use(failure: ExitFailure) -> ExitFailure {
    match failure.exit {
        Exit::InUse => ExitFailure::new(Exit::InUse, format!("{failure}: stop the server, then fetch the bars")),
        _ => failure,
    }
}
