//! Configuration to domain settings.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use bus::lanes::LaneLimits;
use bus::quotas::InFlightLimits;
use domain::risk::{EngineSettings, ReconciliationSettings};
use domain::{AdapterName, ReferenceData, VenueFacts};
use storage::journal::{InstanceId, JournalOptions};

use super::keys::Config;
use super::venues::ConfiguredVenue;
use crate::input_problem::Problems;
use crate::open_files::{Connections, FIX_CALLERS_MAX, FIX_SESSIONS_MAX};

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
            platform_limits: self.risk_limits.clone(),
            dead_man_seconds: self.risk_dead_man_seconds.and_then(|seconds| u32::try_from(seconds.0).ok()),
            counts_modifications: true,
            rates_by_trades: true,
            ids_by_fills: true,
            alarms_in_doubt: true,
            repeats_expiry: true,
            dates_snapshots: true,
            recovery_rules_2: true,
            sample_seconds: u32::try_from(self.portfolio_sample_seconds.0).ok().filter(|seconds| *seconds > 0),
            pegs: self.portfolio_pegs.iter().map(|peg| (peg.currency, peg.worth)).collect(),
            reconciliation: ReconciliationSettings {
                open_orders_seconds: self.reconciliation_open_orders_seconds,
                fills_seconds: self.reconciliation_fills_seconds,
                statements_seconds: self.reconciliation_statements_seconds,
            },
        }
    }

    /// A misspelt id on the restricted list would protect nothing.
    pub fn check_restricted(&self, reference: &ReferenceData) -> Result<(), Problems> {
        let mut problems = Problems::default();
        for id in self.risk_limits.restricted_securities.iter().flatten() {
            if !reference.securities.contains_key(id) {
                problems.add("risk.restrictedSecurities", format!("no security has the id {id}"));
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

    /// Connections that each interface may have where the system allows as many files.
    pub fn connections(&self) -> Connections {
        let (http, broker) = (self.http_connections.size(), self.broker_connections.size());
        Connections { http, broker, fix_callers: FIX_CALLERS_MAX, fix_sessions: FIX_SESSIONS_MAX }
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
