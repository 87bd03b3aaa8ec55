//! Pinned TLS: a command that can read the server's files trusts exactly the certificate that lies there, whatever its
//! authority and names.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned,
};

/// Sends a request that asks for the connection to be closed, and gives all that comes back.
pub(crate) fn exchange(
    server: SocketAddr,
    certificate: CertificateDer<'static>,
    request: &[u8],
    patience: Duration,
) -> io::Result<Vec<u8>> {
    let stream = TcpStream::connect_timeout(&server, patience)?;
    stream.set_read_timeout(Some(patience))?;
    let name = ServerName::from(server.ip());
    let connection = ClientConnection::new(Arc::new(config(certificate)?), name).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    stream.write_all(request)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}

fn config(certificate: CertificateDer<'static>) -> io::Result<ClientConfig> {
    let provider = default_provider();
    let pinned = PinnedVerifier { certificate, algorithms: provider.signature_verification_algorithms };
    let builder = ClientConfig::builder_with_provider(Arc::new(provider));
    let versions = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    Ok(versions.dangerous().with_custom_certificate_verifier(Arc::new(pinned)).with_no_client_auth())
}

#[derive(Debug)]
struct PinnedVerifier {
    certificate: CertificateDer<'static>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for PinnedVerifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if *shown == self.certificate {
            return Ok(ServerCertVerified::assertion());
        }
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
