//! Market streams on the network side: one connection, its successor, and the task that runs both.

mod stream_connection;
mod stream_successor;
mod stream_task;
#[cfg(test)]
mod tests;

pub(crate) use stream_connection::StreamLink;
pub(crate) use stream_task::{StreamCommand, StreamTask};
