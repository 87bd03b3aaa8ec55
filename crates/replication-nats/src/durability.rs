//! Durability of the servers: an acknowledgement means a disk only where `sync_interval` is `always`.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::settings::{JetStreamSettings, LogOpenError, refused, unavailable};

/// The names of the servers that sync every write. One that does not is refused.
pub(crate) fn durable_servers(settings: &JetStreamSettings) -> Result<BTreeSet<String>, LogOpenError> {
    settings.monitors.iter().map(|address| durable_server(address, settings.open_wait)).collect()
}

fn durable_server(address: &str, wait: Duration) -> Result<String, LogOpenError> {
    let found =
        server_status(address, wait).map_err(|reason| unavailable(format!("monitoring at {address}: {reason}")))?;
    let name = found["server_name"].as_str().unwrap_or_default().to_owned();
    let is_durable = found["jetstream"]["config"]["sync_always"].as_bool() == Some(true);
    if name.is_empty() || !is_durable {
        let server = if name.is_empty() { address } else { &name };
        let reason = format!("server {server} must have sync_interval: always in its jetstream block");
        return Err(refused("sync_interval", reason));
    }
    Ok(name)
}

fn server_status(address: &str, wait: Duration) -> Result<Value, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder().timeout_global(Some(wait)).build().into();
    let mut answer = agent.get(format!("http://{address}/varz")).call().map_err(|error| error.to_string())?;
    let text = answer.body_mut().read_to_string().map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}
