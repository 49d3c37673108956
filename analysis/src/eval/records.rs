//! Objects of data classes: the usual form of a model's configuration.

use tilelens_syntax::ast::{Arg, Ast, ExprId, Function, Stmt};

use super::{Constant, Evaluator, single_return, unknown};
use crate::ir::Reason;

/// What `object.name` is; `None` for objects that tilelens does not look into.
pub(super) fn member(object: Constant, name: &str) -> Option<Constant> {
    match object {
        Constant::Record(fields) => {
            let field = fields.into_iter().find(|(field, _)| field == name);
            Some(field.map_or_else(|| unknown(format!("there is no field `{name}`")), |(_, value)| value))
        }
        Constant::Unknown(reason) => Some(Constant::Unknown(reason)),
        _ => None,
    }
}

/// `Config(rows=64, …)` of a class that the decorator `dataclass` gives its constructor.
pub(super) fn construct(caller: &Evaluator, name: &str, args: &[Arg]) -> Constant {
    let Some((class, home)) = caller.scope.class(name) else { return unknown(format!("`{name}` is no class")) };
    let header = class.header.as_ref();
    let Some(body) = data_class(header) else {
        return unknown(format!("calls `{name}`, which is no data class, and tilelens does not run it"));
    };
    let mut fields: Vec<(String, Constant)> = Vec::new();
    let mut positional = args.iter().filter(|arg| arg.keyword.is_none());
    for (field, default) in body.iter().filter_map(|&stmt| field(header, stmt)) {
        let given = args.iter().find(|arg| arg.keyword.as_deref() == Some(field)).or_else(|| positional.next());
        let value = match (given, default) {
            (Some(arg), _) => caller.value(arg.value),
            (None, Some(default)) => {
                let inside = Evaluator { ast: header, scope: &*home, arguments: &[], ..*caller };
                inside.value(default)
            }
            (None, None) => Constant::Unknown(Reason(format!("`{name}` is made without its field `{field}`"))),
        };
        fields.push((field.to_owned(), value));
    }
    for method in &class.methods {
        let Some((property, result)) = single_return(method).filter(|(function, _)| is_property(method, function))
        else {
            continue;
        };
        let Some(receiver) = property.params.first().and_then(|param| method.name(param.name)) else { continue };
        let arguments = [(receiver.to_owned(), Constant::Record(fields.clone()))];
        let inside = Evaluator { ast: method, scope: &*home, arguments: &arguments, ..*caller };
        let value = inside.value(result);
        fields.push((method.name(property.name).unwrap_or_default().to_owned(), value));
    }
    Constant::Record(fields)
}

/// `dataclasses.replace(object, rows=64, …)`
pub(super) fn replace(caller: &Evaluator, args: &[Arg]) -> Constant {
    let Some(object) = args.first().filter(|arg| arg.keyword.is_none()) else {
        return unknown("`replace` without an object");
    };
    let mut fields = match caller.value(object.value) {
        Constant::Record(fields) => fields,
        Constant::Unknown(reason) => return Constant::Unknown(reason),
        _ => return unknown("`replace` of something that is no data class"),
    };
    for arg in args.iter().skip(1) {
        let Some((_, value)) = fields.iter_mut().find(|(field, _)| Some(field) == arg.keyword.as_ref()) else {
            return unknown("`replace` of a field that is not there");
        };
        *value = caller.value(arg.value);
    }
    Constant::Record(fields)
}

/// The statements of a class that is decorated with `@dataclass`.
fn data_class(header: &Ast) -> Option<&[tilelens_syntax::ast::StmtId]> {
    let classes = header.body.iter().filter_map(|&stmt| match header.stmt(stmt) {
        Stmt::Class { decorators, body, .. } => Some((decorators, body)),
        _ => None,
    });
    let is_data_class = |decorator: &ExprId| names(header, *decorator).last() == Some(&"dataclass");
    classes.into_iter().find(|(decorators, _)| decorators.iter().any(is_data_class)).map(|(_, body)| body.as_slice())
}

/// `name: type = default`
fn field(header: &Ast, stmt: tilelens_syntax::ast::StmtId) -> Option<(&str, Option<ExprId>)> {
    match header.stmt(stmt) {
        Stmt::Assign { targets, annotation: Some(_), value } => {
            targets.first().and_then(|&target| header.name(target)).map(|name| (name, *value))
        }
        _ => None,
    }
}

fn is_property(method: &Ast, function: &Function) -> bool {
    function.decorators.iter().any(|&decorator| names(method, decorator) == ["property"])
}

/// The dotted name of a decorator, whether it is called or not.
fn names(ast: &Ast, decorator: ExprId) -> Vec<&str> {
    let name = match ast.expr(decorator) {
        tilelens_syntax::ast::Expr::Call { func, .. } => *func,
        _ => decorator,
    };
    ast.dotted(name).unwrap_or_default()
}
