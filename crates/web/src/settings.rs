//! What the door is told about its surroundings.

use axum::Router;

use crate::limits::Limits;

#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub limits: Limits,
    /// Hosts beside localhost and the bound address by which we may be called: `name`, or `name:port` for one port.
    pub hosts: Vec<String>,
    /// Our other HTTP(S) and WebSocket ports.
    pub ports: Vec<u16>,
    /// Origins of others whose pages may read and act.
    pub allowed_origins: Vec<String>,
    /// What other rooms serve on the same ports, such as a WebSocket; without a fallback, which is ours. Hosts, origins and
    /// limits are checked for it too.
    pub others: Router,
}
