//! Names: what one means around a unit, in other files as well, and the values of expressions there.

use tilefit_gpu::device::Arch;
use tilefit_python::eval::{self, Argument, Binding, ClassSource, Constant, FunctionSource, Imports, Scope};
use tilefit_python::finding::Reason;
use tilefit_python::work::remembered;
use tilefit_syntax::BlockKind;
use tilefit_syntax::ast::{Expr, ExprId};

use super::libraries::{self, Reader};
use super::modules::{module_called, module_file, module_of_name, star_of};
use super::program::Program;
use super::statements::{defined, statements_of};
use super::{Name, SourceFile, Unit, factories, patches, reexports, shapes, syntax, units};

/// The value of a name in the scopes around a unit, from the inside out. Class scopes are not visible from methods, as in Python.
/// `links` is how many names were resolved on the way to this one, each for the one before.
#[salsa::tracked(returns(clone), cycle_result = constant_in_terms_of_itself)]
pub(crate) fn constant<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    scope: Option<Unit<'db>>,
    name: Name<'db>,
    links: u32,
    program: Program,
) -> Option<Constant> {
    if links >= eval::LONGEST_CHAIN {
        return Some(eval::too_far(name.text(db)));
    }
    let bound = |&unit: &Unit<'db>| Some((unit, bound_value(db, unit, name.text(db), links + 1, program)?));
    let mut values: Vec<(Unit<'db>, Constant)> = statements_of(db, file, scope).iter().filter_map(bound).collect();
    if values.len() > 1 {
        // Kernels are compiled from an importing program, too, which does not run what is under `__name__ == "__main__"`.
        values.retain(|(unit, _)| eval::binding(syntax(db, *unit), name.text(db)) != Binding::Program);
    }
    match (values.as_slice(), scope) {
        // The same import again, say, says nothing else.
        ([(_, value), again @ ..], _) if again.iter().all(|(_, other)| other == value) => Some(value.clone()),
        ([], Some(scope)) => constant(db, file, scope.parent(db), name, links, program),
        ([], None) => {
            let source = star_of(db, file, name)?;
            constant(db, source, None, name, links + 1, program.seen_from(db, source))
        }
        _ => Some(Constant::Unknown(Reason::new(format!("`{}` is assigned more than once", name.text(db))))),
    }
}

/// The value that the statements of a unit give to a name; an import leads to the file that it names.
pub(super) fn bound_value<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    name: &str,
    links: u32,
    program: Program,
) -> Option<Constant> {
    let ast = syntax(db, unit);
    let now = program.root.and_then(|root| patches::moment(db, root, unit, name));
    let scope = UnitScope { db, unit, links, program, now };
    if let Binding::Import { level, module, original } = eval::binding_in(ast, name, &scope)
        && let Some(file) = module_file(db, unit.file(db), level, Name::new(db, module.clone()))
    {
        if let Some(reason) = file.unreadable(db) {
            let reason = format!("`{original}` is imported from `{module}`, which tilefit does not read: {reason}");
            return Some(Constant::Unknown(Reason::new(reason)));
        }
        let patched = patched(db, program, file, &original, now, links);
        let own = || constant(db, file, None, Name::new(db, original.clone()), links, program.seen_from(db, file));
        let missing = || Constant::Unknown(Reason::new(format!("`{module}` has no `{original}`")));
        return Some(patched.or_else(own).unwrap_or_else(missing));
    }
    let value = eval::bound_value(ast, name, &scope);
    if unit.key(db).kind == BlockKind::FunctionHeader
        && matches!(value, Some(Constant::Unknown(_)))
        && eval::binding(ast, name) == Binding::Param(None)
        && let Some((_, given, _)) = shapes::given_constants(db, unit).iter().find(|(param, ..)| param == name)
    {
        return Some(given.clone());
    }
    value
}

/// What a member of a module is at a moment because of a patch; `None` where it is what the module itself says.
fn patched(
    db: &dyn salsa::Database,
    program: Program,
    module: SourceFile,
    member: &str,
    now: Option<patches::Moment>,
    links: u32,
) -> Option<Constant> {
    let patches::Assigned { by, at, value } = patches::assigned(db, program.root?, module, member, now)?;
    let Some(value) = value else {
        return Some(Constant::Unknown(Reason::new(format!("`{member}` of a module is assigned under a condition"))));
    };
    if links >= eval::LONGEST_CHAIN {
        return Some(eval::too_far(member));
    }
    let scope = UnitScope { db, unit: by, links: links + 1, program, now: Some(at) };
    Some(eval::evaluate(syntax(db, by), value, &scope))
}

/// The statements of a unit's file that assign to `module.name`, and what they assign where that is one expression.
pub(super) fn overriding<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    module_file: SourceFile,
    module: &str,
    name: &str,
) -> Vec<(Unit<'db>, Option<ExprId>)> {
    if unit.file(db) == module_file {
        return Vec::new();
    }
    let statements = statements_of(db, unit.file(db), None).iter();
    let assigned = |&unit: &Unit<'db>| Some((unit, eval::assigned_member(syntax(db, unit), module, name)?));
    statements.filter_map(assigned).collect()
}

pub(super) fn constant_in_terms_of_itself<'db>(
    db: &'db dyn salsa::Database,
    _: salsa::Id,
    _: SourceFile,
    _: Option<Unit<'db>>,
    name: Name<'db>,
    _: u32,
    _: Program,
) -> Option<Constant> {
    Some(Constant::Unknown(Reason::new(format!("`{}` is defined in terms of itself", name.text(db)))))
}

/// The value of an expression of a unit, by what the unit sees of the code around it.
pub(crate) fn value<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, expr: ExprId) -> Constant {
    eval::evaluate(syntax(db, unit), expr, &UnitScope::new(db, unit))
}

/// What a unit sees of the code around it.
#[derive(Clone, Copy)]
pub(super) struct UnitScope<'db> {
    pub(super) db: &'db dyn salsa::Database,
    pub(super) unit: Unit<'db>,
    /// Names that were resolved on the way here, each for the one before.
    pub(super) links: u32,
    pub(super) program: Program,
    /// When the statement runs that is looked at; functions run after all imports.
    pub(super) now: Option<patches::Moment>,
}

impl<'db> UnitScope<'db> {
    pub(super) fn new(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Self {
        UnitScope::on(db, unit, None)
    }

    /// What it sees where the program runs with that device.
    pub(super) fn on(db: &'db dyn salsa::Database, unit: Unit<'db>, device: Option<Arch>) -> Self {
        let file = unit.file(db);
        let program = Program { root: patches::root(db, file), device }.seen_from(db, file);
        UnitScope { db, unit, links: 0, program, now: None }
    }

    /// Statements see their own scope: the function whose header they are, or the one they stand in.
    pub(super) fn around(&self) -> Option<Unit<'db>> {
        let (db, unit) = (self.db, self.unit);
        if unit.key(db).kind == BlockKind::FunctionHeader { Some(unit) } else { unit.parent(db) }
    }

    /// The function of that name in the enclosing program, the module, or where that imports it from.
    pub(super) fn function_unit(&self, name: &str) -> Option<Unit<'db>> {
        let (db, unit) = (self.db, self.unit);
        if let Some((module, name)) = name.split_once('.') {
            return defined(db, self.file_of_module(module)?, name, BlockKind::Function);
        }
        let is_named = |candidate: &&Unit<'_>| {
            let key = candidate.key(db);
            key.kind == BlockKind::Function && key.name() == name
        };
        let candidates = units(db, unit.file(db)).iter().filter(is_named).copied();
        let (mut program, mut module) = (None, None);
        for candidate in candidates.filter(|candidate| *candidate != unit) {
            match candidate.parent(db) {
                parent if parent == unit.parent(db) => program = Some(candidate),
                None => module = Some(candidate),
                Some(_) => {}
            }
        }
        let from_factory = || function_of_factory(db, unit.file(db), Name::new(db, name.to_owned()), self.program);
        program.or(module).or_else(|| self.imported(name, BlockKind::Function)).or_else(from_factory)
    }

    /// The function of that name, if it stands in another file.
    pub(super) fn defining_unit(&self, function: &str) -> Option<Unit<'db>> {
        let (db, unit) = (self.db, self.unit);
        if function.contains('.') {
            return self.function_unit(function);
        }
        let is_here = |candidate: &Unit<'_>| {
            let key = candidate.key(db);
            key.kind == BlockKind::Function && key.name() == function && *candidate != unit
        };
        if units(db, unit.file(db)).iter().any(is_here) {
            return None;
        }
        self.imported(function, BlockKind::Function)
    }

    /// The file of a module that this one imports.
    pub(super) fn file_of_module(&self, module: &str) -> Option<SourceFile> {
        module_called(self.db, self.unit.file(self.db), Name::new(self.db, module.to_owned()))
    }

    /// The class of that name, and its header.
    pub(super) fn class_source(&self, name: &str) -> Option<(ClassSource, Unit<'db>)> {
        let (db, file) = (self.db, self.unit.file(self.db));
        let header =
            defined(db, file, name, BlockKind::ClassHeader).or_else(|| self.imported(name, BlockKind::ClassHeader))?;
        let methods = units(db, header.file(db)).iter().filter(|unit| unit.parent(db) == Some(header));
        let methods = methods.filter(|unit| unit.key(db).kind == BlockKind::Function);
        let methods = methods.map(|&unit| syntax(db, unit).clone()).collect();
        let source = ClassSource { header: syntax(db, header).clone(), methods };
        Some((source, header))
    }

    /// The definition in another file that an import of this file's module leads to.
    pub(super) fn imported(&self, name: &str, kind: BlockKind) -> Option<Unit<'db>> {
        let imports = imported(self.db, self.unit.file(self.db), Name::new(self.db, name.to_owned()), self.program);
        imports.into_iter().find(|unit| unit.key(self.db).kind == kind)
    }
}

/// The function or class that an import at the top of a file leads to, through files that import it themselves.
#[salsa::tracked(returns(copy), cycle_initial = made_of_itself)]
pub(super) fn imported<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: Name<'db>,
    program: Program,
) -> Option<Unit<'db>> {
    let statements = statements_of(db, file, None).iter();
    let bindings = statements.map(|&unit| eval::binding(syntax(db, unit), name.text(db)));
    let import = bindings.into_iter().find_map(|binding| match binding {
        Binding::Import { level, module, original } => Some((level, module, original)),
        _ => None,
    });
    let (source, original) = match import {
        Some((level, module, original)) => (module_file(db, file, level, Name::new(db, module))?, original),
        None => (star_of(db, file, name)?, name.text(db).clone()),
    };
    defined(db, source, &original, BlockKind::Function)
        .or_else(|| defined(db, source, &original, BlockKind::ClassHeader))
        .or_else(|| imported(db, source, Name::new(db, original.clone()), program))
        .or_else(|| function_of_factory(db, source, Name::new(db, original), program))
}

/// The function that a name at the top of a file refers to, if a factory without parameters makes it.
#[salsa::tracked(returns(copy), cycle_result = made_of_itself)]
pub(super) fn function_of_factory<'db>(
    db: &'db dyn salsa::Database,
    file: SourceFile,
    name: Name<'db>,
    program: Program,
) -> Option<Unit<'db>> {
    let statements = statements_of(db, file, None).iter();
    let mut bindings = statements.map(|&unit| (unit, eval::binding(syntax(db, unit), name.text(db))));
    let (unit, value) = bindings.find_map(|(unit, binding)| match binding {
        Binding::Once(value) => Some((unit, value)),
        _ => None,
    })?;
    let ast = syntax(db, unit);
    let Expr::Call { func, args } = ast.expr(value) else { return None };
    let factory = defined(db, file, ast.name(*func).filter(|_| args.is_empty())?, BlockKind::FunctionHeader)?;
    let scope = UnitScope { program, ..UnitScope::new(db, factory) };
    let returned = factories::returned(&factories::whole(db, factory), &scope)?;
    // Both branches of a factory may define the same name: the place among them says which one it is.
    let mut inner = units(db, file).iter().copied().filter(|unit| {
        let key = unit.key(db);
        let is_function = matches!(key.kind, BlockKind::Function | BlockKind::FunctionHeader);
        is_function && unit.parent(db) == Some(factory) && key.name() == returned.name
    });
    inner.nth(returned.place).filter(|unit| unit.key(db).kind == BlockKind::Function)
}

/// An import of itself, or a factory that calls what it makes, leads to nothing.
pub(super) fn made_of_itself<'db>(
    _: &'db dyn salsa::Database,
    _: salsa::Id,
    _: SourceFile,
    _: Name<'db>,
    _: Program,
) -> Option<Unit<'db>> {
    None
}

impl Scope for UnitScope<'_> {
    fn outer(&self) -> Option<&dyn Scope> {
        None
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        let (db, unit) = (self.db, self.unit);
        let name = Name::new(db, name.to_owned());
        remembered(|| constant(db, unit.file(db), self.around(), name, self.links, self.program))
    }

    fn function(&self, name: &str) -> Option<FunctionSource> {
        let db = self.db;
        let found = remembered(|| self.function_unit(name))?;
        let place = (found.file(db).path(db).as_str().into(), found.key(db).clone());
        Some(FunctionSource { ast: syntax(db, found).clone(), place: Some(place) })
    }

    fn defining_scope(&self, function: &str) -> Option<Box<dyn Scope + '_>> {
        Some(Box::new(UnitScope { unit: remembered(|| self.defining_unit(function))?, now: None, ..*self }))
    }

    fn argument(&self, param: &str) -> Option<Constant> {
        let mut given = remembered(|| shapes::given(self.db, self.unit)).iter();
        given.find(|given| given.param == param).map(|given| given.tensor.constant())
    }

    fn module_member(&self, module: &str, member: &str) -> Option<Constant> {
        let (db, file) = (self.db, self.file_of_module(module)?);
        remembered(|| {
            let patched = patched(db, self.program, file, member, self.now, self.links);
            let program = self.program.seen_from(db, file);
            patched.or_else(|| constant(db, file, None, Name::new(db, member.to_owned()), self.links, program))
        })
    }

    fn module(&self, name: &str) -> Option<String> {
        module_of_name(self.db, self.unit.file(self.db), Name::new(self.db, name.to_owned()))
    }

    fn class(&self, name: &str) -> Option<(ClassSource, Box<dyn Scope + '_>)> {
        let (source, unit) = remembered(|| self.class_source(name))?;
        Some((source, Box::new(UnitScope { unit, ..*self })))
    }

    fn imports(&self) -> Option<&Imports> {
        Some(reexports::imports(self.db, self.unit.file(self.db)))
    }

    fn language_name(&self, path: &[&str]) -> Option<Constant> {
        libraries::name(self.db, (self.unit.file(self.db), self.program.device), path, Reader::Kernel)
    }

    fn language_call(&self, path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        libraries::call(self.db, (self.unit.file(self.db), self.program.device), path, arguments, Reader::Kernel)
    }
}
