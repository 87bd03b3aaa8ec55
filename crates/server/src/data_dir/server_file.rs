//! Where a running server is found: its ready line, in a file of the data folder from the moment it serves to its end.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::exit_failure::ExitFailure;
use crate::ready_line::Endpoints;

const FILE: &str = "server.json";

/// While it is held, others find the server.
#[derive(Debug)]
pub struct ServerFile(PathBuf);

impl ServerFile {
    /// What a crash left behind would lead others astray.
    pub fn clear(folder: &Path) -> Result<(), ExitFailure> {
        let path = folder.join(FILE);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ExitFailure::io("delete", &path, &error)),
            _ => Ok(()),
        }
    }

    /// Whole or not at all: nobody reads half a line.
    pub fn write(folder: &Path, endpoints: &Endpoints) -> Result<Self, ExitFailure> {
        let (path, draft) = (folder.join(FILE), folder.join("server.json.new"));
        fs::write(&draft, endpoints.ready_line() + "\n")
            .and_then(|()| fs::rename(&draft, &path))
            .map_err(|error| ExitFailure::io("write", &path, &error))?;
        Ok(Self(path))
    }
}

impl Drop for ServerFile {
    fn drop(&mut self) {
        // The next start clears what could not be deleted.
        let _ = fs::remove_file(&self.0);
    }
}

/// Where a server takes requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEndpoint {
    Http(SocketAddr),
    Https(SocketAddr),
}

#[derive(Deserialize)]
struct ReadyLine {
    http: Option<String>,
    https: Option<String>,
}

/// Where the server on a folder is reached, without TLS where it has one; none where none serves.
pub fn find_endpoint(folder: &Path) -> Option<ServerEndpoint> {
    let text = fs::read_to_string(folder.join(FILE)).ok()?;
    let line: ReadyLine = serde_json::from_str(&text).ok()?;
    let http = line.http.and_then(|url| Some(ServerEndpoint::Http(address(&url, "http://")?)));
    http.or_else(|| Some(ServerEndpoint::Https(address(&line.https?, "https://")?)))
}

/// A server that listens everywhere is reached over loopback.
fn address(url: &str, scheme: &str) -> Option<SocketAddr> {
    let mut address: SocketAddr = url.strip_prefix(scheme)?.parse().ok()?;
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() { [127, 0, 0, 1].into() } else { std::net::Ipv6Addr::LOCALHOST.into() });
    }
    Some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoints(http: &str) -> Endpoints {
        Endpoints { http: http.parse().ok(), https: "127.0.0.1:9443".parse().ok(), ..Endpoints::default() }
    }

    fn http(address: &str) -> Option<ServerEndpoint> {
        address.parse().ok().map(ServerEndpoint::Http)
    }

    #[test]
    fn a_server_without_http_is_reached_over_https() {
        let folder = tempfile::tempdir().unwrap();
        let _file = ServerFile::write(folder.path(), &endpoints("off")).unwrap();
        assert_eq!(find_endpoint(folder.path()), "127.0.0.1:9443".parse().ok().map(ServerEndpoint::Https));
    }

    #[test]
    fn a_server_is_found_while_it_serves() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find_endpoint(folder.path()), None);
        let file = ServerFile::write(folder.path(), &endpoints("127.0.0.1:9090")).unwrap();
        assert_eq!(find_endpoint(folder.path()), http("127.0.0.1:9090"));
        drop(file);
        assert_eq!(find_endpoint(folder.path()), None);
    }

    #[test]
    fn a_server_that_listens_everywhere_is_reached_over_loopback() {
        let folder = tempfile::tempdir().unwrap();
        for (bound, reached) in [("0.0.0.0:9090", "127.0.0.1:9090"), ("[::]:9090", "[::1]:9090")] {
            let _file = ServerFile::write(folder.path(), &endpoints(bound)).unwrap();
            assert_eq!(find_endpoint(folder.path()), http(reached));
        }
    }

    #[test]
    fn what_a_crash_left_is_cleared() {
        let folder = tempfile::tempdir().unwrap();
        std::mem::forget(ServerFile::write(folder.path(), &endpoints("127.0.0.1:9090")).unwrap());
        ServerFile::clear(folder.path()).unwrap();
        assert_eq!(find_endpoint(folder.path()), None);
        ServerFile::clear(folder.path()).unwrap();
    }
}
