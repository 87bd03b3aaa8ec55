//! Simulated venue, as a type of the configuration: its settings, and how it is opened from reference data.

mod fault;
mod listings;

use std::time::Duration;

use domain::report::ReplaceKind;
use domain::{Decimal, Money, ReferenceData};
use venue_sim::book::SelfTradeRule;
use venue_sim::{Deposit, Faults, ParticipantActivity, VenueConfig, VenueFees};

pub use fault::VenueFault;

use crate::simulated::{LEDGER_COMPACT_BYTES, SimulatedAdapter, SimulatedVenueSettings};
use crate::venue_type::{
    OpenVenue, OpenVenueError, OrderMode, SettingForm, SettingProblem, VenueContext, VenueProof, VenueSetting,
    VenueSettings, VenueType, exchange_of,
};
use listings::MarketListings;
pub(crate) use listings::unit_costs;

const NANOS_PER_MICRO: i64 = 1_000;
const NANOS_PER_MILLI: i64 = 1_000_000;
/// Requests that come late come within this time.
const LATE_REQUEST_MAX_NANOS: i64 = 5_000 * NANOS_PER_MILLI;

/// The type `simulated`: an exchange in our process with a ledger of its own.
pub struct SimulatedVenueType;

const SETTINGS: &[VenueSetting] = &[
    VenueSetting::optional(
        "exchange",
        SettingForm::Text("the code of an exchange, or *"),
        "*",
        "Code of the exchange that it is; * = the only one in the reference data.",
    ),
    VenueSetting::optional("latencyMicros", SettingForm::Whole(0, 60_000_000), "50", "From order entry to the book."),
    VenueSetting::optional(
        "makerFeePercent",
        SettingForm::Decimal(-10, 10),
        "",
        "What it charges an order that rested, in percent of the trade's worth; below zero it pays. Blank, as the next one: the \
         fee of the security's family.",
    ),
    VenueSetting::optional(
        "takerFeePercent",
        SettingForm::Decimal(-10, 10),
        "",
        "What it charges the order that came and took.",
    ),
    VenueSetting::optional(
        "replace",
        SettingForm::Choice(&["inPlace", "lowerQuantityOnly", "cancelReplace", "none"]),
        "inPlace",
        "How it gives an order other terms: in place, only a lower quantity, by cancelling it and placing another one, or not at \
         all.",
    ),
    VenueSetting::optional(
        "activity",
        SettingForm::Choice(&["off", "calm", "busy"]),
        "calm",
        "How lively its market is; off = the opening quotes stand still.",
    ),
    VenueSetting::optional(
        "seed",
        SettingForm::Parsed("a whole number", |text| text.parse::<u64>().is_ok()),
        "1",
        "The same seed gives the same market.",
    ),
    VenueSetting::optional(
        "faults",
        SettingForm::List(&SettingForm::Parsed(VenueFault::SHAPE, |text| text.parse::<VenueFault>().is_ok())),
        "",
        "Faults, to certify what trades there.",
    ),
];

impl VenueType for SimulatedVenueType {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn description(&self) -> &'static str {
        "an exchange inside the server, with a ledger of its own"
    }

    fn proof(&self, _: &VenueSettings) -> VenueProof {
        VenueProof::OwnVenue
    }

    fn settings(&self) -> &'static [&'static [VenueSetting]] {
        &[SETTINGS]
    }

    fn order_mode(&self, _: &VenueSettings) -> OrderMode {
        OrderMode::Simulated
    }

    fn check(&self, _: &VenueSettings) -> Vec<SettingProblem> {
        Vec::new()
    }

    fn check_reference(&self, settings: &VenueSettings, reference: &ReferenceData) -> Vec<SettingProblem> {
        let problem = |reason| SettingProblem { key: "exchange", reason };
        exchange_of(code(settings), reference).err().map(problem).into_iter().collect()
    }

    fn open(&self, settings: &VenueSettings, context: &VenueContext<'_>) -> Result<OpenVenue, OpenVenueError> {
        let venue = SimulatedVenueSettings {
            ledger: context.file("ledger"),
            venue: venue_config(settings, context)?,
            compact_at_bytes: LEDGER_COMPACT_BYTES,
        };
        let exchange = venue.venue.exchange.id;
        let adapter = SimulatedAdapter::open(venue, (context.clock)()).map_err(|error| refused(&error))?;
        let controls = adapter.controls();
        let cycle = disconnect_period(settings).map(|period| fault::start(controls.clone(), period));
        let cycle = cycle.transpose().map_err(|error| refused(&error))?;
        let imports = Some(Box::new(MarketListings { exchange, controls }) as _);
        Ok(OpenVenue { imports, threads: cycle.into_iter().collect(), ..OpenVenue::new(adapter) })
    }
}

fn refused(reason: &dyn std::fmt::Display) -> OpenVenueError {
    OpenVenueError(reason.to_string())
}

fn code(settings: &VenueSettings) -> &str {
    settings.text("exchange").unwrap_or("*")
}

fn venue_config(settings: &VenueSettings, context: &VenueContext<'_>) -> Result<VenueConfig, OpenVenueError> {
    let reference = context.catalogue.current();
    let exchange = exchange_of(code(settings), &reference).map_err(OpenVenueError)?.clone();
    let activity = activity(settings);
    Ok(VenueConfig {
        name: context.adapter.0.clone(),
        feed: context.adapter.0.clone(),
        // Where nobody quotes, the opening quotes stand by definition.
        listings: match activity {
            ParticipantActivity::Off => listings::opening(exchange.id, &reference, context.opening_quotes),
            _ => listings::resumed(exchange.id, &reference, context.opening_quotes, context.last_prices),
        },
        exchange,
        seed: seed(settings),
        activity,
        latency_nanos: settings.value("latencyMicros").unwrap_or(0) * NANOS_PER_MICRO,
        request_life_nanos: request_life_nanos(settings),
        fees: fees(settings),
        self_trade: SelfTradeRule::CancelNewest,
        replace: replace(settings),
        deposits: deposits(context, &reference),
        faults: faults(settings),
    })
}

/// The opening cash that the engine credits to the accounts of this adapter.
pub(crate) fn deposits(context: &VenueContext<'_>, reference: &ReferenceData) -> Vec<Deposit> {
    let Some(Money { amount, currency }) = context.opening_cash else { return Vec::new() };
    let own = reference.accounts.values().filter(|account| account.active && account.adapter() == context.adapter);
    own.map(|account| Deposit { account: account.id, currency, amount }).collect()
}

fn seed(settings: &VenueSettings) -> u64 {
    settings.value("seed").unwrap_or(1)
}

fn activity(settings: &VenueSettings) -> ParticipantActivity {
    match settings.text("activity") {
        Some("calm") => ParticipantActivity::Calm,
        Some("busy") => ParticipantActivity::Busy,
        _ => ParticipantActivity::Off,
    }
}

fn replace(settings: &VenueSettings) -> ReplaceKind {
    match settings.text("replace") {
        Some("lowerQuantityOnly") => ReplaceKind::LowerQuantityOnly,
        Some("cancelReplace") => ReplaceKind::CancelReplace,
        Some("none") => ReplaceKind::None,
        _ => ReplaceKind::InPlace,
    }
}

/// None where no fee is configured; a rate that is not counts as nothing.
pub(crate) fn fees(settings: &VenueSettings) -> Option<VenueFees> {
    let rates = ["makerFeePercent", "takerFeePercent"].map(|key| settings.value::<Decimal>(key));
    let [maker, taker] = rates.map(|rate| rate.map_or(Decimal::ZERO, |percent| percent / Decimal::ONE_HUNDRED));
    rates.iter().any(Option::is_some).then_some(VenueFees { maker, taker })
}

fn configured_faults(settings: &VenueSettings) -> impl Iterator<Item = VenueFault> {
    settings.list("faults").into_iter()
}

fn request_life_nanos(settings: &VenueSettings) -> i64 {
    let is_late = configured_faults(settings).any(|fault| matches!(fault, VenueFault::Late(_)));
    if is_late { LATE_REQUEST_MAX_NANOS } else { 0 }
}

fn disconnect_period(settings: &VenueSettings) -> Option<Duration> {
    configured_faults(settings).find_map(|fault| match fault {
        VenueFault::Cut(millis) => Some(Duration::from_millis(millis.into())),
        _ => None,
    })
}

fn faults(settings: &VenueSettings) -> Faults {
    let none = Faults { seed: seed(settings), ..Faults::default() };
    configured_faults(settings).fold(none, |faults, fault| match fault {
        VenueFault::Reject(reject_every) => Faults { reject_every, ..faults },
        VenueFault::Delay(millis) => Faults { delay_nanos: i64::from(millis) * NANOS_PER_MILLI, ..faults },
        VenueFault::Duplicate(duplicate_one_in) => Faults { duplicate_one_in, ..faults },
        VenueFault::Drop(drop_one_in) => Faults { drop_one_in, ..faults },
        VenueFault::Reorder(reorder_one_in) => Faults { reorder_one_in, ..faults },
        VenueFault::Disconnect => Faults { disconnected: true, ..faults },
        VenueFault::Mute => Faults { muted: true, ..faults },
        VenueFault::Lose(lose_one_in) => Faults { lose_one_in, ..faults },
        VenueFault::Late(late_one_in) => Faults { late_one_in, ..faults },
        VenueFault::LineDown(line) => Faults { lines_down: faults.lines_down.with(line), ..faults },
        VenueFault::Strangers(strangers_every) => Faults { strangers_every, ..faults },
        VenueFault::Half(half) => Faults { replace_half: Some(half), ..faults },
        // Comes and goes: `disconnect_cycle`.
        VenueFault::Cut(_) => faults,
    })
}
