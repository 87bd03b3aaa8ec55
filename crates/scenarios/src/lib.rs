//! What stories through real ports share: the `rialto` binary as a process of our own, an HTTP client, and the means to
//! make its disk fail. Nothing of ours is mocked, and no other process is touched.

/// Where the binary is.
pub mod binary;

/// A server of our own, from its start to its end.
pub mod server;

/// Requests over one connection, and what is known of those that fail.
pub mod http;

/// Threads of a server whose system calls fail or linger.
pub mod meddler;

/// Waiting for what must come, with a deadline.
pub mod patience;

/// A wire that can be cut.
pub mod proxy;
