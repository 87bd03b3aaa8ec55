//! Endpoint table: method, path, role, query parameters, handler.

use axum::http::Method;
use bus::lanes::RequestClass;

/// Role required by an endpoint; each role includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequiredRole {
    Anyone,
    Viewer,
    Trader,
    Admin,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    pub method: &'static str,
    pub path: &'static str,
    pub role: RequiredRole,
    pub parameters: &'static [&'static str],
    pub handler: &'static str,
    /// Method and path, as in the audit.
    pub action: &'static str,
}

impl Endpoint {
    /// The quota of its unanswered requests; public endpoints have none.
    pub(crate) fn class(&self) -> Option<RequestClass> {
        match self.handler {
            "order::cancel" => Some(RequestClass::Cancel),
            "risk::kill" | "risk::set_state" | "risk::arm_dead_man" => Some(RequestClass::Kill),
            _ => (self.role != RequiredRole::Anyone).then_some(RequestClass::Request),
        }
    }

    /// Requests that the load of other clients must not delay.
    pub(crate) fn is_urgent(&self) -> bool {
        matches!(self.class(), Some(RequestClass::Cancel | RequestClass::Kill))
    }
}

/// Passes the table to a macro, so that paths and roles do not depend on the handlers.
macro_rules! with_endpoints {
    ($asked:ident) => {
        $asked! {
            GET    "/rest/account"                                 Viewer []                                            account::list;
            GET    "/rest/account/{name}"                          Viewer []                                            account::one;
            GET    "/rest/adapter"                                 Viewer []                                            adapter::list;
            GET    "/rest/cluster"                                 Viewer []                                            cluster::overview;
            GET    "/rest/security"                                Viewer [after journal limit]                         security::list;
            GET    "/rest/security/{id}"                           Viewer []                                            security::one;
            GET    "/rest/security-family"                         Viewer []                                            security::families;
            GET    "/rest/security-family/{id}"                    Viewer []                                            security::family;
            GET    "/rest/security.search"                         Viewer [query after journal limit]                   security::search;
            GET    "/rest/security.changes"                        Viewer [after journal limit]                         security::changes;
            GET    "/rest/forex"                                   Viewer [baseCurrency transactionCurrency]            security::forex;
            GET    "/rest/exchange"                                Viewer []                                            exchange::list;
            GET    "/rest/strategy"                                Viewer []                                            strategy::list;
            POST   "/rest/strategy/{name}/start"                   Trader []                                            strategy::start;
            POST   "/rest/strategy/{name}/stop"                    Trader []                                            strategy::stop;
            POST   "/rest/cache/clear-all"                         Admin  []                                            reference::clear_caches;
            POST   "/rest/reference/import"                        Admin  []                                            reference::import;

            GET    "/rest/position"                                Viewer [strategy account security at]                position::list;
            DELETE "/rest/position/{id}"                           Trader []                                            position::close;
            POST   "/rest/position/reduce/{id}"                    Trader []                                            position::reduce;
            POST   "/rest/position/reset-positions"                Admin  []                                            position::reset;
            GET    "/rest/portfolio/value"                         Viewer [strategy at]                                 portfolio::value;
            GET    "/rest/portfolio/balance"                       Viewer [strategy account at]                         portfolio::balance;
            GET    "/rest/portfolio/history"                       Viewer [strategy account security from to period after journal limit]  portfolio::history;

            POST   "/rest/transaction"                             Admin  []                                            transaction::record;
            GET    "/rest/transaction/{id}"                        Viewer []                                            transaction::one;
            GET    "/rest/transaction/daily"                       Viewer [strategy account security limit at]          transaction::daily;
            POST   "/rest/transaction/reset-cache-balances"        Admin  []                                            transaction::reset_cash;
            POST   "/rest/transaction/reset-cash-balances"         Admin  []                                            transaction::reset_cash;

            GET    "/rest/execution/order"                         Viewer [strategy account security at]                order::list;
            GET    "/rest/execution/order/{intId}"                 Viewer [at]                                          order::one;
            DELETE "/rest/execution/order/{intId}"                 Trader []                                            order::cancel;
            POST   "/rest/execution/order/market"                  Trader []                                            order::place_market;
            POST   "/rest/execution/order/limit"                   Trader []                                            order::place_limit;
            POST   "/rest/execution/order/stop"                    Trader []                                            order::place_stop;
            POST   "/rest/execution/order/stoplimit"               Trader []                                            order::place_stop_limit;
            POST   "/rest/execution/modify/order/market"           Trader []                                            order::modify_market;
            POST   "/rest/execution/modify/order/limit"            Trader []                                            order::modify_limit;
            POST   "/rest/execution/modify/order/stop"             Trader []                                            order::modify_stop;
            POST   "/rest/execution/modify/order/stoplimit"        Trader []                                            order::modify_stop_limit;
            POST   "/rest/order/{intId}/claim"                     Trader []                                            order::claim;
            POST   "/rest/next-order-id"                           Trader []                                            order::next_id;

            GET    "/rest/subscription/marketdata/supported-feed"  Viewer []                                            subscription::feeds;
            PUT    "/rest/subscription/marketdata/subscribe"       Trader []                                            subscription::subscribe;
            PUT    "/rest/subscription/marketdata/unsubscribe"     Trader []                                            subscription::unsubscribe;
            GET    "/rest/marketdata/tick"                         Viewer [security]                                    marketdata::ticks;
            GET    "/rest/marketdata/bar"                          Viewer [security barSize after limit]                marketdata::bars;
            GET    "/rest/marketdata/book"                         Viewer [security]                                    marketdata::book;
            PUT    "/rest/marketdata/settlement"                   Admin  []                                            marketdata::set_settlement;

            POST   "/rest/risk/check"                              Trader []                                            risk::check;
            POST   "/rest/risk/check/modify"                       Trader []                                            risk::check_modify;
            GET    "/rest/risk/state"                              Viewer []                                            risk::states;
            PUT    "/rest/risk/state"                              Admin  []                                            risk::set_state;
            POST   "/rest/risk/kill"                               Trader []                                            risk::kill;
            GET    "/rest/risk/limit"                              Viewer []                                            risk::limits;
            PUT    "/rest/risk/limit"                              Admin  []                                            risk::set_limits;
            GET    "/rest/risk/dead-man-timer"                     Viewer []                                            risk::dead_man_timers;
            PUT    "/rest/risk/dead-man-timer"                     Trader []                                            risk::arm_dead_man;
            DELETE "/rest/risk/dead-man-timer/{scope}"             Trader []                                            risk::disarm_dead_man;

            GET    "/rest/break"                                   Viewer [state]                                       breaks::list;
            GET    "/rest/break/{id}"                              Viewer []                                            breaks::one;
            POST   "/rest/break/{id}/explain"                      Admin  []                                            breaks::explain;
            POST   "/rest/break/{id}/accept"                       Admin  []                                            breaks::accept;
            POST   "/rest/break/{id}/repair"                       Admin  []                                            breaks::repair;

            GET    "/rest/history/order"                           Viewer [text strategy account security source withoutStrategies status from to sort after journal limit]  history::orders;
            GET    "/rest/history/order/{intId}/event"             Viewer [after journal limit]                         history::order_events;
            GET    "/rest/history/transaction"                     Viewer [text strategy account security sort after journal limit]  history::transactions;
            GET    "/rest/history/events"                          Viewer [after journal limit]                         history::events;

            GET    "/rest/broker/url/main"                         Viewer []                                            broker::main;
            GET    "/rest/broker/url/ws"                           Viewer []                                            broker::ws;
            GET    "/rest/fix/sessions"                            Viewer []                                            fix::sessions;
            POST   "/rest/fix/sessions/{id}/logout"                Admin  []                                            fix::logout;
            POST   "/rest/fix/sessions/{id}/reset"                 Admin  []                                            fix::reset;
            POST   "/rest/fix/sessions/{id}/numbers"               Admin  []                                            fix::numbers;
            POST   "/rest/fix/reload"                              Admin  []                                            fix::reload;

            GET    "/rest/login"                                   Viewer []                                            login::who;
            POST   "/rest/login"                                   Anyone []                                            login::login;
            POST   "/rest/logout"                                  Anyone []                                            login::logout;
            GET    "/rest/settings"                                Viewer []                                            settings::read;
            PUT    "/rest/settings"                                Viewer []                                            settings::write;
            GET    "/rest/user"                                    Admin  []                                            user::list;
            POST   "/rest/user"                                    Admin  []                                            user::add;
            DELETE "/rest/user/{name}"                             Admin  []                                            user::remove;
            PUT    "/rest/user/{name}/rights"                      Admin  []                                            user::set_rights;
            GET    "/rest/token"                                   Admin  []                                            token::list;
            POST   "/rest/token"                                   Admin  []                                            token::make;
            DELETE "/rest/token/{name}"                            Admin  []                                            token::revoke;
            PUT    "/rest/token/{name}/rights"                     Admin  []                                            token::set_rights;
            GET    "/rest/audit"                                   Admin  [sort after limit]                            audit::list;

            GET    "/rest/config-params"                           Viewer []                                            runtime::parameters;
            POST   "/rest/runtime/exit-vm"                         Admin  []                                            runtime::exit;
            GET    "/rest/log"                                     Viewer [after limit level]                           log::lines;
            GET    "/health/live"                                  Anyone []                                            health::live;
            GET    "/health/ready"                                 Anyone []                                            health::ready;
            GET    "/health/leader"                                Anyone []                                            health::leader;
            GET    "/health/cluster"                               Anyone []                                            health::cluster;
            GET    "/metrics"                                      Viewer []                                            metrics::all;

            GET    "/openapi.json"                                 Anyone []                                            docs::document;
            GET    "/docs"                                         Anyone []                                            docs::page;
            GET    "/docs/start.js"                                Anyone []                                            docs::start;
            GET    "/docs/swagger-ui.css"                          Anyone []                                            docs::style;
            GET    "/docs/swagger-ui-bundle.js"                    Anyone []                                            docs::program;
            GET    "/asyncapi.json"                                Anyone []                                            topic_docs::document;
            GET    "/docs/topics"                                  Anyone []                                            topic_docs::page;
            GET    "/docs/topics.js"                               Anyone []                                            topic_docs::program;
            GET    "/docs/topics.css"                              Anyone []                                            topic_docs::style;
            GET    "/docs/fix/FIX44.xml"                           Anyone []                                            docs::fix_dictionary;
        }
    };
}
pub(crate) use with_endpoints;

macro_rules! table {
    ($($method:ident $path:literal $role:ident [$($parameter:ident)*] $room:ident::$handler:ident;)*) => {
        pub const ENDPOINTS: &[Endpoint] = &[$(Endpoint {
            method: stringify!($method),
            path: $path,
            role: RequiredRole::$role,
            parameters: &[$(stringify!($parameter)),*],
            handler: concat!(stringify!($room), "::", stringify!($handler)),
            action: concat!(stringify!($method), " ", $path),
        }),*];
    };
}

with_endpoints!(table);

/// The endpoint of a request.
pub(crate) fn endpoint(method: &Method, path: &str) -> Option<&'static Endpoint> {
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    ENDPOINTS.iter().find(|row| row.method == method && row.path == path)
}

/// All methods of a path.
pub(crate) fn methods_at(path: &str) -> String {
    let taken: Vec<_> = ENDPOINTS.iter().filter(|row| row.path == path).map(|row| row.method).collect();
    taken.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Endpoints of access itself have their own rule: login is public, only an admin manages users, and every user has
    /// settings.
    #[test]
    fn reading_needs_no_more_than_a_viewer_and_changing_more() {
        let about_access = ["login", "user", "token", "audit", "settings"];
        for row in ENDPOINTS.iter().filter(|row| about_access.iter().all(|room| !row.handler.starts_with(room))) {
            assert_eq!(row.method == "GET", row.role <= RequiredRole::Viewer, "{row:?}");
        }
    }

    #[test]
    fn cancels_and_the_kill_switch_are_urgent() {
        let urgent: Vec<_> = ENDPOINTS.iter().filter(|row| row.is_urgent()).map(|row| row.action).collect();
        let expected = [
            "DELETE /rest/execution/order/{intId}",
            "PUT /rest/risk/state",
            "POST /rest/risk/kill",
            "PUT /rest/risk/dead-man-timer",
        ];
        assert_eq!(urgent, expected);
    }

    #[test]
    fn a_head_request_is_a_get_without_its_body() {
        assert_eq!(endpoint(&Method::HEAD, "/rest/account").map(|row| row.handler), Some("account::list"));
        assert!(endpoint(&Method::PUT, "/rest/account").is_none());
    }
}
