use std::path::{Path, PathBuf};

use expect_test::{expect, expect_file};

use super::show::sample;
use super::*;

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn assignments(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Sources with a file of that text; the path of its folder is removed from messages.
fn with_file<T>(text: &str, then: impl FnOnce(Sources, &Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.toml");
    std::fs::write(&path, text).unwrap();
    then(Sources { file: Some(path), ..Sources::default() }, folder.path())
}

fn problems_in(text: &str) -> String {
    with_file(text, |sources, folder| {
        let problems = Config::load(&sources).unwrap_err().to_string();
        problems.replace(&format!("{}/", folder.display()), "")
    })
}

fn set(texts: &[&str]) -> Result<Config, String> {
    let sources = Sources { set: assignments(texts), ..Sources::default() };
    Config::load(&sources).map_err(|problems| problems.to_string())
}

#[test]
fn the_demo_is_the_default_and_its_table_shows_every_key_with_its_origin() {
    let config = Config::load(&Sources::default()).unwrap();
    expect_file!["demo-table.txt"].assert_eq(&config.table());
}

#[test]
fn flags_win_over_environment_over_file_over_profile_over_default() {
    let text = "bind = \"::1\"\n[demo]\nopeningCash = 5\nseed = 2\nactivity = \"busy\"\n[http]\nport = 3\n";
    let config = with_file(text, |mut sources, _| {
        sources.profiles = assignments(&["demo"]);
        sources.environment = variables(&[("RIALTO_DEMO_SEED", "4"), ("RIALTO_DEMO_ACTIVITY", "off")]);
        sources.set = assignments(&["demo.seed=5", "demo.seed = 6"]);
        sources.data_dir = Some(PathBuf::from("elsewhere"));
        Config::load(&sources).unwrap()
    });
    let parameters = config.parameters();
    let shown = |name: &str| parameters[name].as_str();
    for (name, expected) in [
        ("reference.path", "demo"),
        ("demo.openingCash", "5"),
        ("bind", "::1"),
        ("http.port", "3"),
        ("demo.activity", "off"),
        ("demo.seed", "6"),
        ("data.dir", "elsewhere"),
        ("journal.sync", "always"),
        ("profiles", "demo"),
    ] {
        assert_eq!(shown(name), expected, "{name}");
    }
}

#[test]
fn parameters_hold_every_key_and_the_version() {
    let parameters = Config::load(&Sources::default()).unwrap().parameters();
    assert_eq!(parameters["product.version"], show::VERSION);
    assert!(all_keys().all(|key| parameters.contains_key(key.name)));
    let of_venues = parameters.keys().filter(|name| name.starts_with("venues.")).count();
    assert_eq!(parameters.len(), all_keys().count() + of_venues + 2);
}

#[test]
fn a_file_alone_brings_no_profile() {
    let config = with_file("", |sources, _| Config::load(&sources).unwrap());
    assert_eq!((config.reference_path, config.venues.len()), (None, 0));
}

#[test]
fn of_two_profiles_the_later_wins() {
    let sources = Sources { profiles: assignments(&["demo", "simulated"]), ..Sources::default() };
    let config = Config::load(&sources).unwrap();
    let adapters: Vec<_> = config.adapters().map(|name| name.to_string()).collect();
    assert_eq!((config.reference_path, adapters), (Some(ReferencePath::Demo), vec!["SIMULATED-SIM".to_owned()]));
}

#[test]
fn every_error_of_a_file_is_reported_with_its_line_and_the_right_key() {
    let text = "\
bnd = \"127.0.0.1\"
favourite = 1

[htp]
port = 9090

[http]
Port = 1
hosts = [\"desk.example\", \"desk.example:80\"]
allowedOrigins = [\"https://desk.example/\"]

[journal]
sync = \"sometimes\"
segmentMegabytes = 0
ticks = 1979-05-27

[risk]
marginRate = 1.5
maxLong = -1
duplicateGuard = \"3 a second\"
";
    expect![[r#"
        desk.toml line 15: journal.ticks: no key holds a value of this kind
        desk.toml line 1: unknown key 'bnd'; did you mean 'bind'?
        desk.toml line 2: unknown key 'favourite'
        desk.toml line 5: unknown key 'htp.port'; did you mean 'http.port'?
        desk.toml line 8: unknown key 'http.Port'; did you mean 'http.port'?
        desk.toml line 9: http.hosts: 'desk.example:80' is not a host name without a port, such as desk.example
        desk.toml line 10: http.allowedOrigins: 'https://desk.example/' is not an origin without a path, such as https://desk.example:8443
        desk.toml line 13: journal.sync: 'sometimes' is not one of always, interval:<ms>, os
        desk.toml line 14: journal.segmentMegabytes: '0' is not a whole number from 1 to 1024
        desk.toml line 19: risk.maxLong: '-1' is not a decimal above 0
        desk.toml line 20: risk.duplicateGuard: '3 a second' is not a count in a time, such as '3 in 1000ms'
        desk.toml line 18: risk.marginRate: '1.5' is not a decimal from 0 to 1"#]]
    .assert_eq(&problems_in(text));
}

#[test]
fn a_file_that_is_not_toml_is_rejected_with_the_line() {
    expect![[r#"
        desk.toml line 2: unclosed table, expected `]`
        desk.toml line 3: key with no value, expected `=`"#]]
    .assert_eq(&problems_in("bind = \"127.0.0.1\"\n[http\nport 9090\n"));
    expect!["desk.toml line 3: duplicate key"].assert_eq(&problems_in("[http]\nport = 1\nport = 2\n"));
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let sources = Sources { file: Some(PathBuf::from("nowhere/desk.toml")), ..Sources::default() };
    expect!["nowhere/desk.toml: cannot be read: No such file or directory (os error 2)"]
        .assert_eq(&Config::load(&sources).unwrap_err().to_string());
}

#[test]
fn wrong_values_of_flags_and_variables_name_where_they_stand() {
    let sources = Sources {
        profiles: assignments(&["demmo"]),
        environment: variables(&[("RIALTO_HTP_PORT", "1"), ("RIALTO_BIN", "x")]),
        set: assignments(&["http.port"]),
        ..Sources::default()
    };
    expect![[r#"
        --profile: unknown profile 'demmo'; did you mean 'demo'? (known: demo, simulated, inbound-fix)
        RIALTO_HTP_PORT: unknown variable; did you mean 'RIALTO_HTTP_PORT'?
        --set: 'http.port' is not KEY=VALUE"#]]
    .assert_eq(&Config::load(&sources).unwrap_err().to_string());

    let sources = Sources {
        environment: variables(&[("RIALTO_HTTP_PORT", "70000"), ("RIALTO_TRADING_ZONE", "Atlantis")]),
        set: assignments(&["demo.activty=off", "simulated.venues=ALPHA", "clock.offset=9999999999", "log.level=loud"]),
        ..Sources::default()
    };
    expect![[r#"
        --set: unknown key 'demo.activty'; did you mean 'demo.activity'?
        RIALTO_HTTP_PORT: http.port: '70000' is not a whole number from 0 to 65535, or off
        RIALTO_TRADING_ZONE: trading.zone: 'Atlantis' is not a time zone, such as UTC or Europe/Zurich
        --set: clock.offset: '9999999999' is not a whole number from -3155760000 to 3155760000
        --set: log.level: 'loud' is not one of error, warn, info, debug, trace
        --set: simulated.venues: 'ALPHA' is not NAME:CODE or NAME:*, with the code of an exchange or * for the only one"#]].assert_eq(&Config::load(&sources).unwrap_err().to_string());
}

#[test]
fn an_address_is_any_of_this_machine_and_a_port_may_be_off() {
    let listens = |texts: &[&str]| set(texts).unwrap().http_address().map(|address| address.to_string());
    assert_eq!(listens(&["bind=::1", "http.port=0"]).as_deref(), Some("[::1]:0"));
    assert_eq!(listens(&["bind=localhost"]).as_deref(), Some("127.0.0.1:9090"));
    assert_eq!(listens(&["bind=0.0.0.0"]).as_deref(), Some("0.0.0.0:9090"));
    assert_eq!(listens(&["http.port=off"]), None);
    expect!["--set: bind: 'desk.example' is not an IP address, such as 127.0.0.1, ::1 or 0.0.0.0"]
        .assert_eq(&set(&["bind=desk.example"]).unwrap_err());
}

#[test]
fn what_changes_nothing_is_said() {
    let sources = Sources { environment: variables(&[("RIALTO_SERVICE_HOST", "10.0.0.1")]), ..Sources::default() };
    let expected = ["RIALTO_SERVICE_HOST in the environment is no key and changes nothing"];
    assert_eq!(Config::load(&sources).unwrap().effective.notices, expected);
}

#[test]
fn decimals_keep_every_digit() {
    let config = with_file("risk.slippagePercent = 0.10000000000000000000001\n", |sources, _| Config::load(&sources));
    assert_eq!(config.unwrap().risk_slippage_percent.0.to_string(), "0.10000000000000000000001");
}

#[test]
fn limits_and_settings_reach_the_engine() {
    let config = set(&["risk.maxShort=5", "risk.duplicateGuard=3 in 1000ms", "trading.zone=Europe/Zurich"]).unwrap();
    let limits = &config.risk_limits;
    assert_eq!(limits.max_short, Some(5.into()));
    assert_eq!(limits.duplicate_guard, Some(domain::risk::BurstLimit { count: 3, millis: 1000 }));
    assert_eq!(limits.orders_per_second, Some(1000));
    assert_eq!(config.engine_settings(7).trading_zone.to_string(), "Europe/Zurich");
}

#[test]
fn the_engine_s_own_defaults_are_those_of_the_table() {
    let config = set(&[]).unwrap();
    let expected = domain::risk::EngineSettings {
        platform_limits: config.risk_limits.clone(),
        // Only of a server: a simulation has an equity curve of its own.
        sample_seconds: Some(300),
        ..Default::default()
    };
    assert_eq!(config.engine_settings(1), expected);
}

#[test]
fn the_committed_sample_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rialto.sample.toml");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == sample(), "write it anew: rialto sample-config > rialto.sample.toml");
}

#[test]
fn the_sample_with_every_key_switched_on_is_the_default() {
    let is_key = |line: &&str| line.starts_with('#') && !line.starts_with("# ") && line.contains(" = ");
    let switched_on = |line: &str| if is_key(&line) { line[1..].to_owned() } else { line.to_owned() };
    let text = sample().lines().map(switched_on).collect::<Vec<_>>().join("\n");
    let parameters = |text: &str| with_file(text, |sources, _| Config::load(&sources).unwrap().parameters());
    assert_eq!(sample().lines().filter(is_key).count(), all_keys().count());
    assert_eq!(parameters(&text), parameters(""));
}

#[test]
fn the_venue_of_the_sample_with_every_setting_is_one_with_the_defaults() {
    let sample = sample();
    let (_, venues) = sample.split_once("# [[venues]]\n").unwrap();
    // Other types have keys of the same names.
    let types: Vec<&str> = venues.split("# Type ").take(2).collect();
    let venues = types.concat();
    let given = ["name = \"MAIN\"", "type = \"simulated\""];
    let settings = venues.lines().filter_map(|line| line.strip_prefix("#   ")).filter(|line| line.contains(" = "));
    let settings = settings.filter(|line| !line.starts_with("name") && !line.starts_with("type"));
    let written: Vec<_> = ["[[venues]]"].into_iter().chain(given).chain(settings).collect();
    let parameters = |text: &str| with_file(text, |sources, _| Config::load(&sources).unwrap().parameters());
    let short = format!("[[venues]]\n{}", given.join("\n"));
    assert_eq!(parameters(&written.join("\n")), parameters(&short));
}
