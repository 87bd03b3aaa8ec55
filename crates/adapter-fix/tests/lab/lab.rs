//! The venue lab as a process of its own.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::test_adapter::VenueAddress;

pub(crate) struct Lab {
    process: Child,
    ready: Value,
    folder: TempDir,
}

impl Lab {
    /// With nobody else in the market but the opening quotes.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// With further settings.
    pub(crate) fn start_with(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(scenarios::binary::rialto());
        command.args(["venue", "serve", "--demo", "--set", "activity=off", "--data-dir"]).arg(folder.path());
        command.args(settings.iter().flat_map(|setting| ["--set", setting]));
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { process, ready: serde_json::from_str(&line).unwrap(), folder }
    }

    pub(crate) fn port(&self, face: &str) -> u16 {
        self.ready[face].as_str().unwrap().rsplit(':').next().unwrap().parse().unwrap()
    }

    pub(crate) fn address(&self, face: &str) -> VenueAddress {
        VenueAddress { port: self.port(face), sender: "ALPHA", target: "LAB" }
    }

    /// The certificate of its encrypted faces.
    pub(crate) fn certificate(&self) -> String {
        self.folder.path().join("tls/cert.pem").display().to_string()
    }

    /// A file with a key of the account, for its owner alone.
    pub(crate) fn credentials(&self, account: &str, kind: &str) -> String {
        let keys: Value = serde_json::from_slice(&fs::read(self.ready["keys"].as_str().unwrap()).unwrap()).unwrap();
        let is_meant = |key: &&Value| key["account"] == account && key["kind"] == kind;
        let key = keys.as_array().unwrap().iter().find(is_meant).unwrap();
        let text = |name: &str| key[name].as_str().unwrap();
        let secret = match kind {
            "HMAC" => format!("secret = \"{}\"", text("secret")),
            _ => format!("privateKey = '''\n{}'''", text("privateKeyPem")),
        };
        let file = self.folder.path().join(format!("{account}-{kind}.toml"));
        fs::write(&file, format!("apiKey = \"{}\"\n{secret}\n", text("apiKey"))).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        file.display().to_string()
    }

    /// The next matching event has the fault.
    pub(crate) fn arm(&self, fault: &str) {
        self.ask("admin", "POST /faults", &serde_json::json!({ "fault": fault }).to_string());
    }

    /// Bids and asks of a symbol as the REST face shows them, best first.
    pub(crate) fn depth(&self, symbol: &str) -> Value {
        let answer = self.ask("binanceRest", &format!("GET /api/v3/depth?symbol={symbol}&limit=20"), "");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    fn ask(&self, face: &str, request: &str, body: &str) -> String {
        let request = format!(
            "{request} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        );
        let mut socket = TcpStream::connect(("127.0.0.1", self.port(face))).unwrap();
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
