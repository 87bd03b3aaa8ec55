//! The replicated log on NATS JetStream: one stream with three copies, on servers that sync every write. And messages beside the log, over
//! core NATS: between members, to strategy processes, prices to followers.
//!
//! JetStream gives order, condition and copies. It is not believed: every reader checks the journal's own chain and epochs, in
//! `storage::replication`.

mod settings;
mod nats_client;
mod durability;
mod stream;
mod member_link;
mod member_requests;
mod message_connection;
mod member_status;
mod server_watch;
mod read_ahead;
mod copy_reader;
mod jetstream_store;

pub use jetstream_store::JetStreamStore;
pub use member_link::MemberLink;
pub use member_requests::{MemberRequestError, MemberRequests, MemberService};
pub use member_status::{LogServers, StatusLink};
pub use message_connection::{ConnectionLost, MessageConnection, MessageSender, NatsMessage};
pub use server_watch::ServerWatch;
pub use settings::{JetStreamSettings, LogOpenError, NatsLogin, NatsSettings, NatsTls};
