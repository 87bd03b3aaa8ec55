//! Addresses of the venue's environments, with overrides.

use adapter_kit::connection::{InvalidVenueUrl, VenueUrl};
use adapter_kit::credentials::VenueEnvironment;

/// Host names under which orders cost real money, in any environment that a setting claims.
const LIVE_DOMAIN: &str = ".binance.com";
/// Demo trading has hosts of its own in the same domain.
const DEMO_PREFIX: &str = "demo-";

/// Where REST, the WebSocket API and the market streams are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinanceAddresses {
    pub rest: VenueUrl,
    pub ws_api: VenueUrl,
    pub streams: VenueUrl,
}

/// Addresses of the settings; those of the environment where they are absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressOverrides {
    pub rest: Option<String>,
    pub ws_api: Option<String>,
    pub streams: Option<String>,
}

/// An address of the settings cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressError {
    /// The name of the setting.
    pub setting: &'static str,
    pub reason: InvalidVenueUrl,
}

/// REST, WebSocket API, streams.
const fn defaults(environment: VenueEnvironment) -> [&'static str; 3] {
    match environment {
        VenueEnvironment::Live => {
            ["https://api.binance.com", "wss://ws-api.binance.com/ws-api/v3", "wss://stream.binance.com:9443"]
        }
        VenueEnvironment::Testnet => [
            "https://testnet.binance.vision",
            "wss://ws-api.testnet.binance.vision/ws-api/v3",
            "wss://stream.testnet.binance.vision:9443",
        ],
        VenueEnvironment::Demo => [
            "https://demo-api.binance.com",
            "wss://demo-ws-api.binance.com/ws-api/v3",
            "wss://demo-stream.binance.com:9443",
        ],
    }
}

impl BinanceAddresses {
    pub fn new(environment: VenueEnvironment, overrides: &AddressOverrides) -> Result<Self, AddressError> {
        let [rest, ws_api, streams] = defaults(environment);
        let read = |setting, named: &Option<String>, default: &str| {
            let text = named.as_deref().unwrap_or(default);
            text.parse().map_err(|reason| AddressError { setting, reason })
        };
        Ok(Self {
            rest: read("rest", &overrides.rest, rest)?,
            ws_api: read("wsApi", &overrides.ws_api, ws_api)?,
            streams: read("streams", &overrides.streams, streams)?,
        })
    }

    /// Hosts of all addresses, for the rule about live venues.
    pub fn hosts(&self) -> [&str; 3] {
        [&self.rest, &self.ws_api, &self.streams].map(|url| url.host.as_str())
    }

    /// The environment that the rule about live venues must use: an address of the live venue is live, whatever the
    /// setting says.
    pub fn effective_environment(&self, claimed: VenueEnvironment) -> VenueEnvironment {
        if self.hosts().into_iter().any(is_live_host) { VenueEnvironment::Live } else { claimed }
    }
}

fn is_live_host(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let host = host.trim_end_matches('.');
    let is_of_domain = host.ends_with(LIVE_DOMAIN) || host == &LIVE_DOMAIN[1..];
    is_of_domain && !host.starts_with(DEMO_PREFIX)
}

#[cfg(test)]
mod tests {
    use adapter_kit::credentials::{LiveTarget, check_live};

    use super::*;

    fn addresses(environment: VenueEnvironment, rest: Option<&str>) -> Result<BinanceAddresses, AddressError> {
        let overrides = AddressOverrides { rest: rest.map(ToOwned::to_owned), ..AddressOverrides::default() };
        BinanceAddresses::new(environment, &overrides)
    }

    fn is_allowed(environment: VenueEnvironment, rest: Option<&str>) -> bool {
        let addresses = addresses(environment, rest).unwrap();
        let environment = addresses.effective_environment(environment);
        let target = LiveTarget { venue: "BINANCE", environment, paper: false, hosts: &addresses.hosts() };
        check_live(&target, false).is_ok()
    }

    #[test]
    fn only_the_live_venue_needs_leave() {
        assert!(!is_allowed(VenueEnvironment::Live, None));
        assert!(is_allowed(VenueEnvironment::Testnet, None));
        assert!(is_allowed(VenueEnvironment::Demo, None));
        assert!(is_allowed(VenueEnvironment::Testnet, Some("http://127.0.0.1:9100")));
    }

    #[test]
    fn a_live_address_is_live_whatever_the_environment_says() {
        for rest in ["https://api.binance.com", "https://API4.Binance.com.", "https://api-gcp.binance.com:443"] {
            assert!(!is_allowed(VenueEnvironment::Testnet, Some(rest)), "{rest}");
            assert!(!is_allowed(VenueEnvironment::Demo, Some(rest)), "{rest}");
        }
        assert!(is_allowed(VenueEnvironment::Testnet, Some("https://notbinance.com")));
    }

    #[test]
    fn an_address_that_cannot_be_read_names_its_setting() {
        let refused = addresses(VenueEnvironment::Testnet, Some("ftp://x")).unwrap_err();
        assert_eq!(refused, AddressError { setting: "rest", reason: InvalidVenueUrl::Scheme });
    }
}
