//! The schemas of all value objects.

use crate::object_schema::{ObjectSchema, shape};
use crate::operations::access::{AuditVO, IdentityVO, NewTokenVO, TokenVO, UserVO};
use crate::operations::cluster::{ClusterLeadVO, ClusterLogVO, ClusterMemberVO, ClusterOverviewVO};
use crate::operations::notifications::{LifeCycleVO, LineStateVO, LogEventVO, SessionEventVO, TradingStateVO};
use crate::operations::problem::{FieldErrorVO, ProblemVO};
use crate::operations::{AdapterVO, CheckVO, ClusterVO, FixReloadVO, FixSessionVO, HealthVO, ImportedVO, LineVO};
use crate::trading::breaks::{BreakVO, EvidenceVO};
use crate::trading::limits::{BurstVO, LimitsVO};
use crate::trading::market::{BarVO, LevelVO, OrderBookVO, SubscriptionVO, TickVO, TradeVO};
use crate::trading::order::{FillVO, OrderLegVO, OrderStatusVO, OrderVO};
use crate::trading::portfolio::{CashBalanceVO, ChargeVO, PortfolioValueVO, PositionVO, TransactionVO};
use crate::trading::reference::{AccountVO, ExchangeVO, HolidayVO, SecurityFamilyVO, StrategyVO, TradingHoursVO};
use crate::trading::risk::{DeadManTimerVO, KilledVO, VerdictVO};
use crate::trading::security::{SecurityChangeVO, SecurityVO};
use crate::trading::stored_event::{GenericEventVO, PastEventVO};
use crate::trading::value_history::ValueHistoryVO;

pub(super) const SHAPES: &[ObjectSchema] = &[
    AccountVO::OBJECT,
    AdapterVO::OBJECT,
    LineVO::OBJECT,
    SecurityVO::OBJECT,
    SecurityChangeVO::OBJECT,
    SecurityFamilyVO::OBJECT,
    StrategyVO::OBJECT,
    ExchangeVO::OBJECT,
    TradingHoursVO::OBJECT,
    HolidayVO::OBJECT,
    ImportedVO::OBJECT,
    IdentityVO::OBJECT,
    shape("Settings", "Settings of a user: any JSON, not interpreted.", &[])
        .with_example(r#"{"layout": "wide", "watchList": [1, 2, 3]}"#),
    UserVO::OBJECT,
    TokenVO::OBJECT,
    NewTokenVO::OBJECT,
    AuditVO::OBJECT,
    FixSessionVO::OBJECT,
    FixReloadVO::OBJECT,
    LogEventVO::OBJECT,
    HealthVO::OBJECT,
    CheckVO::OBJECT,
    ClusterVO::OBJECT,
    ClusterOverviewVO::OBJECT,
    ClusterLeadVO::OBJECT,
    ClusterLogVO::OBJECT,
    ClusterMemberVO::OBJECT,
    ProblemVO::OBJECT,
    FieldErrorVO::OBJECT,
    OrderVO::OBJECT,
    OrderLegVO::OBJECT,
    OrderStatusVO::OBJECT,
    FillVO::OBJECT,
    PositionVO::OBJECT,
    TransactionVO::OBJECT,
    ChargeVO::OBJECT,
    CashBalanceVO::OBJECT,
    PortfolioValueVO::OBJECT,
    ValueHistoryVO::OBJECT,
    TickVO::OBJECT,
    BarVO::OBJECT,
    TradeVO::OBJECT,
    OrderBookVO::OBJECT,
    LevelVO::OBJECT,
    SubscriptionVO::OBJECT,
    LifeCycleVO::OBJECT,
    SessionEventVO::OBJECT,
    LineStateVO::OBJECT,
    TradingStateVO::OBJECT,
    BreakVO::OBJECT,
    shape("BreakSide", "The values of one side by name, all as text.", &[]),
    EvidenceVO::OBJECT,
    LimitsVO::OBJECT,
    DeadManTimerVO::OBJECT,
    BurstVO::OBJECT,
    KilledVO::OBJECT,
    VerdictVO::OBJECT,
    GenericEventVO::OBJECT,
    PastEventVO::OBJECT,
];
