//! REST handlers, by resource.

pub(crate) mod account;
pub(crate) mod adapter;
pub(crate) mod exchange;
pub(crate) mod reference;
mod reference_list;
pub(crate) mod security;
pub(crate) mod strategy;

pub(crate) mod order;
pub(crate) mod portfolio;
pub(crate) mod position;
pub(crate) mod risk;
pub(crate) mod transaction;

pub(crate) mod marketdata;
pub(crate) mod subscription;

pub(crate) mod history;
mod order_search;
pub(crate) use order_search::SEARCH_TEXT_MAX;

pub(crate) mod audit;
pub(crate) mod login;
pub(crate) mod settings;
pub(crate) mod token;
pub(crate) mod user;

pub(crate) mod docs;
pub(crate) mod topic_docs;

pub(crate) mod breaks;
pub(crate) mod broker;
pub(crate) mod fix;
pub(crate) mod health;
pub(crate) mod log;
pub(crate) mod metrics;
pub(crate) mod runtime;
