//! Venue types: what a kind of venue can be configured with, and how a venue of that kind is opened. The server has a table of
//! them; it knows nothing else of a kind.

mod setting;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bus::Catalogue;
use domain::report::VenueListing;
use domain::{AdapterName, Bar, BarSize, Exchange, Money, Price, ReferenceData, SecurityId, Text, Timestamp};
pub use domain::{OrderMode, VenueFacts, VenueProof};
use venue_sim::OpeningQuotes;

pub use setting::{BETWEEN_ITEMS, COMMON_SETTINGS, SettingForm, SettingProblem, VenueSetting, VenueSettings};

use crate::adapter_records::AdapterRecords;
use crate::thread::{AdapterClock, VenueThread};
use crate::venue::Adapter;

/// A kind of venue. A configured venue names it as its `type`.
pub trait VenueType: Sync {
    /// `type` in the configuration; in upper case it is the adapter type of accounts.
    fn name(&self) -> &'static str;

    /// What venues of this type are, in one line.
    fn description(&self) -> &'static str;

    /// What its adapter was proven against, with these settings.
    fn proof(&self, settings: &VenueSettings) -> VenueProof;

    /// Its settings beside the common ones, in groups.
    fn settings(&self) -> &'static [&'static [VenueSetting]];

    /// Where orders go.
    fn order_mode(&self, settings: &VenueSettings) -> OrderMode;

    /// Whether orders leave for a venue that is neither simulated nor paper.
    fn is_live(&self, settings: &VenueSettings) -> bool {
        self.order_mode(settings) == OrderMode::Live
    }

    /// What a trader should know of a venue.
    fn facts(&self, settings: &VenueSettings) -> VenueFacts {
        VenueFacts { orders: self.order_mode(settings), proof: self.proof(settings) }
    }

    /// What is wrong between settings that are right each for itself.
    fn check(&self, settings: &VenueSettings) -> Vec<SettingProblem>;

    /// What is wrong once the reference data is known.
    fn check_reference(&self, settings: &VenueSettings, reference: &ReferenceData) -> Vec<SettingProblem>;

    /// What the venue lists, asked for now and without a key; `None` where the type has no such list.
    fn list_symbols(
        &self,
        settings: &VenueSettings,
        context: &VenueContext<'_>,
    ) -> Option<Result<Vec<ListedSymbol>, OpenVenueError>> {
        let _ = (settings, context);
        None
    }

    /// Bars that the venue still has, asked for without a key; `None` where the type has none.
    fn past_bars(
        &self,
        settings: &VenueSettings,
        context: &VenueContext<'_>,
    ) -> Option<Result<Box<dyn PastBars>, OpenVenueError>> {
        let _ = (settings, context);
        None
    }

    /// Opens the venue. Connecting comes later, on the adapter's own thread.
    fn open(&self, settings: &VenueSettings, context: &VenueContext<'_>) -> Result<OpenVenue, OpenVenueError>;
}

/// Bars of the past at a venue.
pub trait PastBars {
    /// What the bars are called after.
    fn source(&self) -> &Text;

    /// Closed bars, oldest first. Blocks, also where the venue's rate limits make it wait.
    fn bars(&mut self, wanted: &WantedBars) -> Result<Vec<Bar>, String>;
}

/// Which bars are wanted, from this instant on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedBars {
    /// The security that they become bars of.
    pub security: SecurityId,
    /// The venue's name of it.
    pub symbol: Text,
    /// Their length.
    pub size: BarSize,
    /// The first one begins then, or later.
    pub from: Timestamp,
}

/// A currency pair that a venue lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSymbol {
    /// The venue's name of it.
    pub symbol: Text,
    /// What is bought and sold.
    pub base: Text,
    /// What it is paid in.
    pub quote: Text,
    /// Whether it trades, and its filters.
    pub listing: VenueListing,
}

/// What a venue is opened with.
pub struct VenueContext<'a> {
    /// The number of the data folder, which is part of the client ids of requests.
    pub instance: u64,
    /// The adapter's name, which is part of the names of its files.
    pub adapter: AdapterName,
    /// The folder of all venues' files; it exists.
    pub folder: &'a Path,
    /// The adapter's records in the journal; none where no other machine may go on, so that its files are enough.
    pub records: Option<AdapterRecords>,
    /// The time of reports.
    pub clock: AdapterClock,
    /// Reference data, always the newest.
    pub catalogue: Catalogue,
    /// Opening quotes of securities.
    pub opening_quotes: &'a BTreeMap<SecurityId, OpeningQuotes>,
    /// Prices that were seen last before this start.
    pub last_prices: &'a BTreeMap<SecurityId, Price>,
    /// The cash that each active account gets now; none after the first start.
    pub opening_cash: Option<Money>,
}

impl VenueContext<'_> {
    /// A file of this venue alone.
    pub fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.adapter))
    }
}

/// A venue that is open and not connected yet.
pub struct OpenVenue {
    /// Its adapter.
    pub adapter: Box<dyn Adapter>,
    /// Receives securities that are imported while the server runs.
    pub imports: Option<Box<dyn ImportListener>>,
    /// Threads that end with the venue.
    pub threads: Vec<VenueThread>,
    /// The recording of its messages, where one is made.
    pub recording: Option<Box<dyn VenueRecording>>,
}

impl OpenVenue {
    /// A venue that is its adapter alone.
    pub fn new(adapter: impl Adapter + 'static) -> Self {
        Self { adapter: Box::new(adapter), imports: None, threads: Vec::new(), recording: None }
    }
}

/// A recording of every message of a venue, with secrets masked.
pub trait VenueRecording: Send {
    /// Its file.
    fn path(&self) -> &Path;

    /// Reads it with the part of the adapter that decodes messages, as if they came now.
    fn read_again(&self) -> Result<RecordingSummary, String>;
}

/// What the adapter made of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordingSummary {
    /// How many messages it has.
    pub messages: usize,
    /// Those of the venue that the adapter cannot read, each in a line.
    pub not_understood: Vec<String>,
}

/// Receives reference data that is imported while the server runs, before the engine knows it.
pub trait ImportListener: Send + Sync {
    /// `known` is what the engine knows so far.
    fn on_import(
        &self,
        known: &ReferenceData,
        imported: &ReferenceData,
        opening_quotes: &BTreeMap<SecurityId, OpeningQuotes>,
    );
}

/// Why a venue could not be opened.
#[derive(Debug)]
pub struct OpenVenueError(pub String);

impl fmt::Display for OpenVenueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for OpenVenueError {}

/// The exchange of that code; `*` is the only exchange there is.
pub fn exchange_of<'a>(code: &str, reference: &'a ReferenceData) -> Result<&'a Arc<Exchange>, String> {
    let mut exchanges = reference.exchanges.values();
    if code != "*" {
        let found = exchanges.find(|exchange| exchange.code.as_deref() == Some(code));
        return found.ok_or_else(|| format!("no exchange has the code '{code}'{}", known_codes(reference)));
    }
    match (exchanges.next(), exchanges.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err("there is no exchange in the reference data".into()),
        (Some(_), Some(_)) => Err(format!("there are several exchanges: name one{}", known_codes(reference))),
    }
}

fn known_codes(reference: &ReferenceData) -> String {
    let codes: Vec<&str> = reference.exchanges.values().filter_map(|exchange| exchange.code.as_deref()).collect();
    if codes.is_empty() { String::new() } else { format!(" (known: {})", codes.join(", ")) }
}
