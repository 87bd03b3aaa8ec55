//! Wire formats: JSON, CSV and schemas of everything that clients receive or send. All keys are always present,
//! decimals are exact, instants are epoch milliseconds.

pub mod json;
pub mod csv;
pub mod number;
mod object_schema;
mod value_object;
pub mod schema;
mod trading;
pub mod operations;
pub mod topics;
mod bodies;
pub mod search;

pub use bodies::{fields, nearest, order_body, transaction_body};
pub use operations::{access, notifications, problem};
pub use topics::{asyncapi, decode_topics, topic_families};
pub use trading::{limits, market, order, portfolio, reference, risk, security, stored_event};

pub use bodies::fields::{BadBody, FieldError};
pub use bodies::order_body::OrderBody;
pub use bodies::strategy_name::ClaimBody;
pub use bodies::transaction_body::{SettlementBody, TransactionBody};
pub use operations::access::{
    AuditVO, IdentityVO, LoginBody, NewTokenVO, RightsVO, RoleVO, TokenBody, TokenVO, UserBody, UserVO, parse_rights,
};
pub use operations::cluster::{ClusterLeadVO, ClusterLogVO, ClusterMemberVO, ClusterOverviewVO};
pub use operations::notifications::{LifeCycleVO, LogEventVO, SessionEventVO, TradingStateVO};
pub use operations::problem::ProblemVO;
pub use operations::{AdapterVO, CheckVO, ClusterVO, FixNumbersBody, FixReloadVO, FixSessionVO, HealthVO, ImportedVO};
pub use search::{BadSearch, SecuritySearch};
pub use trading::breaks::{BreakBody, BreakVO, COMMENT_LENGTH_MAX};
pub use trading::limits::LimitsVO;
pub use trading::market::{BarVO, OrderBookVO, SubscriptionBody, SubscriptionVO, TickVO, TradeVO};
pub use trading::order::{FillVO, OrderStatusVO, OrderVO};
pub use trading::portfolio::{CashBalanceVO, PortfolioValueVO, PositionVO, TransactionVO};
pub use trading::reference::{AccountVO, ExchangeVO, SecurityFamilyVO, StrategyVO};
pub use trading::risk::{DeadManBody, DeadManTimerVO, KillBody, KilledVO, StateBody, VerdictVO};
pub use trading::security::{SecurityChangeVO, SecurityVO};
pub use trading::stored_event::{GenericEventVO, PastEventVO};
pub use trading::value_history::ValueHistoryVO;
