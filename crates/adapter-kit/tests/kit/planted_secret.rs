//! A planted secret is found in no text of ours: Debug, Display, errors, logs, panics, files.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::panic;
use std::sync::{Arc, Mutex};

use adapter_kit::connection::{VenueRequest, VenueResponse};
use adapter_kit::credentials::{CredentialSource, CredentialWatch, SigningKey, VenueCredentials};
use adapter_kit::{BudgetFile, HoldSignal, RequestBudget};

use crate::budget::at;
use crate::credentials::{KEY, SECRET, hmac_file, write};

/// What a search would find: the secrets themselves and any eight characters in a row of them.
pub(crate) fn assert_hidden(text: &str) {
    for secret in [KEY, SECRET] {
        for start in 0..secret.len() - 8 {
            assert!(!text.contains(&secret[start..start + 8]), "the secret is in: {text}");
        }
    }
}

/// Collects what is logged.
#[derive(Clone, Default)]
struct LogBuffer(Arc<Mutex<Vec<u8>>>);

impl io::Write for LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn planted() -> VenueCredentials {
    VenueCredentials::new(KEY.into(), SigningKey::Secret(SECRET.into()))
}

#[test]
fn debug_and_display_show_the_masked_key_only() {
    let credentials = Arc::new(planted());
    let text = format!(
        "{credentials} {credentials:?} {credentials:#?} {:?} {:?}",
        credentials.signing(),
        credentials.api_key()
    );
    assert_hidden(&text);
    assert!(text.contains("vmPU…"), "{text}");
}

#[test]
fn requests_and_answers_do_not_show_what_they_carry() {
    let headers = vec![("X-Key".to_owned(), KEY.to_owned())];
    let (path, body) = (format!("/order?signature={SECRET}"), SECRET.to_owned());
    let request = VenueRequest { method: "POST", path, headers: headers.clone(), body };
    let response = VenueResponse { status: 200, headers, body: SECRET.as_bytes().to_vec() };
    let text = format!("{request:?} {response:?}");
    assert_eq!(text, "VenueRequest(POST /order, 1 headers, 64 bytes) VenueResponse(200, 1 headers, 64 bytes)");
}

#[test]
fn logs_of_a_rotation_show_masked_keys_only() {
    let log = LogBuffer::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    tracing::subscriber::with_default(subscriber, || {
        let folder = tempfile::tempdir().unwrap();
        let path = write(&folder, "key.toml", &hmac_file("another-key-of-before", "another secret of before"), 0o600);
        let source: CredentialSource = path.to_str().unwrap().parse().unwrap();
        let mut watch = CredentialWatch::start(source, &|_| None).unwrap();
        write(&folder, "key.toml", &hmac_file(KEY, SECRET), 0o600);
        watch.reload(&|_| None).unwrap();
        watch.on_refused();
        write(&folder, "key.toml", &hmac_file(KEY, SECRET).replace("\"\n", "\n"), 0o600);
        tracing::error!(error = %watch.reload(&|_| None).unwrap_err(), ?watch, "a careless caller logs all it has");
    });
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_hidden(&text);
}

#[test]
fn errors_of_every_damaged_file_hide_it() {
    let folder = tempfile::tempdir().unwrap();
    let whole = hmac_file(KEY, SECRET);
    let mut texts = String::new();
    // Cut or disturbed at every byte.
    for cut in 0..whole.len() {
        for content in
            [whole[..cut].to_owned(), format!("{}\u{1}{}", &whole[..cut], &whole[cut..]), whole[cut..].to_owned()]
        {
            let path = write(&folder, "key.toml", &content, 0o600);
            let source: CredentialSource = path.to_str().unwrap().parse().unwrap();
            if let Err(error) = source.load(&|_| None) {
                writeln!(texts, "{error} {error:?}").unwrap();
            }
        }
    }
    assert!(texts.lines().count() > whole.len());
    assert_hidden(&texts);
}

#[test]
fn a_panic_text_hides_it() {
    let credentials = planted();
    let caught = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        let failed: Result<(), _> = Some(&credentials).map_or(Ok(()), Err);
        failed.expect("signing");
    }));
    let text = *caught.unwrap_err().downcast::<String>().unwrap();
    assert!(text.starts_with("signing: VenueCredentials(vmPU…"), "{text}");
    assert_hidden(&text);
}

#[test]
fn files_of_the_kit_hide_it() {
    let folder = tempfile::tempdir().unwrap();
    let credentials = planted();
    let file = BudgetFile::new(folder.path().join("rate.json"));
    let mut budget = RequestBudget::new(Vec::new()).unwrap();
    budget.on_hold(at(0), &HoldSignal::of_http(418, Some(SECRET), at(0)).unwrap());
    file.save_holds(&mut budget).unwrap();
    drop(credentials);
    for entry in fs::read_dir(folder.path()).unwrap() {
        assert_hidden(&String::from_utf8_lossy(&fs::read(entry.unwrap().path()).unwrap()));
    }
}
