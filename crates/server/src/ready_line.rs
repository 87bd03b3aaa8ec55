//! Ready line: one line on standard output with the addresses of all interfaces, for scripts and tests to wait for.

use std::io::{self, Write};
use std::net::SocketAddr;

use serde::Serialize;

/// The ports that are open; one that is off is `null`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Endpoints {
    pub http: Option<SocketAddr>,
    pub https: Option<SocketAddr>,
    pub broker_tcp: Option<SocketAddr>,
    pub broker_tls: Option<SocketAddr>,
    pub broker_ws: Option<SocketAddr>,
    pub fix: Option<SocketAddr>,
    /// Whether that port speaks TLS.
    pub fix_uses_tls: bool,
    /// Role and epoch, in a cluster.
    pub cluster: Option<(&'static str, u64)>,
}

/// Outsiders read these names.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadyLine {
    ready: bool,
    http: Option<String>,
    https: Option<String>,
    broker_tcp: Option<String>,
    broker_tls: Option<String>,
    broker_ws: Option<String>,
    fix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u64>,
}

impl Endpoints {
    pub fn ready_line(&self) -> String {
        let url = |scheme, bound: Option<SocketAddr>| bound.map(|address| format!("{scheme}://{address}"));
        let line = ReadyLine {
            ready: true,
            http: url("http", self.http),
            https: url("https", self.https),
            broker_tcp: url("tcp", self.broker_tcp),
            broker_tls: url("ssl", self.broker_tls),
            broker_ws: url("ws", self.broker_ws),
            fix: url(if self.fix_uses_tls { "tcp+tls" } else { "tcp" }, self.fix),
            role: self.cluster.map(|(role, _)| role),
            epoch: self.cluster.map(|(_, epoch)| epoch),
        };
        serde_json::to_string(&line).expect("texts and a switch are always JSON")
    }

    /// Prints the line at once, also into a pipe.
    pub fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", self.ready_line())?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn doors_that_are_off_are_null() {
        let endpoints = Endpoints { http: Some(([127, 0, 0, 1], 9090).into()), ..Endpoints::default() };
        expect![[r#"{"ready":true,"http":"http://127.0.0.1:9090","https":null,"brokerTcp":null,"brokerTls":null,"brokerWs":null,"fix":null}"#]]
            .assert_eq(&endpoints.ready_line());
    }

    #[test]
    fn every_door_has_its_scheme() {
        let at = |port| Some(SocketAddr::new("::1".parse().unwrap(), port));
        let endpoints = Endpoints {
            http: at(9090),
            https: at(9443),
            broker_tcp: at(61613),
            broker_tls: at(61612),
            broker_ws: at(61614),
            fix: at(9876),
            fix_uses_tls: false,
            cluster: None,
        };
        expect![[r#"{"ready":true,"http":"http://[::1]:9090","https":"https://[::1]:9443","brokerTcp":"tcp://[::1]:61613","brokerTls":"ssl://[::1]:61612","brokerWs":"ws://[::1]:61614","fix":"tcp://[::1]:9876"}"#]]
            .assert_eq(&endpoints.ready_line());
        let secured = Endpoints { fix: at(9876), fix_uses_tls: true, ..Endpoints::default() };
        assert!(secured.ready_line().ends_with(r#""fix":"tcp+tls://[::1]:9876"}"#));
        let follower = Endpoints { cluster: Some(("follower", 3)), ..secured };
        assert!(follower.ready_line().ends_with(r#","role":"follower","epoch":3}"#));
    }
}
