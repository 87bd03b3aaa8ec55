//! FIX 4.4 order gateway: orders in, execution reports out. Sessions and bytes come from `fix` and `fix-net`, the
//! engine is reached through the bus, session state is kept in the Ledger.

mod limits;
mod retry;
mod context;
mod store;
mod translate;
mod session;
mod settings;
mod tls;
mod gateway;

pub use fix_net::TlsWrapper;
pub use gateway::{FixOperations, Gateway, GatewayParts};
pub use settings::{DEMO_SETTINGS, FixSessionFile};
pub use tls::tls_acceptor;
