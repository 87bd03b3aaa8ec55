//! What the command line asks of a running server.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::{Exit, Failure};

/// Where users are configured, this variable holds an admin's token.
pub const TOKEN_VARIABLE: &str = "RIALTO_TOKEN";

/// Reading many files takes its time; more than this is no reading.
const IMPORT_PATIENCE: Duration = Duration::from_secs(300);

#[derive(Serialize)]
struct ImportBody<'a> {
    path: &'a str,
}

#[derive(Deserialize)]
struct Imported {
    changes: usize,
}

#[derive(Deserialize)]
struct Problem {
    detail: String,
}

/// The server reads the folder itself and says how much changed.
pub fn import(server: SocketAddr, folder: &Path) -> Result<usize, Failure> {
    let folder = folder.canonicalize().map_err(|error| Failure::io("find", folder, &error))?;
    let not_text = || Failure::new(Exit::Refused, format!("{} is not a name in UTF-8", folder.display()));
    let body = ImportBody { path: folder.to_str().ok_or_else(not_text)? };
    let (status, answer) = post(server, "/rest/reference/import", &encode(&body)).map_err(|error| {
        Failure::new(Exit::Failed, format!("the server at {server} was asked, but gave no answer: {error}"))
    })?;
    match status {
        200 => decode::<Imported>(&answer).map(|imported| imported.changes),
        _ => Err(refused(status, &decode::<Problem>(&answer)?.detail)),
    }
}

fn refused(status: u16, detail: &str) -> Failure {
    let advice = match status {
        401 | 403 => format!("; put an admin's token into {TOKEN_VARIABLE}"),
        _ => String::new(),
    };
    Failure::new(Exit::Refused, format!("the running server refused: {detail}{advice}"))
}

fn post(server: SocketAddr, path: &str, body: &str) -> Result<(u16, String), ureq::Error> {
    let agent = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(IMPORT_PATIENCE));
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

fn decode<'a, T: Deserialize<'a>>(answer: &'a str) -> Result<T, Failure> {
    let strange = |_| Failure::new(Exit::Failed, format!("the server's answer makes no sense: {answer}"));
    serde_json::from_str(answer).map_err(strange)
}
