//! A strategy process: its connection to the server, and its runs.

pub(crate) mod run_command;
pub(crate) mod bus_handle;
pub(crate) mod bus_client;
pub(crate) mod link_state;
pub(crate) mod server_connection;
pub(crate) mod server_time;
pub(crate) mod current_run;
pub(crate) mod remote_link;
pub(crate) mod unanswered;
pub(crate) mod duplicates;
