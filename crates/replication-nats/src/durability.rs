//! Durability of the servers: an acknowledgement means a disk only where `sync_interval` is `always`.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use storage::replication::LogEntry;

use crate::settings::{JetStreamSettings, LogOpenError, REPLICAS, refused, unavailable};

/// Before it, errors that mean "not stored" could come after an entry was stored.
const VERSION_MIN: (u64, u64) = (2, 12);
/// The largest entry, with room for its headers.
const PAYLOAD_BYTES: u64 = (LogEntry::BYTES_MAX + HEADER_BYTES) as u64;
/// Room for the headers of an entry beside its bytes.
const HEADER_BYTES: usize = 1024;
/// Servers that may be silent: the log goes on without them, and so must whoever opens it.
const SILENT_MAX: u64 = REPLICAS / 2;

/// What the monitoring ports said.
#[derive(Debug, Default)]
pub(crate) struct CheckedServers {
    /// Names of servers that sync every write.
    pub(crate) durable: BTreeSet<String>,
    /// Addresses that did not answer, or whose JetStream has not started.
    pub(crate) silent: Vec<String>,
}

/// Asks every server. One that does not sync every write is refused; a minority may be silent. Those of which it is `known` are not logged again.
pub(crate) fn check(settings: &JetStreamSettings, known: &[String]) -> Result<CheckedServers, LogOpenError> {
    let (mut checked, mut reasons) = (CheckedServers::default(), Vec::new());
    for address in &settings.monitors {
        match server_status(address, settings.open_wait).and_then(with_jetstream) {
            Ok(found) => drop(checked.durable.insert(checked_server(address, &found)?)),
            Err(reason) => {
                reasons.push((address, format!("monitoring at {address}: {reason}")));
                checked.silent.push(address.clone());
            }
        }
    }
    if checked.silent.len() as u64 > SILENT_MAX {
        let reasons: Vec<_> = reasons.into_iter().map(|(_, reason)| reason).collect();
        return Err(unavailable(reasons.join("; ")));
    }
    for (_, reason) in reasons.into_iter().filter(|(address, _)| !known.contains(address)) {
        tracing::warn!(%reason, "a server of the replicated log does not say whether it syncs every write");
    }
    Ok(checked)
}

/// A server that starts answers before it knows its JetStream. That is no wrong setting: a member must not end because a server was restarted.
fn with_jetstream(found: Value) -> Result<Value, String> {
    if found["jetstream"]["config"].is_object() { Ok(found) } else { Err("its JetStream has not started".to_owned()) }
}

/// The name of a server that takes every entry and keeps its word.
fn checked_server(address: &str, found: &Value) -> Result<String, LogOpenError> {
    let name = found["server_name"].as_str().unwrap_or_default().to_owned();
    let server = if name.is_empty() { address } else { &name };
    if name.is_empty() || found["jetstream"]["config"]["sync_always"].as_bool() != Some(true) {
        let reason = format!("server {server} must have sync_interval: always in its jetstream block");
        return Err(refused("sync_interval", reason));
    }
    let version = found["version"].as_str().unwrap_or_default();
    if version_of(version).is_none_or(|version| version < VERSION_MIN) {
        let (major, minor) = VERSION_MIN;
        return Err(refused(
            "version",
            format!("server {server} must be NATS {major}.{minor} or later, it is '{version}'"),
        ));
    }
    let max_payload = found["max_payload"].as_u64().unwrap_or(0);
    if max_payload < PAYLOAD_BYTES {
        let reason = format!("server {server} takes {max_payload} bytes, the largest entry needs {PAYLOAD_BYTES}");
        return Err(refused("max_payload", reason));
    }
    Ok(name)
}

fn version_of(text: &str) -> Option<(u64, u64)> {
    let mut parts = text.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn server_status(address: &str, wait: Duration) -> Result<Value, String> {
    // The server itself is meant, never a proxy of the environment.
    let agent: ureq::Agent = ureq::Agent::config_builder().proxy(None).timeout_global(Some(wait)).build().into();
    let mut answer = agent.get(format!("http://{address}/varz")).call().map_err(|error| error.to_string())?;
    let text = answer.body_mut().read_to_string().map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server(version: &str, is_durable: bool) -> Result<String, String> {
        server_taking(PAYLOAD_BYTES, version, is_durable)
    }

    fn server_taking(max_payload: u64, version: &str, is_durable: bool) -> Result<String, String> {
        let found = json!({ "server_name": "n1", "version": version, "max_payload": max_payload,
            "jetstream": { "config": { "sync_always": is_durable } } });
        checked_server("host:8222", &found).map_err(|error| error.to_string())
    }

    #[test]
    fn a_server_that_starts_is_asked_again_and_one_that_is_lazy_is_refused() {
        let starting = json!({ "server_name": "n1", "version": "2.15.1", "jetstream": {} });
        assert_eq!(with_jetstream(starting), Err("its JetStream has not started".to_owned()));
        // What is not set is not told.
        let lazy = with_jetstream(json!({ "server_name": "n1", "jetstream": { "config": { "max_storage": 1 } } }));
        assert!(checked_server("host:8222", &lazy.unwrap()).unwrap_err().to_string().starts_with("sync_interval"));
    }

    #[test]
    fn every_server_must_take_the_largest_entry() {
        let small = "max_payload: server n1 takes 1048576 bytes, the largest entry needs 16778408".to_owned();
        assert_eq!(server_taking(1_048_576, "2.15.1", true), Err(small));
    }

    #[test]
    fn a_server_must_sync_every_write_and_be_new_enough() {
        assert_eq!(server("2.15.1", true), Ok("n1".to_owned()));
        assert_eq!(server("3.0.0-beta.1", true), Ok("n1".to_owned()));
        let old = "version: server n1 must be NATS 2.12 or later, it is '2.11.9'".to_owned();
        assert_eq!(server("2.11.9", true), Err(old));
        let unknown = "version: server n1 must be NATS 2.12 or later, it is ''".to_owned();
        assert_eq!(server("", true), Err(unknown));
        let lazy = "sync_interval: server n1 must have sync_interval: always in its jetstream block".to_owned();
        assert_eq!(server("2.15.1", false), Err(lazy));
    }
}
