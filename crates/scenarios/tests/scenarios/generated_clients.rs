//! Clients generated from `/openapi.json`: no generator warns, and the result trades. The Python and the TypeScript
//! program of `examples/clients` are run as a user runs them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use scenarios::server::RunningServer;
use tempfile::TempDir;

use crate::test_platform::TestPlatform;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/clients");

/// The environment variable that names a Python with the generators; `make test` installs them and sets this.
const PYTHON: &str = "EXAMPLES_PYTHON";

/// A description with nothing in it: what a generator says of this it says of every one.
const SMALLEST: &str = r#"{"openapi": "3.1.1", "info": {"title": "Rialto", "version": "1"}, "paths": {"/": {"get": {
    "operationId": "get", "responses": {"200": {"description": "As asked.", "content": {"application/json": {
    "schema": {"type": "string"}}}}}}}}}"#;

/// A folder with the description of a running server in it.
struct ClientWorkspace {
    folder: TempDir,
}

impl ClientWorkspace {
    fn new(server: &RunningServer) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let description = server.client().get("/openapi.json").unwrap().body;
        fs::write(folder.path().join("openapi.json"), description).unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a program to its good end and gives all that it said.
    fn run(&self, command: &mut Command) -> String {
        let Output { status, stdout, stderr } = command.current_dir(self.path()).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{command:?}: {status}\n{said}");
        said
    }
}

#[test]
fn a_python_client_is_made_without_a_warning_and_trades() {
    let Some(tools) = python_tools("openapi-python-client") else { return };
    let desk = TestPlatform::new();
    let server = desk.start();
    let workshop = ClientWorkspace::new(&server);
    // It calls its formatter by name.
    let path = format!("{}:{}", tools.display(), env::var("PATH").unwrap());
    let arguments =
        ["generate", "--path", "openapi.json", "--output-path", "rialto_client", "--meta", "none", "--fail-on-warning"];
    let said = workshop.run(Command::new(tools.join("openapi-python-client")).args(arguments).env("PATH", path));
    assert_eq!(said, "Generating rialto_client\n");
    let mut python = Command::new(tools.join("python"));
    python.arg(format!("{EXAMPLES}/trade.py")).arg(format!("http://{}", server.address()));
    let said = workshop.run(python.env("PYTHONPATH", workshop.path()).env("PYTHONDONTWRITEBYTECODE", "1"));
    let expected = "placed 200 /rest/execution/order/generated-python\n\
                    open generated-python BUY 10.0 200.0\n\
                    refused 409 duplicate-order generated-python\n\
                    refused 422 not-positive ['quantity']\n\
                    cancelled 200\n";
    assert_eq!(said.replace("BUY 10 200", "BUY 10.0 200.0"), expected);
    server.stop();
}

#[test]
fn a_typescript_client_is_made_without_a_warning_and_trades() {
    let Some(packages) = node_packages() else { return };
    let desk = TestPlatform::new();
    let server = desk.start();
    let workshop = ClientWorkspace::new(&server);
    for file in ["trade.ts", "tsconfig.json", "package.json"] {
        fs::copy(format!("{EXAMPLES}/{file}"), workshop.path().join(file)).unwrap();
    }
    std::os::unix::fs::symlink(&packages, workshop.path().join("node_modules")).unwrap();
    let node = |script: &str, arguments: &[&str]| {
        workshop.run(Command::new("node").arg(packages.join(script)).args(arguments))
    };
    let said = node("openapi-typescript/bin/cli.js", &["openapi.json", "-o", "rialto.d.ts"]);
    assert!(!said.to_lowercase().contains("warn"), "{said}");
    assert_eq!(node("typescript/bin/tsc", &[]), "");
    let said = workshop.run(Command::new("node").args(["trade.js", &format!("http://{}", server.address())]));
    let expected = "placed 200 /rest/execution/order/generated-typescript\n\
                    open generated-typescript BUY 10 200\n\
                    refused 409 duplicate-order generated-typescript\n\
                    refused 422 not-positive quantity\n\
                    cancelled 200\n";
    assert_eq!(said, expected);
    server.stop();
}

/// It warns of OpenAPI 3.1 as such, whatever is described, and says which words the language reserves; of ours it has
/// nothing more to say.
#[test]
fn the_generator_for_every_language_has_nothing_to_say_of_ours() {
    let Some(tools) = python_tools("openapi-generator-cli") else { return };
    let desk = TestPlatform::new();
    let server = desk.start();
    let workshop = ClientWorkspace::new(&server);
    fs::write(workshop.path().join("smallest.json"), SMALLEST).unwrap();
    let path = format!("{}:{}", tools.display(), env::var("PATH").unwrap());
    let warnings = |description: &str| -> Vec<String> {
        let mut generator = Command::new(tools.join("openapi-generator-cli"));
        generator.args(["generate", "-i", description, "-g", "python", "-o", "made"]).env("PATH", &path);
        let said = workshop.run(&mut generator);
        let is_told =
            |line: &&str| line.contains("WARN") && !line.contains("(reserved word)") || line.contains("ERROR");
        let mut lines: Vec<_> = said.lines().filter(is_told).map(ToOwned::to_owned).collect();
        lines.sort();
        lines.dedup();
        lines
    };
    assert_eq!(warnings("openapi.json"), warnings("smallest.json"));
    server.stop();
}

/// The folder of the programs of a Python that has this one.
fn python_tools(program: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/venv/bin/python"));
    let python = env::var_os(PYTHON).map_or_else(beside, PathBuf::from);
    let folder = python.parent().map(Path::to_path_buf).unwrap_or_default();
    there_is(folder.join(program).is_file(), program).then_some(folder)
}

fn node_packages() -> Option<PathBuf> {
    let packages = PathBuf::from(EXAMPLES).join("node_modules");
    there_is(packages.join("openapi-typescript").is_dir(), "openapi-typescript").then_some(packages)
}

/// Without it the test is skipped, except where everything must run.
fn there_is(is_there: bool, program: &str) -> bool {
    assert!(is_there || env::var_os(PYTHON).is_none() && env::var_os("CI").is_none(), "{program} is not installed");
    if !is_there {
        eprintln!("NOT TESTED: {program} is not installed; `make test` does it");
    }
    is_there
}
