//! `rialto venues …` on the command line: the venues of the configuration.

use std::fmt::Write;

use clap::Subcommand;

use crate::config::{Config, ConfigArgs, ConfiguredVenue};
use crate::venues::venue_bars::VenueBarsArgs;
use crate::venues::venue_check::VenueCheckArgs;
use crate::venues::venue_symbols::VenueSymbolsArgs;

#[derive(Debug, Subcommand)]
pub enum VenuesCommand {
    /// List the configured venues: adapter, what it is, and what it was proven against.
    List(ConfigArgs),
    /// First contact with a venue: log on, place and cancel an order, reconnect, compare.
    ///
    /// The order buys the smallest quantity far below the market, so that it does not trade. Each step is a line on standard output: ok, failed or
    /// not offered, with the reason. All messages are recorded, with secrets masked, to a file that the last line names. Exits with 1
    /// where a step failed. An order that may still be open is named on standard error. No server may run on the data folder.
    #[command(verbatim_doc_comment)]
    Check(Box<VenueCheckArgs>),
    /// Show what a venue lists, or write it as reference data.
    ///
    /// A line for each symbol: status, assets, tick, lot, sizes. With --write FOLDER they become a folder of reference data with an exchange
    /// that never closes; a folder that is there keeps its ids, gets new symbols and filters, and what is not listed any more cannot be traded.
    /// Needs no key, and the server may run.
    #[command(verbatim_doc_comment)]
    Symbols(Box<VenueSymbolsArgs>),
    /// Fetch bars of the past from a venue and store them, for charts and the warm-up of strategies.
    ///
    /// A line for each security: how many bars, from when to when. They are put between the stored bars of the data folder and replace
    /// those of the same time; bars/sources.csv names where they came from. Needs no key, and keeps the venue's rate limits.
    /// Exits with 1 where a security got none. No server may run on the data folder.
    #[command(verbatim_doc_comment)]
    Bars(Box<VenueBarsArgs>),
}

const HEADINGS: [&str; 5] = ["VENUE", "ADAPTER", "ORDERS", "ACCOUNT", "ADAPTER IS"];

/// A line for each venue.
pub fn list(config: &Config) -> String {
    let rows: Vec<_> = [HEADINGS.map(str::to_owned)].into_iter().chain(config.venues.iter().map(row)).collect();
    let widths: [usize; 5] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end()).expect("a string takes every text");
    }
    text
}

fn row(venue: &ConfiguredVenue) -> [String; 5] {
    let orders = venue.kind.order_mode(&venue.settings).name().to_ascii_lowercase();
    [
        venue.settings.name().to_string(),
        venue.adapter().to_string(),
        orders,
        venue.settings.text("account").unwrap_or("-").to_owned(),
        venue.kind.proof(&venue.settings).to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::config::Sources;

    #[test]
    fn each_venue_has_a_line() {
        let set = [
            "venues.THIRD.type=simulated",
            "venues.THIRD.account=Zürich Desk",
            "venues.LOOK.type=binance-spot",
            "venues.LOOK.environment=live",
            "venues.LOOK.paper=true",
            "venues.EXECUTOR.type=fix",
            "venues.EXECUTOR.dialect=quickfix-executor",
            "venues.EXECUTOR.environment=live",
            "venues.EXECUTOR.exchange=RCM",
            "venues.EXECUTOR.host=127.0.0.1",
            "venues.EXECUTOR.port=5001",
            "venues.EXECUTOR.senderCompId=RIALTO",
            "venues.EXECUTOR.targetCompId=EXECUTOR",
        ];
        let set = set.iter().map(|text| (*text).to_owned()).collect();
        let config = Config::load(&Sources { set, ..Sources::default() }).unwrap();
        expect![[r#"
            VENUE     ADAPTER            ORDERS     ACCOUNT      ADAPTER IS
            ALPHA     SIMULATED-ALPHA    simulated  -            part of the server
            BETA      SIMULATED-BETA     simulated  -            part of the server
            THIRD     SIMULATED-THIRD    simulated  Zürich Desk  part of the server
            LOOK      BINANCE-SPOT-LOOK  paper      -            proven against the lab, not yet against the venue
            EXECUTOR  FIX-EXECUTOR       live       -            proven against a program with the venue's protocol, not yet against the venue
        "#]]
        .assert_eq(&list(&config));
    }
}
