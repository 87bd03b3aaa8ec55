//! The venue type `binance-spot`: its settings, and how a venue of it is opened.

use std::path::PathBuf;

use adapter_kit::connection::VenueUrl;
use adapter_kit::recording::Masker;
use adapter_kit::{NETWORK_SETTINGS, NetworkSettings, NetworkVenue};
use adapters::paper::{self, PAPER_SETTINGS, PaperVenue, check_books};
use adapters::venue_type::{
    ListedSymbol, OpenVenue, OpenVenueError, OrderMode, PastBars, SettingForm, SettingProblem, VenueContext,
    VenueProof, VenueSetting, VenueSettings, VenueType, exchange_of,
};
use domain::ReferenceData;

use crate::adapter::{BinanceAdapter, BinancePrices, BinanceSetup, TRADED_SYMBOLS};
use crate::addresses::{AddressOverrides, BinanceAddresses};
use crate::orders::order_mapping::{SELF_TRADE_WORDS, stp_mode};
use crate::prices::past_bars::BinanceBars;
use crate::protocol::requests::encoding::KEY_HEADER;
use crate::symbols::public_calls::PublicCalls;
use crate::symbols::symbol_list::ask_for_symbols;

/// For so long after its time stamp the venue carries a request out, where the setting says nothing else.
const RECEIVE_WINDOW_DEFAULT: u32 = 5_000;

/// The type `binance-spot`.
pub struct BinanceSpotType;

const ADDRESS: SettingForm =
    SettingForm::Parsed("an address such as https://api.example", |text| text.parse::<VenueUrl>().is_ok());

const SETTINGS: &[VenueSetting] = &[
    VenueSetting::optional(
        "exchange",
        SettingForm::Text("the code of an exchange, or *"),
        "*",
        "Code of the exchange in the reference data that it is; * = the only one.",
    ),
    VenueSetting::optional("rest", ADDRESS, "", "Address of REST; blank: that of the environment."),
    VenueSetting::optional("wsApi", ADDRESS, "", "Address of the WebSocket API; blank: that of the environment."),
    VenueSetting::optional("streams", ADDRESS, "", "Address of the market streams; blank: that of the environment."),
    VenueSetting::optional(
        "receiveWindowMillis",
        SettingForm::Whole(500, 60_000),
        "5000",
        "So long after it was sent the venue still carries a request out. An order without an answer is decided after it.",
    ),
    VenueSetting::optional(
        "selfTrade",
        SettingForm::Choice(&SELF_TRADE_WORDS),
        "",
        "What the venue does with an order that would trade with another of the account; blank: the default of its symbol.",
    ),
];

impl VenueType for BinanceSpotType {
    fn name(&self) -> &'static str {
        "binance-spot"
    }

    fn description(&self) -> &'static str {
        "Binance spot"
    }

    fn proof(&self, _: &VenueSettings) -> VenueProof {
        VenueProof::Lab
    }

    fn settings(&self) -> &'static [&'static [VenueSetting]] {
        &[NETWORK_SETTINGS, PAPER_SETTINGS, SETTINGS]
    }

    fn order_mode(&self, settings: &VenueSettings) -> OrderMode {
        if is_paper(settings) { OrderMode::Paper } else { OrderMode::Live }
    }

    fn check(&self, settings: &VenueSettings) -> Vec<SettingProblem> {
        let network = NetworkSettings::read(settings);
        let addresses = match addresses(settings, &network) {
            Ok(addresses) => addresses,
            Err(problem) => return vec![problem],
        };
        effective(network, &addresses).check(&addresses.hosts())
    }

    fn check_reference(&self, settings: &VenueSettings, reference: &ReferenceData) -> Vec<SettingProblem> {
        let problem = |reason| SettingProblem { key: "exchange", reason };
        exchange_of(code(settings), reference).err().map(problem).into_iter().collect()
    }

    fn list_symbols(
        &self,
        settings: &VenueSettings,
        context: &VenueContext<'_>,
    ) -> Option<Result<Vec<ListedSymbol>, OpenVenueError>> {
        let calls = public_calls(settings, context);
        Some(calls.and_then(|calls| ask_for_symbols(calls).map_err(OpenVenueError)))
    }

    fn past_bars(
        &self,
        settings: &VenueSettings,
        context: &VenueContext<'_>,
    ) -> Option<Result<Box<dyn PastBars>, OpenVenueError>> {
        let opened = public_calls(settings, context).and_then(|calls| {
            let opened = BinanceBars::open(calls, context.clock.clone(), context.adapter.0.clone());
            opened.map_err(OpenVenueError)
        });
        Some(opened.map(|bars| Box::new(bars) as _))
    }

    fn open(&self, settings: &VenueSettings, context: &VenueContext<'_>) -> Result<OpenVenue, OpenVenueError> {
        check_books(is_paper(settings), &[files(context).with_extension(TRADED_SYMBOLS)], context)?;
        if is_paper(settings) {
            return open_paper(settings, context);
        }
        let adapter = open_adapter(settings, context)?;
        let recording = adapter.recording().map(|recording| Box::new(recording) as _);
        Ok(OpenVenue { recording, ..OpenVenue::new(adapter) })
    }
}

/// For calls without a key, from the command line.
fn public_calls(settings: &VenueSettings, context: &VenueContext<'_>) -> Result<PublicCalls, OpenVenueError> {
    let public = NetworkSettings { credentials: None, is_recorded: false, ..NetworkSettings::read(settings) };
    let (addresses, network) = network(public, settings, context)?;
    PublicCalls::open(&addresses, &network, &files(context), &context.clock).map_err(OpenVenueError)
}

/// The adapter of a venue, not connected yet.
pub fn open_adapter(settings: &VenueSettings, context: &VenueContext<'_>) -> Result<BinanceAdapter, OpenVenueError> {
    BinanceAdapter::open(setup(settings, context)?, &files(context)).map_err(OpenVenueError)
}

/// Prices of the venue, orders at a simulated one.
fn open_paper(settings: &VenueSettings, context: &VenueContext<'_>) -> Result<OpenVenue, OpenVenueError> {
    let prices = BinancePrices::open(setup(settings, context)?, &files(context)).map_err(OpenVenueError)?;
    let reference = context.catalogue.current();
    let exchange = exchange_of(code(settings), &reference).map_err(OpenVenueError)?;
    paper::open(prices, &PaperVenue { exchange, settings }, context)
}

/// What files of the venue begin with.
fn files(context: &VenueContext<'_>) -> PathBuf {
    context.folder.join(context.adapter.to_string())
}

fn is_paper(settings: &VenueSettings) -> bool {
    NetworkSettings::read(settings).is_paper
}

fn setup(settings: &VenueSettings, context: &VenueContext<'_>) -> Result<BinanceSetup, OpenVenueError> {
    let network = NetworkSettings::read(settings);
    // Paper mode signs nothing, so a key is not even read.
    let credentials = network.credentials.clone().filter(|_| !network.is_paper);
    let (addresses, network) = self::network(NetworkSettings { credentials, ..network }, settings, context)?;
    let reference = context.catalogue.current();
    let exchange = exchange_of(code(settings), &reference).map_err(OpenVenueError)?.id;
    Ok(BinanceSetup {
        adapter: context.adapter.clone(),
        venue: settings.name().clone(),
        instance: context.instance,
        exchange,
        addresses,
        receive_window_millis: settings.value("receiveWindowMillis").unwrap_or(RECEIVE_WINDOW_DEFAULT),
        self_trade: settings.text("selfTrade").and_then(stp_mode),
        clock: context.clock.clone(),
        catalogue: context.catalogue.clone(),
        network,
    })
}

fn network(
    network: NetworkSettings,
    settings: &VenueSettings,
    context: &VenueContext<'_>,
) -> Result<(BinanceAddresses, NetworkVenue), OpenVenueError> {
    let addresses = addresses(settings, &network).map_err(|problem| OpenVenueError(problem.reason))?;
    let mut masker = Masker::new();
    masker.add_header(KEY_HEADER);
    let network = NetworkVenue::open(effective(network, &addresses), &addresses.hosts(), masker, context)?;
    Ok((addresses, network))
}

fn code(settings: &VenueSettings) -> &str {
    settings.text("exchange").unwrap_or("*")
}

fn addresses(settings: &VenueSettings, network: &NetworkSettings) -> Result<BinanceAddresses, SettingProblem> {
    let text = |key: &str| settings.text(key).map(ToOwned::to_owned);
    let overrides = AddressOverrides { rest: text("rest"), ws_api: text("wsApi"), streams: text("streams") };
    BinanceAddresses::new(network.environment, &overrides)
        .map_err(|error| SettingProblem { key: error.setting, reason: error.reason.to_string() })
}

/// An address of the live venue is live, whatever the environment is called.
fn effective(network: NetworkSettings, addresses: &BinanceAddresses) -> NetworkSettings {
    NetworkSettings { environment: addresses.effective_environment(network.environment), ..network }
}
