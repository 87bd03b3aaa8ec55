//! Configuration keys, one table. Files, environment, flags, `check-config`, the sample file and `/config-params`
//! follow from it: a new setting is one entry here, and its type defines the rest. The keys of the risk limits follow from
//! their own table.

pub mod key;
pub(crate) mod limit_keys;
pub(crate) mod simulated_keys;

use std::path::PathBuf;

use domain::{Amount, Currency, RiskLimits};
use runtime::strategies::OnFailure;
use storage::journal::SyncMode;

use super::effective::{ConfigReader, Effective};
use super::venues::{self, ConfiguredVenue};
use crate::config::values::history_store::HistoryStore;
use crate::config::values::messaging::{ClientDestination, EventRate};
use crate::config::values::names::{FilePath, HostName, ListenPort, SessionFile, WebOrigin};
use crate::config::values::pegs::Peg;
use crate::config::values::setting::{
    AnonymousRole, Fraction, JournalTicks, ListenAddress, LogFormat, LogLevel, MarketActivity, ReferencePath,
    TimeZoneName, Whole,
};
use crate::config::values::strategies::StrategyInstance;
use crate::input_problem::Problems;
use key::Key;

/// A hundred years of 365.25 days: no test of a calendar needs more.
const CENTURY_SECONDS: i64 = 3_155_760_000;

macro_rules! keys {
    (
        $( $(#[doc = $doc:literal])+ $field:ident: $kind:ty = $name:literal, $default:literal; )+
        limits $limits:ident;
        $( $(#[doc = $more_doc:literal])+ $more:ident: $more_kind:ty = $more_name:literal, $more_default:literal; )+
    ) => {
        const KEYS: &[Key] = &[$( Key::of::<$kind>($name, $default, &[$($doc),+]) ),+];
        const MORE_KEYS: &[Key] = &[$( Key::of::<$more_kind>($more_name, $more_default, &[$($more_doc),+]) ),+];

        /// The checked configuration: every key with its value.
        // The descriptions are written into the sample file as they are.
        #[allow(rustdoc::broken_intra_doc_links)]
        #[derive(Debug, Clone)]
        pub struct Config {
            $( $(#[doc = $doc])+ pub $field: $kind, )+
            /// The limits of the whole platform.
            pub $limits: RiskLimits,
            $( $(#[doc = $more_doc])+ pub $more: $more_kind, )+
            /// The venues, in the order in which they are first named.
            pub venues: Vec<ConfiguredVenue>,
            /// The texts of the values and their origins.
            pub effective: Effective,
        }

        impl Config {
            pub(super) fn read(mut reading: ConfigReader) -> Result<Self, Problems> {
                $( let $field = reading.value::<$kind>($name); )+
                let $limits = limit_keys::read(&mut reading);
                $( let $more = reading.value::<$more_kind>($more_name); )+
                let venues = venues::read(&mut reading);
                let effective = reading.finish()?;
                let ($( Some($field), )+ Some($limits), $( Some($more), )+) = ($( $field, )+ $limits, $( $more, )+)
                else {
                    return Err(Problems::default());
                };
                Ok(Self { $( $field, )+ $limits, $( $more, )+ venues, effective })
            }
        }
    };
}

/// Every key, those of the demo's venues last. Settings of venues are no keys: each type has its own.
pub fn all_keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().chain(limit_keys::KEYS).chain(MORE_KEYS).chain(simulated_keys::KEYS)
}

keys! {
    /// Address to listen on. One that other machines can reach needs a user: rialto user add.
    bind: ListenAddress = "bind", "127.0.0.1";

    /// Where everything is kept: journal, snapshots, read model, the venues' ledgers. One server at a time may use it.
    /// Relative to the folder you start in; the flag --data-dir says the same.
    data_dir: PathBuf = "data.dir", "data";

    /// HTTP port; 0 = any free one.
    http_port: ListenPort = "http.port", "9090";
    /// Further host names under which browsers may call; localhost, 127.0.0.1, [::1] and the bound address always may.
    http_hosts: Vec<HostName> = "http.hosts", "";
    /// Origins of foreign pages that may call.
    http_allowed_origins: Vec<WebOrigin> = "http.allowedOrigins", "";
    /// Requests that one peer, or one user from all addresses, may send in a second.
    http_requests_per_second: Whole<1, 1_000_000> = "http.requestsPerSecond", "5000";

    /// Connections to HTTP and HTTPS together; one that has become a WebSocket counts with the broker. Each takes a file and
    /// about 20 kB.
    http_connections: Whole<16, 100_000> = "http.connections", "1024";

    /// Folder with a built trading screen, for UI development; blank: the one inside the program. The flag --ui-dir
    /// says the same.
    ui_dir: Option<PathBuf> = "ui.dir", "";

    /// HTTPS port; 0 = any free one.
    https_port: ListenPort = "https.port", "9443";
    /// The certificate of HTTPS, with the chain to its authority behind it, as PEM. Where none is given one is made at
    /// first start and kept in the data folder: tls/cert.pem.
    https_certificate: Option<FilePath> = "https.certificate", "";
    /// The private key of that certificate, as PEM.
    https_key: Option<FilePath> = "https.key", "";

    /// Port of STOMP over TCP; it understands TLS too. 0 = any free one.
    broker_tcp_port: ListenPort = "broker.tcp.port", "61613";
    /// Port of STOMP over TLS alone; 0 = any free one.
    broker_tls_port: ListenPort = "broker.tls.port", "61612";
    /// Port of STOMP over WebSocket; 0 = any free one. HTTP and HTTPS have it at /stomp.
    broker_ws_port: ListenPort = "broker.ws.port", "61614";
    /// Host name that clients are told for the broker, in place of the one by which they called.
    broker_public_host: Option<HostName> = "broker.public.host", "";
    /// Messages of ticks, trades, bars and order books that one WebSocket gets in a second at the most.
    broker_max_rate_per_connection: EventRate = "broker.maxRatePerConnection", "50";
    /// A topic of these that is slower than this passes at once.
    broker_min_rate_per_consumer: EventRate = "broker.minRatePerConsumer", "0.1";
    /// Destinations that clients may send to.
    broker_client_destinations: Vec<ClientDestination> = "broker.clientDestinations", "/topic/generic-event.>";
    /// How long a client may wait with its CONNECT.
    broker_connect_within_seconds: Whole<1, 3_600> = "broker.connectWithinSeconds", "30";
    /// Largest body of a frame that a client sends.
    broker_max_body_kilobytes: Whole<1, 16_384> = "broker.maxBodyKilobytes", "1024";
    /// Connections to the broker from one address (one IPv6 network of 64 bits); one more is closed.
    broker_max_per_address: Whole<1, 16_384> = "broker.maxPerAddress", "1024";
    /// The same for addresses of this machine itself, where proxies and strategies are.
    broker_max_per_loopback: Whole<1, 16_384> = "broker.maxPerLoopback", "12288";

    /// Connections to the broker over all its ports, screens included. Each takes a file and about 13 kB.
    broker_connections: Whole<16, 1_000_000> = "broker.connections", "16384";
    /// Topics with a last value, besides those of prices: an open order has four. For more the oldest orders are left out of
    /// snapshots. Each takes the memory of its last message, about half a kilobyte.
    broker_state_topics: Whole<1_024, 16_777_216> = "broker.stateTopics", "65536";

    /// File of FIX sessions, in QuickFIX's format: docs/fix.md. Blank: no FIX.
    fix_settings: Option<SessionFile> = "fix.settings", "";
    /// Port of FIX; 0 = any free one. Blank: SocketAcceptPort of that file.
    fix_port: Option<ListenPort> = "fix.port", "";

    /// What a caller on this machine may do without credentials. Blank: everything while there are no users and all
    /// venues are simulated, only read once a venue is real, and nothing once there is a user.
    auth_anonymous_role: Option<AnonymousRole> = "auth.anonymousRole", "";
    /// Whether passwords and tokens may cross a network without TLS.
    auth_allow_plaintext: bool = "auth.allowPlaintext", "false";

    /// Log-ins of users at a time, at about 200 bytes each; of more the one that was idle the longest ends.
    auth_sessions: Whole<1, 1_000_000> = "auth.sessions", "1024";

    /// Folder of CSV files with exchanges, securities, accounts and strategies, read at first start.
    reference_path: Option<ReferencePath> = "reference.path", "";
    /// How lively the demo's markets are; off = the opening quotes stand still.
    demo_activity: MarketActivity = "demo.activity", "calm";
    /// The same seed gives the same markets of the demo.
    demo_seed: u64 = "demo.seed", "1";
    /// Credit of each active account at first start, in base currency.
    demo_opening_cash: Option<Amount> = "demo.openingCash", "";
    /// Days of made-up bars before the first start, which end at the opening quotes: charts and strategies have a past.
    demo_history_days: Whole<0, 30> = "demo.historyDays", "0";

    /// When the journal is forced to the disk. Only always survives a power cut without loss.
    journal_sync: SyncMode = "journal.sync", "always";
    /// Size of a journal file.
    journal_segment_megabytes: Whole<1, 1024> = "journal.segmentMegabytes", "64";
    /// Which ticks the journal records, and whether it records what strategies are told; only running strategies again needs it.
    journal_ticks: JournalTicks = "journal.ticks", "none";
    /// Days that packed segments stay in the archive: rialto journal prune deletes older ones; 0 = always.
    archive_keep_days: Whole<0, 36_500> = "archive.keepDays", "0";
    /// Size of the archive above which rialto journal prune deletes its oldest segments; 0 = any.
    archive_keep_megabytes: Whole<0, 1_000_000_000> = "archive.keepMegabytes", "0";
    /// A snapshot is written after so many inputs, or as many as there are orders if more; 0 = never, also not by size or age.
    snapshot_every_inputs: u64 = "snapshot.everyInputs", "100000";
    /// And after so many megabytes of the journal, which a start would read again; 0 = any.
    snapshot_every_megabytes: Whole<0, 1_000_000> = "snapshot.everyMegabytes", "256";
    /// And when the first input that the last one does not have is so old; 0 = any age.
    snapshot_every_minutes: Whole<0, 525_600> = "snapshot.everyMinutes", "60";
    /// An order that the venue certainly did not get is sent again after a restart if it is no older; 0 = never.
    recovery_resend_within_seconds: u32 = "recovery.resendWithinSeconds", "30";
    /// A request that the venue has not answered for so long puts its order in doubt, with a warning; 0 = never.
    recovery_answer_within_seconds: u32 = "recovery.answerWithinSeconds", "10";
    /// Pause between two lists of a venue's open orders while it is connected; 0 = never.
    reconciliation_open_orders_seconds: u32 = "reconciliation.openOrdersSeconds", "30";
    /// Pause between two lists of a venue's fills while it is connected; 0 = never.
    reconciliation_fills_seconds: u32 = "reconciliation.fillsSeconds", "60";
    /// Pause between two statements of an account, which are compared with our books, while its venue is connected; 0 = never.
    reconciliation_statements_seconds: u32 = "reconciliation.statementsSeconds", "60";

    /// Whether prices are marked as stale where a connected feed is silent for longer than it usually pauses.
    market_data_flag_silence: bool = "marketData.flagSilence", "true";

    /// Currency of totals and of limits.
    portfolio_base_currency: Currency = "portfolio.baseCurrency", "USD";
    /// Currencies that are valued as much as another where no currency pair has a price, such as stable coins.
    portfolio_pegs: Vec<Peg> = "portfolio.pegs", "USDT=USD";
    /// Pause between two samples of the value history, which has the values at each close besides; 0 = no value history.
    portfolio_sample_seconds: Whole<0, 86_400> = "portfolio.sampleSeconds", "300";
    /// The platform's day begins at midnight of this zone.
    trading_zone: TimeZoneName = "trading.zone", "UTC";
    /// Seconds added to the wall clock.
    clock_offset: Whole<{ -CENTURY_SECONDS }, CENTURY_SECONDS> = "clock.offset", "0";

    limits risk_limits;

    /// Dead-man timer of the platform: the kill switch fires unless the timer is renewed over REST within so many seconds.
    risk_dead_man_seconds: Option<Whole<1, 86_400>> = "risk.deadManSeconds", "";
    /// Part of their value that futures and swaps need as cash.
    risk_margin_rate: Fraction<0, 1> = "risk.marginRate", "0.1";
    /// Part of its value that a short sale needs as cash while it is open, for the part that is not held.
    risk_short_margin_rate: Fraction<0, 10> = "risk.shortMarginRate", "0.5";
    /// What a market order is expected to cost beyond the opposite side, in percent.
    risk_slippage_percent: Fraction<0, 100> = "risk.slippagePercent", "1";

    /// Orders, other commands and questions that may wait for the engine; cancels and the kill switch have room of their own.
    commands_waiting: Whole<1, 1_000_000> = "commands.waiting", "8192";
    /// Commands of one FIX session that may be without an answer, and as many cancels; its socket is not read meanwhile.
    commands_per_session: Whole<1, 1_000_000> = "commands.perSession", "256";
    /// The same of one user, from all addresses; over REST one more is 429.
    commands_per_user: Whole<1, 1_000_000> = "commands.perUser", "2048";
    /// The same from one address; over REST one more is 429.
    commands_per_peer: Whole<1, 1_000_000> = "commands.perPeer", "4096";

    /// Strategies that run in this server, each with the name in which it trades, what it is, and its parameters. One whose
    /// name reference data does not know is added to it.
    strategies_instances: Vec<StrategyInstance> = "strategies.instances", "";
    /// Whether strategy processes may connect; the flag --distributed says the same.
    strategies_distributed: bool = "strategies.distributed", "false";
    /// File with the NATS servers over which strategy processes connect (docs/strategies.md); without it they connect over the broker.
    strategies_nats: Option<FilePath> = "strategies.nats", "";
    /// A call-back of a strategy that has not returned for so long is a hang: the strategy is cut off.
    strategies_hang_seconds: Whole<1, 3600> = "strategies.hangSeconds", "10";
    /// What becomes of the open orders of a strategy that panicked, hangs or was cut off.
    strategies_on_failure: OnFailure = "strategies.onFailure", "cancel";
    /// Orders a second that a strategy without limits of its own may place; one that goes on beyond it is stopped.
    strategies_orders_per_second: u32 = "strategies.ordersPerSecond", "100";

    /// Bars of one security and size that outlive a restart, from MIN_1 on: strategies warm up with them. 0 stores none.
    history_bars_kept: Whole<0, 1000000> = "history.barsKept", "10000";

    /// Where order, fill and event history is kept: in a file of the data folder, or in PostgreSQL (docs/postgres.md). A password in
    /// it is better given by the environment or a file than by a flag, which other users of the machine can see.
    history_store: HistoryStore = "history.store", "sqlite";

    /// Form of the lines on standard error.
    log_format: LogFormat = "log.format", "human";
    /// The least important lines to write.
    log_level: LogLevel = "log.level", "info";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_variable_is_the_key_in_upper_snake_case() {
        let variable = |name| Key::of::<u16>(name, "", &[]).variable();
        assert_eq!(variable("bind"), "RIALTO_BIND");
        assert_eq!(variable("http.port"), "RIALTO_HTTP_PORT");
        assert_eq!(variable("broker.maxRatePerConnection"), "RIALTO_BROKER_MAX_RATE_PER_CONNECTION");
    }

    #[test]
    fn no_two_keys_share_a_name_or_a_variable() {
        let names: BTreeSet<_> = all_keys().map(|key| key.name).collect();
        let variables: BTreeSet<_> = all_keys().map(Key::variable).collect();
        assert_eq!((names.len(), variables.len()), (all_keys().count(), all_keys().count()));
    }
}
