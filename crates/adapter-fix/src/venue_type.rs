//! The venue type `fix`: its settings, and how a venue of it is opened.

use std::path::Path;
use std::sync::Arc;

use adapter_kit::connection::{TlsRoots, tls_config};
use adapter_kit::credentials::{CredentialSource, ExposeSecret, LiveTarget, SigningKey, VenueEnvironment, check_live};
use adapters::venue_type::{
    OpenVenue, OpenVenueError, OrderMode, SettingForm, SettingProblem, VenueContext, VenueProof, VenueSetting,
    VenueSettings, VenueType, exchange_of,
};
use domain::ReferenceData;
use fix::FixCredentials;
use fix_net::{SessionStream, TlsWrapper};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;

use crate::adapter::{FixAdapter, FixSetup, SessionFiles};
use crate::dialect::{Dialect, DialectProof, LogonCredentials, SHIPPED_DIALECTS};
use crate::session::SessionPlan;

/// The type `fix`.
pub struct FixVenueType;

const SETTINGS: &[VenueSetting] = &[
    VenueSetting::optional(
        "exchange",
        SettingForm::Text("the code of an exchange, or *"),
        "*",
        "Code of the exchange in the reference data that it is; * = the only one.",
    ),
    VenueSetting::required(
        "dialect",
        SettingForm::Text("a dialect that is shipped, or a file"),
        "How the venue speaks FIX: the name of a dialect that is shipped, or a file.",
    ),
    VenueSetting::required(
        "environment",
        SettingForm::Choice(&["live", "testnet", "demo"]),
        "Which environment of the venue: live trades real money.",
    ),
    VenueSetting::required(
        "host",
        SettingForm::List(&SettingForm::Text("a host")),
        "Host of the venue. Where there are several, the next one is tried when one fails.",
    ),
    VenueSetting::required("port", SettingForm::Whole(1, 65_535), "Port of the venue."),
    VenueSetting::optional("tls", SettingForm::Switch, "true", "Whether the connection is encrypted."),
    VenueSetting::optional(
        "trustedCertificates",
        SettingForm::Text("a PEM file"),
        "",
        "Certificates that are trusted, and no others. Blank: those of the system.",
    ),
    VenueSetting::required("senderCompId", SettingForm::Text("a CompID"), "SenderCompID (49): who we are."),
    VenueSetting::required("targetCompId", SettingForm::Text("a CompID"), "TargetCompID (56): who the venue is."),
    VenueSetting::optional(
        "credentials",
        SettingForm::Parsed("a file of mode 0600, systemd:NAME or env:PREFIX", |text| {
            text.parse::<CredentialSource>().is_ok()
        }),
        "",
        "Where user and password are, for a dialect that logs on with them: a TOML file with apiKey (the user) and secret (the \
         password) that only its owner can read, a credential of systemd, or variables of the environment.",
    ),
    VenueSetting::optional(
        "marketDataHost",
        SettingForm::List(&SettingForm::Text("a host")),
        "",
        "Host of a session for market data alone. Blank: that of the orders.",
    ),
    VenueSetting::optional(
        "marketDataPort",
        SettingForm::Whole(1, 65_535),
        "",
        "Port of a session for market data alone. Without it prices come over the order session, where the dialect has them.",
    ),
    VenueSetting::optional(
        "marketDataSenderCompId",
        SettingForm::Text("a CompID"),
        "",
        "SenderCompID (49) of that session. Blank: that of the orders.",
    ),
    VenueSetting::optional(
        "marketDataTargetCompId",
        SettingForm::Text("a CompID"),
        "",
        "TargetCompID (56) of that session. Blank: that of the orders.",
    ),
    VenueSetting::optional(
        "paper",
        SettingForm::Switch,
        "false",
        "Paper mode is not offered: prices come with the sessions of an account.",
    ),
    VenueSetting::optional(
        "allowLive",
        SettingForm::Switch,
        "false",
        "Needed where orders could cost real money: unless the venue is a testnet, a demo, or on loopback addresses alone.",
    ),
];

impl VenueType for FixVenueType {
    fn name(&self) -> &'static str {
        "fix"
    }

    fn description(&self) -> &'static str {
        "a broker or exchange that speaks FIX, by a dialect file"
    }

    fn proof(&self) -> VenueProof {
        VenueProof::Lab
    }

    fn settings(&self) -> &'static [&'static [VenueSetting]] {
        &[SETTINGS]
    }

    fn order_mode(&self, _: &VenueSettings) -> OrderMode {
        OrderMode::Live
    }

    fn check(&self, settings: &VenueSettings) -> Vec<SettingProblem> {
        let mut problems = Vec::new();
        match dialect(settings) {
            Err(reason) => problems.push(SettingProblem { key: "dialect", reason }),
            Ok(dialect) => {
                let wants_password = dialect.logon.credentials == LogonCredentials::Password;
                let is_loopback = live_refusal(settings, VenueEnvironment::Live, false).is_none();
                if wants_password && settings.text("credentials").is_none() && !is_loopback {
                    let reason = "is missing; the dialect logs on with user and password".to_owned();
                    problems.push(SettingProblem { key: "credentials", reason });
                }
            }
        }
        if settings.is_on("paper") {
            let reason = "is not offered: a FIX venue sends prices to the sessions of an account alone".to_owned();
            problems.push(SettingProblem { key: "paper", reason });
        }
        let refusal = live_refusal(settings, environment(settings), settings.is_on("allowLive"));
        problems.extend(refusal.map(|reason| SettingProblem { key: "allowLive", reason }));
        problems
    }

    fn check_reference(&self, settings: &VenueSettings, reference: &ReferenceData) -> Vec<SettingProblem> {
        let problem = |reason| SettingProblem { key: "exchange", reason };
        exchange_of(code(settings), reference).err().map(problem).into_iter().collect()
    }

    fn open(&self, settings: &VenueSettings, context: &VenueContext<'_>) -> Result<OpenVenue, OpenVenueError> {
        open_adapter(settings, context).map(OpenVenue::new)
    }
}

/// The adapter of a venue, not connected yet.
pub fn open_adapter(settings: &VenueSettings, context: &VenueContext<'_>) -> Result<FixAdapter, OpenVenueError> {
    let refused = |key: &str, reason: String| OpenVenueError(format!("venues.{}.{key}: {reason}", settings.name()));
    let dialect = dialect(settings).map_err(|reason| refused("dialect", reason))?;
    if dialect.proof == DialectProof::Unproven {
        let name = &dialect.name;
        tracing::warn!(venue = %settings.name(), dialect = %name, "the dialect is unproven: it was tried against nothing");
    }
    let reference = context.catalogue.current();
    let exchange = exchange_of(code(settings), &reference).map_err(|reason| refused("exchange", reason))?.id;
    let text = |key: &str| settings.text(key).unwrap_or_default().to_owned();
    let plan = SessionPlan {
        sender: text("senderCompId"),
        target: text("targetCompId"),
        hosts: settings.list("host"),
        port: settings.value("port").unwrap_or_default(),
        credentials: credentials(settings).map_err(|reason| refused("credentials", reason))?,
        tls: tls(settings).map_err(|reason| refused("trustedCertificates", reason))?,
    };
    let price_plan = settings.value::<u16>("marketDataPort").map(|port| {
        let hosts: Vec<String> = settings.list("marketDataHost");
        SessionPlan {
            sender: settings.text("marketDataSenderCompId").map_or_else(|| plan.sender.clone(), str::to_owned),
            target: settings.text("marketDataTargetCompId").map_or_else(|| plan.target.clone(), str::to_owned),
            hosts: if hosts.is_empty() { plan.hosts.clone() } else { hosts },
            port,
            ..plan.clone()
        }
    });
    let setup = FixSetup {
        price_plan,
        venue: settings.name().clone(),
        feed: context.adapter.0.clone(),
        dialect,
        instance: context.instance,
        exchange,
        catalogue: context.catalogue.clone(),
        plan,
    };
    let files = SessionFiles { orders: context.file("numbers"), prices: context.file("prices.numbers") };
    FixAdapter::open(setup, &files, (context.clock)())
        .map_err(|error| OpenVenueError(format!("{}: {error}", files.orders.display())))
}

fn code(settings: &VenueSettings) -> &str {
    settings.text("exchange").unwrap_or("*")
}

fn environment(settings: &VenueSettings) -> VenueEnvironment {
    match settings.text("environment") {
        Some("testnet") => VenueEnvironment::Testnet,
        Some("demo") => VenueEnvironment::Demo,
        _ => VenueEnvironment::Live,
    }
}

fn live_refusal(settings: &VenueSettings, environment: VenueEnvironment, allow_live: bool) -> Option<String> {
    let hosts: Vec<String> = settings.list("host");
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let target = LiveTarget { venue: settings.name(), environment, paper: false, hosts: &hosts };
    check_live(&target, allow_live).err().map(|refusal| refusal.to_string())
}

/// Of that name, or from a file.
fn dialect(settings: &VenueSettings) -> Result<Dialect, String> {
    let name = settings.text("dialect").unwrap_or_default();
    if let Some(shipped) = Dialect::shipped(name) {
        return Ok(shipped);
    }
    let text = std::fs::read_to_string(Path::new(name)).map_err(|error| {
        let known: Vec<&str> = SHIPPED_DIALECTS.iter().map(|(name, _)| *name).collect();
        format!("{name} is no shipped dialect ({}), and as a file it cannot be read: {error}", known.join(", "))
    })?;
    Dialect::parse(&text).map_err(|error| format!("{name}: {}", error.to_string().replace('\n', "; ")))
}

fn credentials(settings: &VenueSettings) -> Result<Option<FixCredentials>, String> {
    let Some(source) = settings.value::<CredentialSource>("credentials") else { return Ok(None) };
    let loaded = source.load(&|name: &str| std::env::var(name).ok()).map_err(|error| error.to_string())?;
    match loaded.signing() {
        SigningKey::Secret(secret) => Ok(Some(FixCredentials {
            username: loaded.api_key().expose_secret().to_owned(),
            password: secret.expose_secret().to_owned(),
        })),
        SigningKey::PrivateKey(_) => Err("has a private key, and the dialect logs on with a password".to_owned()),
    }
}

fn tls(settings: &VenueSettings) -> Result<Option<TlsWrapper>, String> {
    if !settings.is_on("tls") {
        return Ok(None);
    }
    let roots = match settings.text("trustedCertificates") {
        None => TlsRoots::System,
        Some(path) => TlsRoots::Pem(std::fs::read(path).map_err(|error| format!("{path} cannot be read: {error}"))?),
    };
    tls_config(&roots).map(|config| Some(wrapper(config))).map_err(|error| error.to_string())
}

/// The name of the host is checked, and sent to the venue (SNI).
fn wrapper(config: Arc<ClientConfig>) -> TlsWrapper {
    Arc::new(move |socket, host: Option<&str>| {
        let connector = TlsConnector::from(config.clone());
        let name = ServerName::try_from(host.unwrap_or_default().to_owned());
        Box::pin(async move {
            let name = name.map_err(|error| std::io::Error::other(error.to_string()))?;
            let stream = connector.connect(name, socket).await?;
            Ok(Box::new(stream) as Box<dyn SessionStream>)
        })
    })
}
