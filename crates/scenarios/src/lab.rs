//! Venue lab as a process of its own, and how a server trades there as at Binance spot.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::binary;
use crate::proxy::CuttableProxy;
use crate::server::{ServerLauncher, send_signal};

/// A running lab. Dropping it kills it.
pub struct LabProcess {
    child: Child,
    pub ready: Value,
}

/// How a lab is started.
pub fn command(folder: &Path, settings: &[&str]) -> Command {
    let mut command = Command::new(binary::rialto());
    command.args(["venue", "serve", "--demo", "--data-dir"]).arg(folder);
    for setting in settings {
        command.args(["--set", setting]);
    }
    command
}

impl LabProcess {
    /// Waits until it serves.
    ///
    /// # Panics
    /// Where it does not.
    pub fn start(folder: &Path, settings: &[&str]) -> Self {
        let mut child = command(folder, settings).stdout(Stdio::piped()).spawn().expect("the binary can be started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("a ready line");
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("not a ready line: {line} {error}"));
        Self { child, ready }
    }

    /// Host and port of a face, and what follows them.
    ///
    /// # Panics
    /// Where the face is off.
    pub fn address(&self, name: &str) -> String {
        self.ready[name].as_str().and_then(|url| url.split_once("://")).expect("the face is on").1.to_owned()
    }

    /// Host and port of a face.
    ///
    /// # Panics
    /// Where the face is off.
    pub fn host(&self, face: &str) -> SocketAddr {
        let address = self.address(face);
        address.split('/').next().and_then(|host| host.parse().ok()).expect("an address")
    }

    /// Status and body of a GET.
    ///
    /// # Panics
    /// Where there is none, or no JSON.
    pub fn get(&self, face: &str, path: &str) -> (u16, Value) {
        let address = self.address(face);
        let mut stream = TcpStream::connect(&address).expect("the face answers");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let body = answer.split_once("\r\n\r\n").expect("a body").1;
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}")))
    }

    /// SIGTERM, and an orderly end.
    ///
    /// # Panics
    /// Where it ends otherwise.
    pub fn stop(mut self) {
        send_signal(self.child.id(), "TERM");
        assert!(self.child.wait().expect("it ends").success());
    }

    pub fn kill(mut self) {
        self.end();
    }

    /// Kills it; its ports are free afterwards.
    ///
    /// # Panics
    /// Where it cannot be killed.
    pub fn end(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }
}

impl Drop for LabProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where a server reaches the lab as Binance spot.
pub struct VenueAddresses {
    /// For orders.
    pub api: SocketAddr,
    /// For what is asked for over REST.
    pub rest: SocketAddr,
    /// For prices.
    pub streams: SocketAddr,
}

impl VenueAddresses {
    /// # Panics
    /// Where a face is off.
    pub fn of(lab: &LabProcess) -> Self {
        Self { api: lab.host("binanceWsApi"), rest: lab.host("binanceRest"), streams: lab.host("binanceStreams") }
    }
}

/// Lines to these addresses, each of which can be cut.
pub struct VenueLines {
    pub api: CuttableProxy,
    pub rest: CuttableProxy,
    pub streams: CuttableProxy,
}

impl VenueLines {
    pub fn to(venue: &VenueAddresses) -> Self {
        let [api, rest, streams] = [venue.api, venue.rest, venue.streams].map(CuttableProxy::to);
        Self { api, rest, streams }
    }

    /// By which a server goes over them.
    pub fn addresses(&self) -> VenueAddresses {
        VenueAddresses { api: self.api.address(), rest: self.rest.address(), streams: self.streams.address() }
    }
}

/// A server whose one venue is the lab, as Binance spot. In `folder` are its key, its reference data and the lab's own folder.
pub fn launcher_at_binance(folder: &Path, venue: &VenueAddresses) -> ServerLauncher {
    let file = |name: &str| folder.join(name).display().to_string();
    let settings = [
        ("type", "binance-spot".to_owned()),
        ("environment", "testnet".to_owned()),
        ("account", "Lab".to_owned()),
        ("credentials", file("key.toml")),
        ("trustedCertificates", file("lab/tls/cert.pem")),
        ("rest", format!("http://{}", venue.rest)),
        ("wsApi", format!("ws://{}/ws-api/v3", venue.api)),
        ("streams", format!("ws://{}", venue.streams)),
    ];
    let launch = ServerLauncher::in_folder(&folder.join("data"))
        .set("reference.path", file("reference"))
        .set("simulated.venues", "")
        .set("portfolio.baseCurrency", "USDT")
        .set("demo.openingCash", "")
        .set("auth.anonymousRole", "admin");
    settings.into_iter().fold(launch, |launch, (key, value)| launch.set(&format!("venues.LAB.{key}"), value))
}

/// The Ed25519 key of an account of the lab, in a file for its owner alone.
///
/// # Panics
/// Where it cannot be written.
pub fn write_credentials(path: &Path, lab: &LabProcess, account: &str) {
    let file = lab.ready["keys"].as_str().expect("the lab names its keys");
    let keys: Vec<Value> = serde_json::from_slice(&fs::read(file).expect("its keys")).expect("a list of keys");
    let is_wanted = |key: &&Value| key["account"] == account && key["kind"] == "ED25519";
    let key = keys.iter().find(is_wanted).expect("the account has a key");
    let text = |name: &str| key[name].as_str().expect("a key has both parts");
    let (id, pem) = (text("apiKey"), text("privateKeyPem"));
    write_private(path, &format!("apiKey = \"{id}\"\nprivateKey = \"\"\"\n{pem}\"\"\"\n"));
}

/// A file for its owner alone.
///
/// # Panics
/// Where it cannot be written.
pub fn write_private(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("a file of ours");
}

/// One exchange that never closes, with four symbols of the lab.
///
/// # Panics
/// Where it cannot be written.
pub fn write_reference(folder: &Path) {
    fs::create_dir(folder).expect("a new folder");
    let securities = "id,objectType,symbol,description,isin,bbgid,ric,conid,adapterTicker,underlyingId,securityFamilyId,exchangeId,\
                      currency,contractSize,minQty,maxQty,qtyIncr,minPrice,maxPrice,priceIncr,minNotional,tradeable,baseCurrency,\
                      transactionCurrency,expiration,monthYear,firstNotice,strike,optionType,maturity,coupon,couponFrequency\n\
                      1,Forex,BTC.USDT,,,,,,BTCUSDT,,1,1,USDT,1,,,0.00001,,,0.01,,true,BTC,USDT,,,,,,,,\n\
                      2,Forex,BNB.USDT,,,,,,BNBUSDT,,1,1,USDT,1,,,0.001,,,0.01,,true,BNB,USDT,,,,,,,,\n\
                      4,Forex,ETH.USDT,,,,,,ETHUSDT,,1,1,USDT,1,,,0.0001,,,0.01,,true,ETH,USDT,,,,,,,,\n\
                      3,Forex,币安人生USDT,,,,,,,,1,1,USDT,1,,,0.1,,,0.0001,,true,币安人生,USDT,,,,,,,,\n";
    let files = [
        (
            "exchanges",
            "id,name,code,mic,bloombergCode,timeZone,openingAuction,closingAuction\n1,Lab,LAB,XLAB,LB,UTC,0,0\n",
        ),
        ("trading-hours", "exchangeId,open,close,days\n1,00:00,24:00,MON TUE WED THU FRI SAT SUN\n"),
        ("holidays", "exchangeId,date,open,close\n"),
        (
            "families",
            "id,name,symbolRoot,isinRoot,ricRoot,currency,contractSize,priceIncr,underlyingId,exchangeId,executionCommission,clearingCommission,fee\n\
             1,Coins in USDT,,,,USDT,1,0.01,,1,0,0,0\n",
        ),
        ("securities", securities),
        (
            "accounts",
            "id,name,active,adapterType,sessionQualifier,extAccount,extAccountGroup,extAllocationProfile,extClearingAccount\n",
        ),
        ("strategies", "id,name,autoActivate\n"),
        ("opening", "symbol,mid,spreadTicks,size,volatility\n"),
    ];
    for (name, text) in files {
        fs::write(folder.join(format!("{name}.csv")), text).expect("a file");
    }
}
