//! The venue lab as a process of its own, and connections to it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use adapter_binance::connection::{ApiMessage, ApiSession, RestClient, StreamSession};
use adapter_binance::protocol::answers::CallAnswer;
use adapter_binance::protocol::encoding::RequestStamp;
use adapter_binance::protocol::requests::BinanceRequest;
use adapter_binance::protocol::signing::RequestSigner;
use adapter_kit::connection::{
    Dialer, RequestFailure, SocketLimits, TlsRoots, VenueHttp, VenueHttpLimits, VenueRequest, VenueUrl, tls_config,
};
use adapter_kit::credentials::{SigningKey, VenueCredentials};
use domain::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A wait for the lab that takes longer than this has failed, on any machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

pub(crate) struct Lab {
    process: Child,
    ready: Value,
    keys: Vec<Value>,
    dialer: Dialer,
    _folder: TempDir,
}

impl Lab {
    /// With nobody else in the market, so that its books change only by what the test does.
    pub(crate) fn start() -> Self {
        Self::start_with(&["activity=off"])
    }

    /// Its demo with further settings.
    pub(crate) fn start_with(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(scenarios::binary::rialto());
        command.args(["venue", "serve", "--demo", "--data-dir"]).arg(folder.path());
        for setting in settings {
            command.args(["--set", setting]);
        }
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let keys = std::fs::read_to_string(ready["keys"].as_str().unwrap()).unwrap();
        let roots = TlsRoots::Pem(rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem().into_bytes());
        let dialer = Dialer::new(tls_config(&roots).unwrap(), None, Duration::from_secs(10));
        Self { process, ready, keys: serde_json::from_str(&keys).unwrap(), dialer, _folder: folder }
    }

    /// The address of a face.
    pub(crate) fn face(&self, name: &str) -> String {
        self.ready[name].as_str().unwrap().to_owned()
    }

    fn url(&self, name: &str) -> VenueUrl {
        self.face(name).parse().unwrap()
    }

    /// Where a face of the lab listens.
    pub(crate) fn socket_address(&self, name: &str) -> SocketAddr {
        self.url(name).host_and_port().parse().unwrap()
    }

    /// The file that the setting `credentials` names.
    pub(crate) fn write_credentials(&self, path: &Path, account: &str, kind: &str) {
        let key = self.key(account, kind);
        let text = |name: &str| key[name].as_str();
        let signing = match text("secret") {
            Some(secret) => format!("secret = \"{secret}\""),
            None => format!("privateKey = \"\"\"\n{}\"\"\"", text("privateKeyPem").unwrap()),
        };
        let written = format!("apiKey = \"{}\"\n{signing}\n", text("apiKey").unwrap());
        crate::harness::write_private(path, &written);
    }

    fn key(&self, account: &str, kind: &str) -> &Value {
        let is_it = |key: &&Value| key["account"] == account && key["kind"] == kind;
        self.keys.iter().find(is_it).unwrap()
    }

    /// Key and secret, or the lines of its private key.
    pub(crate) fn secrets(&self, account: &str, kind: &str) -> Vec<String> {
        let key = self.key(account, kind);
        let texts = ["apiKey", "secret", "privateKeyPem"].into_iter().filter_map(|name| key[name].as_str());
        texts.flat_map(str::lines).filter(|line| !line.starts_with("-----")).map(ToOwned::to_owned).collect()
    }

    fn http(&self, name: &str) -> VenueHttp {
        VenueHttp::new(self.url(name), self.dialer.clone(), VenueHttpLimits::default())
    }

    pub(crate) fn signer(&self, account: &str, kind: &str) -> Arc<RequestSigner> {
        let key = self.key(account, kind);
        let text = |name: &str| key[name].as_str().map(ToOwned::to_owned);
        let signing = match text("secret") {
            Some(secret) => SigningKey::Secret(secret.into()),
            None => SigningKey::PrivateKey(text("privateKeyPem").unwrap().into()),
        };
        let credentials = VenueCredentials::new(text("apiKey").unwrap().into(), signing);
        Arc::new(RequestSigner::new(&credentials).unwrap())
    }

    pub(crate) fn rest(&self, kind: &str) -> LabRest {
        self.rest_of("ALPHA", kind)
    }

    pub(crate) fn rest_of(&self, account: &str, kind: &str) -> LabRest {
        LabRest(RestClient::new(self.http("binanceRest"), self.signer(account, kind)))
    }

    pub(crate) async fn session(&self, kind: &str) -> LabSession {
        let signer = self.signer("ALPHA", kind);
        let url = self.url("binanceWsApi");
        let connecting = ApiSession::connect(&url, &self.dialer, SocketLimits::default(), None, signer);
        let mut session = connecting.await.unwrap();
        session.open(stamp, now).await.unwrap();
        LabSession(session)
    }

    pub(crate) async fn streams(&self) -> StreamSession {
        let url = self.url("binanceStreams");
        let connecting = StreamSession::connect(&url, &self.dialer, SocketLimits::default(), None);
        connecting.await.unwrap()
    }

    pub(crate) async fn arm(&self, fault: &str) {
        self.arm_from(fault, 1).await;
    }

    /// It strikes the n-th matching request or event.
    pub(crate) async fn arm_from(&self, fault: &str, from: usize) {
        self.arm_as(fault, &json!({ "fault": fault, "from": from })).await;
    }

    /// It strikes market streams.
    pub(crate) async fn arm_streams(&self, fault: &str) {
        self.arm_as(fault, &json!({ "fault": fault, "face": "streams" })).await;
    }

    async fn arm_as(&self, fault: &str, request: &Value) {
        let body = request.to_string();
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let request = VenueRequest { method: "POST", path: "/faults".to_owned(), headers, body };
        let answer = self.http("admin").send(&request).await.unwrap();
        assert_eq!(answer.status, 200, "{fault}: {}", answer.text());
    }

    /// The lab's own books.
    pub(crate) async fn ledger(&self) -> Value {
        self.admin("/ledger").await
    }

    /// A page of its admin port.
    pub(crate) async fn admin(&self, path: &str) -> Value {
        let request = VenueRequest { method: "GET", path: path.to_owned(), headers: Vec::new(), body: String::new() };
        serde_json::from_slice(&self.http("admin").send(&request).await.unwrap().body).unwrap()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // Whatever the test found, its lab ends with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn now() -> Timestamp {
    jiff::Timestamp::now().try_into().unwrap()
}

pub(crate) fn stamp() -> RequestStamp {
    RequestStamp { at: now(), receive_window_millis: 5_000 }
}

pub(crate) struct LabRest(RestClient);

impl LabRest {
    pub(crate) async fn call(&self, request: &BinanceRequest) -> CallAnswer {
        self.try_call(request).await.unwrap()
    }

    pub(crate) async fn try_call(&self, request: &BinanceRequest) -> Result<CallAnswer, RequestFailure> {
        self.0.call(request, stamp(), None, now).await
    }

    pub(crate) async fn read<T: for<'de> Deserialize<'de>>(&self, request: &BinanceRequest) -> T {
        let result = self.call(request).await.outcome.unwrap();
        T::deserialize(&result).unwrap()
    }
}

pub(crate) struct LabSession(pub(crate) ApiSession);

impl LabSession {
    /// Sends a request and waits for its answer; the events that come meanwhile are given too, in their order.
    pub(crate) async fn call(&mut self, request: &BinanceRequest) -> (CallAnswer, Vec<ApiMessage>) {
        let sent = self.0.send(request, stamp()).await.unwrap();
        let mut events = Vec::new();
        loop {
            match self.receive().await {
                ApiMessage::Answer { number, call, answer } => {
                    assert_eq!((number, call), (sent, request.call));
                    return (answer, events);
                }
                other => events.push(other),
            }
        }
    }

    pub(crate) async fn receive(&mut self) -> ApiMessage {
        tokio::time::timeout(WAIT_MAX, self.0.receive(now)).await.unwrap().unwrap()
    }
}

pub(crate) fn run(story: impl Future<Output = ()>) {
    run_value(story);
}

pub(crate) fn run_value<T>(story: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(story)
}
