use tilelens_analysis::eval::{self, Constant, FunctionSource, Scope};
use tilelens_analysis::{lower, passes, target::Target};
use tilelens_syntax::{BlockKind, Document, ast};
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
fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let document = Document::new(&text);
        for block in document.blocks().iter().filter(|block| block.key.kind == BlockKind::Function) {
            for kernel in lower::kernels(&ast::parse(&block.source).0, &Module(&document)) {
                println!("{path}\n{kernel}");
                if std::env::var("PASSES").is_ok() {
                    for k in passes::prepare(kernel, Target::Ascend910b) {
                        println!("AFTER {k}");
                    }
                }
            }
        }
    }
}
