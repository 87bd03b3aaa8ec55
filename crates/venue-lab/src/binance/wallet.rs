//! Wallet methods under `/sapi`: what a key may do, and the commission rates of each symbol.

use serde_json::{Value, json};

use super::ApiCall;
use super::api::encode::text;
use super::api::error::ApiError;
use crate::exchange::SpotExchange;

impl ApiCall<'_> {
    pub(super) async fn api_restrictions(&self) -> Result<Value, ApiError> {
        let opened = self.state.exchange.query(|exchange| exchange.opened_micros).await?;
        let rights = self.rights;
        Ok(json!({
            "ipRestrict": false,
            "createTime": opened / 1_000,
            "enableReading": true,
            "enableWithdrawals": rights.may_withdraw,
            "enableInternalTransfer": false,
            "enableMargin": false,
            "enableFutures": false,
            "permitsUniversalTransfer": false,
            "enableVanillaOptions": false,
            "enableFixApiTrade": rights.may_trade,
            "enableFixReadOnly": true,
            "enableSpotAndMarginTrading": rights.may_trade,
            "enablePortfolioMarginTrading": false,
        }))
    }

    /// Of one symbol, or of all.
    pub(super) async fn trade_fee(&self) -> Result<Value, ApiError> {
        let wanted = self.params.raw("symbol").map(ToOwned::to_owned);
        let account = self.account as usize;
        let answer = move |exchange: &SpotExchange| {
            if let Some(symbol) = &wanted {
                exchange.market(symbol)?;
            }
            let rules = &exchange.accounts[account].rules;
            let markets = exchange.markets.iter().map(|market| market.rules.name.as_str());
            let entry = |symbol: &str| {
                json!({
                    "symbol": symbol,
                    "makerCommission": text(rules.maker_rate),
                    "takerCommission": text(rules.taker_rate),
                })
            };
            Ok(markets.filter(|name| wanted.as_deref().is_none_or(|it| it == *name)).map(entry).collect())
        };
        self.ask(answer).await
    }
}
