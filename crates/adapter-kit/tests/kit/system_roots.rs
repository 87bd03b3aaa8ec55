//! The operating system's roots: a copy of this test runs with other ones.

use std::process::Command;

use adapter_kit::connection::{Dialer, TlsRoots, VenueUrl, tls_config};
use tokio_rustls::TlsAcceptor;

use crate::loopback::{AMPLE, certificate, dialer_to, serve};

const TARGET: &str = "KIT_SYSTEM_ROOTS_TARGET";

async fn tls_server(acceptor: TlsAcceptor) -> VenueUrl {
    let address = serve(move |stream, _| {
        let acceptor = acceptor.clone();
        async move { drop(acceptor.accept(stream).await) }
    })
    .await;
    format!("https://localhost:{}", address.port()).parse().unwrap()
}

#[tokio::test]
async fn a_venue_is_trusted_by_the_roots_of_the_system() {
    let Ok(target) = std::env::var(TARGET) else { return run_with_other_roots().await };
    let dialer = Dialer::new(tls_config(&TlsRoots::System).unwrap(), None, AMPLE);
    dialer.dial(&target.parse().unwrap()).await.unwrap();
}

/// Runs this very test again, in a process whose system trusts the server, or another one.
async fn run_with_other_roots() {
    let (pem, acceptor) = certificate();
    let target = tls_server(acceptor).await;
    dialer_to(&pem, None, AMPLE).dial(&target).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (roots, is_trusted) in [(pem, true), (certificate().0, false)] {
        let file = folder.path().join("roots.pem");
        std::fs::write(&file, roots).unwrap();
        let mut copy = Command::new(std::env::current_exe().unwrap());
        copy.args(["--exact", "system_roots::a_venue_is_trusted_by_the_roots_of_the_system"]);
        copy.env(TARGET, format!("https://{}", target.host_and_port()))
            .env("SSL_CERT_FILE", &file)
            .env_remove("SSL_CERT_DIR");
        let output = tokio::task::spawn_blocking(move || copy.output()).await.unwrap().unwrap();
        assert_eq!(output.status.success(), is_trusted, "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn unusable_roots_are_named() {
    let failed = |text: &str| tls_config(&TlsRoots::Pem(text.as_bytes().to_vec())).unwrap_err().to_string();
    assert_eq!(failed(""), "the root certificates cannot be read: there is no certificate in it");
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(failed(broken).starts_with("the root certificates cannot be read: "));
}
