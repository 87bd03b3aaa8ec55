//! Shared set-up of the scenarios: the `rialto` binary as a child process, an HTTP client, fault injection. Nothing of
//! ours is mocked, and no other process is touched.

pub mod binary;

pub mod server;

pub mod http;

pub mod fault_injector;

pub mod wait;

pub mod ports;

pub mod proxy;

pub mod postgres;

pub mod nats;

pub mod lab;

pub mod seed;
