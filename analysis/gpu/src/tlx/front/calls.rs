//! Calls: the functions of TLX that are looked at, and helpers.

use tilefit_syntax::ast::{Arg, Expr, ExprId, Function};

use tilefit_python::eval::{self, Constant};
use tilefit_python::finding::{Note, Origin, Reason};

use super::super::kernel::Pair;
use super::super::language::Storage;
use super::expressions::is_element;
use super::{Bound, DEEPEST_CALL, Frame, Front, Names, Value, mentions_tlx};
use crate::scenario;

impl Front {
    pub(super) fn call(&mut self, frame: &mut Frame<'_>, expr: ExprId, func: ExprId, args: &[Arg]) -> Value {
        if let Some(canonical) = self.canonical(frame, func) {
            return self.triton_call(frame, expr, &canonical, args);
        }
        let ast = frame.ast;
        if let Expr::Attribute { value, name } = ast.expr(func) {
            let base = self.value(frame, *value);
            if let Value::Spec(spec) = base
                && name == "set_buffer_overlap"
            {
                self.set_buffer_overlap(frame, expr, spec, args);
                return Value::Constant(Constant::None);
            }
        }
        let values: Vec<_> = args.iter().map(|arg| self.value(frame, arg.value)).collect();
        if let Some(path) = ast.dotted(func).filter(|path| path.len() <= 2 && !frame.names.contains_key(path[0]))
            && let name = path.join(".")
            && let Some(source) = frame.scope.function(&name)
            && let Some(helper) = scenario::function(&source.ast)
        {
            let elsewhere = frame.scope.defining_scope(&name);
            let scope = elsewhere.as_deref().unwrap_or(frame.scope);
            let imports = elsewhere.as_deref().and_then(|scope| scope.imports()).unwrap_or(frame.imports);
            if scenario::is_jit(&source.ast, imports, helper)
                && (values.iter().any(Value::holds_memory) || mentions_tlx(&source.ast, imports))
            {
                let names = Names::new();
                let call_site = Some(self.at(frame, expr));
                for Note { reason, .. } in frame.scope.notes(Some(&name)) {
                    self.note(self.at(frame, expr), Reason::new(format!("{reason} in `{name}`")));
                }
                let inner = Frame { ast: &source.ast, scope, imports, names, call_site, returned: None, done: false };
                return self.helper(inner, helper, args, values);
            }
        }
        self.kernel.hides_scales |= values.iter().any(Value::holds_memory);
        Value::Constant(self.evaluate(frame, expr))
    }

    /// Follows a helper in a new frame of its own, so that what it allocates and returns is known.
    fn helper(&mut self, mut frame: Frame<'_>, helper: &Function, args: &[Arg], values: Vec<Value>) -> Value {
        let ast = frame.ast;
        let name = ast.name(helper.name).unwrap_or_default();
        if self.depth == DEEPEST_CALL {
            let at = frame.call_site.unwrap_or(Origin::Expr(helper.name));
            self.note(at, Reason::new(format!("calls of `{name}` are nested too deeply")));
            return Value::unknown(format!("calls of `{name}` are nested too deeply"));
        }
        for (i, param) in helper.params.iter().enumerate() {
            let Some(param_name) = ast.name(param.name) else { continue };
            let by_keyword = args.iter().position(|arg| arg.keyword.as_deref() == Some(param_name));
            let given = by_keyword.or_else(|| args.get(i).filter(|arg| arg.keyword.is_none()).map(|_| i));
            let value = match (given.and_then(|i| values.get(i)), param.default) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => Value::Constant(eval::evaluate(ast, default, frame.scope)),
                (None, None) => Value::unknown(format!("`{param_name}` is not passed to `{name}`")),
            };
            frame.names.insert(param_name.to_owned(), Bound { value, plain: false });
        }
        let naming = self.naming.take();
        self.depth += 1;
        self.body(&mut frame, &helper.body);
        self.depth -= 1;
        self.naming = naming;
        frame.returned.unwrap_or(Value::Constant(Constant::None))
    }

    pub(super) fn triton_call(&mut self, frame: &mut Frame<'_>, expr: ExprId, canonical: &str, args: &[Arg]) -> Value {
        match canonical {
            "tlx.storage_alias_spec" => self.storage_alias_spec(frame, expr, args),
            "tlx.local_alloc" => self.local_alloc(frame, expr, args),
            "tlx.reuse_group" => self.reuse_group(frame, expr, args),
            "tlx.alloc_barriers" => self.barriers(frame, expr, args),
            "tlx.alloc_warp_barrier" => self.warp_barriers(frame, expr, args),
            "tlx.clc_create_context" => self.clc_context(frame, expr, args),
            "tlx.local_view" => self.local_view(frame, expr, args),
            "tlx.local_slice" => self.local_slice(frame, expr, args),
            "tlx.subslice" => self.subslice(frame, expr, args),
            "tlx.local_trans" => self.local_trans(frame, expr, args),
            "tlx.local_reshape" => self.local_reshape(frame, expr, args),
            "tlx.local_reinterpret" => self.local_reinterpret(frame, expr, args),
            "tlx.remote_view" => self.remote_view(frame, args),
            "tlx.async_dot" => self.dot(frame, args, false),
            "tlx.async_dot_scaled" => self.dot(frame, args, true),
            "tlx.tmem_copy" => {
                for arg in args {
                    let value = self.value(frame, arg.value);
                    self.holds_scales(&value);
                }
                Value::Constant(Constant::None)
            }
            "tl.static_assert" => {
                if let Some(condition) = args.first() {
                    let value = self.evaluate(frame, condition.value);
                    if eval::truth(&value) == Some(false) && self.uncertain.is_none() {
                        self.kernel.contradiction = self.kernel.contradiction.or(Some(condition.value));
                    }
                }
                Value::Constant(Constant::None)
            }
            "tlx.dtype_of" => match args.first().map(|arg| self.value(frame, arg.value)) {
                Some(Value::Buffer { id, .. }) => Value::Constant(match &self.kernel.buffer(id).dtype {
                    Ok(dtype) => dtype.constant(),
                    Err(reason) => Constant::Unknown(reason.clone()),
                }),
                Some(element) if is_element(&element) => element,
                _ => Value::Constant(self.evaluate(frame, expr)),
            },
            _ => {
                if canonical == "tlx.async_tasks" || canonical == "tlx.async_task" {
                    self.kernel.warp_specialized = true;
                }
                let values: Vec<_> = args.iter().map(|arg| self.value(frame, arg.value)).collect();
                if canonical == "tl.tuple"
                    && let Some(sequence @ Value::Sequence(_)) = values.into_iter().next()
                {
                    return sequence;
                }
                Value::Constant(self.evaluate(frame, expr))
            }
        }
    }

    fn holds_scales(&mut self, value: &Value) {
        match value {
            Value::Buffer { id, .. } => self.kernel.buffers[id.0 as usize].scales = true,
            Value::Either { values, .. } => values.iter().for_each(|value| self.holds_scales(value)),
            _ => self.kernel.hides_scales = true,
        }
    }

    /// A product over two CTAs gives its 64-row accumulator, and its operand in tensor memory, other layouts.
    pub(super) fn dot(&mut self, frame: &mut Frame<'_>, args: &[Arg], scaled: bool) -> Value {
        let values: Vec<_> = args.iter().map(|arg| self.value(frame, arg.value)).collect();
        let named = |name: &str, position: usize| {
            let by_keyword = args.iter().position(|arg| arg.keyword.as_deref() == Some(name));
            by_keyword.or_else(|| args.get(position).filter(|arg| arg.keyword.is_none()).map(|_| position))
        };
        for scale in [named("A_scale", 3), named("B_scale", 5)].into_iter().flatten().filter(|_| scaled) {
            self.holds_scales(&values[scale]);
        }
        let pair = named("two_ctas", usize::MAX).map(|i| &values[i]);
        let buffer = |position: Option<usize>| match position.and_then(|i| values.get(i)) {
            Some(Value::Buffer { id, .. }) => Some(*id),
            _ => None,
        };
        let over_two = match pair {
            None => Some(false),
            Some(Value::Constant(constant)) => eval::truth(constant),
            Some(_) => None,
        };
        if let (Some(acc), Some(true)) = (buffer(named("acc", 2)), over_two) {
            let rows = self.kernel.buffer(acc).shape.as_ref().ok().and_then(|shape| shape.first().copied());
            if rows == Some(64) && self.kernel.buffer(acc).storage == Ok(Storage::Tmem) {
                self.kernel.buffers[acc.0 as usize].pair = Pair::Rhs;
                if let Some(lhs) =
                    buffer(named("A", 0)).filter(|&lhs| self.kernel.buffer(lhs).storage == Ok(Storage::Tmem))
                {
                    self.kernel.buffers[lhs.0 as usize].pair = Pair::Lhs;
                }
            }
        }
        Value::unknown("the result of a product")
    }
}
