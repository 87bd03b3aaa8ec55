//! Connections, from accept to the last byte. `axum::serve` has no header timeout, so hyper is driven here.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tower::ServiceExt;

use crate::guard::ReachedAt;
use crate::limits::Limits;
use crate::patience::Impatient;

/// After a failed accept (no file handles, say) others get a moment to finish.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

pub(crate) async fn serve_all(
    listener: TcpListener,
    router: Router,
    limits: &Limits,
    shutdown: impl Future<Output = ()>,
) {
    let connections = GracefulShutdown::new();
    let mut tasks = JoinSet::new();
    let slots = Arc::new(Semaphore::new(limits.connections));
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &slots) => match accepted {
                Ok((stream, slot)) => {
                    tasks.spawn(serve_one(stream, slot, router.clone(), limits.clone(), connections.watcher()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = tasks.join_next() => {}
        }
    }
    drop(listener);
    if tokio::time::timeout(limits.shutdown_grace, connections.shutdown()).await.is_err() {
        tracing::warn!("connections are still busy at the end of the grace and are cut");
        tasks.shutdown().await;
    }
}

/// Takes a slot first: while none is free, new connections wait in the operating system's queue.
async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let slot = slots.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, slot))
}

async fn serve_one(stream: TcpStream, slot: OwnedSemaphorePermit, router: Router, limits: Limits, watcher: Watcher) {
    // Answers are small and awaited; a failure here costs only speed.
    let _ = stream.set_nodelay(true);
    let Ok(reached_at) = stream.local_addr().map(ReachedAt) else { return };
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(reached_at);
        router.clone().oneshot(request.map(Body::new))
    });
    let stream = TokioIo::new(Impatient::new(stream, limits.write_timeout));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_header_size(limits.header_bytes)
        .serve_connection(stream, service);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended early");
    }
    drop(slot);
}
