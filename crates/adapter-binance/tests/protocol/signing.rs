//! Signatures: the vectors of the documentation, and keys that OpenSSL made and signed with.

use adapter_binance::protocol::parameters::Parameters;
use adapter_binance::protocol::signing::{RequestSigner, SigningKeyError};
use adapter_kit::credentials::{SigningKey, VenueCredentials};

/// Published with the documentation's examples.
pub(crate) const API_KEY: &str = "vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A";
const SECRET: &str = "NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j";

/// Made for this test with `openssl genpkey`; they protect nothing.
pub(crate) const ED25519_PEM: &str = include_str!("keys/ed25519.pem");
const RSA_PEM: &str = include_str!("keys/rsa.pem");

pub(crate) fn hmac_signer() -> RequestSigner {
    RequestSigner::new(&VenueCredentials::new(API_KEY.into(), SigningKey::Secret(SECRET.into()))).unwrap()
}

pub(crate) fn pem_signer(pem: &str) -> Result<RequestSigner, SigningKeyError> {
    RequestSigner::new(&VenueCredentials::new(API_KEY.into(), SigningKey::PrivateKey(pem.into())))
}

fn rest_order(symbol: &str) -> Parameters {
    Parameters::default()
        .text("symbol", symbol)
        .text("side", "BUY")
        .text("type", "LIMIT")
        .text("timeInForce", "GTC")
        .text("quantity", "1")
        .text("price", "0.1")
        .integer("recvWindow", 5_000)
        .integer("timestamp", 1_499_827_319_559)
}

#[test]
fn hmac_over_rest_signs_the_percent_encoded_query() {
    let signed = |symbol| hmac_signer().sign(&rest_order(symbol).encoded()).unwrap();
    assert_eq!(signed("LTCBTC"), "c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71");
    assert_eq!(signed("１２３４５６"), "e1353ec6b14d888f1164ae9af8228a3dbd508bc82eb867db8ab6046442f33ef3");
}

#[test]
fn hmac_over_the_websocket_api_signs_plain_parameters_sorted_by_name() {
    let ascii = Parameters::default()
        .text("symbol", "BTCUSDT")
        .text("side", "SELL")
        .text("type", "LIMIT")
        .text("timeInForce", "GTC")
        .text("quantity", "0.01000000")
        .text("price", "52000.00")
        .integer("recvWindow", 100)
        .integer("timestamp", 1_645_423_376_532)
        .text("apiKey", API_KEY);
    let chinese = Parameters::default()
        .text("symbol", "１２３４５６")
        .text("side", "BUY")
        .text("type", "LIMIT")
        .text("timeInForce", "GTC")
        .text("quantity", "1.00000000")
        .text("price", "0.10000000")
        .integer("recvWindow", 5_000)
        .integer("timestamp", 1_645_423_376_532)
        .text("apiKey", API_KEY);
    let signed = [ascii, chinese].map(|parameters| hmac_signer().sign(&parameters.sorted()).unwrap());
    assert_eq!(
        signed,
        [
            "aa1b5712c094bc4e57c05a1a5c1fd8d88dcd628338ea863fec7b88e59fe2db24",
            "b33892ae8e687c939f4468c6268ddd4c40ac1af18ad19a064864c47bae0752cd",
        ]
    );
}

#[test]
fn rsa_and_ed25519_sign_as_openssl_does() {
    let payload = "symbol=%EF%BC%91%EF%BC%92%EF%BC%93%EF%BC%94%EF%BC%95%EF%BC%96&side=SELL&type=LIMIT&timeInForce=GTC\
                   &quantity=1&price=0.2&timestamp=1668481559918&recvWindow=5000";
    let rsa = pem_signer(RSA_PEM).unwrap();
    assert_eq!(rsa.sign(payload).unwrap(), include_str!("keys/rsa.signature").trim());
    let ed25519 = pem_signer(ED25519_PEM).unwrap();
    assert_eq!(ed25519.sign(payload).unwrap(), include_str!("keys/ed25519.signature").trim());
    let plain = ed25519.sign("apiKey=k&symbol=１２３４５６&timestamp=1").unwrap();
    assert_eq!(plain, include_str!("keys/ed25519-plain.signature").trim());
    assert_eq!([rsa.can_log_on(), ed25519.can_log_on(), hmac_signer().can_log_on()], [false, true, false]);
}

#[test]
fn a_key_that_cannot_sign_is_refused_without_repeating_it() {
    let refused = |pem: &str| pem_signer(pem).unwrap_err();
    assert_eq!(refused("planted-secret"), SigningKeyError::NotPkcs8);
    assert_eq!(refused(&RSA_PEM.replace("PRIVATE KEY", "RSA PRIVATE KEY")), SigningKeyError::NotPkcs8);
    assert_eq!(refused(&RSA_PEM.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY")), SigningKeyError::NotPkcs8);
    let broken = ED25519_PEM.replace("MC4CAQ", "MC4CBQ");
    assert_eq!(refused(&broken), SigningKeyError::Kind);
    assert!(!refused("planted-secret").to_string().contains("planted"));
    assert_eq!(format!("{:?}", hmac_signer()), "RequestSigner(HMAC)");
}
