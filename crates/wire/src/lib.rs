//! Wire formats: JSON, CSV and schemas of everything that clients receive or send. All keys are always present,
//! decimals are exact, instants are epoch milliseconds.

pub mod json;
mod object_schema;
mod value_object;

pub mod reference;
pub mod security;

pub mod order;
pub mod portfolio;

pub mod adapter;
pub mod market;
pub mod notifications;

pub mod stored_event;

pub mod topic_families;
pub mod topics;
pub mod asyncapi;
pub mod decode_topics;

pub mod access;
mod breaks;
pub mod health;
pub mod operations;
pub mod problem;

pub mod csv;

pub mod schema;

pub mod fields;
pub mod nearest;
pub mod number;
pub mod order_body;
pub mod limits;
pub mod risk;
pub mod search;
mod strategy_name;
pub mod subscription;
pub mod transaction_body;
mod claim_body;
pub mod settlement;

pub use access::{
    AuditVO, IdentityVO, LoginBody, NewTokenVO, RightsVO, RoleVO, TokenBody, TokenVO, UserBody, UserVO, parse_rights,
};
pub use adapter::AdapterVO;
pub use breaks::{BreakBody, BreakVO, COMMENT_LENGTH_MAX};
pub use claim_body::ClaimBody;
pub use fields::{BadBody, FieldError};
pub use health::{CheckVO, HealthVO};
pub use limits::LimitsVO;
pub use market::{BarVO, OrderBookVO, TickVO, TradeVO};
pub use notifications::{LifeCycleVO, LogEventVO, SessionEventVO, TradingStateVO};
pub use operations::{FixNumbersBody, FixSessionVO, ImportedVO};
pub use order::{FillVO, OrderStatusVO, OrderVO};
pub use order_body::OrderBody;
pub use portfolio::{CashBalanceVO, PortfolioValueVO, PositionVO, TransactionVO};
pub use problem::ProblemVO;
pub use reference::{AccountVO, ExchangeVO, SecurityFamilyVO, StrategyVO};
pub use risk::{DeadManBody, DeadManTimerVO, KillBody, KilledVO, StateBody, VerdictVO};
pub use search::{BadSearch, SecuritySearch};
pub use security::SecurityVO;
pub use settlement::SettlementBody;
pub use stored_event::{GenericEventVO, PastEventVO};
pub use subscription::{SubscriptionBody, SubscriptionVO};
pub use transaction_body::TransactionBody;
