//! What is left when a run is over: everything a report shows.

use std::collections::BTreeMap;

use domain::{Currency, Date, Price, Quantity, SecurityId, Side, StrategyId, Text, Timestamp};

use crate::figures::{Figures, Trades};
use crate::series::Point;

/// What stands above a report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heading {
    pub title: String,
    /// Names and values, in the order in which they are shown: data, rules, costs, latency.
    pub settings: Vec<(String, String)>,
    pub events: u64,
    pub orders: u64,
    /// How long the run took, in seconds; in the page alone, since it is another one every time.
    pub took: f64,
    /// Strategies that failed and were stopped alone.
    pub stopped: Vec<Stop>,
    pub digest: String,
}

/// The end of a strategy that did not leave by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    pub at: Timestamp,
    pub strategy: Text,
    /// What it did, as the end of a sentence about it.
    pub reason: Text,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub currency: String,
    pub figures: Figures,
    pub months: Vec<Month>,
    pub equity: Vec<Point>,
    /// Fractions of the peak, zero or below.
    pub drawdown: Vec<Point>,
    /// Gross value of all positions as a fraction of the equity.
    pub exposure: Vec<Point>,
    pub securities: Vec<Line>,
    pub strategies: Vec<Line>,
    /// By security: what it cost, and what was done about it.
    pub prices: Vec<(SecurityId, Text, Vec<Point>)>,
    /// The first ones, as many as a page can show; all of them are in the table for spreadsheets.
    pub deals: Vec<Deal>,
    pub deals_in_all: u64,
    /// What was traded before any rate of its currency was known; it is in no other figure.
    pub unconverted: BTreeMap<Currency, Unconverted>,
}

/// Amounts in their own currency.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Unconverted {
    pub traded: f64,
    pub costs: f64,
    pub trips: u64,
}

impl Unconverted {
    pub(crate) fn add(&mut self, traded: f64, costs: f64) {
        self.traded += traded;
        self.costs += costs;
    }
}

/// A month with what it brought, as a fraction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Month {
    pub first: Date,
    pub performance: f64,
}

/// A fill, with the rule that made it.
#[derive(Debug, Clone, PartialEq)]
pub struct Deal {
    pub at: Timestamp,
    pub strategy: StrategyId,
    pub security: SecurityId,
    pub order: Text,
    pub side: Side,
    pub quantity: Quantity,
    pub price: Price,
    pub rule: Text,
    pub execution: Text,
}

/// A row of the tables by security and by strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub name: Text,
    pub deals: u64,
    pub traded: f64,
    pub costs: f64,
    pub trades: Trades,
    /// Of the trips that ended, and of what is open, after costs.
    pub result: f64,
}
