//! The venue type `fix`: its settings, and how a venue of it is opened.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use adapter_kit::connection::{ClientIdentity, TlsRoots, tls_config_of};
use adapter_kit::credentials::{
    CredentialSource, ExposeSecret, LiveTarget, SigningKey, VenueCredentials, VenueEnvironment, check_live,
};
use adapter_kit::signing::{NonceHash, RequestSigner};
use adapters::venue_type::{
    ListedSymbol, OpenVenue, OpenVenueError, OrderMode, SettingForm, SettingProblem, VenueContext, VenueProof,
    VenueSetting, VenueSettings, VenueType, exchange_of,
};
use domain::ReferenceData;
use fix::FixCredentials;
use fix_net::{SessionStream, TlsWrapper};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;

use crate::adapter::{FixAdapter, FixSetup};
use crate::dialect::{
    Dialect, DialectProof, LogonCredentials, OrderQuery, SHIPPED_DIALECTS, SessionRole, SignatureRules,
};
use crate::dialect_trial::read_dialect;
use crate::message_check::check_logons;
use crate::securities::symbol_question::ask_for_symbols;
use crate::sessions::logon_fields::LogonSigner;
use crate::sessions::session::SessionPlan;
use crate::sessions::session_runtime::{SessionRuntime, SteppedNetwork};
use crate::sessions::{NumberPlace, SessionFiles};

/// The file with the numbers of a session for market data alone.
const PRICE_NUMBERS: &str = "prices.numbers";
/// Permissions of anybody but the owner.
const OTHERS: u32 = 0o077;

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
    VenueSetting::optional(
        "clientCertificate",
        SettingForm::Text("a PEM file"),
        "",
        "Our own certificate, for a venue that wants one.",
    ),
    VenueSetting::optional(
        "clientKey",
        SettingForm::Text("a PEM file that only its owner can read"),
        "",
        "The private key of that certificate.",
    ),
    VenueSetting::required("senderCompId", SettingForm::Text("a CompID"), "SenderCompID (49): who we are."),
    VenueSetting::required("targetCompId", SettingForm::Text("a CompID"), "TargetCompID (56): who the venue is."),
    VenueSetting::optional(
        "credentials",
        SettingForm::Parsed("a file of mode 0600, systemd:NAME or env:PREFIX", |text| {
            text.parse::<CredentialSource>().is_ok()
        }),
        "",
        "Where user and password are, or the key that signs, for a dialect that logs on with them: a TOML file with apiKey (the user) \
         and secret (the password) or privateKey that only its owner can read, a credential of systemd, or variables of the environment.",
    ),
    VenueSetting::optional(
        "recoveryVenue",
        SettingForm::Text("the name of a venue"),
        "",
        "Another configured venue that is the same account by another protocol: it is asked about orders, fills and balances, and \
         trades nothing itself. For a dialect whose recovery.orders is adapter.",
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
        "dropCopyHost",
        SettingForm::List(&SettingForm::Text("a host")),
        "",
        "Host of a drop copy session. Blank: that of the orders.",
    ),
    VenueSetting::optional(
        "dropCopyPort",
        SettingForm::Whole(1, 65_535),
        "",
        "Port of a drop copy session, which receives the reports of the account a second time. Without it there is none.",
    ),
    VenueSetting::optional(
        "dropCopySenderCompId",
        SettingForm::Text("a CompID"),
        "",
        "SenderCompID (49) of that session. Blank: that of the orders.",
    ),
    VenueSetting::optional(
        "dropCopyTargetCompId",
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

    /// That of the dialect; one that cannot be read is refused before anything is opened.
    fn proof(&self, settings: &VenueSettings) -> VenueProof {
        match dialect(settings).map(|dialect| dialect.proof) {
            Ok(DialectProof::Program) => VenueProof::Program,
            Ok(DialectProof::Lab) => VenueProof::Lab,
            Ok(DialectProof::Unproven) | Err(_) => VenueProof::Unproven,
        }
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
                let is_loopback = live_refusal(settings, VenueEnvironment::Live, false).is_none();
                let wanted = match dialect.logon.credentials {
                    LogonCredentials::None => None,
                    LogonCredentials::Password if is_loopback => None,
                    LogonCredentials::Password => Some("user and password"),
                    LogonCredentials::Signature(_) => Some("a signature"),
                    LogonCredentials::NonceHash => Some("a hash of its secret"),
                };
                if let Some(wanted) = wanted.filter(|_| settings.text("credentials").is_none()) {
                    let reason = format!("is missing; the dialect logs on with {wanted}");
                    problems.push(SettingProblem { key: "credentials", reason });
                }
                let asks_other = dialect.recovery.orders == OrderQuery::Adapter;
                if asks_other != settings.text("recoveryVenue").is_some() {
                    let reason = if asks_other {
                        "is missing; the dialect asks another adapter about its orders (recovery.orders)"
                    } else {
                        "is set, and the dialect asks the FIX venue itself about orders (recovery.orders)"
                    };
                    problems.push(SettingProblem { key: "recoveryVenue", reason: reason.to_owned() });
                }
            }
        }
        let has = |key: &str| settings.text(key).is_some();
        if has("clientCertificate") != has("clientKey") || (has("clientKey") && !settings.is_on("tls")) {
            let reason = "clientCertificate, clientKey and tls belong together".to_owned();
            problems.push(SettingProblem { key: "clientCertificate", reason });
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

    fn list_symbols(
        &self,
        settings: &VenueSettings,
        context: &VenueContext<'_>,
    ) -> Option<Result<Vec<ListedSymbol>, OpenVenueError>> {
        let dialect = dialect(settings).ok()?;
        let rules = dialect.security_list.clone()?;
        let orders = match session_plan(settings, &dialect) {
            Ok(plan) => plan,
            Err(error) => return Some(Err(error)),
        };
        let Some(plan) = side_plan(settings, &orders, SessionRole::Prices) else {
            let reason = "the list is asked for over a session for market data alone: set marketDataPort";
            return Some(Err(OpenVenueError(reason.to_owned())));
        };
        let numbers = context.file(PRICE_NUMBERS);
        Some(ask_for_symbols(&dialect, rules, plan, &numbers, &context.clock).map_err(OpenVenueError))
    }

    fn open(&self, settings: &VenueSettings, context: &VenueContext<'_>) -> Result<OpenVenue, OpenVenueError> {
        open_adapter(settings, context).map(OpenVenue::new)
    }
}

/// The adapter of a venue, not connected yet.
pub fn open_adapter(settings: &VenueSettings, context: &VenueContext<'_>) -> Result<FixAdapter, OpenVenueError> {
    let runtime = SessionRuntime::threaded().map_err(|error| OpenVenueError(format!("no thread starts: {error}")))?;
    open_on(settings, context, runtime)
}

/// The same, over a network that another program steps.
pub fn open_stepped_adapter(
    settings: &VenueSettings,
    context: &VenueContext<'_>,
    network: SteppedNetwork,
) -> Result<FixAdapter, OpenVenueError> {
    open_on(settings, context, SessionRuntime::Stepped(network))
}

fn open_on(
    settings: &VenueSettings,
    context: &VenueContext<'_>,
    runtime: SessionRuntime,
) -> Result<FixAdapter, OpenVenueError> {
    let refused = |key: &str, reason: String| OpenVenueError(format!("venues.{}.{key}: {reason}", settings.name()));
    let dialect = dialect(settings).map_err(|reason| refused("dialect", reason))?;
    if dialect.proof == DialectProof::Unproven {
        let name = &dialect.name;
        tracing::warn!(venue = %settings.name(), dialect = %name, "the dialect is unproven: it was tried against nothing");
    }
    let reference = context.catalogue.current();
    let exchange = exchange_of(code(settings), &reference).map_err(|reason| refused("exchange", reason))?.id;
    let plan = session_plan(settings, &dialect)?;
    let setup = FixSetup {
        price_plan: side_plan(settings, &plan, SessionRole::Prices),
        drop_copy_plan: side_plan(settings, &plan, SessionRole::DropCopy),
        venue: settings.name().clone(),
        feed: context.adapter.0.clone(),
        dialect,
        instance: context.instance,
        exchange,
        catalogue: context.catalogue.clone(),
        plan,
    };
    let disk = runtime.number_disk();
    let place = |extension| NumberPlace {
        file: context.file(extension),
        records: context.records.clone(),
        disk: Arc::clone(&disk),
    };
    let files =
        SessionFiles { orders: place("numbers"), prices: place(PRICE_NUMBERS), drop_copy: place("dropcopy.numbers") };
    FixAdapter::open(setup, &files, runtime, (context.clock)())
        .map_err(|error| OpenVenueError(format!("{}: {error}", files.orders.file.display())))
}

/// The order session.
fn session_plan(settings: &VenueSettings, dialect: &Dialect) -> Result<SessionPlan, OpenVenueError> {
    let refused = |key: &str, reason: String| OpenVenueError(format!("venues.{}.{key}: {reason}", settings.name()));
    let text = |key: &str| settings.text(key).unwrap_or_default().to_owned();
    let (credentials, signer) = match &dialect.logon.credentials {
        LogonCredentials::None => (None, None),
        LogonCredentials::Password => (credentials(settings).map_err(|reason| refused("credentials", reason))?, None),
        LogonCredentials::Signature(rules) => {
            let signer = signer(settings, rules).map_err(|reason| refused("credentials", reason))?;
            (None, Some(Arc::new(signer)))
        }
        LogonCredentials::NonceHash => {
            let hash = nonce_hash(settings).map_err(|reason| refused("credentials", reason))?;
            (None, Some(Arc::new(LogonSigner::NonceHash(hash))))
        }
    };
    Ok(SessionPlan {
        role: SessionRole::Orders,
        signer,
        credentials,
        sender: text("senderCompId"),
        target: text("targetCompId"),
        hosts: settings.list("host"),
        port: settings.value("port").unwrap_or_default(),
        tls: tls(settings).map_err(|reason| refused("tls", reason))?,
    })
}

/// A session beside the order session, where it has a port.
fn side_plan(settings: &VenueSettings, orders: &SessionPlan, role: SessionRole) -> Option<SessionPlan> {
    let prefix = if role == SessionRole::Prices { "marketData" } else { "dropCopy" };
    let key = |name: &str| format!("{prefix}{name}");
    let text = |name: &str, of_orders: &String| settings.text(&key(name)).map_or(of_orders.clone(), str::to_owned);
    let hosts: Vec<String> = settings.list(&key("Host"));
    Some(SessionPlan {
        port: settings.value::<u16>(&key("Port"))?,
        sender: text("SenderCompId", &orders.sender),
        target: text("TargetCompId", &orders.target),
        hosts: if hosts.is_empty() { orders.hosts.clone() } else { hosts },
        role,
        ..orders.clone()
    })
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
    let read = read_dialect(&text).map_err(|error| error.to_string().replace('\n', "; "));
    let checked = read.and_then(|dialect| match check_logons(&dialect) {
        Ok(()) => Ok(dialect),
        Err(refusal) => Err(refusal.to_string()),
    });
    checked.map_err(|reason| format!("{name}: {reason}"))
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

fn load(settings: &VenueSettings) -> Result<VenueCredentials, String> {
    let source = settings.value::<CredentialSource>("credentials").ok_or("is missing; the dialect signs its log-on")?;
    source.load(&|name: &str| std::env::var(name).ok()).map_err(|error| error.to_string())
}

fn signer(settings: &VenueSettings, rules: &SignatureRules) -> Result<LogonSigner, String> {
    let loaded = load(settings)?;
    let is_secret = matches!(loaded.signing(), SigningKey::Secret(_));
    let signer = match rules.has_base64_secret && is_secret {
        true => RequestSigner::of_base64_secret(&loaded),
        false => RequestSigner::new(&loaded),
    };
    let signer = signer.map_err(|error| error.to_string())?;
    let (has, wanted) = (signer.algorithm(), rules.algorithm);
    if has != wanted {
        return Err(format!("has a key for {}, and the dialect signs with {}", has.name(), wanted.name()));
    }
    let passphrase = loaded.passphrase().filter(|_| rules.has_passphrase()).cloned();
    if rules.has_passphrase() && passphrase.is_none() {
        return Err("has no passphrase, and the dialect signs one".to_owned());
    }
    Ok(LogonSigner::Signature { rules: Box::new(rules.clone()), signer: Box::new(signer), passphrase })
}

fn nonce_hash(settings: &VenueSettings) -> Result<NonceHash, String> {
    let missing = "has a private key, and the dialect logs on with a hash of a secret";
    NonceHash::new(&load(settings)?).ok_or_else(|| missing.to_owned())
}

fn tls(settings: &VenueSettings) -> Result<Option<TlsWrapper>, String> {
    if !settings.is_on("tls") {
        return Ok(None);
    }
    let roots = match settings.text("trustedCertificates") {
        None => TlsRoots::System,
        Some(path) => TlsRoots::Pem(std::fs::read(path).map_err(|error| format!("{path} cannot be read: {error}"))?),
    };
    let identity = identity(settings)?;
    tls_config_of(&roots, identity.as_ref()).map(|config| Some(wrapper(config))).map_err(|error| error.to_string())
}

/// Certificate and key, where both are set.
fn identity(settings: &VenueSettings) -> Result<Option<ClientIdentity>, String> {
    let (Some(certificate), Some(key)) = (settings.text("clientCertificate"), settings.text("clientKey")) else {
        return Ok(None);
    };
    let read = |path: &str| std::fs::read(path).map_err(|error| format!("{path} cannot be read: {error}"));
    let mode = std::fs::metadata(key).map_err(|error| format!("{key} cannot be read: {error}"))?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(format!("{key} can be read by others: chmod 600 {key}"));
    }
    Ok(Some(ClientIdentity { certificates: read(certificate)?, key: read(key)? }))
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
