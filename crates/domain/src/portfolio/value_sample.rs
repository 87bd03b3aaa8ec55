//! Value samples: what a scope was worth at an instant, the rows of the value history.

use minicbor::{Decode, Encode};

use crate::amount::Amount;
use crate::amount::currency::Currency;
use crate::risk::RiskScope;
use crate::time::{Date, Timestamp};

/// Value, exposure and P/L of a scope at an instant, in base currency. A figure is absent where a price or a rate is missing, and
/// where the scope has no such figure: cash does not belong to a security.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ValueSample {
    /// What is valued.
    #[n(0)]
    pub scope: RiskScope,
    /// When it was valued.
    #[n(1)]
    pub at: Timestamp,
    /// The platform day that it belongs to. The sample of a close belongs to the day that ended, also where a server was down
    /// over midnight.
    #[n(2)]
    pub date: Date,
    /// Whether the platform day ended with it.
    #[n(3)]
    pub is_close: bool,
    /// The base currency of the platform at that time.
    #[n(4)]
    pub currency: Currency,
    /// Cash and market value together; absent for a security.
    #[n(5)]
    pub net_liq_value: Option<Amount>,
    /// Market value of all open positions.
    #[n(6)]
    pub market_value: Option<Amount>,
    /// All cash; absent for a security.
    #[n(7)]
    pub cash_balance: Option<Amount>,
    /// Value of the long positions, at cost where there is no price.
    #[n(8)]
    pub long_exposure: Option<Amount>,
    /// Value of the short positions without a sign, at cost where there is no price.
    #[n(9)]
    pub short_exposure: Option<Amount>,
    /// Before costs, of all positions that ever were.
    #[n(10)]
    pub realized_pl: Option<Amount>,
    /// Of what is open, before costs.
    #[n(11)]
    pub unrealized_pl: Option<Amount>,
    /// Of all positions that ever were.
    #[n(12)]
    pub commissions: Option<Amount>,
    /// Of all positions that ever were.
    #[n(13)]
    pub fees: Option<Amount>,
    /// What the platform day gained until then, realised and unrealised, less costs; money paid in or out does not count.
    #[n(14)]
    pub day_result: Option<Amount>,
    /// Paid in less paid out on the platform day until then; absent for a security.
    #[n(15)]
    pub day_flow: Option<Amount>,
}

impl ValueSample {
    /// Whether it says the same as an earlier sample, apart from when.
    pub fn has_values_of(&self, earlier: &Self) -> bool {
        *self == Self { at: self.at, date: self.date, is_close: self.is_close, ..earlier.clone() }
    }
}
