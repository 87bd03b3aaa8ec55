//! Rate limits: request weight and raw requests by address, unfilled orders by account, and bans of those who go on.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::error::ApiError;
use crate::config::RequestLimits;

const MICROS: i64 = 1_000_000;
const MINUTE: i64 = 60 * MICROS;
const TEN_SECONDS: i64 = 10 * MICROS;
const DAY: i64 = 24 * 60 * MINUTE;
/// Requests after a 429 in one window that lead to a ban.
const VIOLATIONS_MAX: u32 = 10;
/// The first ban, and the longest.
const BAN_MIN: i64 = 2 * MINUTE;
const BAN_MAX: i64 = 3 * DAY;

/// A count in a fixed window of time.
#[derive(Debug, Clone, Copy, Default)]
struct WindowCount {
    window: i64,
    count: u32,
}

impl WindowCount {
    fn at(&mut self, now: i64, length: i64) -> &mut u32 {
        let window = now.div_euclid(length);
        if window != self.window {
            *self = Self { window, count: 0 };
        }
        &mut self.count
    }
}

#[derive(Debug, Default)]
struct AddressUse {
    weight: WindowCount,
    raw: WindowCount,
    violations: WindowCount,
    banned_until: i64,
    bans: u32,
}

#[derive(Debug, Default)]
struct OrderUse {
    ten_seconds: WindowCount,
    day: WindowCount,
}

#[derive(Debug, Default)]
struct Uses {
    addresses: BTreeMap<IpAddr, AddressUse>,
    accounts: BTreeMap<u32, OrderUse>,
}

#[derive(Debug)]
pub(crate) struct RateLimits {
    pub(crate) limits: RequestLimits,
    uses: Mutex<Uses>,
}

/// Unfilled orders of an account in the current windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrderCounts {
    pub(crate) ten_seconds: u32,
    pub(crate) day: u32,
}

impl RateLimits {
    pub(crate) fn new(limits: RequestLimits) -> Self {
        Self { limits, uses: Mutex::default() }
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        // Counts are changed in single statements.
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Charges a request before it is handled; returns the weight used so far.
    pub(crate) fn charge(&self, address: IpAddr, weight: u32, now: i64) -> Result<u32, ApiError> {
        let mut uses = self.uses();
        let used = uses.addresses.entry(address).or_default();
        if now < used.banned_until {
            return Err(banned(used.banned_until, now));
        }
        *used.raw.at(now, 5 * MINUTE) += 1;
        let limit = self.limits.request_weight_per_minute;
        let too_many = *used.raw.at(now, 5 * MINUTE) > self.limits.raw_requests_per5_minutes;
        let count = used.weight.at(now, MINUTE);
        if *count + weight <= limit && !too_many {
            *count += weight;
            return Ok(*count);
        }
        *used.violations.at(now, MINUTE) += 1;
        if *used.violations.at(now, MINUTE) > VIOLATIONS_MAX {
            let length = BAN_MIN.saturating_mul(1 << used.bans.min(12)).min(BAN_MAX);
            used.bans += 1;
            used.banned_until = now + length;
            return Err(banned(used.banned_until, now));
        }
        let mut error = ApiError::new(
            429,
            -1003,
            format!(
                "Too much request weight used; current limit is {limit} request weight per 1 MINUTE. Please use WebSocket \
                 Streams for live updates to avoid polling the API."
            ),
        );
        error.retry_after_seconds = Some(seconds_to_end(now, MINUTE));
        Err(error)
    }

    /// Gives back the weight of an order request that succeeded.
    pub(crate) fn refund(&self, address: IpAddr, weight: u32, now: i64) {
        let mut uses = self.uses();
        let count = uses.addresses.entry(address).or_default().weight.at(now, MINUTE);
        *count = count.saturating_sub(weight);
    }

    pub(crate) fn used_weight(&self, address: IpAddr, now: i64) -> u32 {
        *self.uses().addresses.entry(address).or_default().weight.at(now, MINUTE)
    }

    /// Whether an account may place another order.
    pub(crate) fn check_orders(&self, account: u32, now: i64) -> Result<(), ApiError> {
        let counts = self.order_counts(account, now);
        let limits = [
            (counts.ten_seconds, self.limits.orders_per10_seconds, "10 SECOND", TEN_SECONDS),
            (counts.day, self.limits.orders_per_day, "1 DAY", DAY),
        ];
        for (count, limit, window, length) in limits {
            if count >= limit {
                let text = format!("Too many new orders; current limit is {limit} orders per {window}.");
                let mut error = ApiError::new(429, -1015, text);
                error.retry_after_seconds = Some(seconds_to_end(now, length));
                return Err(error);
            }
        }
        Ok(())
    }

    pub(crate) fn add_order(&self, account: u32, now: i64) {
        let mut uses = self.uses();
        let used = uses.accounts.entry(account).or_default();
        *used.ten_seconds.at(now, TEN_SECONDS) += 1;
        *used.day.at(now, DAY) += 1;
    }

    /// An order that traded does not count.
    pub(crate) fn remove_order(&self, account: u32, now: i64) {
        let mut uses = self.uses();
        let used = uses.accounts.entry(account).or_default();
        for count in [used.ten_seconds.at(now, TEN_SECONDS), used.day.at(now, DAY)] {
            *count = count.saturating_sub(1);
        }
    }

    pub(crate) fn order_counts(&self, account: u32, now: i64) -> OrderCounts {
        let mut uses = self.uses();
        let used = uses.accounts.entry(account).or_default();
        OrderCounts { ten_seconds: *used.ten_seconds.at(now, TEN_SECONDS), day: *used.day.at(now, DAY) }
    }

    /// As `exchangeInfo` lists them.
    pub(crate) fn list(&self) -> Value {
        json!([
            rate("REQUEST_WEIGHT", "MINUTE", 1, self.limits.request_weight_per_minute, None),
            rate("ORDERS", "SECOND", 10, self.limits.orders_per10_seconds, None),
            rate("ORDERS", "DAY", 1, self.limits.orders_per_day, None),
            rate("RAW_REQUESTS", "MINUTE", 5, self.limits.raw_requests_per5_minutes, None),
        ])
    }

    /// What a response of the WebSocket API shows: the limits that the request counted against.
    pub(crate) fn list_used(&self, address: IpAddr, orders_of: Option<u32>, now: i64) -> Value {
        let mut list = match orders_of.map(|account| self.list_orders(account, now)) {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        };
        let used = self.used_weight(address, now);
        list.push(rate("REQUEST_WEIGHT", "MINUTE", 1, self.limits.request_weight_per_minute, Some(used)));
        Value::Array(list)
    }

    pub(crate) fn list_orders(&self, account: u32, now: i64) -> Value {
        let counts = self.order_counts(account, now);
        json!([
            rate("ORDERS", "SECOND", 10, self.limits.orders_per10_seconds, Some(counts.ten_seconds)),
            rate("ORDERS", "DAY", 1, self.limits.orders_per_day, Some(counts.day)),
        ])
    }
}

fn rate(kind: &str, interval: &str, number: u32, limit: u32, count: Option<u32>) -> Value {
    let mut rate = json!({ "rateLimitType": kind, "interval": interval, "intervalNum": number, "limit": limit });
    if let Some(count) = count {
        rate["count"] = count.into();
    }
    rate
}

fn banned(until: i64, now: i64) -> ApiError {
    let text = format!(
        "Way too much request weight used; IP banned until {}. Please use WebSocket Streams for live updates to avoid bans.",
        until / 1_000
    );
    let mut error = ApiError::new(418, -1003, text);
    error.retry_after_seconds = Some((until - now).div_euclid(MICROS) + 1);
    error
}

fn seconds_to_end(now: i64, length: i64) -> i64 {
    (length - now.rem_euclid(length)).div_euclid(MICROS) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn limits() -> RateLimits {
        let limits =
            RequestLimits { request_weight_per_minute: 10, orders_per10_seconds: 2, ..RequestLimits::default() };
        RateLimits::new(limits)
    }

    fn outcome(result: Result<u32, ApiError>) -> String {
        match result {
            Ok(used) => format!("used {used}"),
            Err(error) => {
                format!("{} {} retry after {}", error.status, error.code, error.retry_after_seconds.unwrap_or(0))
            }
        }
    }

    #[test]
    fn too_much_weight_is_429_and_going_on_is_418_until_the_ban_is_over() {
        let limits = limits();
        let charge = |weight, now| outcome(limits.charge(HERE, weight, now));
        assert_eq!(charge(10, 0), "used 10");
        for _ in 0..VIOLATIONS_MAX {
            assert_eq!(charge(1, 30 * MICROS), "429 -1003 retry after 31");
        }
        assert_eq!(charge(1, 30 * MICROS), "418 -1003 retry after 121");
        assert_eq!(charge(1, 90 * MICROS), "418 -1003 retry after 61");
        assert_eq!(charge(1, 151 * MICROS), "used 1");
    }

    #[test]
    fn a_client_that_waits_as_it_is_told_goes_on() {
        let limits = limits();
        limits.charge(HERE, 10, 0).unwrap();
        assert_eq!(outcome(limits.charge(HERE, 1, 0)), "429 -1003 retry after 61");
        assert_eq!(outcome(limits.charge(HERE, 1, 61 * MICROS)), "used 1");
    }

    #[test]
    fn orders_that_trade_do_not_count() {
        let limits = limits();
        limits.add_order(1, 0);
        limits.add_order(1, 0);
        let error = limits.check_orders(1, 0).unwrap_err();
        assert_eq!(error.text, "Too many new orders; current limit is 2 orders per 10 SECOND.");
        limits.remove_order(1, 0);
        assert_eq!(limits.check_orders(1, 0), Ok(()));
        assert_eq!(limits.order_counts(1, 0), OrderCounts { ten_seconds: 1, day: 1 });
    }
}
