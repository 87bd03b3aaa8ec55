//! Reports of a certificate: JSON for programs, HTML for people.

use std::fs;
use std::io;

use serde_json::json;

use super::certificate::{Certificate, CertifyRequest, FaultResult};

pub(super) fn write(request: &CertifyRequest, counts: Certificate, results: &[FaultResult]) -> io::Result<()> {
    let entry = |result: &FaultResult| {
        json!({
            "fault": result.fault,
            "result": result.verdict.name(),
            "reason": result.reason,
            "injected": result.injected,
        })
    };
    let report = json!({
        "rialto": env!("CARGO_PKG_VERSION"),
        "client": request.client,
        "seed": request.seed,
        "passed": counts.passed,
        "failed": counts.failed,
        "notShown": counts.not_shown,
        "faults": results.iter().map(entry).collect::<Vec<_>>(),
    });
    fs::write(request.folder.join("report.json"), format!("{report:#}\n"))?;
    fs::write(request.folder.join("report.html"), html(request, counts, results))
}

fn html(request: &CertifyRequest, counts: Certificate, results: &[FaultResult]) -> String {
    let row = |result: &FaultResult| {
        let (fault, verdict, reason) = (&result.fault, result.verdict.name(), escape(&result.reason));
        let class = verdict.replace(' ', "-");
        format!(
            "<tr class=\"{class}\"><td>{fault}</td><td>{verdict}</td><td>{}</td><td>{reason}</td></tr>\n",
            result.injected
        )
    };
    let rows: String = results.iter().map(row).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Certificate of a venue client</title>\n\
         <style>body {{ font: 14px/1.4 system-ui, sans-serif; margin: 1rem; }} td, th {{ text-align: left; padding: .1rem 1rem \
         .1rem 0; }} .failed td:nth-child(2) {{ color: #a00; }} .passed td:nth-child(2) {{ color: #070; }}</style>\n\
         <h1>{counts}</h1>\n<p>Client <code>{}</code>, seed {}, Rialto {}. It traded the same plan at a lab of its own under each \
         fault; its books were compared with the lab's ledger.</p>\n<table>\n<tr><th>Fault<th>Result<th>Injected<th>First \
         difference</tr>\n{rows}</table>\n</html>\n",
        escape(&request.client),
        request.seed,
        env!("CARGO_PKG_VERSION"),
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
