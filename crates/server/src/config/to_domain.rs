//! Configuration to domain settings.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use bus::lanes::LaneLimits;
use bus::quotas::InFlightLimits;
use domain::risk::{EngineSettings, ReconciliationSettings};
use domain::{AdapterName, ReferenceData, RiskLimits, SecurityId, VenueFacts};
use storage::journal::{InstanceId, JournalOptions};

use super::keys::Config;
use super::venues::ConfiguredVenue;
use crate::input_problem::Problems;

impl Config {
    /// Settings of the engine.
    pub fn engine_settings(&self, instance: u64) -> EngineSettings {
        EngineSettings {
            instance,
            base_currency: self.portfolio_base_currency,
            trading_zone: self.trading_zone.0.clone(),
            margin_rate: self.risk_margin_rate.0,
            short_margin_rate: self.risk_short_margin_rate.0,
            slippage_percent: self.risk_slippage_percent.0,
            resend_within_seconds: self.recovery_resend_within_seconds,
            venue_timeout_seconds: self.recovery_answer_within_seconds,
            platform_limits: self.platform_limits(),
            dead_man_seconds: self.risk_dead_man_seconds.and_then(|seconds| u32::try_from(seconds.0).ok()),
            counts_modifications: true,
            pegs: self.portfolio_pegs.iter().map(|peg| (peg.currency, peg.worth)).collect(),
            reconciliation: ReconciliationSettings {
                open_orders_seconds: self.reconciliation_open_orders_seconds,
                fills_seconds: self.reconciliation_fills_seconds,
            },
        }
    }

    /// The limits of the whole platform.
    pub(super) fn platform_limits(&self) -> RiskLimits {
        RiskLimits {
            max_order_quantity: self.risk_max_order_quantity,
            max_order_notional: self.risk_max_order_notional,
            price_collar_percent: self.risk_price_collar_percent,
            stale_after_seconds: self.risk_stale_after_seconds,
            max_open_orders: self.risk_max_open_orders,
            max_open_notional: self.risk_max_open_notional,
            max_long: self.risk_max_long,
            max_short: self.risk_max_short,
            max_gross_exposure: self.risk_max_gross_exposure,
            cash_check: Some(self.risk_cash_check),
            orders_per_second: self.risk_orders_per_second,
            duplicate_guard: self.risk_duplicate_guard,
            reject_breaker: self.risk_reject_breaker,
            max_day_loss: self.risk_max_day_loss,
            max_drawdown: self.risk_max_drawdown,
            self_trade: Some(self.risk_self_trade),
            messages_per_second: self.risk_messages_per_second,
            execution_breaker: self.risk_execution_breaker,
            restricted_securities: self.restricted_securities(),
        }
    }

    fn restricted_securities(&self) -> Option<BTreeSet<SecurityId>> {
        let listed: BTreeSet<_> = self.risk_restricted_securities.iter().map(|number| number.0).collect();
        (!listed.is_empty()).then_some(listed)
    }

    /// A misspelt id on the restricted list would protect nothing.
    pub fn check_restricted(&self, reference: &ReferenceData) -> Result<(), Problems> {
        let mut problems = Problems::default();
        for number in &self.risk_restricted_securities {
            if !reference.securities.contains_key(&number.0) {
                problems.add("risk.restrictedSecurities", format!("no security has the id {}", number.0));
            }
        }
        problems.none_or(())
    }

    /// Queue limits of the engine's inbox.
    pub fn lane_limits(&self) -> LaneLimits {
        LaneLimits { requests: self.commands_waiting.size(), ..LaneLimits::default() }
    }

    /// Limits of commands in flight.
    pub fn in_flight_limits(&self) -> InFlightLimits {
        InFlightLimits {
            per_session: self.commands_per_session.size(),
            per_user: self.commands_per_user.size(),
            per_peer: self.commands_per_peer.size(),
        }
    }

    pub fn journal_options(&self, instance: InstanceId) -> JournalOptions {
        let megabytes = self.journal_segment_megabytes.0.unsigned_abs();
        JournalOptions { sync: self.journal_sync, segment_bytes: megabytes << 20, ..JournalOptions::new(instance) }
    }

    /// Address of the HTTP port, unless it is off.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http_port.0.map(|port| SocketAddr::new(self.bind.0, port))
    }

    /// Address of the HTTPS port, unless it is off.
    pub fn https_address(&self) -> Option<SocketAddr> {
        self.https_port.0.map(|port| SocketAddr::new(self.bind.0, port))
    }

    /// Addresses of the broker's ports for TCP, TLS and WebSocket, as far as they are not off.
    pub fn broker_addresses(&self) -> [Option<SocketAddr>; 3] {
        let ports = [self.broker_tcp_port, self.broker_tls_port, self.broker_ws_port];
        ports.map(|port| port.0.map(|port| SocketAddr::new(self.bind.0, port)))
    }

    /// Further host names of this server.
    pub fn hosts(&self) -> Vec<String> {
        self.http_hosts.iter().chain(&self.broker_public_host).map(|host| host.0.clone()).collect()
    }

    /// Whether orders leave for a venue that is neither simulated nor paper.
    pub fn has_live_adapter(&self) -> bool {
        self.venues.iter().any(|venue| venue.kind.is_live(&venue.settings))
    }

    /// What is known of each venue from its configuration.
    pub fn venue_facts(&self) -> BTreeMap<AdapterName, VenueFacts> {
        self.venues.iter().map(|venue| (venue.adapter(), venue.kind.facts(&venue.settings))).collect()
    }

    /// The adapters of the venues.
    pub fn adapters(&self) -> impl Iterator<Item = AdapterName> {
        self.venues.iter().map(ConfiguredVenue::adapter)
    }

    /// What only reference data shows to be wrong in the settings of venues.
    pub fn check_venues(&self, reference: &ReferenceData) -> Result<(), Problems> {
        let mut problems = Problems::default();
        for venue in &self.venues {
            venue.add_problems(venue.kind.check_reference(&venue.settings, reference), &mut problems);
        }
        problems.none_or(())
    }
}
