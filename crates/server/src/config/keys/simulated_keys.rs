//! Keys of the demo's simulated venues, turned into settings of `[[venues]]`. No other file of the configuration knows them.

use adapters::simulated_venue::VenueFault;
use domain::Text;

use super::key::Key;
use crate::config::effective::ConfigReader;
use crate::config::sources::entry::{ConfigEntry, ConfigOrigin};
use crate::config::values::setting::{BETWEEN_ITEMS, Fraction, Literal, Setting, Whole};
use wire::nearest::hint;

const VENUES: &str = "simulated.venues";
const FAULTS: &str = "simulated.faults";

pub(crate) const KEYS: &[Key] = &[
    Key::of::<Vec<SimulatedVenue>>(
        VENUES,
        "",
        &[
            "Simulated venues of the demo, by their names, and the exchanges they are. A venue of your own is better written as",
            "[[venues]], which has more settings.",
        ],
    ),
    Key::of::<Whole<0, 60_000_000>>(
        "simulated.latencyMicros",
        "50",
        &["latencyMicros of these venues: from order entry to the book."],
    ),
    Key::of::<Option<Fraction<-10, 10>>>(
        "simulated.makerFeePercent",
        "",
        &[
            "makerFeePercent of these venues: what one charges an order that rested, in percent of the trade's worth; below zero",
            "it pays. Blank, as the next one: the fee of the security's family.",
        ],
    ),
    Key::of::<Option<Fraction<-10, 10>>>(
        "simulated.takerFeePercent",
        "",
        &["takerFeePercent of these venues: what one charges the order that came and took."],
    ),
    Key::of::<Vec<FaultOfVenue>>(FAULTS, "", &["Faults of these venues, to certify what trades there."]),
];

/// Keys that mean the same setting of every simulated venue.
const SHARED: [(&str, &str); 5] = [
    ("simulated.latencyMicros", "latencyMicros"),
    ("simulated.makerFeePercent", "makerFeePercent"),
    ("simulated.takerFeePercent", "takerFeePercent"),
    ("demo.activity", "activity"),
    ("demo.seed", "seed"),
];

/// The entries of `[[venues]]` that these keys mean. The platform's own keys have been read.
pub(crate) fn entries(reader: &mut ConfigReader) -> Vec<ConfigEntry> {
    let venues = reader.value::<Vec<SimulatedVenue>>(VENUES).unwrap_or_default();
    reader.value::<Whole<0, 60_000_000>>("simulated.latencyMicros");
    reader.value::<Option<Fraction<-10, 10>>>("simulated.makerFeePercent");
    reader.value::<Option<Fraction<-10, 10>>>("simulated.takerFeePercent");
    let faults = reader.value::<Vec<FaultOfVenue>>(FAULTS).unwrap_or_default();
    check_fault_names(&faults, &venues, reader);
    venues.iter().flat_map(|venue| entries_of(venue, &faults, reader)).collect()
}

fn entries_of(venue: &SimulatedVenue, faults: &[FaultOfVenue], reader: &ConfigReader) -> Vec<ConfigEntry> {
    let entry = |setting: &str, text: &str, key: &'static str| {
        let (_, origin) = reader.line(key)?;
        let origin = ConfigOrigin::Derived { key, from: Box::new(origin.clone()) };
        Some(ConfigEntry { name: format!("venues.{}.{setting}", venue.name), text: text.to_owned(), origin })
    };
    let is_meant = |wish: &&FaultOfVenue| wish.venue.as_ref().is_none_or(|name| *name == venue.name);
    let faults: Vec<_> = faults.iter().filter(is_meant).map(|wish| wish.fault.to_string()).collect();
    let own = [("type", "simulated", VENUES), ("exchange", &*venue.exchange, VENUES)];
    let own = own.into_iter().filter_map(|(setting, text, key)| entry(setting, text, key));
    let shared = SHARED.into_iter().filter_map(|(key, setting)| entry(setting, reader.line(key)?.0, key));
    own.chain(shared).chain(entry("faults", &faults.join(&BETWEEN_ITEMS.to_string()), FAULTS)).collect()
}

/// A fault of a venue that is misspelt would test nothing.
fn check_fault_names(faults: &[FaultOfVenue], venues: &[SimulatedVenue], reader: &mut ConfigReader) {
    for name in faults.iter().filter_map(|wish| wish.venue.as_deref()) {
        if !venues.iter().any(|venue| &*venue.name == name) {
            let hint = hint(name, venues.iter().map(|venue| &*venue.name));
            let origin = reader.line(FAULTS).map_or(ConfigOrigin::Default, |(_, origin)| origin.clone());
            reader.add_problem(&origin, format!("{FAULTS}: {VENUES} has no venue '{name}'{hint}"));
        }
    }
}

/// A simulated venue and the exchange that it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SimulatedVenue {
    name: Text,
    /// Its code, or `*`.
    exchange: Text,
}

impl Setting for SimulatedVenue {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "NAME:CODE or NAME:*, with the code of an exchange or * for the only one".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (name, exchange) = text.split_once(':').unwrap_or((text, ""));
        let is_code = exchange == "*" || is_name(exchange);
        (is_name(name) && is_code)
            .then(|| Self { name: name.into(), exchange: exchange.into() })
            .ok_or_else(|| format!("'{text}' is not {}", Self::shape()))
    }

    fn show(&self) -> String {
        format!("{}:{}", self.name, self.exchange)
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A fault of one venue, or of all.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FaultOfVenue {
    /// Absent: every venue.
    venue: Option<Text>,
    fault: VenueFault,
}

impl Setting for FaultOfVenue {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        format!("QUALIFIER:FAULT or *:FAULT with {}", VenueFault::SHAPE)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(name, fault)| {
            let venue = if name == "*" { None } else { Some(is_name(name).then(|| name.into())?) };
            Some(Self { venue, fault: fault.parse().ok()? })
        });
        parsed.ok_or_else(|| format!("'{text}' is not {}", Self::shape()))
    }

    fn show(&self) -> String {
        format!("{}:{}", self.venue.as_deref().unwrap_or("*"), self.fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_shown_as_it_was_written() {
        for text in ["ALPHA:reject=10", "*:delay=50", "A:disconnect", "*:mute"] {
            assert_eq!(FaultOfVenue::parse(text).unwrap().show(), text);
        }
    }

    #[test]
    fn what_is_no_fault_is_refused_with_the_right_form() {
        for text in ["reject=1", "A:reject", ":mute", "A:explode", "A B:mute"] {
            let reason = FaultOfVenue::parse(text).unwrap_err();
            assert!(reason.starts_with(&format!("'{text}' is not QUALIFIER:FAULT")), "{reason}");
        }
    }
}
