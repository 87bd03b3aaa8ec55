//! A venue over a network: the settings that all such venues have, and what follows from them before the first connection:
//! credentials, dialer, recording and the rules of the first day.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use adapters::AdapterRecords;
use adapters::venue_type::{OpenVenueError, SettingForm, SettingProblem, VenueContext, VenueSetting, VenueSettings};
use domain::{Amount, Decimal, Order, Text, Timestamp};

use crate::connection::{Dialer, ProxyServer, TlsRoots, VenueUrl, tls_config};
use crate::credentials::{
    CredentialSource, CredentialWatch, FirstDayFile, FirstDayLimit, KeyPermissions, KeyRefusal, LiveTarget,
    VenueEnvironment, check_known_rights, check_live, check_permissions,
};
use crate::kept_text::KeptText;
use crate::recording::{Masker, MessageRecorder};

/// Time for name, connection, proxy and TLS together.
pub const DIAL_TIMEOUT: Duration = Duration::from_secs(10);

/// Largest number that a limit of size can be.
const LIMIT_MAX: i64 = 1_000_000_000;

/// Settings of every venue over a network; a type puts them before its own.
pub const NETWORK_SETTINGS: &[VenueSetting] = &[
    VenueSetting::required(
        "environment",
        SettingForm::Choice(&["live", "testnet", "demo"]),
        "Which environment of the venue: live trades real money.",
    ),
    VenueSetting::optional(
        "credentials",
        SettingForm::Parsed("a file of mode 0600, systemd:NAME or env:PREFIX", |text| {
            text.parse::<CredentialSource>().is_ok()
        }),
        "",
        "Where the key is: a TOML file with apiKey and secret or privateKey that only its owner can read, a credential of systemd, \
         or variables of the environment (PREFIX_API_KEY, PREFIX_SECRET or PREFIX_PRIVATE_KEY). When the file changes, \
         the new key is used at once, and the old one again where the venue refuses it. Only paper mode may do without.",
    ),
    VenueSetting::optional(
        "paper",
        SettingForm::Switch,
        "false",
        "Paper mode: prices of the venue, fills of a simulated one. No order leaves.",
    ),
    VenueSetting::optional(
        "allowLive",
        SettingForm::Switch,
        "false",
        "Needed where orders could cost real money: unless the venue is a testnet, a demo, paper, or on loopback addresses alone.",
    ),
    VenueSetting::optional(
        "allowWithdraw",
        SettingForm::Text("the name of this venue"),
        "",
        "A key that may withdraw is refused unless this is the name of the venue.",
    ),
    VenueSetting::optional(
        "firstDayLimit",
        SettingForm::Decimal(0, LIMIT_MAX),
        "1000",
        "Largest value of one order during the first 24 hours at a live venue, in the currency of the security's price. Orders \
         that only reduce a position pass.",
    ),
    VenueSetting::optional(
        "proxy",
        SettingForm::Parsed("an address such as http://proxy.example:3128", |text| {
            text.parse::<VenueUrl>().is_ok_and(|url| !url.secure)
        }),
        "",
        "HTTP proxy of all connections to the venue. Its user and password are in the variable RIALTO_PROXY_AUTHORIZATION \
         (user:password).",
    ),
    VenueSetting::optional(
        "trustedCertificates",
        SettingForm::Text("a PEM file"),
        "",
        "Certificates that are trusted, and no others. Blank: those of the system.",
    ),
    VenueSetting::optional(
        "recording",
        SettingForm::Switch,
        "false",
        "Whether every message is recorded, with secrets masked, to a file of the folder venues in the data folder.",
    ),
];

/// The variable with user and password of the proxy.
pub const PROXY_AUTHORIZATION: &str = "RIALTO_PROXY_AUTHORIZATION";

/// The checked values of [`NETWORK_SETTINGS`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkSettings {
    pub venue: Text,
    pub environment: VenueEnvironment,
    pub credentials: Option<CredentialSource>,
    pub is_paper: bool,
    pub allow_live: bool,
    pub allow_withdraw: Option<String>,
    pub first_day_limit: Amount,
    pub proxy: Option<VenueUrl>,
    pub trusted_certificates: Option<PathBuf>,
    pub is_recorded: bool,
}

impl NetworkSettings {
    pub fn read(settings: &VenueSettings) -> Self {
        Self {
            venue: settings.name().clone(),
            environment: match settings.text("environment") {
                Some("testnet") => VenueEnvironment::Testnet,
                Some("demo") => VenueEnvironment::Demo,
                _ => VenueEnvironment::Live,
            },
            credentials: settings.value("credentials"),
            is_paper: settings.is_on("paper"),
            allow_live: settings.is_on("allowLive"),
            allow_withdraw: settings.text("allowWithdraw").map(ToOwned::to_owned),
            first_day_limit: Amount(settings.value("firstDayLimit").unwrap_or_default()),
            proxy: settings.value("proxy"),
            trusted_certificates: settings.text("trustedCertificates").map(PathBuf::from),
            is_recorded: settings.is_on("recording"),
        }
    }

    /// What is wrong between the settings; `hosts` are those of all addresses in use.
    pub fn check(&self, hosts: &[&str]) -> Vec<SettingProblem> {
        let problem = |key, reason: &dyn fmt::Display| SettingProblem { key, reason: reason.to_string() };
        let live = check_live(&self.target(hosts), self.allow_live).err();
        let mut problems: Vec<_> = live.map(|refusal| problem("allowLive", &refusal)).into_iter().collect();
        if self.credentials.is_none() && !self.is_paper {
            problems.push(problem("credentials", &"is missing; only paper mode may do without"));
        }
        if self.allow_withdraw.as_deref().is_some_and(|name| name != &*self.venue) {
            problems.push(problem("allowWithdraw", &format!("is not {}, so it would allow nothing", self.venue)));
        }
        problems
    }

    fn target<'a>(&'a self, hosts: &'a [&'a str]) -> LiveTarget<'a> {
        LiveTarget { venue: &self.venue, environment: self.environment, paper: self.is_paper, hosts }
    }

    /// Whether orders of this venue could cost real money.
    fn is_real_money(&self, hosts: &[&str]) -> bool {
        check_live(&self.target(hosts), false).is_err()
    }
}

/// What an adapter needs before its first connection.
pub struct NetworkVenue {
    pub settings: NetworkSettings,
    pub dialer: Dialer,
    pub credentials: Option<CredentialWatch>,
    pub recorder: Option<Arc<MessageRecorder>>,
    /// In the journal of a cluster.
    pub records: Option<AdapterRecords>,
    /// Where the first day is remembered; `None` where no real money is at stake.
    first_day: Option<FirstDayFile>,
}

impl NetworkVenue {
    /// Reads credentials and certificates, and begins the recording. `hosts` are those of all addresses in use; `masker` knows
    /// the venue's own secret names.
    pub fn open(
        settings: NetworkSettings,
        hosts: &[&str],
        mut masker: Masker,
        context: &VenueContext<'_>,
    ) -> Result<Self, OpenVenueError> {
        let refused =
            |key: &str, reason: &dyn fmt::Display| OpenVenueError(format!("venues.{}.{key}: {reason}", settings.venue));
        let start =
            |source: &CredentialSource| CredentialWatch::start(source.clone(), &|name: &str| std::env::var(name).ok());
        let credentials = settings.credentials.as_ref().map(start).transpose();
        let credentials = credentials.map_err(|error| refused("credentials", &error))?;
        let dialer = dialer(&settings).map_err(|(key, reason)| refused(key, &reason))?;
        if let Some(credentials) = &credentials {
            masker.add_credentials(&credentials.current());
        }
        let recorder = settings.is_recorded.then(|| record(masker, context)).transpose();
        let recorder = recorder.map_err(|error| refused("recording", &error))?;
        let records = context.records.clone();
        let first_day = || FirstDayFile::new(KeptText::new(context.file("first-day"), records.clone()));
        let first_day = settings.is_real_money(hosts).then(first_day);
        Ok(Self { settings, dialer, credentials, recorder, records, first_day })
    }

    /// To be called at each log-on, before the first order: the limit of the first day, where there is one.
    pub fn first_day_limit(&self, now: Timestamp) -> std::io::Result<Option<FirstDayLimit>> {
        let Some(file) = &self.first_day else { return Ok(None) };
        Ok(Some(FirstDayLimit::new(file.first_live_at(now)?, self.settings.first_day_limit)))
    }
}

impl NetworkVenue {
    pub fn is_real_money(&self) -> bool {
        self.first_day.is_some()
    }

    /// Whether a key with these rights may be used here. To be called at each log-on, before a session is opened.
    pub fn check_key(&self, permissions: KeyPermissions) -> Result<(), KeyRefusal> {
        let NetworkSettings { venue, allow_withdraw, is_paper, .. } = &self.settings;
        let allowed = allow_withdraw.as_deref();
        check_permissions(venue, permissions, allowed, !is_paper)?;
        check_known_rights(venue, permissions, allowed, self.is_real_money())
    }
}

/// Whether an order may leave on the first day; the text of the refusal goes to the engine.
pub fn check_first_day(
    limit: Option<&FirstDayLimit>,
    now: Timestamp,
    order: &Order,
    contract_size: Decimal,
) -> Result<(), Text> {
    let Some(limit) = limit.filter(|_| !order.properties.reduce_only) else { return Ok(()) };
    let notional =
        order.terms.kind.own_price().and_then(|price| order.terms.quantity.value_at(price, contract_size).ok());
    limit.check(now, notional).map_err(|refusal| refusal.to_string().into())
}

fn dialer(settings: &NetworkSettings) -> Result<Dialer, (&'static str, String)> {
    let roots = match &settings.trusted_certificates {
        None => TlsRoots::System,
        Some(path) => TlsRoots::Pem(
            std::fs::read(path)
                .map_err(|error| ("trustedCertificates", format!("{} cannot be read: {error}", path.display())))?,
        ),
    };
    let tls = tls_config(&roots).map_err(|error| ("trustedCertificates", error.to_string()))?;
    let proxy = settings.proxy.as_ref().map(|url| ProxyServer {
        host: url.host.clone(),
        port: url.port,
        authorization: std::env::var(PROXY_AUTHORIZATION).ok().map(Into::into),
    });
    Ok(Dialer::new(tls, proxy, DIAL_TIMEOUT))
}

/// Each start has a recording of its own.
fn record(masker: Masker, context: &VenueContext<'_>) -> std::io::Result<Arc<MessageRecorder>> {
    let now = (context.clock)().to_string().replace(':', "-");
    let path = context.file(&format!("{now}.messages.jsonl"));
    MessageRecorder::create(&path, masker, context.clock.clone()).map(Arc::new)
}
