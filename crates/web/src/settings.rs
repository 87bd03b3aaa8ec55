//! Settings of the HTTP server.

use std::collections::BTreeMap;

use axum::Router;
use domain::{AdapterName, VenueFacts};

use crate::limits::HttpLimits;

#[derive(Debug, Clone, Default)]
pub struct WebSettings {
    pub limits: HttpLimits,
    /// Valid hosts beside localhost and the bound address: `name`, or `name:port` for one port.
    pub hosts: Vec<String>,
    /// Our other HTTP(S) and WebSocket ports.
    pub ports: Vec<u16>,
    /// Foreign origins whose pages may read and act.
    pub allowed_origins: Vec<String>,
    /// What is known of the venues from their configuration.
    pub venues: BTreeMap<AdapterName, VenueFacts>,
    /// Routes of other crates on the same ports, such as a WebSocket; without a fallback, which is ours. Hosts, origins
    /// and limits are checked for them too.
    pub others: Router,
}
