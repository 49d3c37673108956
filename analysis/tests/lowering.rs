//! Lowers every kernel that the PyPTO compiler was run on (`tests/conformance/pypto`).

use std::path::{Path, PathBuf};

use tilelens_analysis::eval::{self, Constant, FunctionSource, Scope};
use tilelens_analysis::ir::Kernel;
use tilelens_analysis::lower;
use tilelens_syntax::{BlockKind, Document, ast};

/// A module whose functions are all at its top level or in its classes.
struct Module<'d>(&'d Document);

impl Scope for Module<'_> {
    fn constant(&self, name: &str) -> Option<Constant> {
        let statements = self.0.blocks().iter().filter(|block| block.key.kind == BlockKind::Statements);
        statements.map(|block| ast::parse(&block.source).0).find_map(|ast| eval::bound_value(&ast, name, self))
    }

    fn function(&self, name: &str) -> Option<FunctionSource> {
        let mut functions = self.0.blocks().iter().filter(|block| block.key.kind == BlockKind::Function);
        let found = functions.find(|block| block.key.path.rsplit('.').next() == Some(name))?;
        Some(FunctionSource { ast: ast::parse(&found.source).0.into() })
    }
}

fn kernels(text: &str) -> Vec<Kernel> {
    let document = Document::new(text);
    let functions = document.blocks().iter().filter(|block| block.key.kind == BlockKind::Function);
    functions.flat_map(|block| lower::kernels(&ast::parse(&block.source).0, &Module(&document))).collect()
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/pypto");
    let entries = std::fs::read_dir(folder).expect("the conformance kernels are part of the repository");
    let mut paths: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "py"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn no_kernel_that_the_compiler_accepts_is_rejected() {
    let (mut count, mut wrong, mut unmodelled) = (0, Vec::new(), Vec::new());
    for path in programs() {
        let text = std::fs::read_to_string(&path).unwrap();
        let answers = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let accepted = answers.contains("\"ok\": true");
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for kernel in kernels(&text) {
            count += 1;
            if accepted {
                wrong.extend(kernel.rejections.iter().map(|rejection| format!("{name}: {}", rejection.message)));
            }
            unmodelled.extend(kernel.notes.iter().map(|note| format!("{name}: {}", note.reason.0)));
        }
    }
    assert!(count >= 250, "{count} kernels");
    println!("{count} kernels; not modelled:\n{}", unmodelled.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
