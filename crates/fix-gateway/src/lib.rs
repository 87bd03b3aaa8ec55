//! FIX 4.4 order gateway: orders in, execution reports out. Sessions and bytes come from `fix` and `fix-net`, the
//! engine is reached through the bus, session state is kept in the Ledger.

mod limits;
mod store;
mod translate;
mod session;
mod settings;
mod session_table;
mod gateway;
pub mod certify;

pub use fix_net::{CallerStream, TlsWrapper};
pub use gateway::{FixOperations, Gateway, GatewayParts, tls_acceptor};
pub use settings::{DEMO_SETTINGS, FixSessionFile};
