//! UI files: built into the binary, or from a folder during development. The UI uses only the public interfaces.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::extract::{Path as PathPart, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::middleware::compression::accepts_gzip;
use crate::problem::Problem;

/// Scripts and styles come from our own files only; nothing is written into the page. Icons of the grid are data.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The name of such a file changes with its content.
const CACHE_FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

const INDEX: &str = "index.html";
const ASSETS: &str = "assets/";
/// Shown where the program was built without the UI.
const NOT_BUILT: &str = include_str!("../pages/no-screen.html");

/// A file of the screen, as `build.rs` found it.
struct BuiltInFile {
    path: &'static str,
    bytes: &'static [u8],
    gzip: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/screen.rs"));

/// The source of the files.
#[derive(Debug, Clone, Default)]
pub enum UiFiles {
    #[default]
    BuiltIn,
    Folder(PathBuf),
}

impl UiFiles {
    /// A folder in which the UI was built.
    pub fn from_folder(folder: PathBuf) -> Result<Self, String> {
        if folder.join(INDEX).is_file() {
            Ok(Self::Folder(folder))
        } else {
            Err(format!("there is no {INDEX} in {}: npm run build makes one", folder.display()))
        }
    }

    /// The paths of the UI, to be served beside ours.
    pub fn router(self) -> Router {
        Router::new()
            .route("/", get(page))
            .route("/rialto.svg", get(icon))
            .route("/assets/{file}", get(asset))
            .with_state(self)
    }

    fn find(&self, path: &str) -> Option<UiFile> {
        match self {
            Self::BuiltIn => FILES.iter().find(|file| file.path == path).map(UiFile::from_built_in),
            Self::Folder(folder) => {
                fs::read(folder.join(path)).ok().map(|bytes| UiFile { plain: bytes.into(), gzip: None })
            }
        }
    }
}

async fn page(State(screen): State<UiFiles>, headers: HeaderMap) -> Response {
    let not_built = || UiFile { plain: NOT_BUILT.as_bytes().into(), gzip: None };
    screen.find(INDEX).unwrap_or_else(not_built).respond(INDEX, &headers)
}

async fn icon(State(screen): State<UiFiles>, headers: HeaderMap) -> Result<Response, Problem> {
    serve_file(&screen, "rialto.svg", &headers)
}

/// The router gives one segment, and a segment may contain escaped slashes.
async fn asset(
    State(screen): State<UiFiles>,
    PathPart(name): PathPart<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let is_plain = Path::new(&name).file_name().is_some_and(|file| file == name.as_str());
    if is_plain { serve_file(&screen, &format!("{ASSETS}{name}"), &headers) } else { Err(file_not_found(&name)) }
}

fn serve_file(screen: &UiFiles, path: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    screen.find(path).map(|found| found.respond(path, headers)).ok_or_else(|| file_not_found(path))
}

fn file_not_found(path: &str) -> Problem {
    Problem::new("no-such-path", format!("the screen has no {path}"))
}

struct UiFile {
    plain: Cow<'static, [u8]>,
    gzip: Option<&'static [u8]>,
}

impl UiFile {
    fn from_built_in(file: &BuiltInFile) -> Self {
        Self { plain: file.bytes.into(), gzip: Some(file.gzip) }
    }

    fn respond(self, path: &str, request: &HeaderMap) -> Response {
        let tag = self.tag();
        let mut headers = common_headers(path, &tag);
        if request.get(header::IF_NONE_MATCH) == Some(&tag) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        headers.insert(header::CONTENT_TYPE, media_type(path));
        match self.gzip.filter(|_| accepts_gzip(request)) {
            Some(gzip) => {
                headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
                (headers, gzip).into_response()
            }
            None => (headers, self.plain.into_owned()).into_response(),
        }
    }

    /// Weak, because the response may be compressed.
    fn tag(&self) -> HeaderValue {
        let digest = blake3::hash(&self.plain).to_hex();
        HeaderValue::try_from(format!("W/\"{}\"", &digest[..32])).expect("only ASCII is in it")
    }
}

fn common_headers(path: &str, tag: &HeaderValue) -> HeaderMap {
    let cached = if path.starts_with(ASSETS) { CACHE_FOREVER } else { REVALIDATE };
    let headers: [(HeaderName, HeaderValue); 6] = [
        (header::CACHE_CONTROL, cached),
        (header::ETAG, tag.clone()),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ];
    headers.into_iter().collect()
}

fn media_type(path: &str) -> HeaderValue {
    HeaderValue::from_static(match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain; charset=utf-8",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    })
}
