//! Configuration of the lab: a TOML file, the built-in demo, and single keys from the command line.

pub(crate) mod config_error;
pub(crate) mod fix_config;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::str::FromStr;

use domain::Decimal;
use serde::{Deserialize, Serialize};
use venue_sim::ParticipantActivity;

use crate::config::config_error::LabConfigError;
use crate::config::fix_config::RawFix;
use crate::exchange::{AccountRules, ExchangeSetup, OpeningMarket, SymbolRules, Units, UnitsError};
use crate::faults::fault_script::{self, ScriptLine};
use crate::fix_face::{FixFaceConfig, FixVersion};

/// The exchange that `--demo` opens.
const DEMO: &str = include_str!("demo.toml");

/// A checked configuration.
#[derive(Debug)]
pub struct LabConfig {
    pub(crate) bind: IpAddr,
    pub(crate) ports: LabPorts,
    pub(crate) limits: RequestLimits,
    pub(crate) setup: ExchangeSetup,
    /// What the ledger was begun with: other symbols or accounts need another ledger.
    pub(crate) genesis: String,
    /// Keys of configured accounts; the demo makes its own.
    pub(crate) keys: Vec<ConfiguredKey>,
    pub(crate) makes_demo_keys: bool,
    pub(crate) fix_faces: Vec<FixFaceConfig>,
    pub(crate) tls: TlsUse,
    pub(crate) switches: BinanceSwitches,
    pub(crate) faults: Vec<ScriptLine>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct LabPorts {
    /// Order entry, drop copy and market data of Binance's FIX.
    pub(crate) binance_fix: [Option<u16>; 3],
    pub(crate) rest: Option<u16>,
    pub(crate) ws_api: Option<u16>,
    pub(crate) streams: Option<u16>,
    pub(crate) admin: Option<u16>,
}

/// Which faces are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum TlsUse {
    /// As at the venue, those of Binance's FIX; the others are plain.
    #[default]
    Fix,
    /// Every face but the admin port.
    All,
    Off,
}

/// Parts of Binance that not every client wants to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BinanceSwitches {
    /// The older user data streams by listen keys.
    pub(crate) has_listen_keys: bool,
    /// The methods under `/sapi`, which the venue's testnet has not.
    pub(crate) has_sapi: bool,
}

/// Rate limits, as `exchangeInfo` lists them.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct RequestLimits {
    pub(crate) request_weight_per_minute: u32,
    pub(crate) raw_requests_per5_minutes: u32,
    pub(crate) orders_per10_seconds: u32,
    pub(crate) orders_per_day: u32,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            request_weight_per_minute: 6_000,
            raw_requests_per5_minutes: 61_000,
            orders_per10_seconds: 100,
            orders_per_day: 200_000,
        }
    }
}

/// A key that the configuration gives to an account.
#[derive(Debug, Clone)]
pub(crate) struct ConfiguredKey {
    pub(crate) account: u32,
    pub(crate) raw: RawKey,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawLab {
    #[serde(default = "loopback")]
    bind: IpAddr,
    #[serde(default)]
    binance: RawBinance,
    #[serde(default)]
    tls: TlsUse,
    #[serde(default)]
    admin: RawPort,
    #[serde(default)]
    fix44: RawFix,
    #[serde(default)]
    fix42: RawFix,
    #[serde(default)]
    limits: RequestLimits,
    /// Lines of a script of faults.
    #[serde(default)]
    faults: Vec<String>,
    #[serde(flatten)]
    exchange: RawExchange,
}

/// What determines the course of the exchange; its text is the first record of the ledger.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct RawExchange {
    #[serde(default)]
    seed: u64,
    #[serde(default = "off")]
    activity: String,
    symbols: Vec<RawSymbol>,
    accounts: Vec<RawAccount>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct RawBinance {
    rest: RawPort,
    ws_api: RawPort,
    streams: RawPort,
    fix: RawBinanceFix,
    listen_keys: bool,
    sapi: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct RawBinanceFix {
    order_entry: RawPort,
    drop_copy: RawPort,
    market_data: RawPort,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct RawPort {
    port: Option<u16>,
    /// A face that is not wanted.
    off: bool,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawSymbol {
    symbol: String,
    base: String,
    quote: String,
    tick_size: String,
    step_size: String,
    #[serde(default)]
    min_qty: Option<String>,
    #[serde(default = "largest")]
    max_qty: String,
    #[serde(default = "largest")]
    max_price: String,
    #[serde(default = "five")]
    min_notional: String,
    #[serde(default = "largest")]
    max_notional: String,
    mid: String,
    #[serde(default = "two")]
    spread_ticks: u32,
    size: String,
    #[serde(default = "half")]
    volatility: String,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawAccount {
    account: String,
    #[serde(default = "thousandth")]
    maker: String,
    #[serde(default = "thousandth")]
    taker: String,
    #[serde(default)]
    pays_in_bnb: bool,
    #[serde(default)]
    balances: BTreeMap<String, String>,
    #[serde(default, skip_serializing)]
    keys: Vec<RawKey>,
}

/// A key with its secret (HMAC) or its public key (RSA, Ed25519).
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RawKey {
    pub(crate) api_key: String,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) secret: Option<String>,
    #[serde(default)]
    pub(crate) public_key_pem: Option<String>,
    #[serde(default = "yes")]
    pub(crate) may_trade: bool,
    #[serde(default)]
    pub(crate) may_withdraw: bool,
}

fn loopback() -> IpAddr {
    IpAddr::from([127, 0, 0, 1])
}

fn off() -> String {
    "off".to_owned()
}

fn largest() -> String {
    "9000000".to_owned()
}

fn five() -> String {
    "5".to_owned()
}

fn half() -> String {
    "0.5".to_owned()
}

fn thousandth() -> String {
    "0.001".to_owned()
}

fn two() -> u32 {
    2
}

fn yes() -> bool {
    true
}

const REST_PORT: u16 = 9_100;
const WS_API_PORT: u16 = 9_101;
const STREAMS_PORT: u16 = 9_102;
const FIX44_PORT: u16 = 9_103;
const FIX42_PORT: u16 = 9_104;
/// Order entry, drop copy and market data of Binance's FIX.
const BINANCE_FIX_PORTS: [u16; 3] = [9_105, 9_106, 9_107];
const ADMIN_PORT: u16 = 9_109;

impl LabConfig {
    /// The file's text or the demo, changed by `KEY=VALUE` settings. In the demo every port is a free one unless set.
    pub fn load(file: Option<&str>, is_demo: bool, settings: &[String]) -> Result<Self, LabConfigError> {
        let text = match (file, is_demo) {
            (Some(text), _) => text,
            (None, true) => DEMO,
            (None, false) => {
                return Err(LabConfigError("name a configuration file, or open the demo with --demo".to_owned()));
            }
        };
        let mut table: toml::Table = text.parse().map_err(|error| LabConfigError(format!("not TOML: {error}")))?;
        for setting in settings {
            apply_setting(&mut table, setting)?;
        }
        let raw: RawLab = table.try_into().map_err(|error| LabConfigError(error.to_string().trim().to_owned()))?;
        raw.check(is_demo)
    }
}

/// Sets one dotted key; a value that is no TOML is a text.
fn apply_setting(table: &mut toml::Table, setting: &str) -> Result<(), LabConfigError> {
    let (key, value) =
        setting.split_once('=').ok_or_else(|| LabConfigError(format!("{setting}: not of the form KEY=VALUE")))?;
    let value = format!("x = {value}")
        .parse::<toml::Table>()
        .ok()
        .and_then(|mut table| table.remove("x"))
        .unwrap_or_else(|| toml::Value::String(value.to_owned()));
    let mut place = table;
    let mut parts: Vec<&str> = key.split('.').collect();
    let last = parts.pop().unwrap_or(key);
    for part in parts {
        let entry = place.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        place = entry.as_table_mut().ok_or_else(|| LabConfigError(format!("{key}: {part} has no keys")))?;
    }
    place.insert(last.to_owned(), value);
    Ok(())
}

impl RawLab {
    fn check(self, is_demo: bool) -> Result<LabConfig, LabConfigError> {
        if !self.bind.is_loopback() {
            return Err(LabConfigError(format!(
                "bind: {} is not a loopback address, and the lab is for tests",
                self.bind
            )));
        }
        let genesis = serde_json::to_string(&self.exchange).map_err(|error| LabConfigError(error.to_string()))?;
        let port = |raw: &RawPort, usual: u16| (!raw.off).then(|| raw.port.unwrap_or(if is_demo { 0 } else { usual }));
        let fix = &self.binance.fix;
        let [order_entry, drop_copy, market_data] = BINANCE_FIX_PORTS;
        let ports = LabPorts {
            binance_fix: [
                port(&fix.order_entry, order_entry),
                port(&fix.drop_copy, drop_copy),
                port(&fix.market_data, market_data),
            ],
            rest: port(&self.binance.rest, REST_PORT),
            ws_api: port(&self.binance.ws_api, WS_API_PORT),
            streams: port(&self.binance.streams, STREAMS_PORT),
            admin: port(&self.admin, ADMIN_PORT),
        };
        let switches = BinanceSwitches { has_listen_keys: self.binance.listen_keys, has_sapi: self.binance.sapi };
        let setup = self.exchange.setup()?;
        let usual = |usual: u16| if is_demo { 0 } else { usual };
        let fix_faces = vec![
            self.fix44.check(FixVersion::Fix44, usual(FIX44_PORT), &setup.accounts)?,
            self.fix42.check(FixVersion::Fix42, usual(FIX42_PORT), &setup.accounts)?,
        ];
        let keys = self
            .exchange
            .accounts
            .iter()
            .zip(0..)
            .flat_map(|(raw, account)| raw.keys.iter().map(move |key| ConfiguredKey { account, raw: key.clone() }));
        let faults = fault_script::parse(&self.faults.join("\n"))
            .map_err(|reason| LabConfigError(format!("faults: {reason}")))?;
        Ok(LabConfig {
            faults,
            bind: self.bind,
            ports,
            limits: self.limits,
            keys: keys.collect(),
            setup,
            genesis,
            fix_faces,
            tls: self.tls,
            switches,
            makes_demo_keys: is_demo,
        })
    }
}

impl RawExchange {
    fn setup(&self) -> Result<ExchangeSetup, LabConfigError> {
        let activity = match self.activity.as_str() {
            "off" => ParticipantActivity::Off,
            "calm" => ParticipantActivity::Calm,
            "busy" => ParticipantActivity::Busy,
            other => return Err(LabConfigError(format!("activity: {other} is not off, calm or busy"))),
        };
        let symbols: Vec<_> = self.symbols.iter().map(RawSymbol::rules).collect::<Result<_, _>>()?;
        let accounts: Vec<_> = self.accounts.iter().map(RawAccount::rules).collect::<Result<_, _>>()?;
        unique("symbols", symbols.iter().map(|symbol| &symbol.name))?;
        unique("accounts", accounts.iter().map(|account| &account.name))?;
        Ok(ExchangeSetup { seed: self.seed, activity, symbols, accounts })
    }
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<(), LabConfigError> {
    let mut seen = BTreeSet::new();
    let mut names = names.peekable();
    if names.peek().is_none() {
        return Err(LabConfigError(format!("{what}: there is none")));
    }
    match names.find(|name| !seen.insert(*name)) {
        Some(name) => Err(LabConfigError(format!("{what}: {name} is there twice"))),
        None => Ok(()),
    }
}

impl RawSymbol {
    fn rules(&self) -> Result<SymbolRules, LabConfigError> {
        let read = |field: &str, text: &str| read_units(&self.symbol, field, text);
        let (tick, step) = (read("tickSize", &self.tick_size)?, read("stepSize", &self.step_size)?);
        let error = |field: &str, reason: &str| LabConfigError(format!("{}: {field}: {reason}", self.symbol));
        if !tick.is_positive() || !step.is_positive() {
            return Err(error("tickSize, stepSize", "must be positive"));
        }
        // Otherwise price times quantity would have to be rounded.
        if tick.decimals() + step.decimals() > 8 {
            return Err(error("tickSize, stepSize", "together they have more than 8 decimals"));
        }
        let rules = SymbolRules {
            name: self.symbol.clone(),
            base: self.base.clone(),
            quote: self.quote.clone(),
            tick,
            price_min: tick,
            price_max: read("maxPrice", &self.max_price)?,
            step,
            order_tick: tick,
            order_step: step,
            quantity_min: self.min_qty.as_deref().map_or(Ok(step), |text| read("minQty", text))?,
            quantity_max: read("maxQty", &self.max_qty)?,
            notional_min: read("minNotional", &self.min_notional)?,
            notional_max: read("maxNotional", &self.max_notional)?,
            percent_up: Units(5 * Units::ONE.0),
            percent_down: Units(Units::ONE.0 / 5),
            orders_max: 200,
            stops_max: 5,
            amends_max: 10,
            opening: OpeningMarket {
                mid: read("mid", &self.mid)?,
                spread_ticks: self.spread_ticks,
                size: read("size", &self.size)?,
                volatility: Decimal::from_str(&self.volatility)
                    .map_err(|_| error("volatility", "not a decimal number"))?,
            },
        };
        self.check_opening(&rules)?;
        Ok(rules)
    }

    /// Within these bounds the participants' arithmetic cannot overflow.
    fn check_opening(&self, rules: &SymbolRules) -> Result<(), LabConfigError> {
        let error = |field: &str, reason: &str| LabConfigError(format!("{}: {field}: {reason}", self.symbol));
        let in_range = |value: Option<i64>| value.is_some_and(|value| (1..=1_000_000_000_000).contains(&value));
        if !in_range(rules.ticks(rules.opening.mid)) {
            return Err(error("mid", "not on a tick, or out of range"));
        }
        if !in_range(rules.opening.size.steps(rules.step)) {
            return Err(error("size", "not a whole number of steps, or out of range"));
        }
        if !(1..=1_000_000).contains(&self.spread_ticks) {
            return Err(error("spreadTicks", "out of range"));
        }
        if rules.opening.volatility.is_sign_negative() || rules.opening.volatility > Decimal::TEN {
            return Err(error("volatility", "not between 0 and 10"));
        }
        Ok(())
    }
}

impl RawAccount {
    fn rules(&self) -> Result<AccountRules, LabConfigError> {
        let read = |field: &str, text: &str| read_units(&self.account, field, text);
        let deposits = self.balances.iter().map(|(asset, text)| Ok((asset.clone(), read(asset, text)?)));
        Ok(AccountRules {
            name: self.account.clone(),
            maker_rate: read("maker", &self.maker)?,
            taker_rate: read("taker", &self.taker)?,
            pays_in_bnb: self.pays_in_bnb,
            deposits: deposits.collect::<Result<_, LabConfigError>>()?,
        })
    }
}

fn read_units(owner: &str, field: &str, text: &str) -> Result<Units, LabConfigError> {
    Units::parse(text).map_err(|error| {
        let reason = match error {
            UnitsError::Malformed => "not a decimal number",
            UnitsError::TooPrecise => "more than 8 decimals",
            UnitsError::Overflow => "too large",
        };
        LabConfigError(format!("{owner}: {field}: {text} is {reason}"))
    })
}
