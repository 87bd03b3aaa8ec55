//! A venue behind TLS that wants a certificate of its client, and is told by SNI which host is meant.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use domain::Side;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::lab::Lab;
use crate::test_adapter::{TestAdapter, VenueAddress, order};

/// Certificate and key of the venue and of a client, and the authority that has signed the client's.
struct Identities {
    venue: (String, String),
    client: (String, String),
    authority: String,
}

fn identities() -> Identities {
    let venue = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = KeyPair::generate().unwrap();
    let mut of_authority = CertificateParams::new(Vec::new()).unwrap();
    of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = of_authority.self_signed(&key).unwrap();
    let issuer = Issuer::new(of_authority, key);
    let client_key = KeyPair::generate().unwrap();
    let client = CertificateParams::new(vec!["rialto".to_owned()]).unwrap().signed_by(&client_key, &issuer).unwrap();
    Identities {
        venue: (venue.cert.pem(), venue.signing_key.serialize_pem()),
        client: (client.pem(), client_key.serialize_pem()),
        authority: authority.pem(),
    }
}

/// A port that lets in who has a certificate of the authority, and leads to the lab; and the hosts that were named.
fn guarded_port(lab: u16, of: &Identities) -> (u16, Arc<Mutex<Vec<String>>>) {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(of.authority.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().unwrap();
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let certificate = CertificateDer::from_pem_slice(of.venue.0.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(of.venue.1.as_bytes()).unwrap();
    let config = builder.with_client_cert_verifier(verifier).with_single_cert(vec![certificate], key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, named) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Vec::new())));
    let hosts = named.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            listener.set_nonblocking(true).unwrap();
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let acceptor = TlsAcceptor::from(Arc::new(config));
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                // One without a certificate is refused by the handshake.
                let Ok(mut stream) = acceptor.accept(socket).await else { continue };
                hosts.lock().unwrap().extend(stream.get_ref().1.server_name().map(str::to_owned));
                let mut venue = tokio::net::TcpStream::connect(("127.0.0.1", lab)).await.unwrap();
                tokio::spawn(async move { tokio::io::copy_bidirectional(&mut stream, &mut venue).await });
            }
        });
    });
    (port, named)
}

fn write(folder: &Path, name: &str, text: &str, mode: u32) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path.display().to_string()
}

#[test]
fn a_client_certificate_opens_the_session_and_its_key_must_be_private() {
    let (lab, folder, of) = (Lab::start(), tempfile::tempdir().unwrap(), identities());
    let (port, named) = guarded_port(lab.port("fix44"), &of);
    let address = VenueAddress { port, ..lab.address("fix44") };
    let roots = write(folder.path(), "venue.pem", &of.venue.0, 0o644);
    let certificate = write(folder.path(), "client.pem", &of.client.0, 0o644);
    let key = write(folder.path(), "client.key", &of.client.1, 0o600);
    let encrypted = [("host", "localhost"), ("tls", "true"), ("trustedCertificates", roots.as_str())];
    let mut stranger = TestAdapter::open_with(&folder, "generic-44", &address, &encrypted);
    assert!(stranger.is_refused(), "a client without a certificate");
    assert_eq!(named.lock().unwrap().len(), 0);
    drop(stranger);

    let own = [("clientCertificate", certificate.as_str()), ("clientKey", key.as_str())];
    let settings = [&encrypted[..], &own].concat();
    let mut desk = TestAdapter::open_with(&folder, "generic-44", &address, &settings);
    desk.connect();
    desk.submit(&order(1, Side::Buy));
    assert_eq!(desk.reports(1).len(), 1);
    assert_eq!(named.lock().unwrap()[0], "localhost");

    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    let refusal = TestAdapter::refusal(&folder, "generic-44", &address, &settings);
    assert_eq!(refusal, format!("venues.MAIN.tls: {key} can be read by others: chmod 600 {key}"));
}
