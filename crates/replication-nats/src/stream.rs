//! The stream of the log: how it is made, and what is refused about one that exists.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::durability::CheckedServers;
use crate::nats_client::{NatsClient, RequestFailure};
use crate::settings::{DUPLICATE_WINDOW, JetStreamSettings, LogOpenError, REPLICAS, refused, unavailable};

const STREAM_NOT_FOUND: u64 = 10059;
/// A holder that the stream's leader has not heard of for so long is gone: so JetStream itself counts.
const UNHEARD: Duration = Duration::from_secs(10);

/// Finds or makes the stream, and refuses one that could lose or change entries.
pub(crate) fn open(
    client: &NatsClient,
    settings: &JetStreamSettings,
    checked: &CheckedServers,
) -> Result<(), LogOpenError> {
    let (name, wait) = (&settings.stream, settings.open_wait);
    let found = call(client, &format!("STREAM.INFO.{name}"), &json!({}), wait)?;
    let is_missing = found["error"]["err_code"].as_u64() == Some(STREAM_NOT_FOUND);
    let found = match is_missing {
        true => call(client, &format!("STREAM.CREATE.{name}"), &wanted(name), wait)?,
        false => found,
    };
    if let Some(description) = found["error"]["description"].as_str() {
        return Err(unavailable(format!("stream {name}: {description}")));
    }
    check(name, &found["config"])?;
    check_servers(&found["cluster"], checked).map(drop)
}

/// Whether every server that holds the stream now was asked, or did not answer. Names of those that did not answer, and acknowledge entries.
pub(crate) fn check_holders(
    client: &NatsClient,
    settings: &JetStreamSettings,
    checked: &CheckedServers,
) -> Result<BTreeSet<String>, LogOpenError> {
    let name = &settings.stream;
    let found = call(client, &format!("STREAM.INFO.{name}"), &json!({}), settings.open_wait)?;
    match found["error"]["description"].as_str() {
        Some(description) => Err(unavailable(format!("stream {name}: {description}"))),
        None => check_servers(&found["cluster"], checked),
    }
}

fn call(client: &NatsClient, verb: &str, body: &Value, wait: Duration) -> Result<Value, LogOpenError> {
    client.request(&format!("$JS.API.{verb}"), &[], body.to_string().into_bytes(), wait).map_err(
        |failure| match failure {
            RequestFailure::NotSent { reason } | RequestFailure::Unanswered { reason } => unavailable(reason),
        },
    )
}

/// Everything that decides whether an entry stays, and whether every copy may be asked; the rest is JetStream's default.
fn wanted(name: &str) -> Value {
    json!({
        "name": name, "subjects": [name], "storage": "file", "retention": "limits", "discard": "new",
        "num_replicas": REPLICAS, "max_age": 0, "max_msgs": -1, "max_bytes": -1, "max_msgs_per_subject": -1,
        "max_msg_size": -1, "duplicate_window": nanoseconds(DUPLICATE_WINDOW), "deny_delete": true, "deny_purge": false,
        "allow_rollup_hdrs": false, "allow_direct": true,
    })
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn check(name: &str, config: &Value) -> Result<(), LogOpenError> {
    let wanted = wanted(name);
    let fixed = [
        "subjects",
        "storage",
        "retention",
        "discard",
        "num_replicas",
        "max_msgs",
        "max_bytes",
        "max_msgs_per_subject",
        "max_msg_size",
        "deny_delete",
    ];
    for key in fixed {
        if config[key] != wanted[key] {
            return Err(refused("stream", format!("{key} of {name} is {}, it must be {}", config[key], wanted[key])));
        }
    }
    if config["duplicate_window"].as_u64().unwrap_or(0) < nanoseconds(DUPLICATE_WINDOW) {
        return Err(refused("stream", format!("duplicate_window of {name} must be {DUPLICATE_WINDOW:?} or more")));
    }
    // Absent where they are off.
    for key in [
        "max_age",
        "mirror",
        "sources",
        "sealed",
        "allow_rollup_hdrs",
        "allow_msg_ttl",
        "deny_purge",
        "no_ack",
        "subject_transform",
        "republish",
    ] {
        let is_off = matches!(&config[key], Value::Null | Value::Bool(false)) || config[key].as_u64() == Some(0);
        if !is_off {
            return Err(refused("stream", format!("{key} of {name} must be off, it is {}", config[key])));
        }
    }
    Ok(())
}

/// Every server that holds a copy was asked whether it syncs, or did not answer. One that is gone for the stream's leader acknowledges
/// nothing: it may have been replaced by one with another name, and is asked when it is back. Names of those that hold a current copy, and
/// have not said whether they sync.
fn check_servers(cluster: &Value, checked: &CheckedServers) -> Result<BTreeSet<String>, LogOpenError> {
    let replicas = cluster["replicas"].as_array().into_iter().flatten().filter_map(|replica| replica["name"].as_str());
    let holders: BTreeSet<&str> = replicas.chain(cluster["leader"].as_str()).filter(|name| !name.is_empty()).collect();
    if (holders.len() as u64) < REPLICAS {
        return Err(unavailable(format!("the stream names {} of the {REPLICAS} servers that hold it", holders.len())));
    }
    let away = away(cluster);
    let unasked = holders.iter().copied().filter(|name| !checked.durable.contains(*name));
    let (gone, unknown): (Vec<&str>, Vec<&str>) = unasked.partition(|name| away.contains(name));
    // A silent address is that of a server that is gone, unless another one answers in its place.
    let others = checked.durable.iter().filter(|name| !holders.contains(name.as_str())).count();
    let silent = checked.silent.len().saturating_sub(gone.len().saturating_sub(others));
    if unknown.len() <= silent {
        let is_current = |name: &&str| cluster["leader"] == **name || current(cluster).contains(*name);
        return Ok(unknown.into_iter().filter(is_current).map(ToOwned::to_owned).collect());
    }
    let unclear = unclear(cluster);
    if unknown.iter().filter(|name| !unclear.contains(*name)).count() <= silent {
        return Err(unavailable(format!("the stream's leader has not heard of server {} since it leads", unknown[0])));
    }
    let reason = format!("server {} holds a copy of the stream, but no monitoring address of it is given", unknown[0]);
    Err(refused("monitors", reason))
}

/// A server that was killed is called offline minutes later. The leader hears of one that runs every second.
fn away(cluster: &Value) -> BTreeSet<&str> {
    let unheard = |replica: &Value| replica["active"].as_u64().is_some_and(|heard| heard >= nanoseconds(UNHEARD));
    holders_that(cluster, |replica| replica["offline"] == true || unheard(replica))
}

/// They count for a majority.
fn current(cluster: &Value) -> BTreeSet<&str> {
    holders_that(cluster, |replica| replica["current"] == true)
}

/// Of a leader that has just been elected each other server is as if it had been heard of this instant, until it is. So is one that died before
/// the election, until JetStream calls it offline.
fn unclear(cluster: &Value) -> BTreeSet<&str> {
    holders_that(cluster, |replica| replica["active"] == 0 && replica["current"] != true)
}

fn holders_that(cluster: &Value, is_so: impl Fn(&Value) -> bool) -> BTreeSet<&str> {
    let replicas = cluster["replicas"].as_array().into_iter().flatten();
    replicas.filter(|replica| is_so(replica)).filter_map(|replica| replica["name"].as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const N2: &str = "monitors: server n2 holds a copy of the stream, but no monitoring address of it is given";

    fn check(durable: &[&str], silent: &[&str]) -> Result<(), String> {
        check_cluster(&json!({ "leader": "n1", "replicas": [{ "name": "n2" }, { "name": "n3" }] }), durable, silent)
    }

    fn check_cluster(cluster: &Value, durable: &[&str], silent: &[&str]) -> Result<(), String> {
        let durable = durable.iter().map(|name| (*name).to_owned()).collect();
        let silent = silent.iter().map(|address| (*address).to_owned()).collect();
        check_servers(cluster, &CheckedServers { durable, silent }).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn a_holder_that_acknowledges_entries_and_does_not_say_whether_it_syncs_is_named() {
        let cluster =
            |second: Value| json!({ "leader": "n1", "replicas": [second, { "name": "n3", "current": true }] });
        let unverified = |second: Value, durable: &[&str]| {
            let durable = durable.iter().map(|name| (*name).to_owned()).collect();
            let checked = CheckedServers { durable, silent: vec!["host:8222".to_owned()] };
            check_servers(&cluster(second), &checked).unwrap().into_iter().collect::<Vec<_>>()
        };
        let current = || json!({ "name": "n2", "current": true });
        assert_eq!(unverified(current(), &["n1", "n3"]), ["n2"]);
        assert_eq!(unverified(current(), &["n2", "n3"]), ["n1"], "the leader of the stream is current");
        let nothing: [&str; 0] = [];
        assert_eq!(unverified(current(), &["n1", "n2", "n3"]), nothing);
        assert_eq!(unverified(json!({ "name": "n2", "current": false }), &["n1", "n3"]), nothing, "it is behind");
        let offline = json!({ "name": "n2", "current": true, "offline": true });
        assert_eq!(unverified(offline, &["n1", "n3"]), nothing);
    }

    #[test]
    fn a_holder_that_was_not_asked_is_refused_and_one_that_was_silent_is_not() {
        assert_eq!(check(&["n1", "n2", "n3"], &[]), Ok(()));
        assert_eq!(check(&["n1", "n2"], &["host:8222"]), Ok(()));
        let reason = "monitors: server n3 holds a copy of the stream, but no monitoring address of it is given";
        assert_eq!(check(&["n1", "n2"], &[]), Err(reason.to_owned()));
        let reason = "monitors: server n2 holds a copy of the stream, but no monitoring address of it is given";
        assert_eq!(check(&["n1"], &["host:8222"]), Err(reason.to_owned()));
    }

    #[test]
    fn a_dead_holder_in_whose_place_another_server_answers_is_not_refused() {
        let holders = |third: Value| json!({ "leader": "n1", "replicas": [{ "name": "n2", "active": 1 }, third] });
        let unheard = |seconds: u64| json!({ "name": "n3", "active": seconds * 1_000_000_000 });
        for dead in [json!({ "name": "n3", "offline": true }), unheard(10)] {
            let while_dead = |durable: &[&str], silent: &[&str]| check_cluster(&holders(dead.clone()), durable, silent);
            assert_eq!(while_dead(&["n1", "n2", "n4"], &[]), Ok(()));
            assert_eq!(while_dead(&["n1", "n2"], &[]), Ok(()), "it acknowledges nothing");
            assert_eq!(while_dead(&["n1", "n4"], &["n2:8222"]), Ok(()), "another one is silent meanwhile");
            assert_eq!(while_dead(&["n1", "n4"], &[]), Err(N2.to_owned()));
            assert_eq!(while_dead(&["n1"], &["n3:8222"]), Err(N2.to_owned()), "who is silent is the dead one");
        }
        let n3 = "monitors: server n3 holds a copy of the stream, but no monitoring address of it is given";
        let back = check_cluster(&holders(unheard(9)), &["n1", "n2", "n4"], &[]);
        assert_eq!(back, Err(n3.to_owned()), "it may acknowledge entries");
        let unclear =
            "the replicated log cannot be opened now: the stream's leader has not heard of server n3 since it leads";
        let elected = check_cluster(&holders(unheard(0)), &["n1", "n2", "n4"], &[]);
        assert_eq!(elected, Err(unclear.to_owned()), "it may have died before this leader was elected");
    }
}
