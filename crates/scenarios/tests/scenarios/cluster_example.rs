//! The files of `examples/cluster` are complete, and the programs that they are for can read them. Nothing of them is started.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use scenarios::binary;
use scenarios::lab::write_reference;
use scenarios::server::ServerLauncher;
use serde_json::Value;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cluster");
/// Where containers of members see the folder.
const IN_CONTAINER: &str = "/etc/rialto/";

fn example(name: &str) -> PathBuf {
    Path::new(EXAMPLE).join(name)
}

fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?} can't be started: {error}"))
}

#[test]
fn nats_servers_read_their_files_and_ask_for_the_password() {
    let program = std::env::var("NATS_SERVER_BIN").expect("NATS_SERVER_BIN names nats-server");
    let check = |file: &str, password: Option<&str>| {
        let mut command = Command::new(&program);
        command.args(["-t", "-c"]).arg(example(file)).env_remove("NATS_PASSWORD");
        output(command.envs(password.map(|password| ("NATS_PASSWORD", password)))).status.success()
    };
    for file in ["nats.conf", "n1.conf", "n2.conf", "n3.conf"] {
        assert!(check(file, Some("p1")), "{file}");
        assert!(!check(file, None), "{file} takes no password");
    }
}

/// By PyYAML, in the Python of `make setup`.
fn compose() -> Value {
    let python = std::env::var("EXAMPLES_PYTHON").expect("EXAMPLES_PYTHON names a Python with PyYAML: run make setup");
    let read = "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)";
    let read = output(Command::new(python).args(["-c", read]).arg(example("compose.yml")));
    let problem = String::from_utf8_lossy(&read.stderr);
    assert!(read.status.success(), "compose.yml can't be read; PyYAML is needed (make setup): {problem}");
    serde_json::from_slice(&read.stdout).unwrap()
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().unwrap())
}

#[test]
fn every_file_and_secret_that_the_compose_file_names_is_there() {
    let compose = compose();
    let services = compose["services"].as_object().unwrap();
    assert_eq!(services.keys().collect::<Vec<_>>(), ["a", "b", "c", "n1", "n2", "n3"]);
    for (name, service) in services {
        for volume in texts(&service["volumes"]) {
            let source = volume.split(':').next().unwrap();
            let is_there = source.strip_prefix("./").map(|file| example(file).exists());
            assert!(
                is_there.unwrap_or(compose["volumes"].as_object().unwrap().contains_key(source)),
                "{name}: {volume}"
            );
        }
        let command = service["command"].as_str().unwrap();
        for file in command.split(' ').filter_map(|word| word.strip_prefix(IN_CONTAINER)) {
            assert!(example(file).is_file(), "{name}: {file}");
        }
        let is_told = service["environment"]["NATS_PASSWORD"].is_string();
        let has_file =
            texts(&service["secrets"]).any(|secret| compose["secrets"][secret]["environment"] == "NATS_PASSWORD");
        assert!(is_told || has_file, "{name} does not get the password");
    }
}

/// A copy with the places of this machine; the program runs there.
fn copied(folder: &Path, name: &str, places: &BTreeMap<&str, String>) -> String {
    let mut text = fs::read_to_string(example(name)).unwrap();
    for (place, here) in places {
        text = text.replace(place, here);
    }
    let copy = folder.join(name);
    fs::write(&copy, text).unwrap();
    copy.display().to_string()
}

#[test]
fn members_read_their_files_which_differ_in_the_name_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    write_reference(&folder.path().join("reference"));
    scenarios::lab::write_private(Path::new(&file("key.toml")), "apiKey = \"key\"\nsecret = \"secret\"\n");
    fs::write(file("password"), "p1\n").unwrap();
    let places = [
        ("/etc/rialto/reference", file("reference")),
        ("/etc/rialto/key.toml", file("key.toml")),
        ("/run/secrets/nats-password", file("password")),
    ];
    let places = places.into_iter().collect();
    let launcher = ServerLauncher::in_folder(&folder.path().join("data"));
    let checked = launcher.run(&["check-config", "--config", &copied(folder.path(), "rialto.toml", &places)]);
    assert_eq!(checked.code, Some(0), "{checked}");
    let without_name = |member: &str| {
        fs::read_to_string(example(&format!("{member}.toml")))
            .unwrap()
            .replace(&format!("ember {member} "), "ember ")
            .replace(&format!("member = \"{member}\""), "")
    };
    for member in ["a", "b", "c"] {
        let status =
            launcher.run_without_folder(&["ha", "status", &copied(folder.path(), &format!("{member}.toml"), &places)]);
        // It can be used, but none of them leads.
        assert_eq!(status.code, Some(1), "{status}");
        assert_eq!(without_name(member), without_name("a"));
    }
}

/// On the process's own standard error, which the test harness does not capture.
fn skipped(reason: &str) {
    writeln!(std::io::stderr(), "SKIPPED: {reason}").expect("standard error is open");
}

#[test]
fn systemd_takes_the_unit_of_a_member() {
    let folder = tempfile::tempdir().unwrap();
    let places = BTreeMap::from([("/usr/local/bin/rialto", binary::rialto().display().to_string())]);
    let unit = copied(folder.path(), "rialto-member.service", &places);
    let Ok(verified) = Command::new("systemd-analyze").args(["verify", &unit]).output() else {
        return skipped("systemd-analyze is not installed, so rialto-member.service was not verified");
    };
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
