//! Server side: the bridge between strategy processes and the strategy host.

pub(crate) mod strategy_bridge;
pub(crate) mod strategy_process;
pub(crate) mod send_window;
pub(crate) mod host_forwarder;
