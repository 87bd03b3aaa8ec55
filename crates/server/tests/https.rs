//! HTTPS as a client meets it: the real binary, real handshakes, certificates that change while it runs.

// The lint knows test functions only, not what they share.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// Longer than anything takes, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server on a folder of its own and on free ports, ended with the story.
struct Server {
    process: Child,
    https: SocketAddr,
    /// Where each door is, as the server says when it is ready.
    ready: String,
    log: Receiver<String>,
}

impl Server {
    fn start(folder: &Path, set: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rialto"));
        command.args(["serve", "--data-dir", "data"]).current_dir(folder).env_clear();
        for setting in [
            "http.port=0",
            "https.port=0",
            "broker.tcp.port=0",
            "broker.tls.port=0",
            "broker.ws.port=0",
            "fix.port=0",
            "demo.activity=off",
        ]
        .iter()
        .chain(set)
        {
            command.args(["--set", setting]);
        }
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (told, log) = channel();
        let err = BufReader::new(process.stderr.take().unwrap());
        std::thread::spawn(move || err.lines().map_while(Result::ok).for_each(|line| drop(told.send(line))));
        let mut ready = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let https = ready.split_once("\"https\":\"https://").unwrap().1.split('"').next().unwrap().parse().unwrap();
        Self { process, https, ready, log }
    }

    /// Waits until the log says this.
    fn says(&self, words: &str) {
        while !self.log.recv_timeout(PATIENCE).unwrap().contains(words) {}
    }

    fn hang_up(&self) {
        let told = Command::new("sh").args(["-c", "kill -HUP \"$0\"", &self.process.id().to_string()]).status();
        assert!(told.unwrap().success());
    }

    fn connect(&self, trusted: &Path, name: &'static str) -> std::io::Result<Connection> {
        let stream = handshake(self.https, trusted, name)?;
        Ok(Connection { stream, host: format!("localhost:{}", self.https.port()) })
    }

    fn fix(&self) -> SocketAddr {
        self.ready.split_once("\"fix\":\"tcp+tls://").unwrap().1.split('"').next().unwrap().parse().unwrap()
    }
}

fn handshake(at: SocketAddr, trusted: &Path, name: &'static str) -> std::io::Result<Tls> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate(trusted)).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let client = ClientConnection::new(config, ServerName::try_from(name).unwrap()).unwrap();
    let mut stream = StreamOwned::new(client, TcpStream::connect(at).unwrap());
    stream.conn.complete_io(&mut stream.sock)?;
    Ok(stream)
}

type Tls = StreamOwned<ClientConnection, TcpStream>;

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

struct Connection {
    stream: Tls,
    host: String,
}

impl Connection {
    /// Asks without closing, and answers the first line.
    fn ask(&mut self) -> String {
        let request = format!("HEAD /health/live HTTP/1.1\r\nHost: {}\r\n\r\n", self.host);
        self.stream.write_all(request.as_bytes()).unwrap();
        let mut answer = vec![];
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap();
            answer.extend(byte);
        }
        String::from_utf8(answer).unwrap().lines().next().unwrap().to_owned()
    }

    fn shown(&self) -> CertificateDer<'static> {
        shown(&self.stream)
    }
}

fn shown(stream: &Tls) -> CertificateDer<'static> {
    stream.conn.peer_certificates().unwrap()[0].clone().into_owned()
}

fn certificate(path: &Path) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(path).unwrap()
}

fn write_pair(folder: &Path) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.join("desk.crt"), made.cert.pem()).unwrap();
    fs::write(folder.join("desk.key"), made.signing_key.serialize_pem()).unwrap();
}

#[test]
fn the_first_start_makes_a_certificate_that_clients_can_trust() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["http.hosts=desk.example"]);
    let made = folder.path().join("data/tls/cert.pem");
    for name in ["localhost", "127.0.0.1", "::1", "desk.example"] {
        assert_eq!(server.connect(&made, name).unwrap().ask(), "HTTP/1.1 200 OK", "{name}");
    }
    assert!(server.connect(&made, "evil.example").is_err());
}

#[test]
fn a_certificate_of_ones_own_is_exchanged_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("desk.crt");
    write_pair(folder.path());
    let server = Server::start(folder.path(), &["https.certificate=desk.crt", "https.key=desk.key"]);
    let mut first = server.connect(&trusted, "localhost").unwrap();
    assert_eq!(first.shown(), certificate(&trusted));
    assert!(!folder.path().join("data/tls").exists(), "none is made");

    write_pair(folder.path());
    server.hang_up();
    server.says("reading the certificate again");
    server.says("SHA-256 fingerprint");
    assert_eq!(server.connect(&trusted, "localhost").unwrap().shown(), certificate(&trusted));
    assert_eq!(first.ask(), "HTTP/1.1 200 OK", "connections that stand are not dropped");

    let good = folder.path().join("good.crt");
    fs::rename(&trusted, &good).unwrap();
    fs::write(&trusted, "half a certi").unwrap();
    server.hang_up();
    server.says("the certificate stays as it was: desk.crt: holds no certificate in PEM form");
    assert_eq!(server.connect(&good, "localhost").unwrap().ask(), "HTTP/1.1 200 OK");
}

/// Sends a FIX message and hears the type of the answer.
fn converse(line: &mut Tls, kind: &str, number: u32, rest: &str) -> String {
    send(line, kind, number, rest);
    let mut answer = String::new();
    while !answer.contains("\x0110=") {
        let mut bytes = [0; 4096];
        let length = line.read(&mut bytes).unwrap();
        assert!(length > 0, "the line ended: {answer}");
        answer += std::str::from_utf8(&bytes[..length]).unwrap();
    }
    answer.split_once("\x0135=").unwrap().1.split('\x01').next().unwrap().to_owned()
}

fn send(line: &mut Tls, kind: &str, number: u32, rest: &str) {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let now = domain::Timestamp(i64::try_from(seconds).unwrap() * 1_000_000_000).to_jiff().to_string();
    let now = now.replace('-', "").replace('T', "-").replace('Z', "");
    let body = format!("35={kind}|34={number}|49=CLIENT|52={now}|56=RIALTO|{rest}|").replace('|', "\x01");
    let message = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
    let sum = message.bytes().fold(0, u8::wrapping_add);
    line.write_all(format!("{message}10={sum:03}\x01").as_bytes()).unwrap();
}

#[test]
fn the_fix_port_shows_the_new_certificate_too_and_a_logged_on_client_stays() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("desk.crt");
    write_pair(folder.path());
    fs::create_dir_all(folder.path().join("data/fix")).unwrap();
    let sessions = "[SESSION]\nConnectionType=acceptor\nBeginString=FIX.4.4\nSocketAcceptPort=0\nSocketUseSSL=Y\n\
                    NonStopSession=Y\nSenderCompID=RIALTO\nTargetCompID=CLIENT\n";
    fs::write(folder.path().join("data/fix/sessions.cfg"), sessions).unwrap();
    let server = Server::start(folder.path(), &["https.certificate=desk.crt", "https.key=desk.key"]);
    let mut first = handshake(server.fix(), &trusted, "localhost").unwrap();
    assert_eq!(shown(&first), certificate(&trusted));
    assert_eq!(converse(&mut first, "A", 1, "98=0|108=30"), "A");

    let before = folder.path().join("before.crt");
    fs::copy(&trusted, &before).unwrap();
    write_pair(folder.path());
    server.hang_up();
    server.says("reading the certificate again");
    server.says("SHA-256 fingerprint");
    assert_eq!(shown(&handshake(server.fix(), &trusted, "localhost").unwrap()), certificate(&trusted));
    assert!(handshake(server.fix(), &before, "localhost").is_err(), "the old one is shown no more");
    assert_eq!(converse(&mut first, "1", 2, "112=still here"), "0");
    assert_eq!(converse(&mut first, "5", 3, "58=good night"), "5");
    let mut second = handshake(server.fix(), &trusted, "localhost").unwrap();
    assert_eq!(converse(&mut second, "A", 4, "98=0|108=30"), "A");
}

/// Runs the certification of a client over TLS; says what it printed when the client has gone.
fn certify(folder: &Path, talk: impl FnOnce(SocketAddr)) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rialto"));
    command.args(["fix", "certify", "--client", "CLIENT", "--port", "0", "--seconds", "60", "--username", "desk"]);
    command.args(["--password-file", "password", "--certificate", "desk.crt", "--key", "desk.key"]);
    let mut process =
        command.current_dir(folder).env_clear().stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(process.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    talk(first.strip_prefix("waiting on ").unwrap().split(' ').next().unwrap().parse().unwrap());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    (rest, process.wait().unwrap().code())
}

#[test]
fn a_client_is_certified_over_tls_and_with_its_password_alone() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("desk.crt");
    write_pair(folder.path());
    fs::write(folder.path().join("password"), "correct horse\n").unwrap();
    let (told, code) = certify(folder.path(), |address| {
        let mut wrong = handshake(address, &trusted, "localhost").unwrap();
        let logon = |password: &str| format!("98=0|108=30|553=desk|554={password}");
        send(&mut wrong, "A", 1, &logon("wrong horse"));
        assert_eq!(wrong.read(&mut [0; 64]).unwrap_or(0), 0, "no answer, and the line is closed");
        let mut client = handshake(address, &trusted, "localhost").unwrap();
        assert_eq!(converse(&mut client, "A", 1, &logon("correct horse")), "A");
        send(&mut client, "5", 2, "58=done");
    });
    assert!(told.contains("FAILED    logon: Username (553) or Password (554) is wrong"), "{told}");
    assert!(told.contains("passed    logout"), "{told}");
    assert_eq!(code, Some(1));
}

#[test]
fn a_certificate_that_can_t_be_used_is_refused_before_anything_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["serve", "check-config"] {
        let words = ["--set", "https.certificate=desk.crt", "--set", "https.key=desk.key", "--data-dir", "data"];
        let mut rialto = Command::new(env!("CARGO_BIN_EXE_rialto"));
        let ended = rialto.arg(command).args(words).current_dir(folder.path()).env_clear().output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        let expected = "rialto: the certificate can't be used: desk.crt: No such file or directory (os error 2)\n";
        assert_eq!((ended.status.code(), said.as_str()), (Some(2), expected));
        assert!(!folder.path().join("data").exists());
    }
}

/// What people type. Where there is no curl there is nothing to show.
#[test]
fn curl_reads_over_http2_and_http1() {
    if Command::new("curl").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let url = format!("https://localhost:{}/rest/account", server.https.port());
    for (version, expected) in [("--http2", "2 200"), ("--http1.1", "1.1 200")] {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--compressed", version, "--cacert", "data/tls/cert.pem"]).current_dir(folder.path());
        let said = curl.args(["--write-out", "\n%{http_version} %{http_code}", &url]).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let (body, seen) = said.rsplit_once('\n').unwrap();
        assert!(body.starts_with("[{\"id\":1,\"name\":\"Rialto Desk\""), "{body}");
        assert_eq!(seen, expected);
    }
}

#[test]
fn a_server_that_has_only_https_does_the_import_too() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    fs::create_dir(&files).unwrap();
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/reference")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), files.join(file.file_name())).unwrap();
    }
    let _server = Server::start(folder.path(), &["http.port=off"]);
    let securities = files.join("securities.csv");
    let text = fs::read_to_string(&securities).unwrap();
    fs::write(&securities, text.replacen("Apple Inc", "Pear Inc", 1)).unwrap();
    let import = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rialto"));
        command.args(["import", "files", "--data-dir", "data"]).current_dir(folder.path()).env_clear();
        command.output().unwrap()
    };
    let said = import();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "1 changes imported\n", "{said:?}");
    fs::copy(folder.path().join("files/accounts.csv"), folder.path().join("data/tls/cert.pem")).unwrap();
    let said = import();
    assert_eq!(said.status.code(), Some(2), "without its certificate the server is not known: {said:?}");
}
