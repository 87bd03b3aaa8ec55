//! Profiles: named sets of values, overridden by all other sources.

use wire::nearest::hint;

#[derive(Debug, PartialEq, Eq)]
pub struct ConfigProfile {
    pub name: &'static str,
    pub doc: &'static str,
    pub values: &'static [(&'static str, &'static str)],
}

/// Used when neither a file nor a profile is named.
pub const DEFAULT_PROFILE: &str = "demo";

pub const PROFILES: &[ConfigProfile] = &[
    ConfigProfile {
        name: "demo",
        doc: "a desk with two simulated exchanges, three accounts with cash and some thirty securities",
        values: &[
            ("reference.path", "demo"),
            ("simulated.venues", "ALPHA:RCM,BETA:SMX"),
            ("demo.openingCash", "1000000"),
            ("demo.historyDays", "7"),
            ("fix.settings", "own"),
            (
                "strategies.instances",
                "TREND:moving-average-cross security=EUR.USD prices=MIN_1 fast=5 slow=20 quantity=1000,\
                 MAKER:market-making security=ETH.USD quantity=0.01 maxPosition=0.05 distance=5 patience=3,\
                 PAIRS:pairs first=AAPL second=MSFT quantity=10 hedge=5",
            ),
        ],
    },
    ConfigProfile {
        name: "simulated",
        doc: "one simulated venue, SIM, for every exchange of your own reference data",
        values: &[("simulated.venues", "SIM:*")],
    },
    ConfigProfile {
        name: "inbound-fix",
        doc: "accept the FIX sessions of fix/sessions.cfg in the data folder",
        values: &[("fix.settings", "own")],
    },
];

/// The profile of that name, or an error text.
pub fn profile(name: &str) -> Result<&'static ConfigProfile, String> {
    let unknown = || {
        let names = PROFILES.iter().map(|profile| profile.name);
        let known = names.clone().collect::<Vec<_>>().join(", ");
        format!("unknown profile '{name}'{} (known: {known})", hint(name, names))
    };
    PROFILES.iter().find(|profile| profile.name == name).ok_or_else(unknown)
}
