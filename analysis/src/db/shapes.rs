//! Shapes of the tensors that a `@pl.jit` function is called with, where its annotations leave them open: out of a scenario
//! comment, else of the configuration, else of the calls in the same file.

use std::cell::Cell;
use std::sync::Arc;

use tilelens_syntax::BlockKind;
use tilelens_syntax::ast::{Arg, Ast, Expr, ExprId, Function, Stmt};

use crate::eval::{self, Constant};
use crate::ir::{Dtype, Scalar, TensorLayout, TensorType};

use super::{Settings, Unit, UnitScope, syntax, units};

/// The tensor that a parameter is, and where that is known from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) param: String,
    pub(crate) tensor: TensorType,
    /// For people: "the scenario comment".
    pub(crate) origin: String,
}

impl TensorType {
    /// `[4096, 7168] bf16`
    pub(crate) fn from_text(text: &str) -> Option<TensorType> {
        let (extents, dtype) = text.trim().strip_prefix('[')?.split_once(']')?;
        let extents: Option<Vec<i64>> = extents.split(',').map(|extent| extent.trim().parse().ok()).collect();
        TensorType::plain(&extents?, dtype_of(dtype.trim())?)
    }

    fn plain(extents: &[i64], dtype: Dtype) -> Option<TensorType> {
        let is_plain = !extents.is_empty() && extents.iter().all(|&extent| extent > 0);
        is_plain.then(|| TensorType {
            shape: extents.iter().map(|&extent| Scalar::Int(extent)).collect(),
            dtype: Some(dtype),
            layout: TensorLayout::Nd,
            is_output: false,
            rank_known: true,
        })
    }
}

/// What is known of the parameters of a function beyond their annotations. A comment speaks before the configuration, and that
/// before calls.
#[salsa::tracked(returns(ref))]
pub(crate) fn given<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Given>> {
    let mut given = from_comments(&unit.source(db).text);
    let ast = syntax(db, unit);
    if let Some(function) = function(ast)
        && let Some(name) = ast.name(function.name)
    {
        for other in configured(db, name).into_iter().chain(from_calls(db, unit, ast, function, name)) {
            if !given.iter().any(|known| known.param == other.param) {
                given.push(other);
            }
        }
    }
    Arc::new(given)
}

fn function(ast: &Ast) -> Option<&Function> {
    ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => Some(function),
        _ => None,
    })
}

/// What the setting `shapes` says of a function.
fn configured(db: &dyn salsa::Database, function: &str) -> Vec<Given> {
    let settings = Settings::try_get(db).and_then(|settings| settings.config(db).shapes.get(function));
    let given = settings.into_iter().flatten().map(|(param, tensor)| Given {
        param: param.clone(),
        tensor: tensor.clone(),
        origin: format!("the setting `shapes.{function}.{param}`"),
    });
    given.collect()
}

/// `# tilelens: x=[4096, 7168] bf16, y=[64] fp32`
fn from_comments(text: &str) -> Vec<Given> {
    let mut given = Vec::new();
    let comments = text.lines().filter_map(|line| line.split_once("# tilelens:"));
    for (_, comment) in comments {
        let mut rest = comment;
        while let Some((before, behind)) = rest.split_once('[') {
            let Some((extents, after)) = behind.split_once(']') else { break };
            rest = after;
            let param = before.trim_end().strip_suffix('=').map(str::trim_end).unwrap_or_default();
            let param = param.rsplit([' ', ',', '\t']).next().unwrap_or_default();
            let dtype = after.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let tensor = TensorType::from_text(&format!("[{extents}] {dtype}"));
            if let (Some(tensor), false) = (tensor, param.is_empty()) {
                let origin = "the scenario comment".to_owned();
                given.push(Given { param: param.to_owned(), tensor, origin });
            }
        }
    }
    given
}

/// An element type by the names of PyPTO, of PyTorch, and in short.
fn dtype_of(name: &str) -> Option<Dtype> {
    Some(match name {
        "bfloat16" => Dtype::Bf16,
        "float16" | "half" => Dtype::Fp16,
        "float32" | "float" => Dtype::Fp32,
        "long" => Dtype::Int64,
        "int" => Dtype::Int32,
        _ => return Dtype::from_name(&name.to_uppercase()),
    })
}

/// What plain calls in the same file pass. Calls that differ say nothing.
fn from_calls<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    ast: &Ast,
    function: &Function,
    name: &str,
) -> Vec<Given> {
    let called = format!("{name}(");
    let params: Vec<&str> = function.params.iter().filter_map(|param| ast.name(param.name)).collect();
    let mut found: Vec<(Given, bool)> = Vec::new();
    let callers = units(db, unit.file(db)).iter().copied().filter(|caller| {
        let kind = caller.key(db).kind;
        *caller != unit
            && matches!(kind, BlockKind::Function | BlockKind::FunctionHeader | BlockKind::Statements)
            && caller.source(db).text.contains(&called)
    });
    for caller in callers {
        let (syntax, scope) = (syntax(db, caller), UnitScope { db, unit: caller });
        let calls = syntax.exprs().filter_map(|(_, expr)| match expr {
            Expr::Call { func, args } if syntax.name(*func) == Some(name) => Some(args),
            _ => None,
        });
        for args in calls {
            for (param, value) in passed(&params, args) {
                let Some(tensor) = torch_tensor(syntax, value, &scope) else { continue };
                let place = match caller.key(db).path.rsplit('.').next() {
                    Some(path) if !path.is_empty() => format!("the call in `{path}`"),
                    _ => "the call in this file".to_owned(),
                };
                let given = Given { param: param.to_owned(), tensor, origin: place };
                match found.iter_mut().find(|(known, _)| known.param == given.param) {
                    Some((known, agree)) => *agree &= known.tensor == given.tensor,
                    None => found.push((given, true)),
                }
            }
        }
    }
    found.into_iter().filter(|(_, agree)| *agree).map(|(given, _)| given).collect()
}

fn passed<'p>(params: &[&'p str], args: &[Arg]) -> Vec<(&'p str, ExprId)> {
    let mut positional = 0;
    let mut passed = Vec::new();
    for arg in args {
        let param = match &arg.keyword {
            Some(keyword) => params.iter().find(|param| *param == keyword),
            None => {
                positional += 1;
                params.get(positional - 1)
            }
        };
        passed.extend(param.map(|param| (*param, arg.value)));
    }
    passed
}

/// `torch.randn(64, 128, dtype=torch.bfloat16)` and the like, written there or bound to a name once.
fn torch_tensor(ast: &Ast, expr: ExprId, scope: &UnitScope) -> Option<TensorType> {
    let (func, args) = match ast.expr(expr) {
        Expr::Call { func, args } => (*func, args),
        Expr::Name(name) => return torch_tensor(ast, assigned_before(ast, name, expr)?, scope),
        _ => return None,
    };
    let path = ast.dotted(func)?;
    if let ["torch", "zeros_like" | "ones_like" | "empty_like" | "randn_like" | "rand_like"] = path.as_slice() {
        let model = args.first().filter(|_| args.len() == 1)?.value;
        return torch_tensor(ast, model, scope);
    }
    let ["torch", "randn" | "rand" | "zeros" | "ones" | "empty" | "full" | "randint"] = path.as_slice() else {
        return None;
    };
    let keyword = |name: &str| args.iter().find(|arg| arg.keyword.as_deref() == Some(name)).map(|arg| arg.value);
    let positional: Vec<ExprId> = args.iter().filter(|arg| arg.keyword.is_none()).map(|arg| arg.value).collect();
    let dtype = match keyword("dtype") {
        Some(dtype) => dtype_of(ast.dotted(dtype)?.last()?)?,
        // `randint` and `full` take it from their values.
        None if matches!(path[1], "randint" | "full") => return None,
        None => Dtype::Fp32,
    };
    let local = local(ast, scope);
    // The extents are a tuple, or the arguments themselves.
    let values: Vec<Constant> = positional.iter().map(|&value| eval::evaluate(ast, value, &local)).collect();
    let list = values.iter().find_map(|value| match value {
        Constant::List(extents) | Constant::Tuple(extents) => Some(extents.clone()),
        _ => None,
    });
    let extents = match (list, path[1]) {
        (Some(extents), _) => extents,
        (None, "randint" | "full") => return None,
        (None, _) => values,
    };
    let shape: Option<Vec<i64>> = extents
        .iter()
        .map(|extent| match extent {
            Constant::Int(extent) => Some(*extent),
            _ => None,
        })
        .collect();
    TensorType::plain(&shape?, dtype)
}

/// The value that a name has at an expression: of the last assignment before it.
fn assigned_before(ast: &Ast, name: &str, before: ExprId) -> Option<ExprId> {
    let values = ast.stmts().filter_map(|(_, stmt)| match stmt {
        Stmt::Assign { targets, value, .. } if targets.iter().any(|&target| ast.name(target) == Some(name)) => *value,
        _ => None,
    });
    let value = values.filter(|&value| value < before).max()?;
    (!matches!(ast.expr(value), Expr::Name(_))).then_some(value)
}

/// The value of a name that a block assigns once, wherever: calls stand under `if __name__ == "__main__"`.
fn assigned_once(ast: &Ast, name: &str) -> Option<ExprId> {
    let mut values = ast.stmts().filter_map(|(_, stmt)| match stmt {
        Stmt::Assign { targets, value, .. } if targets.iter().any(|&target| ast.name(target) == Some(name)) => *value,
        _ => None,
    });
    let value = values.next()?;
    let is_itself = matches!(ast.expr(value), Expr::Name(_));
    (values.next().is_none() && !is_itself).then_some(value)
}

/// The names that the calling function binds, before those around it.
fn local<'s>(ast: &'s Ast, scope: &'s UnitScope<'s>) -> Local<'s> {
    Local { ast, scope, depth: Cell::new(0) }
}

struct Local<'s> {
    ast: &'s Ast,
    scope: &'s UnitScope<'s>,
    /// Names that are being followed.
    depth: Cell<u32>,
}

/// Names that are defined through more names than these are not followed, and none through itself.
const LONGEST_CHAIN: u32 = 16;

impl eval::Scope for Local<'_> {
    fn constant(&self, name: &str) -> Option<Constant> {
        if self.depth.get() >= LONGEST_CHAIN {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let bound = assigned_once(self.ast, name).map(|value| eval::evaluate(self.ast, value, self));
        self.depth.set(self.depth.get() - 1);
        bound.filter(|value| !matches!(value, Constant::Unknown(_))).or_else(|| self.scope.constant(name))
    }

    fn function(&self, name: &str) -> Option<eval::FunctionSource> {
        self.scope.function(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_give_shapes() {
        let shapes = |text| {
            let given = from_comments(text);
            given.into_iter().map(|given| (given.param, given.tensor)).collect::<Vec<_>>()
        };
        let tensor = |text| TensorType::from_text(text).expect("it is one");
        assert_eq!(
            shapes("# tilelens: x=[4096, 7168] bf16, y = [64] FP32\n@pl.jit\ndef f(x, y): ..."),
            [("x".to_owned(), tensor("[4096, 7168] bf16")), ("y".to_owned(), tensor("[64] fp32"))]
        );
        assert_eq!(shapes("# tilelens: HEAD_DIM=128 desc=bf16 arch=sm_100"), []);
        assert_eq!(shapes("# tilelens: x=[M, 64] bf16, y=[64, 64"), []);
    }
}
