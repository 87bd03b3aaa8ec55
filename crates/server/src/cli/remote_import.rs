//! What the command line asks of a running server.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::config::sources::environment::TOKEN_VARIABLE;
use crate::data_dir::server_file::ServerEndpoint;
use crate::exit_failure::{Exit, ExitFailure};
use crate::tls::{CertificateSource, pinned_tls};

const PATH: &str = "/rest/reference/import";
/// Reading many files takes its time; more than this is no reading.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Serialize)]
struct ImportBody<'a> {
    path: &'a str,
}

#[derive(Deserialize)]
struct Imported {
    changes: usize,
}

#[derive(Deserialize)]
struct ProblemBody {
    detail: String,
}

/// The server reads the folder itself and says how much changed.
pub fn import(config: &Config, server: ServerEndpoint, folder: &Path) -> Result<usize, ExitFailure> {
    let folder = folder.canonicalize().map_err(|error| ExitFailure::io("find", folder, &error))?;
    let not_text = || ExitFailure::new(Exit::Refused, format!("{} is not a name in UTF-8", folder.display()));
    let body = ImportBody { path: folder.to_str().ok_or_else(not_text)? };
    let unanswered = |at: SocketAddr, error: &dyn std::fmt::Display| {
        ExitFailure::new(Exit::Failed, format!("the server at {at} was asked, but gave no answer: {error}"))
    };
    let body = encode(&body);
    let (status, answer) = match server {
        ServerEndpoint::Http(at) => post(at, PATH, &body).map_err(|error| unanswered(at, &error))?,
        ServerEndpoint::Https(at) => {
            let certificate = CertificateSource::of(config)?.current()?;
            post_tls(at, certificate, PATH, &body).map_err(|error| unanswered(at, &error))?
        }
    };
    match status {
        200 => decode::<Imported>(&answer).map(|imported| imported.changes),
        _ => Err(refused(status, &decode::<ProblemBody>(&answer)?.detail)),
    }
}

fn refused(status: u16, detail: &str) -> ExitFailure {
    let advice = match status {
        401 | 403 => format!("; put an admin's token into {TOKEN_VARIABLE}"),
        _ => String::new(),
    };
    ExitFailure::new(Exit::Refused, format!("the running server refused: {detail}{advice}"))
}

/// The body is all that comes behind the headers: it is short, and never sent in chunks.
fn post_tls(
    server: SocketAddr,
    certificate: CertificateDer<'static>,
    path: &str,
    body: &str,
) -> io::Result<(u16, String)> {
    let token = std::env::var(TOKEN_VARIABLE).map(|token| format!("Authorization: Bearer {token}\r\n"));
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n{}\r\n{body}",
        body.len(),
        token.unwrap_or_default()
    );
    let answer = pinned_tls::exchange(server, certificate, request.as_bytes(), IMPORT_TIMEOUT)?;
    let text = String::from_utf8(answer).map_err(io::Error::other)?;
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    status.zip(body).ok_or_else(|| io::Error::other("it is not HTTP"))
}

fn post(server: SocketAddr, path: &str, body: &str) -> Result<(u16, String), ureq::Error> {
    let agent = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(IMPORT_TIMEOUT));
    let request = ureq::Agent::new_with_config(agent.proxy(None).build()).post(format!("http://{server}{path}"));
    let mut request = request.header("Content-Type", "application/json");
    if let Ok(token) = std::env::var(TOKEN_VARIABLE) {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let mut response = request.send(body)?;
    Ok((response.status().as_u16(), response.body_mut().read_to_string()?))
}

fn encode(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("a text is always JSON")
}

fn decode<'a, T: Deserialize<'a>>(answer: &'a str) -> Result<T, ExitFailure> {
    let strange = |_| ExitFailure::new(Exit::Failed, format!("the server's answer makes no sense: {answer}"));
    serde_json::from_str(answer).map_err(strange)
}
