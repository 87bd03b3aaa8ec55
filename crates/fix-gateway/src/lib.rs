//! FIX 4.4 order gateway: orders in, execution reports out. Sessions and bytes come from `fix` and `fix-net`, the
//! engine is reached through the bus, session state is kept in the Ledger.

mod limits;
mod patience;
mod house;
mod ledger;
mod words;
mod session;
mod settings;
mod tls;
mod gateway;

pub use fix_net::Secure;
pub use gateway::{Gateway, Operators, Parts};
pub use settings::{DEMO_SETTINGS, Sessions};
pub use tls::secured;
