//! Request to arm a fault.

use serde::Deserialize;

/// As the admin port takes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FaultRequest {
    pub(crate) fault: String,
    /// The first matching request or event that it strikes, counted from 1.
    #[serde(default = "first")]
    pub(crate) from: u64,
    /// `streams`: it strikes the market streams alone, where the fault has such a form. Otherwise it strikes everything else.
    #[serde(default)]
    pub(crate) face: Option<String>,
    /// How many it strikes; without a count and without seconds it is one.
    #[serde(default)]
    pub(crate) count: Option<u64>,
    /// How long it lasts.
    #[serde(default)]
    pub(crate) seconds: Option<u32>,
    /// Decides which of the matching ones it strikes: one in four on average. Without a seed it strikes each.
    #[serde(default)]
    pub(crate) seed: Option<u64>,
}

fn first() -> u64 {
    1
}
