//! What modules put into others before a third reads it: `config.ROWS = 64`, and then the import of a module that says
//! `from config import ROWS`. Python runs a module when it is first imported, so that what a name is depends on the file that everything
//! starts from.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::eval;
use tilefit_syntax::ast::{Ast, Expr, ExprId, Stmt, StmtId};

use super::modules::{module_called, module_file};
use super::statements::statements_of;
use super::{Name, SourceFile, Unit, syntax};

/// When a statement at the top of a module runs, counted from the start of the program.
pub(super) type Moment = u32;

/// `module.member = value`
#[derive(Clone, PartialEq, Eq, salsa::SalsaValue)]
struct Patch<'db> {
    module: SourceFile,
    member: String,
    by: Unit<'db>,
    /// The place of the statement in its unit; `None` where it is not known whether it happens.
    statement: Option<usize>,
    at: Moment,
}

/// The statements at the top of all modules that a file imports, in the order in which they run.
#[derive(Clone, PartialEq, Eq, Default, salsa::SalsaValue)]
pub(super) struct Start<'db> {
    patches: Vec<Patch<'db>>,
    /// By unit, and the place of the statement in it.
    moments: FxHashMap<(Unit<'db>, usize), Moment>,
}

#[salsa::tracked(returns(ref))]
fn start<'db>(db: &'db dyn salsa::Database, root: SourceFile) -> Arc<Start<'db>> {
    // Without patches it does not matter when something runs.
    if !reaches_patches(db, root) {
        return Arc::default();
    }
    let mut running = Running { db, seen: FxHashSet::default(), depth: 0, start: Start::default(), now: 0 };
    running.module(root);
    let Start { patches, moments } = running.start;
    Arc::new(if patches.is_empty() { Start::default() } else { Start { patches, moments } })
}

/// Whether a module, or one that it imports, patches others. In a repository that may be thousands of modules, seen from each file of it, and hardly
/// any of them does.
fn reaches_patches(db: &dyn salsa::Database, root: SourceFile) -> bool {
    let mut reached = vec![root];
    let mut seen = FxHashSet::from_iter([root]);
    while let Some(file) = reached.pop() {
        for step in steps(db, file).iter() {
            match step {
                Step::Imports(module) if seen.insert(*module) => reached.push(*module),
                Step::Patches { .. } => return true,
                Step::Imports(_) | Step::Ends(_) => {}
            }
        }
    }
    false
}

/// The file itself, if what it starts patches modules.
#[salsa::tracked(returns(copy))]
pub(super) fn root(db: &dyn salsa::Database, file: SourceFile) -> Option<SourceFile> {
    (!start(db, file).patches.is_empty()).then_some(file)
}

/// When the statement of a unit runs that binds a name; `None` where that is not known, which means after all others.
pub(super) fn moment<'db>(
    db: &'db dyn salsa::Database,
    root: SourceFile,
    unit: Unit<'db>,
    name: &str,
) -> Option<Moment> {
    let ast = syntax(db, unit);
    let binds = |stmt: &StmtId| match ast.stmt(*stmt) {
        Stmt::Assign { targets, .. } => targets.iter().any(|&target| {
            let elements = ast.elements(target).unwrap_or_default();
            ast.name(target) == Some(name) || elements.iter().any(|&element| ast.name(element) == Some(name))
        }),
        Stmt::ImportFrom { names, .. } => names.iter().any(|imported| imported.bound() == name),
        _ => false,
    };
    let place = ast.body.iter().position(binds)?;
    start(db, root).moments.get(&(unit, place)).copied()
}

/// What a patch puts into a member of a module.
pub(super) struct Assigned<'db> {
    pub(super) by: Unit<'db>,
    pub(super) at: Moment,
    /// `None` where it is not known whether it happens.
    pub(super) value: Option<ExprId>,
}

/// The last patch of a member of a module before a moment; `None` where it is what the module itself says.
pub(super) fn assigned<'db>(
    db: &'db dyn salsa::Database,
    root: SourceFile,
    module: SourceFile,
    member: &str,
    now: Option<Moment>,
) -> Option<Assigned<'db>> {
    let before = |patch: &&Patch<'_>| now.is_none_or(|now| patch.at < now);
    let of_member = |patch: &&Patch<'_>| patch.module == module && patch.member == member;
    let patch = start(db, root).patches.iter().filter(of_member).rfind(before)?;
    let statement = |place: usize| syntax(db, patch.by).body.get(place).map(|&stmt| syntax(db, patch.by).stmt(stmt));
    let value = match patch.statement.and_then(statement) {
        Some(Stmt::Assign { value, .. }) => *value,
        _ => None,
    };
    Some(Assigned { by: patch.by, at: patch.at, value })
}

/// Modules that import each other deeper than this are not followed.
const DEEPEST: u32 = 64;

struct Running<'db> {
    db: &'db dyn salsa::Database,
    seen: FxHashSet<SourceFile>,
    depth: u32,
    start: Start<'db>,
    now: Moment,
}

impl<'db> Running<'db> {
    fn module(&mut self, file: SourceFile) {
        // A module runs once, within the statement that imports it first.
        if self.depth >= DEEPEST || !self.seen.insert(file) {
            return;
        }
        self.depth += 1;
        for step in steps(self.db, file).iter() {
            match step {
                Step::Imports(module) => self.module(*module),
                Step::Patches { module, member, by, statement } => self.start.patches.push(Patch {
                    module: *module,
                    member: member.clone(),
                    by: *by,
                    statement: *statement,
                    at: self.now,
                }),
                Step::Ends(statement) => {
                    self.start.moments.extend(statement.map(|statement| (statement, self.now)));
                    self.now += 1;
                }
            }
        }
        self.depth -= 1;
    }
}

/// What the statements at the top of a module do to others, in the order in which they run.
#[derive(Clone, PartialEq, Eq, salsa::SalsaValue)]
enum Step<'db> {
    Imports(SourceFile),
    /// As in [`Patch`].
    Patches {
        module: SourceFile,
        member: String,
        by: Unit<'db>,
        statement: Option<usize>,
    },
    /// A statement, by its unit and its place there; `None` of one under a condition: it is not known whether it runs, so it has no moment.
    Ends(Option<(Unit<'db>, usize)>),
}

#[salsa::tracked(returns(ref))]
fn steps<'db>(db: &'db dyn salsa::Database, file: SourceFile) -> Arc<Vec<Step<'db>>> {
    let mut reading = Reading { db, file, steps: Vec::new() };
    for &unit in statements_of(db, file, None) {
        let ast = syntax(db, unit);
        reading.statements(unit, ast, &ast.body, true);
    }
    Arc::new(reading.steps)
}

struct Reading<'db> {
    db: &'db dyn salsa::Database,
    file: SourceFile,
    steps: Vec<Step<'db>>,
}

impl<'db> Reading<'db> {
    fn statements(&mut self, unit: Unit<'db>, ast: &Ast, body: &[StmtId], surely: bool) {
        for (place, &stmt) in body.iter().enumerate() {
            match ast.stmt(stmt) {
                Stmt::Import(modules) => {
                    for module in modules {
                        self.import(0, &module.module);
                    }
                }
                Stmt::ImportFrom { level, module, names } => {
                    self.import(*level, module);
                    let separator = if module.is_empty() { "" } else { "." };
                    for name in names {
                        self.import(*level, &format!("{module}{separator}{}", name.name));
                    }
                }
                Stmt::Assign { targets, .. } => {
                    for &target in targets {
                        let Some((module, member)) = self.member(ast, target) else { continue };
                        let statement = surely.then_some(place);
                        self.steps.push(Step::Patches { module, member, by: unit, statement });
                    }
                }
                Stmt::If { condition, .. } if eval::asks_for_program(ast, *condition) => {}
                stmt => {
                    for body in stmt.bodies() {
                        self.statements(unit, ast, body, false);
                    }
                }
            }
            self.steps.push(Step::Ends(surely.then_some((unit, place))));
        }
    }

    fn import(&mut self, level: u32, module: &str) {
        let imported = module_file(self.db, self.file, level, Name::new(self.db, module.to_owned()));
        self.steps.extend(imported.map(Step::Imports));
    }

    /// The module and the member that `module.member` is.
    fn member(&self, ast: &Ast, target: ExprId) -> Option<(SourceFile, String)> {
        let Expr::Attribute { value, name } = ast.expr(target) else { return None };
        let module = Name::new(self.db, ast.name(*value)?.to_owned());
        Some((module_called(self.db, self.file, module)?, name.clone()))
    }
}
