//! The compiler's dumps: opened in an editor, and beside the kernels that they are of.

use tilefit_analysis::AnalysisHost;
use tilefit_syntax::Document;

use super::answers;

/// Between the source and its dump, in an input; one without is a dump alone.
const BETWEEN: &str = "# ---- the dump\n";

pub fn dumps(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (source, dump) = text.split_once(BETWEEN).unwrap_or(("", &text));
    let mut host = AnalysisHost::new();
    let names = ["32_after_AllocateMemoryAddr.py", "30_after_MemoryReuse.py", "sketch.py"];
    let files = names.map(|name| host.file_id(&format!("/w/passes_dump/{name}")));
    for file in files {
        host.set_document(file, Document::new(dump));
    }
    let kernel = host.file_id("/w/kernel.py");
    host.set_document(kernel, Document::new(source));
    host.set_dumps(kernel, &files[..1]);
    let analysis = host.snapshot();
    for file in files {
        let all = answers(&analysis, file, &[dump.len() / 3, dump.len() / 2]);
        assert_eq!(all, answers(&analysis, file, &[dump.len() / 3, dump.len() / 2]));
    }
    answers(&analysis, kernel, &[source.len() / 2]);
}
