//! The lab's certificate: made at the first start, and kept in the data folder.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fix_net::SessionStream;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// How long a client may take for the handshake.
pub(crate) const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// The names under which a lab is reached.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// TLS with the certificate `tls/cert.pem` of the folder.
pub(crate) fn server_config(folder: &Path) -> io::Result<Arc<ServerConfig>> {
    let folder = folder.join("tls");
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
    if !certificate.exists() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let made = make().map_err(io::Error::other)?;
        write(&key, &made.1, 0o600)?;
        write(&certificate, &made.0, 0o644)?;
    }
    let certificate = CertificateDer::from_pem_file(&certificate).map_err(io::Error::other)?;
    let key = PrivateKeyDer::from_pem_file(&key).map_err(io::Error::other)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let mut config =
        builder.with_no_client_auth().with_single_cert(vec![certificate], key).map_err(io::Error::other)?;
    // Clients that read and write in two threads over one OpenSSL object, as Binance's FIX connector does, may lose their first
    // message where a ticket comes at the same time.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// Certificate and key. It does not expire: a lab serves loopback addresses only.
fn make() -> Result<(String, String), rcgen::Error> {
    let key = KeyPair::generate()?;
    let mut wanted = CertificateParams::new(NAMES.map(ToOwned::to_owned))?;
    wanted.distinguished_name.push(DnType::CommonName, "Rialto venue lab");
    wanted.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    wanted.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    Ok((wanted.self_signed(&key)?.pem(), key.serialize_pem()))
}

fn write(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// The stream of a client, secured where the face is.
pub(crate) async fn wrap(socket: TcpStream, acceptor: Option<&TlsAcceptor>) -> io::Result<Box<dyn SessionStream>> {
    match acceptor {
        None => Ok(Box::new(socket)),
        Some(acceptor) => Ok(Box::new(timeout(HANDSHAKE_MAX, acceptor.accept(socket)).await??)),
    }
}
