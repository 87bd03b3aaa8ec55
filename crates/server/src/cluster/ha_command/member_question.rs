//! A question to a member, by the command line. A member that takes no connection is silent. One that takes one and says nothing clear may be
//! paused, or have a certificate that is not trusted: it is there.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::exit_failure::{Exit, ExitFailure};

/// A member that has not taken a connection by then is silent.
const CONNECT_WAIT: Duration = Duration::from_secs(2);
/// One that has not answered by then is unclear.
const ANSWER_WAIT: Duration = Duration::from_secs(4);
/// What a member says of itself is far shorter.
const ANSWER_BYTES_MAX: u64 = 65_536;
const HTTPS_PORT: u16 = 443;

/// Why there is no word of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoStatus {
    /// Nothing listens there.
    Silent(String),
    /// Something is there, and it did not say what it is.
    Unclear(String),
}

/// Which certificates the members' own must come from: those of the operating system, or those of one file and no others.
pub(super) struct TrustedRoots(RootCertStore);

impl TrustedRoots {
    pub(super) fn read(file: Option<&Path>) -> Result<Self, ExitFailure> {
        let mut roots = RootCertStore::empty();
        match file {
            // Members with addresses of http:// need none.
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
            Some(file) => {
                let text = fs::read(file).map_err(|error| ExitFailure::io("read", file, &error))?;
                let unusable = |reason: String| {
                    ExitFailure::new(Exit::Refused, format!("{} has no usable certificate: {reason}", file.display()))
                };
                for certificate in CertificateDer::pem_slice_iter(&text) {
                    let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
                    roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
                }
                if roots.is_empty() {
                    return Err(unusable("there is none in it".to_owned()));
                }
            }
        }
        Ok(Self(roots))
    }
}

/// The body of its answer.
pub(super) fn ask(address: &str, path: &str, trusted: &TrustedRoots) -> Result<String, NoStatus> {
    match address.strip_prefix("https://") {
        Some(authority) => ask_over_tls(authority, path, trusted),
        None => ask_over_http(address, path),
    }
}

fn ask_over_http(address: &str, path: &str) -> Result<String, NoStatus> {
    // A proxy of the environment would answer in the place of a member that is gone.
    let config = ureq::Agent::config_builder().proxy(None).timeout_connect(Some(CONNECT_WAIT));
    let agent: ureq::Agent = config.timeout_global(Some(ANSWER_WAIT)).build().into();
    let answered = agent.get(format!("{address}{path}")).call();
    answered.and_then(|mut answer| answer.body_mut().read_to_string()).map_err(|error| no_status(&error))
}

fn no_status(error: &ureq::Error) -> NoStatus {
    let is_silent = match error {
        ureq::Error::Io(error) => is_silence(error),
        ureq::Error::Timeout(ureq::Timeout::Connect) | ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => {
            true
        }
        _ => false,
    };
    if is_silent { NoStatus::Silent(error.to_string()) } else { NoStatus::Unclear(error.to_string()) }
}

fn is_silence(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable, TimedOut};
    [ConnectionRefused, HostUnreachable, NetworkUnreachable, TimedOut].contains(&error.kind())
}

fn ask_over_tls(authority: &str, path: &str, trusted: &TrustedRoots) -> Result<String, NoStatus> {
    let (host, port) = host_and_port(authority);
    let stream = connect(host, port)?;
    let unclear = |reason: String| NoStatus::Unclear(reason);
    let mut stream = encrypt(stream, host, trusted).map_err(|error| unclear(error.to_string()))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    let answer = exchange(&mut stream, &request).map_err(|error| unclear(error.to_string()))?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| unclear("its answer is no HTTP".to_owned()))?;
    match head.split(' ').nth(1) {
        Some("200") => Ok(body.to_owned()),
        _ => Err(unclear(format!("http status: {}", head.lines().next().unwrap_or_default()))),
    }
}

/// An address of version 6 stands in brackets.
fn host_and_port(authority: &str) -> (&str, u16) {
    let (host, port) = match authority.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
        Some((host, port)) => (host, port.parse().unwrap_or(HTTPS_PORT)),
        None => (authority, HTTPS_PORT),
    };
    (host.trim_start_matches('[').trim_end_matches(']'), port)
}

/// Of several addresses of a host one that takes the connection; where all are silent, the host is.
fn connect(host: &str, port: u16) -> Result<TcpStream, NoStatus> {
    let addresses = (host, port).to_socket_addrs().map_err(|error| NoStatus::Silent(error.to_string()))?;
    let mut refused = NoStatus::Silent("the host has no address".to_owned());
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT_WAIT) {
            Ok(stream) => return Ok(stream),
            Err(error) if is_silence(&error) => refused = NoStatus::Silent(error.to_string()),
            Err(error) => return Err(NoStatus::Unclear(error.to_string())),
        }
    }
    Err(refused)
}

fn encrypt(
    stream: TcpStream,
    host: &str,
    TrustedRoots(roots): &TrustedRoots,
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    stream.set_read_timeout(Some(ANSWER_WAIT))?;
    stream.set_write_timeout(Some(ANSWER_WAIT))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let config = config.with_root_certificates(roots.clone()).with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(connection, stream))
}

fn exchange(stream: &mut StreamOwned<ClientConnection, TcpStream>, request: &str) -> io::Result<String> {
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    String::from_utf8(answer).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread::{self, JoinHandle};

    use rcgen::{CertificateParams, KeyPair};
    use rustls::pki_types::PrivateKeyDer;
    use rustls::{ServerConfig, ServerConnection};

    use super::*;

    const PATH: &str = "/health/cluster";

    fn trusted(text: &str) -> TrustedRoots {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        TrustedRoots::read(Some(file.path())).unwrap()
    }

    /// A member with a certificate of its own, which answers one question like this; its address and its certificate.
    fn member(answer: &'static str) -> (String, String, JoinHandle<()>) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
        let chain = vec![CertificateDer::from_pem_slice(certificate.pem().as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("https://{}", listener.local_addr().unwrap());
        let serve = thread::spawn(move || {
            let (socket, _) = listener.accept().unwrap();
            let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), socket);
            let mut asked = Vec::new();
            let mut byte = [0];
            while !asked.ends_with(b"\r\n\r\n") {
                match stream.read(&mut byte) {
                    Ok(1) => asked.push(byte[0]),
                    // The certificate is not trusted.
                    _ => return,
                }
            }
            assert!(asked.starts_with(format!("GET {PATH} HTTP/1.1\r\n").as_bytes()));
            stream.write_all(answer.as_bytes()).unwrap();
            stream.conn.send_close_notify();
            stream.flush().unwrap();
        });
        (address, certificate.pem(), serve)
    }

    #[test]
    fn a_member_over_https_answers_whoever_trusts_its_certificate() {
        let (address, certificate, served) = member("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
        assert_eq!(ask(&address, PATH, &trusted(&certificate)), Ok("{}".to_owned()));
        served.join().unwrap();
        let silent = ask(&address, PATH, &trusted(&certificate));
        assert!(matches!(silent, Err(NoStatus::Silent(_))), "nothing listens there any more: {silent:?}");
    }

    #[test]
    fn a_member_whose_certificate_is_not_trusted_or_that_answers_otherwise_is_there() {
        let (_, other, _) = member("");
        let (address, _, served) = member("");
        let unclear = ask(&address, PATH, &trusted(&other));
        assert!(matches!(unclear, Err(NoStatus::Unclear(_))), "{unclear:?}");
        served.join().unwrap();
        let (address, certificate, served) = member("HTTP/1.1 503 Service Unavailable\r\n\r\n");
        let unclear = ask(&address, PATH, &trusted(&certificate));
        assert_eq!(unclear, Err(NoStatus::Unclear("http status: HTTP/1.1 503 Service Unavailable".into())));
        served.join().unwrap();
    }

    #[test]
    fn a_file_without_a_certificate_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refused = TrustedRoots::read(Some(file.path())).err().unwrap();
        assert!(refused.to_string().contains("there is none in it"), "{refused}");
    }

    #[test]
    fn the_port_of_an_address_is_that_of_https_where_there_is_none() {
        let parts = ["a.example", "a.example:9443", "[::1]:9443", "[::1]"].map(host_and_port);
        assert_eq!(parts, [("a.example", 443), ("a.example", 9_443), ("::1", 9_443), ("::1", 443)]);
    }
}
