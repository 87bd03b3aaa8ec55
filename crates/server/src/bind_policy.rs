//! Bind policy: an address that other machines can reach is refused until at least one user can log in.

use access::{AccessSettings, AnonymousPolicy, UserRole};

use crate::config::{AnonymousRole, Config};
use crate::exit_failure::{Exit, ExitFailure};

pub fn settings(config: &Config) -> AccessSettings {
    let anonymous = match config.auth_anonymous_role {
        None => AnonymousPolicy::Automatic,
        Some(AnonymousRole::Nobody) => AnonymousPolicy::Denied,
        Some(AnonymousRole::Viewer) => AnonymousPolicy::As(UserRole::Viewer),
        Some(AnonymousRole::Trader) => AnonymousPolicy::As(UserRole::Trader),
        Some(AnonymousRole::Admin) => AnonymousPolicy::As(UserRole::Admin),
    };
    AccessSettings { anonymous, live_adapter: config.has_live_adapter(), sessions: config.auth_sessions.size() }
}

/// Refuses a server that nobody could reach.
pub fn check_ports(config: &Config) -> Result<(), ExitFailure> {
    if config.http_port.0.or(config.https_port.0).is_none() {
        return Err(refused("http.port: off, and https.port too: nobody could reach the server".to_owned()));
    }
    Ok(())
}

/// Refuses a configuration that would expose the server.
pub fn check_exposure(config: &Config, has_users: bool) -> Result<(), ExitFailure> {
    if config.bind.0.is_loopback() {
        return Ok(());
    }
    let address = config.bind.0;
    if !has_users {
        return Err(refused(format!(
            "bind: {address} can be reached from other machines, and nobody can log in yet: add a user first, for \
             instance with rialto user add admin --role admin"
        )));
    }
    match plaintext_port(config).filter(|_| !config.auth_allow_plaintext) {
        Some((key, rest)) => Err(refused(format!(
            "{key}: passwords and tokens would cross the network to {address} in plain text; set {key}=off to serve \
             {rest} alone, or auth.allowPlaintext=true if that is what you want"
        ))),
        None => Ok(()),
    }
}

/// A port that does not insist on TLS, and what is left without it.
fn plaintext_port(config: &Config) -> Option<(&'static str, &'static str)> {
    let endpoints = [
        ("http.port", "HTTPS", config.http_port),
        ("broker.tcp.port", "STOMP over TLS", config.broker_tcp_port),
        ("broker.ws.port", "the WebSocket of HTTPS", config.broker_ws_port),
    ];
    endpoints.into_iter().find(|(_, _, port)| port.0.is_some()).map(|(key, rest, _)| (key, rest))
}

fn refused(reason: String) -> ExitFailure {
    ExitFailure::new(Exit::Refused, format!("the configuration can't be used:\n  {reason}"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::config::Sources;

    /// Nothing where the server may listen, else why not.
    fn opens(set: &[&str], has_users: bool) -> String {
        let set = set.iter().map(|text| (*text).to_owned()).collect();
        let config = Config::load(&Sources { set, ..Sources::default() }).unwrap();
        let checked = check_ports(&config).and_then(|()| check_exposure(&config, has_users));
        checked.map_or_else(|failure| failure.to_string(), |()| String::new())
    }

    #[test]
    fn on_loopback_the_server_listens_without_users() {
        assert_eq!(opens(&[], false), "");
        assert_eq!(opens(&["bind=::1"], false), "");
    }

    #[test]
    fn nobody_can_reach_the_house_from_elsewhere_before_somebody_can_log_in() {
        expect![[r#"
            the configuration can't be used:
              bind: 0.0.0.0 can be reached from other machines, and nobody can log in yet: add a user first, for instance with rialto user add admin --role admin"#]].assert_eq(&opens(&["bind=0.0.0.0", "auth.allowPlaintext=true"], false));
    }

    #[test]
    fn passwords_do_not_cross_a_network_in_plain_text_unless_it_is_said() {
        expect![[r#"
            the configuration can't be used:
              http.port: passwords and tokens would cross the network to 192.168.1.5 in plain text; set http.port=off to serve HTTPS alone, or auth.allowPlaintext=true if that is what you want"#]].assert_eq(&opens(&["bind=192.168.1.5"], true));
        assert_eq!(opens(&["bind=192.168.1.5", "auth.allowPlaintext=true"], true), "");
        let plain = ["bind=192.168.1.5", "http.port=off"];
        expect![[r#"
            the configuration can't be used:
              broker.tcp.port: passwords and tokens would cross the network to 192.168.1.5 in plain text; set broker.tcp.port=off to serve STOMP over TLS alone, or auth.allowPlaintext=true if that is what you want"#]].assert_eq(&opens(&plain, true));
        assert_eq!(opens(&[&plain[..], &["broker.tcp.port=off", "broker.ws.port=off"]].concat(), true), "");
    }

    #[test]
    fn a_server_without_a_door_is_refused() {
        expect![[r#"
            the configuration can't be used:
              http.port: off, and https.port too: nobody could reach the server"#]]
        .assert_eq(&opens(&["http.port=off", "https.port=off"], false));
    }

    #[test]
    fn the_configuration_says_what_nobody_in_particular_may_do() {
        let settings_of = |text: &str| {
            let set = vec![format!("auth.anonymousRole={text}")];
            settings(&Config::load(&Sources { set, ..Sources::default() }).unwrap()).anonymous
        };
        assert_eq!(settings_of(""), AnonymousPolicy::Automatic);
        assert_eq!(settings_of("nobody"), AnonymousPolicy::Denied);
        assert_eq!(settings_of("viewer"), AnonymousPolicy::As(UserRole::Viewer));
        assert_eq!(settings_of("trader"), AnonymousPolicy::As(UserRole::Trader));
        assert_eq!(settings_of("admin"), AnonymousPolicy::As(UserRole::Admin));
    }
}
