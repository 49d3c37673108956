//! Objects of data classes: the usual form of a model's configuration.

use std::sync::Arc;

use tilefit_syntax::ast::{Arg, Ast, ExprId, Function, Stmt, StmtId};

use super::{
    Argument, Assumption, Constant, Evaluator, FunctionSource, Parts, Scope, VALUES_A_CALL, Weighed, decorator_name,
    functions, unknown,
};
use crate::finding::Reason;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    class: String,
    fields: Parts<(String, Constant)>,
    /// What the properties come to.
    properties: Parts<(String, Constant)>,
    methods: Arc<Vec<Arc<Ast>>>,
}

impl Weighed for Record {
    fn weight(&self) -> usize {
        self.fields.weight().saturating_add(self.properties.weight())
    }

    fn depth(&self) -> u32 {
        self.fields.depth().max(self.properties.depth())
    }
}

/// What `object.name` is; `None` for objects that tilefit does not look into.
pub(super) fn member(object: Constant, name: &str) -> Option<Constant> {
    match object {
        Constant::Record(Record { class, fields, properties, .. }) => {
            let member = fields.iter().chain(&properties).find(|(member, _)| member == name);
            let missing = || unknown(format!("`{class}` has no field `{name}`"));
            Some(member.map_or_else(missing, |(_, value)| value.clone()))
        }
        Constant::Unknown(reason) => Some(Constant::Unknown(reason)),
        Constant::Object(object) => object.member(name),
        _ => None,
    }
}

/// `Config(rows=64, …)` of a class that the decorator `dataclass` gives its constructor.
pub(super) fn construct(caller: &Evaluator, name: &str, args: &[Arg]) -> Constant {
    caller.count(VALUES_A_CALL);
    let Some((class, class_scope)) = caller.scope.class(name) else {
        return unknown(format!("`{name}` is not a class"));
    };
    let header = class.header.as_ref();
    let Some(body) = data_class(header) else {
        return unknown(format!("calls `{name}`, which is not a data class, and tilefit does not evaluate it"));
    };
    let mut fields: Vec<(String, Constant)> = Vec::new();
    let mut positional = args.iter().filter(|arg| arg.keyword.is_none());
    for (field, default) in body.iter().filter_map(|&stmt| field(header, stmt)) {
        let given = args.iter().find(|arg| arg.keyword.as_deref() == Some(field)).or_else(|| positional.next());
        let value = match (given, default) {
            (Some(arg), _) => caller.value(arg.value),
            (None, Some(default)) => {
                let inside = Evaluator { ast: header, scope: &*class_scope, arguments: &[], ..*caller };
                inside.value(default)
            }
            (None, None) => Constant::Unknown(Reason::new(format!("`{name}` is created without its field `{field}`"))),
        };
        fields.push((field.to_owned(), value));
    }
    let (fields, methods) = (fields.into(), Arc::new(class.methods));
    let mut record = Record { class: name.to_owned(), fields, properties: Parts::default(), methods };
    record.properties = properties(caller, &record, &*class_scope);
    Constant::Record(record)
}

/// `dataclasses.replace(object, rows=64, …)`
pub(super) fn replace(caller: &Evaluator, args: &[Arg]) -> Constant {
    let Some(object) = args.first().filter(|arg| arg.keyword.is_none()) else {
        return unknown("`replace` without an object");
    };
    let mut record = match caller.value(object.value) {
        Constant::Record(record) => record,
        Constant::Unknown(reason) => return Constant::Unknown(reason),
        _ => return unknown("`replace` of a value that is not a data class"),
    };
    for arg in args.iter().skip(1) {
        let is_it = |(field, _): &(String, Constant)| Some(field) == arg.keyword.as_ref();
        let Some(place) = record.fields.iter().position(is_it) else {
            return unknown("`replace` of a field that does not exist");
        };
        let value = caller.value(arg.value);
        record.fields.edit(|fields| fields[place].1 = value);
    }
    record.properties = properties(caller, &record, &Elsewhere(caller.scope));
    Constant::Record(record)
}

/// `object.name(args)`, of a method that needs nothing but the object.
pub(super) fn method(caller: &Evaluator, record: &Record, name: &str, args: &[Arg]) -> Constant {
    let methods = record.methods.iter().filter_map(|ast| Some((ast, functions::function(ast)?)));
    let found = methods.into_iter().find(|(ast, function)| ast.name(function.name) == Some(name));
    match found {
        Some((ast, function)) if args.is_empty() && function.decorators.is_empty() => {
            on_object(caller, record, ast, function, &Elsewhere(caller.scope))
        }
        _ => unknown(format!("calls `{}.{name}`, which tilefit does not evaluate", record.class)),
    }
}

/// `Class.name(args)`, of a class method of an enumeration; `None` where it is something else.
pub(super) fn class_method(caller: &Evaluator, class: &str, name: &str, args: &[Arg]) -> Option<Constant> {
    let (source, scope) = caller.scope.class(class)?;
    let members = members(caller, class, &source.header, &*scope)?;
    let is_it = |ast: &Ast, function: &Function| {
        let is_of_class = |&decorator: &ExprId| decorator_name(ast, decorator) == ["classmethod"];
        ast.name(function.name) == Some(name) && function.decorators.iter().all(is_of_class)
    };
    let methods = source.methods.iter().filter_map(|ast| Some((ast, functions::function(ast)?)));
    let (ast, function) = methods.into_iter().find(|(ast, function)| is_it(ast, function))?;
    let (receiver, params) = function.params.split_first().filter(|_| !function.decorators.is_empty())?;
    let values = caller.positional(args).ok().filter(|values| values.len() == params.len())?;
    let names = params.iter().map(|param| ast.name(param.name).unwrap_or_default().to_owned());
    let receiver = (ast.name(receiver.name)?.to_owned(), members);
    let arguments = std::iter::once(receiver).chain(names.zip(values)).collect();
    Some(functions::run(caller, ast, &*scope, function, arguments))
}

/// The members of an enumeration by their names, as `Class["NAME"]` finds them.
fn members(caller: &Evaluator, class: &str, header: &Ast, scope: &dyn Scope) -> Option<Constant> {
    let body = header.body.iter().find_map(|&stmt| match header.stmt(stmt) {
        Stmt::Class { bases, body, .. } => {
            let last = |base: &Arg| header.dotted(base.value)?.last().copied();
            bases.iter().any(|base| matches!(last(base), Some("Enum" | "IntEnum"))).then_some(body)
        }
        _ => None,
    })?;
    let inside = Evaluator { ast: header, scope, arguments: &[], ..*caller };
    let member = |stmt: &StmtId| match header.stmt(*stmt) {
        Stmt::Assign { targets, value: Some(value), .. } => {
            let name = Constant::Str(header.name(*targets.first()?)?.to_owned());
            let fields = [("name".to_owned(), name.clone()), ("value".to_owned(), inside.value(*value))];
            let fields = fields.into_iter().collect();
            let record =
                Record { class: class.to_owned(), fields, properties: Parts::default(), methods: Arc::default() };
            Some((name, Constant::Record(record)))
        }
        _ => None,
    };
    Some(Constant::Dict(body.iter().filter_map(member).collect()))
}

fn properties(caller: &Evaluator, record: &Record, class_scope: &dyn Scope) -> Parts<(String, Constant)> {
    let mut record = Record { properties: Parts::default(), ..record.clone() };
    let methods = record.methods.clone();
    for ast in methods.iter() {
        let Some(function) = functions::function(ast).filter(|function| is_property(ast, function)) else { continue };
        let value = on_object(caller, &record, ast, function, class_scope);
        record.properties.push((ast.name(function.name).unwrap_or_default().to_owned(), value));
    }
    record.properties
}

fn on_object(caller: &Evaluator, record: &Record, ast: &Ast, function: &Function, class_scope: &dyn Scope) -> Constant {
    match function.params.as_slice() {
        [receiver] => {
            let receiver = ast.name(receiver.name).unwrap_or_default().to_owned();
            functions::run(caller, ast, class_scope, function, vec![(receiver, Constant::Record(record.clone()))])
        }
        _ => unknown("a method with parameters"),
    }
}

/// The scope of a class that stands in another file: only what the object holds is known.
struct Elsewhere<'s>(&'s dyn Scope);

impl Scope for Elsewhere<'_> {
    fn outer(&self) -> Option<&dyn Scope> {
        None
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        Some(unknown(format!("`{name}` in the file of a data class")))
    }

    fn function(&self, _: &str) -> Option<FunctionSource> {
        None
    }

    fn assume(&self, assumption: Assumption) {
        self.0.assume(assumption);
    }

    fn language_name(&self, path: &[&str]) -> Option<Constant> {
        self.0.language_name(path)
    }

    fn language_call(&self, path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        self.0.language_call(path, arguments)
    }
}

/// The statements of a class that is decorated with `@dataclass`.
fn data_class(header: &Ast) -> Option<&[StmtId]> {
    let classes = header.body.iter().filter_map(|&stmt| match header.stmt(stmt) {
        Stmt::Class { decorators, body, .. } => Some((decorators, body)),
        _ => None,
    });
    let is_data_class = |decorator: &ExprId| decorator_name(header, *decorator).last() == Some(&"dataclass");
    classes.into_iter().find(|(decorators, _)| decorators.iter().any(is_data_class)).map(|(_, body)| body.as_slice())
}

/// `name: type = default`
fn field(header: &Ast, stmt: StmtId) -> Option<(&str, Option<ExprId>)> {
    match header.stmt(stmt) {
        Stmt::Assign { targets, annotation: Some(_), value } => {
            targets.first().and_then(|&target| header.name(target)).map(|name| (name, *value))
        }
        _ => None,
    }
}

fn is_property(method: &Ast, function: &Function) -> bool {
    function.decorators.iter().any(|&decorator| decorator_name(method, decorator) == ["property"])
}
