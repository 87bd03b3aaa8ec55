//! Router: endpoint table to handlers.

use axum::Router;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, get, on};

use crate::app_state::AppState;
use crate::endpoints::with_endpoints;
use crate::middleware::{Middleware, handle};
use crate::problem::Problem;
use crate::rest::operations::{adapter, broker, cluster, fix, health, log, metrics, runtime};
use crate::rest::reference_data::{account, exchange, reference, security, strategy};
use crate::rest::trading::{breaks, history, order, portfolio, position, risk, transaction};
use crate::rest::users::{audit, login, settings, token, user};
use crate::rest::{docs, marketdata, subscription, topic_docs};

pub(crate) fn router(state: AppState, others: Router) -> Router {
    routes()
        .route("/docs/", get(docs::page))
        .route("/favicon.ico", get(docs::icon))
        .merge(others.with_state(()))
        .fallback(path_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(Middleware::new(state.clone()), handle))
        .with_state(state)
}

async fn path_not_found(request: Request) -> Problem {
    Problem::new("no-such-path", format!("nothing is served at {}", request.uri().path()))
}

/// The router adds the `Allow` header.
async fn method_not_allowed(request: Request) -> Response {
    if request.method() == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    let detail = format!("{} does not take {}", request.uri().path(), request.method());
    Problem::new("method-not-allowed", detail).into_response()
}

macro_rules! routes {
    ($($method:ident $path:literal $role:ident [$($parameter:ident)*] $room:ident::$handler:ident;)*) => {
        fn routes() -> Router<AppState> {
            Router::new()$(.route($path, on(MethodFilter::$method, $room::$handler)))*
        }
    };
}

with_endpoints!(routes);
