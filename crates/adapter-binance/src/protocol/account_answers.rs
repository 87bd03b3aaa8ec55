//! The account in answers: trades, balances, permissions.

use serde::Deserialize;

use super::wire_values::{WireDecimal, WireInteger};

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
