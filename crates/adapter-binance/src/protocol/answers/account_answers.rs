//! The account in answers: trades, balances, permissions; and what the key may do, by `GET /sapi/v1/account/apiRestrictions`.

use adapter_kit::credentials::KeyPermissions;
use serde::Deserialize;

use crate::protocol::wire_values::{WireDecimal, WireInteger};

/// A trade of the account. Its id is unique within its symbol only.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BinanceTrade {
    pub symbol: String,
    pub id: WireInteger,
    #[serde(rename = "orderId")]
    pub order_id: WireInteger,
    pub price: WireDecimal,
    #[serde(rename = "qty")]
    pub quantity: WireDecimal,
    pub commission: WireDecimal,
    #[serde(rename = "commissionAsset")]
    pub commission_asset: String,
    pub time: WireInteger,
    #[serde(rename = "isMaker")]
    pub is_maker: bool,
    #[serde(rename = "isBuyer")]
    pub is_buyer: bool,
}

/// Balance of an asset.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AssetBalance {
    #[serde(alias = "a")]
    pub asset: String,
    #[serde(alias = "f")]
    pub free: WireDecimal,
    #[serde(alias = "l")]
    pub locked: WireDecimal,
}

/// The account with its balances. What is absent is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BinanceAccount {
    #[serde(default, rename = "canTrade")]
    pub can_trade: bool,
    #[serde(default, rename = "canWithdraw")]
    pub can_withdraw: bool,
    #[serde(default, rename = "updateTime")]
    pub updated: Option<WireInteger>,
    pub balances: Vec<AssetBalance>,
}

/// Rights of the key, not of the account. What is absent is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct KeyRestrictions {
    pub enable_withdrawals: Option<bool>,
    pub enable_spot_and_margin_trading: Option<bool>,
    /// Whether the venue takes the key from certain addresses only.
    pub ip_restrict: Option<bool>,
}

impl KeyRestrictions {
    pub fn permissions(self) -> KeyPermissions {
        KeyPermissions { may_trade: self.enable_spot_and_margin_trading, may_withdraw: self.enable_withdrawals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the documentation.
    const DOCUMENTED: &str = r#"{
        "ipRestrict": false, "createTime": 1623840271000, "enableReading": true, "enableWithdrawals": false,
        "enableInternalTransfer": true, "enableMargin": false, "enableFutures": false, "permitsUniversalTransfer": true,
        "enableVanillaOptions": false, "enableFixApiTrade": false, "enableFixReadOnly": true,
        "enableSpotAndMarginTrading": false, "enablePortfolioMarginTrading": true
    }"#;

    #[test]
    fn the_documented_answer_is_read_and_what_is_absent_is_not_known() {
        let read = |text: &str| serde_json::from_str::<KeyRestrictions>(text).unwrap();
        let told = read(DOCUMENTED);
        assert_eq!(told.ip_restrict, Some(false));
        let of = |may_trade, may_withdraw| KeyPermissions { may_trade, may_withdraw };
        assert_eq!(told.permissions(), of(Some(false), Some(false)));
        assert_eq!(read(r#"{"enableWithdrawals":true,"new":1}"#).permissions(), of(None, Some(true)));
        assert_eq!(read("{}").permissions(), of(None, None));
        assert!(serde_json::from_str::<KeyRestrictions>(r#"{"enableWithdrawals":"no"}"#).is_err());
    }
}
