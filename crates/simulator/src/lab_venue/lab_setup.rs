//! What the lab lists, and how the platform reaches it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use adapter_fix::FixVenueType;
use adapters::venue_type::{COMMON_SETTINGS, VenueSettings, VenueType};
use venue_lab::LabConfig;

use crate::market::{Market, cents};

/// Of the runtimes of the lab and of the adapter: a message goes through more tasks there than at a port.
pub(super) const ROUNDS_PER_STEP: usize = 8;
const DIALECT: &str = include_str!("dialect.toml");
/// CompIDs of the platform and of the lab.
const SENDER: &str = "DESK";
const TARGET: &str = "LAB";
/// So much of everything that an order is never short of it: the platform's own check of cash counts.
const PLENTY: &str = "8000000";
const PLENTY_OF_CASH: &str = "900000000";

/// The stocks of the market, each paid in dollars. Commissions are in what was bought there, so that there are none.
pub(super) fn lab_config(market: &Market, seed: u64) -> Result<LabConfig, String> {
    let mut text = format!("seed = {seed}\nactivity = \"calm\"\n");
    let mut balances = format!("USD = \"{PLENTY_OF_CASH}\"");
    for stock in &market.stocks {
        let (symbol, mid) = (&stock.security.symbol, cents(stock.opening));
        // Writing to a text does not fail.
        let _ = write!(
            text,
            "[[symbols]]\nsymbol = \"{symbol}\"\nbase = \"{symbol}\"\nquote = \"USD\"\ntickSize = \"0.01\"\n\
             stepSize = \"1\"\nmid = \"{mid}\"\nspreadTicks = 2\nsize = \"400\"\nvolatility = \"0.3\"\n"
        );
        let _ = write!(balances, ", {symbol} = \"{PLENTY}\"");
    }
    let _ = write!(
        text,
        "[[accounts]]\naccount = \"{SENDER}\"\nmaker = \"0\"\ntaker = \"0\"\nbalances = {{ {balances} }}\n\
         [fix44]\nsessions = [{{ compId = \"{SENDER}\", account = \"{SENDER}\" }}]\n"
    );
    LabConfig::load(Some(&text), false, &[]).map_err(|error| error.to_string())
}

/// The settings of the venue as the server reads them; the dialect is written into the folder.
pub(super) fn venue_settings(name: &str, folder: &Path) -> Result<VenueSettings, String> {
    let dialect = folder.join("dialect.toml");
    std::fs::write(&dialect, DIALECT).map_err(|error| error.to_string())?;
    let dialect = dialect.display().to_string();
    let written: BTreeMap<&str, &str> = [
        ("name", name),
        ("type", "fix"),
        ("dialect", &dialect),
        ("environment", "live"),
        ("host", "127.0.0.1"),
        ("port", "1"),
        ("tls", "false"),
        ("senderCompId", SENDER),
        ("targetCompId", TARGET),
    ]
    .into();
    let tables: Vec<_> = [COMMON_SETTINGS].iter().chain(FixVenueType.settings()).copied().collect();
    VenueSettings::read(name, &tables, &written).map_err(|problems| format!("{problems:?}"))
}
