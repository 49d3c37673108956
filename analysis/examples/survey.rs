//! development only: configurations of files as JSON lines, and what to ask of each row
use std::io::Write;
use tilefit_analysis::AnalysisHost;
use tilefit_analysis::confirm::KernelsAsked;
use tilefit_analysis::project::Config;
use tilefit_analysis::triton::device::Arch;
use tilefit_syntax::Document;
fn main() {
    let mut args = std::env::args().skip(1);
    let own = Arch::from_name(&args.next().unwrap()).unwrap();
    let others = args.next().unwrap();
    let ask = args.next().unwrap() == "ask";
    for path in args {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let t = std::time::Instant::now();
        let mut host = AnalysisHost::new();
        let devices = others.split(',').filter_map(Arch::from_name).collect();
        host.set_config(Config { tlx_arch: own, is_gpu_named: true, devices, ..Config::default() });
        let file = host.file_id(&path);
        host.set_document(file, Document::new(&text));
        let mut sought = std::collections::HashSet::new();
        for _ in 0..8 {
            let all = host.snapshot().unknown_imports(file).unwrap_or_default();
            let mut any = false;
            for candidates in all {
                let candidates: Vec<String> = candidates.into_iter().collect();
                if !sought.insert(candidates.clone()) {
                    continue;
                }
                if let Some((path, text)) =
                    candidates.iter().find_map(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?)))
                {
                    let id = host.file_id(&path);
                    host.set_document(id, Document::new(&text));
                    any = true;
                }
            }
            if !any {
                break;
            }
        }
        let kernels = host.snapshot().configurations(file).unwrap_or_default();
        let diagnostics = host.snapshot().diagnostics(file);
        let errors: Vec<String> = diagnostics
            .iter()
            .flatten()
            .filter(|d| format!("{:?}", d.severity) == "Error")
            .map(|d| d.message.clone())
            .collect();
        let questions = if ask {
            host.snapshot().all_questions(file, KernelsAsked::EveryConfiguration).unwrap_or_default()
        } else {
            Vec::new()
        };
        let line = serde_json::json!({"file": path, "kernels": kernels, "errors": errors, "questions": questions, "ms": t.elapsed().as_millis() as u64});
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}
