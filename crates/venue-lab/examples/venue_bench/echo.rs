//! Plain WebSocket echo on as many threads as the lab has: what the machine gives for the same messages without any work.

use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tungstenite::protocol::{Message, Role, WebSocket};

use crate::BenchResult;
use crate::socket::{ReadyStream, receive, socket_config};

/// Its address; it serves until the process ends.
pub(crate) fn start() -> BenchResult<String> {
    let runtime = Builder::new_multi_thread().thread_name("echo").enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let url = format!("ws://{}", listener.local_addr()?);
    std::thread::spawn(move || runtime.block_on(serve(listener)));
    Ok(url)
}

async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            // A client that ends breaks its own connection only.
            let _ = answer(stream).await;
        });
    }
}

async fn answer(stream: tokio::net::TcpStream) -> BenchResult<()> {
    // The handshake of the library blocks; it is not measured.
    let stream = stream.into_std()?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(false)?;
    let stream = tokio::task::spawn_blocking(move || shake_hands(stream)).await??;
    stream.set_nonblocking(true)?;
    let stream = ReadyStream(tokio::net::TcpStream::from_std(stream)?);
    stream.0.writable().await?;
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, Some(socket_config()));
    while let Some(text) = receive(&mut socket).await? {
        socket.send(Message::Text(text.into()))?;
    }
    Ok(())
}

fn shake_hands(stream: std::net::TcpStream) -> BenchResult<std::net::TcpStream> {
    let socket = tungstenite::accept(stream).map_err(|error| error.to_string())?;
    Ok(socket.get_ref().try_clone()?)
}
