//! The trading UI: its files and their caching.

use std::fs;

use tempfile::TempDir;
use web::{UiFiles, WebSettings};

use crate::test_server::{TestServer, code, status};

/// A folder with a small UI in it.
fn built() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("assets")).unwrap();
    fs::write(folder.path().join("index.html"), "<p>the desk</p>").unwrap();
    fs::write(folder.path().join("assets/main-1a2b.js"), "trade()").unwrap();
    fs::write(folder.path().join("secret.txt"), "not for you").unwrap();
    folder
}

fn showing(screen: UiFiles) -> TestServer {
    TestServer::without_engine(WebSettings { others: screen.router(), ..WebSettings::default() })
}

fn header<'a>(answer: &'a str, name: &str) -> &'a str {
    let mut lines = answer.lines().take_while(|line| !line.is_empty());
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default()
}

#[test]
fn the_page_is_asked_for_each_time_and_its_files_are_kept() {
    let folder = built();
    let server = showing(UiFiles::from_folder(folder.path().to_owned()).unwrap());
    let (page, program) = (server.get("/"), server.get("/assets/main-1a2b.js"));
    assert!(page.ends_with("<p>the desk</p>") && program.ends_with("trade()"), "{page}{program}");
    assert_eq!(header(&page, "content-type"), "text/html; charset=utf-8");
    assert_eq!(header(&program, "content-type"), "text/javascript; charset=utf-8");
    assert_eq!(header(&page, "cache-control"), "no-cache");
    assert_eq!(header(&program, "cache-control"), "public, max-age=31536000, immutable");
}

#[test]
fn a_client_with_the_current_page_is_304() {
    let folder = built();
    let server = showing(UiFiles::from_folder(folder.path().to_owned()).unwrap());
    let again = |tag: &str| server.call("GET", "/", &format!("If-None-Match: {tag}\r\n"), "");
    let page = server.get("/");
    let tag = header(&page, "etag").to_owned();
    let unchanged = again(&tag);
    assert_eq!((status(&unchanged), header(&unchanged, "etag")), ("HTTP/1.1 304 Not Modified", tag.as_str()));
    fs::write(folder.path().join("index.html"), "<p>the new desk</p>").unwrap();
    assert!(again(&tag).ends_with("<p>the new desk</p>"));
}

#[test]
fn nothing_but_our_own_files_may_run_or_paint_on_it() {
    let server = showing(UiFiles::BuiltIn);
    let page = server.get("/");
    let policy = header(&page, "content-security-policy");
    assert_eq!(
        policy,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    assert_eq!(header(&page, "x-content-type-options"), "nosniff");
}

#[test]
fn the_program_has_a_page_with_or_without_the_screen_in_it() {
    let server = showing(UiFiles::BuiltIn);
    let page = server.get("/");
    assert_eq!(status(&page), "HTTP/1.1 200 OK");
    assert!(page.contains("<title>Rialto</title>"), "{page}");
    assert_eq!(status(&server.get("/rest/account")), "HTTP/1.1 200 OK");
    assert_eq!(status(&server.get("/docs")), "HTTP/1.1 200 OK");
    assert_eq!(status(&server.get("/health/live")), "HTTP/1.1 200 OK");
}

#[test]
fn nothing_else_of_the_folder_is_served() {
    let folder = built();
    let server = showing(UiFiles::from_folder(folder.path().to_owned()).unwrap());
    for path in ["/secret.txt", "/assets/nothing.js", "/assets/..%2Fsecret.txt", "/assets/..", "/index.html"] {
        assert_eq!(code(&server.get(path)), "404 no-such-path", "{path}");
    }
    assert_eq!(code(&server.delete("/")), "405 method-not-allowed");
}

#[test]
fn a_folder_without_a_screen_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = UiFiles::from_folder(folder.path().to_owned()).unwrap_err();
    assert_eq!(refused, format!("there is no index.html in {}: npm run build makes one", folder.path().display()));
}
