//! The requests of Binance spot: methods, parameters, signatures, limits, answers and errors.

pub(crate) mod encode;
pub(crate) mod error;
pub(crate) mod methods;
pub(crate) mod params;
pub(crate) mod rate_limits;
pub(crate) mod security;
