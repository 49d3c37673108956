//! Calls of operations: which row of the table a call is, and its arguments in the order of the IR.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use tilefit_python::diagnostics::Code;
use tilefit_python::element::Pad;
use tilefit_python::eval::{self, Argument, Constant, FunctionSource};
use tilefit_python::finding::Reason;
use tilefit_python::torch::Known;
use tilefit_syntax::ast::{Arg, Ast, ExprId, Function, Param as Declared, Stmt, last_name};

use super::arguments::IGNORED;
use super::body::{HostValue, Inlined, Lowering, Rhs, Term, keyword, unknown};
use super::constants;
use super::legacy::{Notation, Reduction, removed, renamed};
use super::pre_ssa::{InlinedFunction, Statement};
use super::renaming::Renames;
use super::specialised::Meta;
use super::stated_type::Annotation;
use super::{Kind, kind};
use crate::ir::{
    self, Attr, AttrName, BLayout, Call, Operand, Role, SLayout, Scalar, ScalarBinary, ScalarUnary, SplitMode,
    TensorLayout, TensorType, Type, Value, Var, VarId, Why,
};
use crate::ops::{
    self, BarrierMode, Category, Coalesce, CoreType, NotifyOp, OpId, Param, Pipe, Preset, Slot, WaitCmp, When,
};
use crate::passes::tensor_to_tile;
use crate::target::Space;
use crate::typing::{self, Problem, notation, scalar};

impl Lowering<'_> {
    pub(super) fn call(&mut self, expr: ExprId, func: ExprId, args: &[Arg]) -> Rhs {
        let Some(path) = self.ast.dotted(func) else {
            self.note(expr, "calls the result of an expression".to_owned());
            return unknown("calls the result of an expression");
        };
        match path.as_slice() {
            ["pl", "const"] => Rhs::Term(self.typed_constant(expr, args)),
            ["pl", _, "get_byte"] | ["pl", "dynamic" | "MemRef"] => Rhs::Term(self.outer(expr)),
            ["pl", "dim"] | ["pl", "tensor", "dim"] => Rhs::Term(self.dim(args)),
            ["pl", "tile", "sum"] => self.reduction_of_axis(expr, (Reduction::Sum, Notation::Tile), args),
            ["pl", "tile", "max"] if keyword(args, "axis").is_some() => {
                self.reduction_of_axis(expr, (Reduction::Max, Notation::Tile), args)
            }
            ["pl", "tile", "min"] if keyword(args, "axis").is_some() => {
                self.reduction_of_axis(expr, (Reduction::Min, Notation::Tile), args)
            }
            ["pl", "min" | "max"] | ["pl", "tile", "min" | "max"] => {
                let (op, sign) = match path.last() {
                    Some(&"min") => (ScalarBinary::Min, "pl.min"),
                    _ => (ScalarBinary::Max, "pl.max"),
                };
                match args {
                    [left, right] => {
                        let operands = [left, right].map(|arg| self.expression(arg.value));
                        if let Some(ty) = operands.iter().map(|term| self.term_type(term)).find(is_block) {
                            let message = format!(
                                "`{sign}` works on scalars, but this operand is {}; write `{sign}imum(a, b)`",
                                notation::kind(&ty)
                            );
                            self.reject(expr, Code::Rejected, message.clone());
                            return unknown(message);
                        }
                        let [left, right] = operands.map(|operand| self.to_scalar(operand));
                        Rhs::Term(self.combined(expr, sign, op, left, right))
                    }
                    _ => self.not_modelled(expr, &path),
                }
            }
            ["pl", "get_block_idx" | "get_block_num" | "get_subblock_idx"] => {
                let name = format!("tile.{}", path[1]);
                self.operation(expr, &name, ops::candidates(&name), args)
            }
            ["pl", name] => self.operation(expr, name, ops::candidates(name), args),
            // Scalars that live in registers, or on the stack of the scalar unit.
            ["pl", "array", _] if self.state.host => unknown("an array of the host code"),
            ["pl", "tensor", name] => {
                let name = if *name == "create" { "create_tensor" } else { name };
                self.operation(expr, name, ops::candidates(name), args)
            }
            ["pl", ..] => {
                let name = path[1..].join(".");
                self.operation(expr, &name, ops::candidates(&name), args)
            }
            ["pld", ..] => {
                let name = path.join(".");
                self.operation(expr, &name, ops::candidates(&name), args)
            }
            ["block", name] => self.block_call(expr, name, args),
            // Flags between the pipes hold no memory.
            ["sync", "set_flag" | "wait_flag"] => unknown("a flag has no value"),
            ["self", name] | [name] => self.function_call(expr, name, args),
            ["math", ..] => Rhs::Term(self.outer(expr)),
            _ => self.not_modelled(expr, &path),
        }
    }

    pub(super) fn not_modelled(&mut self, at: ExprId, path: &[&str]) -> Rhs {
        let reason = Reason::new(format!("`{}`", path.join(".")));
        self.note(at, reason.clone());
        unknown(reason)
    }

    /// `pl.const(0, pl.INT32)`: without it an integer is an index, a float FP32.
    fn typed_constant(&mut self, expr: ExprId, args: &[Arg]) -> Term {
        let term = self.outer(expr);
        let dtype = args.get(1).map(|arg| self.constant(arg.value));
        match (term, dtype) {
            (Term::Scalar(number), Some(Constant::Dtype(dtype))) if scalar::dtype(&number, &[]) != Some(dtype) => {
                Term::Scalar(Scalar::Const(dtype, Box::new(number)))
            }
            (term, _) => term,
        }
    }

    /// `pl.tensor.dim(x, 0)` is read at run time, also where the type gives a number; `x.shape[0]` is that number.
    fn dim(&mut self, args: &[Arg]) -> Term {
        let (Some(tensor), Some(axis)) = (args.first(), args.get(1)) else {
            return Term::Unknown(Reason::new("`pl.tensor.dim` takes a tensor and an axis"));
        };
        let tensor = self.expression(tensor.value);
        let axis = self.scalar(axis.value);
        match (tensor, axis) {
            (Term::Var(tensor), Scalar::Int(axis)) => {
                let rank = match self.ty(tensor) {
                    Type::Tensor(ty) if ty.rank_known => ty.shape.len() as i64,
                    _ => 0,
                };
                let axis = if axis < 0 { axis + rank } else { axis };
                Term::Scalar(Scalar::Dim { tensor, axis: u32::try_from(axis).unwrap_or(0) })
            }
            (Term::Unknown(reason), _) => Term::Unknown(reason),
            _ => Term::Scalar(Scalar::Unknown(Reason::new("an extent of a tensor"))),
        }
    }

    /// What a call of a kernel gives to the host: what its signature says, else the parameter that it returns.
    fn launched(&mut self, name: &str, source: &FunctionSource, function: &Function, args: &[Arg]) -> Rhs {
        let passed: Vec<(Option<&str>, Type)> = args
            .iter()
            .map(|arg| {
                let term = self.expression(arg.value);
                self.host_reads(arg.value, term.var());
                (arg.keyword.as_deref(), self.term_type(&term))
            })
            .collect();
        let argument = |(keyword, ty): &(Option<&str>, Type)| Argument {
            keyword: keyword.map(str::to_owned),
            value: tensor_constant(ty),
        };
        self.state.launches.push((name.to_owned(), passed.iter().map(argument).collect()));
        let renaming = Renames::default();
        let mut callee = Lowering::new(&source.ast, self.scope, &renaming);
        let types: Vec<Type> = match function.returns.map(|returns| callee.annotation(returns)) {
            Some(Annotation::Type(Type::Tuple(types))) => types,
            Some(Annotation::Type(ty)) if !is_open(&ty) => vec![ty],
            _ => returned_params(source, function, &passed),
        };
        match <[Type; 1]>::try_from(types) {
            Ok([ty]) => Rhs::Host(ty, HostValue::Unknown),
            Err(types) => Rhs::Host(Type::Tuple(types), HostValue::Unknown),
        }
    }

    /// The type of a tensor that host code makes.
    fn host_tensor(&mut self, name: &str, first: Option<Type>, args: &[Arg]) -> Option<Type> {
        let shape_at = match name {
            "create_tensor" | "create" | "full" | "zeros" | "ones" => 0,
            "reshape" | "slice" | "view" => 1,
            _ => usize::MAX,
        };
        let shape = args.get(shape_at).map(|arg| arg.value);
        let shape = match (name, &first) {
            // What is written to does not change its shape.
            ("assemble", Some(Type::Tensor(target))) if target.rank_known => Some(target.shape.clone()),
            _ => shape.and_then(|shape| self.tensor_extents(shape)),
        };
        let dtype = keyword(args, "dtype").and_then(|dtype| self.dtype(dtype).ok());
        let dtype = match &first {
            Some(Type::Tensor(tensor)) => dtype.or(tensor.dtype),
            _ if shape_at == 0 => dtype,
            _ => return None,
        };
        let rank_known = shape.is_some();
        let layout = TensorLayout::Nd;
        Some(Type::Tensor(TensorType { shape: shape.unwrap_or_default(), dtype, layout, is_output: false, rank_known }))
    }

    /// Which memory the result of an operation of host code is.
    fn host_storage(&self, name: &str, args: &[Arg]) -> HostValue {
        let tensor = match args.first().and_then(|arg| self.lookup(self.name(arg.value)?)) {
            Some(Term::Var(var)) => Some(*var),
            _ => None,
        };
        match (name, tensor) {
            ("create_tensor" | "create", _) => HostValue::Made,
            ("slice" | "view" | "assemble", Some(tensor)) => HostValue::PartOf(tensor),
            _ => HostValue::Unknown,
        }
    }

    fn function_call(&mut self, expr: ExprId, name: &str, args: &[Arg]) -> Rhs {
        // Python's functions of constants: `len(TILE)`, `abs(i)`.
        if matches!(name, "abs") && args.len() == 1 {
            let operand = self.scalar(args[0].value);
            return Rhs::Term(Term::Scalar(Scalar::Unary(ScalarUnary::Abs, Box::new(operand))));
        }
        let Some(source) = self.scope.function(name) else {
            let constant = self.constant(expr);
            if !matches!(constant, Constant::Unknown(_)) {
                return Rhs::Term(super::expression::from_constant(constant));
            }
            self.note(expr, format!("calls `{name}`, which is not defined in this file"));
            return unknown(format!("calls `{name}`, which is not defined in this file"));
        };
        let function = match source.ast.body.as_slice() {
            [only] => match source.ast.stmt(*only) {
                Stmt::Function(function) => function,
                _ => return unknown(format!("`{name}` is not a function")),
            },
            _ => return unknown(format!("`{name}` is not a function")),
        };
        if kind(&source.ast, function) != Kind::Inline {
            let constant = self.constant(expr);
            if !matches!(constant, Constant::Unknown(_)) {
                return Rhs::Term(super::expression::from_constant(constant));
            }
            if self.state.host {
                return self.launched(name, &source, function, args);
            }
            self.note(expr, format!("calls the function `{name}`"));
            return unknown(format!("calls `{name}`"));
        }
        if self.state.depth > 100 {
            self.note(expr, format!("`{name}` is inlined too deeply"));
            return unknown(format!("`{name}` is inlined too deeply"));
        }
        let mut values: Vec<(Option<&str>, Term)> = Vec::new();
        for arg in args {
            values.push((arg.keyword.as_deref(), self.passed(arg.value)));
        }
        for unknown in self.scope.unknown_names(name) {
            self.note_anywhere(expr, unknown);
        }
        let defining_scope = self.scope.defining_scope(name);
        let scope = defining_scope.as_deref().unwrap_or(self.scope);
        let is_receiver = |param: &&Declared| source.ast.name(param.name) == Some("self") && param.annotation.is_none();
        let mut positional = values.iter().filter(|(keyword, _)| keyword.is_none()).map(|(_, value)| value);
        let mut bound = FxHashMap::default();
        for param in function.params.iter().filter(|param| !is_receiver(param)) {
            let param_name = source.ast.name(param.name).unwrap_or_default();
            let by_name = values.iter().find(|(keyword, _)| *keyword == Some(param_name)).map(|(_, value)| value);
            let value = match (by_name.or_else(|| positional.next()), param.default) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => super::expression::from_constant(eval::evaluate(&source.ast, default, scope)),
                (None, None) => {
                    let message = format!("`{name}` is called without the argument `{param_name}`");
                    self.reject(expr, Code::InvalidOperand, message);
                    return unknown(message_of_arguments(name));
                }
            };
            bound.insert(param_name.to_owned(), value);
        }
        if positional.next().is_some() {
            let count = function.params.iter().filter(|param| !is_receiver(param)).count();
            let message = format!("`{name}` takes {count} arguments, but got {}", values.len());
            self.reject(expr, Code::InvalidOperand, message);
            return unknown(message_of_arguments(name));
        }
        for (param, shape) in self.taken_for_other_shapes(&source.ast, function, &bound) {
            let what = format!("`{name}`, which `@pl.jit` makes for another shape of `{param}` than it gets here");
            self.note_anywhere(expr, what);
            if let Some(taken) = self.taken_for(expr, &param, shape, &bound) {
                bound.insert(param, Term::Var(taken));
            }
        }
        let is_here = defining_scope.is_none() && !matches!(self.inlined, Some(Inlined::Elsewhere));
        let mut path = self.path.clone();
        let mut called = self.function;
        if let Some((file, function)) = source.place.clone() {
            let within =
                if self.state.host { path.len().checked_sub(1).map(|last| last as u32) } else { self.function };
            let inlined = ir::Inlined { path: file, function, call: expr, within };
            if self.state.host {
                path.push(inlined);
            } else {
                called = Some(self.state.functions.len() as u32);
                self.state.functions.push(inlined);
            }
        }
        let inlined = match source.place.clone().filter(|_| is_here) {
            Some((_, key)) => {
                Inlined::Here(Rc::new(InlinedFunction { key, params: self.given(&source.ast, function, &bound) }))
            }
            None => Inlined::Elsewhere,
        };
        let renaming = Renames::of(&source.ast, function);
        let mut inner = Lowering {
            ast: &source.ast,
            scope,
            renaming: &renaming,
            site: Some(self.site.unwrap_or(expr)),
            path,
            function: called,
            inlined: Some(inlined),
            first_own: VarId(self.state.vars.len() as u32),
            state: std::mem::take(&mut self.state),
        };
        // The function sees its own names, not those of its caller.
        let given: Vec<VarId> = bound.values().filter_map(Term::var).collect();
        let outside = std::mem::replace(&mut inner.state.scopes, vec![bound]);
        // A function of its own is read by itself, with tensors that lie as usual.
        let hidden = if is_spliced(&source.ast, function) { Vec::new() } else { inner.hide_views(given) };
        inner.state.depth += 10;
        let returned = inner.inlined_body(&function.body);
        inner.state.depth -= 10;
        inner.state.tensor_views.extend(hidden);
        let names = std::mem::replace(&mut inner.state.scopes, outside);
        // `pl.inline` puts statements in place of the call, and their names stay visible after it.
        if is_spliced(&source.ast, function)
            && let Some(outer) = inner.state.scopes.last_mut()
        {
            outer.extend(names.into_iter().flatten());
        }
        self.state = inner.state;
        returned.unwrap_or_else(|| unknown(format!("`{name}` returns nothing")))
    }

    /// The parameters that the specializer takes for tensors of other shapes than this call gives.
    fn taken_for_other_shapes(
        &self,
        callee: &Ast,
        function: &Function,
        bound: &FxHashMap<String, Term>,
    ) -> Vec<(String, Vec<Scalar>)> {
        let Some(name) = callee.name(function.name) else { return Vec::new() };
        let differing = function.params.iter().filter_map(|param| callee.name(param.name)).filter_map(|param| {
            let Meta::Shape(wanted) = self.state.specialised.param(name, param)? else { return None };
            let Type::Tensor(tensor) = self.ty(bound.get(param)?.var()?) else { return None };
            // Extents that are known at run time only have other names here than there.
            let numbers = wanted.iter().zip(&tensor.shape).map(|(wanted, given)| (wanted.as_int(), given.as_int()));
            let mut numbers = numbers.filter_map(|(wanted, given)| wanted.zip(given));
            let differs = wanted.len() != tensor.shape.len() || numbers.any(|(wanted, given)| wanted != given);
            (tensor.rank_known && differs).then(|| (param.to_owned(), wanted.clone()))
        });
        differing.collect()
    }

    /// What the front end sees in place of a parameter in a scope: a tensor of the shape that it was specialised for.
    fn taken_for(
        &mut self,
        at: ExprId,
        param: &str,
        shape: Vec<Scalar>,
        bound: &FxHashMap<String, Term>,
    ) -> Option<VarId> {
        let given = bound.get(param)?.var().filter(|_| !self.state.host)?;
        let Type::Tensor(tensor) = self.ty(given).clone() else { return None };
        let (ty, origin) = (Type::Tensor(TensorType { shape, ..tensor }), self.at_expr(at));
        let (role, inserted) = (Role::Def, Some(Why::Intermediate));
        let taken = self.var(Var { name: param.to_owned(), ty: ty.clone(), role, inserted, origin });
        self.emit(Statement::Let { var: taken, value: Value::Copy(given), ty, origin });
        Some(taken)
    }

    /// The parameters of a function by the variables that a call gives for them.
    fn given(
        &self,
        callee: &Ast,
        function: &Function,
        bound: &FxHashMap<String, Term>,
    ) -> FxHashMap<tilefit_python::finding::Origin, ExprId> {
        let params = function.params.iter().filter_map(|param| match bound.get(callee.name(param.name)?) {
            Some(Term::Var(var)) => Some((self.state.vars[var.0 as usize].origin, param.name)),
            _ => None,
        });
        params.collect()
    }

    pub(super) fn operation(&mut self, expr: ExprId, name: &str, candidates: &[(When, OpId)], args: &[Arg]) -> Rhs {
        let mut positional: Vec<Term> =
            args.iter().filter(|arg| arg.keyword.is_none()).map(|arg| self.expression(arg.value)).collect();
        let mut keywords: Vec<(&str, ExprId, Term)> = Vec::new();
        for arg in args {
            if let Some(key) = arg.keyword.as_deref()
                && !matches!(key, "span" | "attrs")
            {
                let term = self.expression(arg.value);
                keywords.push((key, arg.value, term));
            }
        }
        let operands = positional.iter().chain(keywords.iter().map(|(_, _, term)| term));
        operands.for_each(|term| self.note_unknown(expr, term));
        if self.state.host {
            let operands = positional.iter().chain(keywords.iter().map(|(_, _, term)| term));
            let read: Vec<VarId> = operands.filter_map(Term::var).collect();
            self.host_reads(expr, read);
        }
        self.retype(args, &mut positional, &mut keywords);
        let first = positional.first().or(keywords.first().map(|(_, _, term)| term)).map(|term| self.term_type(term));
        if !self.state.host
            && !self.state.sketch
            && let Some(message) = self.misfit(name, args, &positional, &keywords)
        {
            self.reject(expr, Code::InvalidOperand, message.clone());
            return unknown(message);
        }
        let (positional, keywords) = self.as_in_row(name, args, positional, keywords);
        if name == "cast"
            && let Some(Type::Scalar(_)) = first
        {
            let mode = keywords.iter().find(|(key, ..)| *key == "mode").map(|(_, _, term)| term);
            if let Some(Term::Constant(Constant::Str(mode))) = mode
                && mode != "round"
            {
                let message = format!("`pl.cast` of a scalar has no `mode`, but got \"{mode}\"; remove it");
                self.reject(expr, Code::InvalidOperand, message.clone());
                return unknown(message);
            }
            return Rhs::Term(Self::scalar_cast(&positional, &keywords));
        }
        if let Some((_, op)) = super::arguments::ON_SCALARS.iter().find(|(of, _)| *of == name)
            && let [Term::Scalar(left), Term::Scalar(right)] = positional.as_slice()
        {
            return Rhs::Term(self.combined(expr, &format!("pl.{name}"), *op, left.clone(), right.clone()));
        }
        if self.state.host
            && let Some(rhs) = self.on_host(expr, candidates, &first, &positional, &keywords)
        {
            return rhs;
        }
        let by_operand = |when: &When| !matches!(when, When::Always | When::Keyword(_) | When::WithoutKeyword(_));
        let dispatches = candidates.iter().any(|(when, _)| by_operand(when));
        if let Some(Type::Unknown(reason)) = &first
            && dispatches
        {
            return unknown(reason.clone());
        }
        // The host says what tensors there are; it computes nothing.
        let is_tensor = matches!(first, Some(Type::Tensor(_))) && !self.state.host;
        let is_tile = matches!(first, Some(Type::Tile(_)));
        let second_is_scalar = match positional.get(1).or(keywords.first().map(|(_, _, term)| term)) {
            Some(term) if positional.len() > 1 || positional.len() == 1 => {
                matches!(self.term_type(term), Type::Scalar(_))
            }
            _ => false,
        };
        let applies = |when: When| match when {
            When::Always => true,
            When::TileOperand => is_tile || is_tensor,
            When::ScalarRhs => (is_tile || is_tensor) && second_is_scalar,
            When::TensorOperand => is_tensor,
            When::TensorScalar => is_tensor && second_is_scalar,
            When::Keyword(key) => keywords.iter().any(|(name, ..)| *name == key),
            When::WithoutKeyword(key) => !keywords.iter().any(|(name, ..)| *name == key),
        };
        let Some(&(when, op)) = candidates.iter().find(|(when, _)| applies(*when)) else {
            let what = if name.starts_with("pld.") { name.to_owned() } else { format!("pl.{name}") };
            return match first {
                Some(Type::Scalar(_)) if !candidates.is_empty() => {
                    self.note(expr, format!("`{what}` of a scalar"));
                    unknown(format!("`{what}` of a scalar"))
                }
                first => self.tensor_level_of(expr, &what, first, args),
            };
        };
        let is_of_tensors = op.op().is_on_tensors();
        if is_of_tensors && self.state.host {
            return self.tensor_level_of(expr, &format!("pl.{name}"), first, args);
        }
        if is_of_tensors || (is_tensor && by_operand(&when)) {
            let rejections = self.state.rejections.len();
            return match self.arrange(expr, op, positional, keywords) {
                Some(call) => self.on_tensors(call, expr),
                None if is_of_tensors => unknown(format!("the arguments of `pl.{name}`")),
                // The operation on tensors may take other arguments than the one on tiles that it was looked up as.
                None => {
                    self.state.rejections.truncate(rejections);
                    self.tensor_level_of(expr, &format!("pl.{name}"), first, args)
                }
            };
        }
        if op.crosses_cores() && is_tensor && !self.state.host {
            return match self.arrange(expr, op, positional, keywords) {
                Some(call) => self.on_tensors(self.as_around(call), expr),
                None => unknown(format!("the arguments of `pl.{name}`")),
            };
        }
        if is_tile_only(op) && matches!(first, Some(Type::Tensor(_))) {
            let crosses =
                matches!(op.op().category, Category::CrossCore | Category::CrossCoreSystem | Category::Distributed);
            if !self.state.host && !self.state.sketch && !crosses {
                let message =
                    format!("`pl.{name}` takes a tile, but its first operand is a tensor; load it with `pl.load`");
                self.reject(expr, Code::InvalidOperand, message.clone());
                return unknown(message);
            }
            return self.tensor_level_of(expr, &format!("pl.{name}"), first, args);
        }
        match self.arrange(expr, op, positional, keywords) {
            Some(call) => self.deduced(self.as_around(call), expr),
            None => unknown(format!("the arguments of `pl.{name}`")),
        }
    }

    /// An operation on tensors outside of scopes, as far as the front end looks at it.
    fn on_host(
        &mut self,
        expr: ExprId,
        candidates: &[(When, OpId)],
        first: &Option<Type>,
        positional: &[Term],
        keywords: &[(&str, ExprId, Term)],
    ) -> Option<Rhs> {
        let Some(Type::Tensor(TensorType { rank_known: true, .. })) = first else { return None };
        let is_scalar = positional.get(1).is_some_and(|term| matches!(self.term_type(term), Type::Scalar(_)));
        let applies = |when: When| match when {
            When::Always | When::TileOperand | When::TensorOperand => true,
            When::ScalarRhs | When::TensorScalar => is_scalar,
            When::Keyword(key) => keywords.iter().any(|(name, ..)| *name == key),
            When::WithoutKeyword(key) => !keywords.iter().any(|(name, ..)| *name == key),
        };
        let (_, op) = *candidates.iter().find(|(when, _)| applies(*when))?;
        // What only moves tensors has been followed before.
        if matches!(
            op.op().category,
            Category::DataMovement | Category::View | Category::Layout | Category::Distributed
        ) {
            return None;
        }
        let call = self.arrange(expr, op, positional.to_vec(), keywords.to_vec())?;
        if let Some(message) = self.unmet(&call, true) {
            self.reject_anywhere(expr, Code::InvalidOperand, message.clone());
            return Some(unknown(message));
        }
        if !self.state.only_host {
            return None;
        }
        let ty = tensor_to_tile::result_type(&call, &self.state.vars, &self.state.constants).ok()?;
        matches!(ty, Type::Tensor(_)).then_some(Rhs::Host(ty, HostValue::Unknown))
    }

    /// `pl.cast(x, pl.INDEX)`: scalars have no other mode than the default.
    fn scalar_cast(positional: &[Term], keywords: &[(&str, ExprId, Term)]) -> Term {
        let argument = |index: usize, name: &str| {
            let named = keywords.iter().find(|(key, ..)| *key == name).map(|(_, _, term)| term);
            positional.get(index).or(named)
        };
        match (argument(0, "input"), argument(1, "target_type")) {
            (Some(Term::Unknown(reason)), _) | (_, Some(Term::Unknown(reason))) => Term::Unknown(reason.clone()),
            (Some(Term::Scalar(value)), Some(Term::Constant(Constant::Dtype(dtype)))) => {
                Term::Scalar(Scalar::Cast(*dtype, Box::new(value.clone())))
            }
            _ => Term::Scalar(Scalar::Unknown(Reason::new("a cast of a scalar"))),
        }
    }

    /// An operation on tensors, or one that is not in the table.
    fn tensor_level_of(&mut self, expr: ExprId, what: &str, first: Option<Type>, args: &[Arg]) -> Rhs {
        let name = last_name(what);
        if name == "read"
            && let Some(Type::Tensor(tensor)) = &first
        {
            let element = Scalar::Unknown(Reason::new("an element of a tensor"));
            return Rhs::Term(Term::Scalar(match tensor.dtype {
                Some(dtype) => Scalar::Cast(dtype, Box::new(element)),
                None => element,
            }));
        }
        if self.state.host
            && let Some(ty) = self.host_tensor(name, first, args)
        {
            return Rhs::Host(ty, self.host_storage(name, args));
        }
        // Some have an effect on global memory or order only.
        let reason = Reason::new(format!("`{what}` on tensors"));
        if !matches!(name, "write" | "prefetch" | "barrier" | "sync" | "wait" | "notify" | "print" | "dump") {
            self.note(expr, reason.clone());
        }
        unknown(reason)
    }

    /// The call with its arguments in the order of the IR.
    pub(super) fn arrange(
        &mut self,
        at: ExprId,
        op: OpId,
        positional: Vec<Term>,
        keywords: Vec<(&str, ExprId, Term)>,
    ) -> Option<Call> {
        let row = op.op();
        let by_position =
            row.params.iter().enumerate().filter(|(_, param)| !param.keyword_only).map(|(index, _)| index);
        let places = by_position.clone().count();
        if positional.len() > places {
            let message =
                format!("`{}` takes at most {} positional arguments, but got {}", row.name, places, positional.len());
            self.reject(at, Code::InvalidOperand, message);
            return None;
        }
        let mut removed_attrs = Vec::new();
        let mut given: Vec<Option<Term>> = vec![None; row.params.len()];
        for (index, term) in by_position.zip(positional) {
            given[index] = Some(term);
        }
        for (name, value, term) in keywords {
            let is_named = |param: &Param| param.name == name || renamed(op, name) == Some(param.name);
            // Without meaning for this operand, as the function of `pl` has said if the author wants it.
            if name == IGNORED {
                continue;
            }
            match row.params.iter().position(is_named) {
                Some(index) => {
                    given[index].get_or_insert(term);
                }
                None => match removed(op, name) {
                    Some((name, meaning)) => {
                        removed_attrs.push((name, attribute(op, name, term)));
                        let reason = format!(
                            "`{name}` of `{}` belongs to an earlier version and is read as it was then: {meaning}",
                            row.name
                        );
                        self.note(value, reason);
                    }
                    None => {
                        let known: Vec<_> = row.params.iter().map(|param| param.name).collect();
                        let message = format!("`{}` has no parameter `{name}`; it has {}", row.name, known.join(", "));
                        // Of other dialects not every parameter is known.
                        match row.is_on_tiles() || row.is_on_tensors() {
                            true => self.reject(value, Code::InvalidOperand, message),
                            false => self.note(value, message),
                        }
                    }
                },
            }
        }
        let mut args: Vec<Option<Operand>> = vec![None; row.args.len()];
        let mut attrs = removed_attrs;
        for (param, value) in row.params.iter().zip(given) {
            let is_none = matches!(value, Some(Term::Constant(Constant::None)));
            let is_given = value.is_some() && !(is_none && is_scratch(row, param));
            if is_none && is_given && param.preset == Preset::Required {
                self.note(at, format!("`{}` of `{}` is `None`", param.name, row.name));
                return None;
            }
            let value = value.filter(|term| !matches!(term, Term::Constant(Constant::None)));
            match (param.slot, value) {
                (Slot::Arg(arg), Some(term)) => {
                    if let Some(slot) = args.get_mut(arg as usize) {
                        *slot = Some(self.operand(term));
                    }
                }
                (Slot::Attr(name), Some(term)) => attrs.push((name, attribute(op, name, term))),
                (Slot::Attr(name), None) => attrs.extend(preset(op, name, param.preset).map(|attr| (name, attr))),
                (Slot::Arg(_), None) => {}
            }
            if param.preset == Preset::Required && !is_given {
                if row.category == Category::Distributed {
                    self.note(at, format!("`{}` without `{}`", row.name, param.name));
                    return None;
                }
                let message = format!("`{}` needs `{}`", row.name, param.name);
                self.reject(at, Code::InvalidOperand, message);
                return None;
            }
        }
        // A load is valid throughout its window unless it says otherwise.
        if op == OpId::LOAD
            && let Some([.., shapes, valid]) = args.get_mut(..4)
            && valid.is_none()
        {
            *valid = shapes.clone();
        }
        while args.last().is_some_and(Option::is_none) {
            args.pop();
        }
        let args = args.into_iter().map(|arg| arg.unwrap_or_else(|| Operand::List(Vec::new()))).collect();
        Some(self.make_call(op, args, attrs, at))
    }

    fn unmet(&self, call: &Call, on_tensors: bool) -> Option<String> {
        self.judged(|known| typing::unmet(call, on_tensors, known))
    }

    fn judged<T>(&self, judge: impl FnOnce(typing::Known) -> T) -> T {
        judge(typing::Known {
            vars: &self.state.vars,
            constants: &self.state.constants,
            untyped: &|var| self.is_untyped(var),
            restated: &|var| self.state.restated.contains(&var),
            literals: true,
        })
    }

    /// Says what the front end does not accept of a call's operands; the type of a result that is not there.
    pub(super) fn refused(&mut self, call: &Call, at: ExprId, on_tensors: bool) -> Option<Type> {
        if self.state.sketch {
            return None;
        }
        let Some(message) = self.unmet(call, on_tensors) else {
            if let Some(what) = self.judged(|known| typing::undecided(call, on_tensors, known)) {
                self.note(at, what);
            }
            return None;
        };
        self.reject(at, Code::InvalidOperand, message.clone());
        Some(Type::Unknown(Reason::new(message)))
    }

    /// What a call takes over from the `pl.split_aiv` around it: a transfer between the cores how it is divided, and what must not be
    /// done twice that only the vector units do it (`RegionPlacementStamper`).
    fn as_around(&self, mut call: Call) -> Call {
        let Some(mode) = self.state.vector_units else { return call };
        match call.op {
            op if op.crosses_cores() && call.attr(AttrName::Split).is_none() => {
                call.attrs.push((AttrName::Split, Attr::Int(mode.map_or(0, SplitMode::code))));
            }
            OpId::NOTIFY => call.attrs.push((AttrName::CorePlacement, Attr::CoreType(CoreType::Aiv))),
            _ => {}
        }
        call
    }

    /// The call with the type of its result; what is wrong with it is said here.
    pub(super) fn deduced(&mut self, call: Call, at: ExprId) -> Rhs {
        if let Some(ty) = self.refused(&call, at, false) {
            return Rhs::Call(call, ty);
        }
        let ty = match typing::deduce(&call, &self.state.vars, &self.state.constants) {
            Ok(ty) => ty,
            Err(Problem::Unknown(reason)) => Type::Unknown(reason),
            Err(Problem::NotModelled(reason)) => {
                self.note(at, reason.clone());
                Type::Unknown(reason)
            }
            Err(Problem::Empty(message)) => {
                self.note(at, message.clone());
                Type::Unknown(Reason::new(message))
            }
            Err(Problem::NotConstant(extent)) => {
                let what = self.describe(&extent);
                let message = format!(
                    "the shape of a tile must be constant, but {what} is known at run time only; use the largest shape here and the actual extent as `valid_shape`"
                );
                self.reject(at, Code::ShapeNotConstant, message);
                Type::Unknown(Reason::new(format!("the tile's shape depends on {what}")))
            }
            Err(Problem::UnknownDtype(name)) => Type::Unknown(self.unknown_dtype(at, &name)),
            Err(Problem::Invalid(message) | Problem::OutOfBounds(message)) => {
                self.reject(at, Code::InvalidOperand, message.clone());
                Type::Unknown(Reason::new(message))
            }
        };
        if call.op == OpId::LOAD
            && let Some(space) = call.target_memory()
            && !matches!(space, Space::Vec | Space::Mat)
        {
            let message = format!(
                "a load goes to Vec or Mat only; load to Mat, then write `pl.move(tile, target_memory=pl.Mem.{space})`"
            );
            self.reject(at, Code::InvalidOperand, message);
        }
        Rhs::Call(call, ty)
    }
}

fn is_block(ty: &Type) -> bool {
    matches!(ty, Type::Tile(_) | Type::Tensor(_))
}

/// Whether the statements of a function are read anew at each call, rather than the function as it is.
fn is_spliced(ast: &Ast, function: &Function) -> bool {
    function.decorators.iter().any(|&decorator| ast.dotted(decorator).as_deref() == Some(&["pl", "inline"]))
}

fn message_of_arguments(name: &str) -> String {
    format!("the arguments of the call of `{name}` do not match its parameters")
}

/// Operations whose first operand is a tile although other names of theirs say nothing about it.
fn is_tile_only(op: OpId) -> bool {
    let first_is_tile = op.op().inputs.iter().any(|(arg, _)| *arg == 0);
    (first_is_tile && !matches!(op, OpId::LOAD | OpId::REMOTE_STORE)) || op.crosses_cores()
}

fn is_scratch(row: &ops::Op, param: &Param) -> bool {
    matches!(param.slot, Slot::Arg(arg) if row.scratch.contains(&arg))
}

fn preset(op: OpId, name: AttrName, preset: Preset) -> Option<Attr> {
    Some(match preset {
        Preset::Required | Preset::Absent => return None,
        Preset::Bool(value) => Attr::Bool(value),
        Preset::Int(value) => Attr::Int(value),
        Preset::Str(value) => word(op, name, value),
        Preset::Space(space) => Attr::Space(space),
        Preset::Dtype(dtype) => Attr::Dtype(dtype),
        Preset::Pad(pad) => Attr::Pad(pad),
    })
}

/// Rounding modes of `pl.cast`, by their number.
pub const ROUNDING: [&str; 7] = ["none", "rint", "round", "floor", "ceil", "trunc", "odd"];

/// `pl.MaskPattern`, from 1.
const MASKS: [&str; 7] = ["P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"];

/// A word that the author writes for an attribute, by what it means there.
fn word(op: OpId, name: AttrName, text: &str) -> Attr {
    let meaning = match name {
        AttrName::Mode if op == OpId::SYNCALL => BarrierMode::from_name(text).map(Attr::BarrierMode),
        AttrName::Mode => ROUNDING.iter().position(|mode| *mode == text).map(|mode| Attr::Int(mode as i64)),
        AttrName::CoreType => CoreType::from_name(text).map(Attr::CoreType),
        AttrName::Op => NotifyOp::from_name(text).map(Attr::NotifyOp),
        AttrName::Cmp => WaitCmp::from_name(text).map(Attr::WaitCmp),
        AttrName::SetPipe | AttrName::WaitPipe => Pipe::from_name(text).map(Attr::Pipe),
        AttrName::Coalesce => Coalesce::from_name(text).map(Attr::Coalesce),
        _ => None,
    };
    meaning.unwrap_or_else(|| Attr::Str(text.to_owned()))
}

fn attribute(op: OpId, name: AttrName, term: Term) -> Attr {
    let unknown = || Attr::Unknown(Reason::new(format!("the value of `{name}` is unknown")));
    match term {
        Term::Scalar(Scalar::Const(_, number)) => attribute(op, name, Term::Scalar(*number)),
        Term::Scalar(Scalar::Int(0)) if name == AttrName::PadValue => Attr::Pad(Pad::Zero),
        Term::Scalar(Scalar::Float(value)) if name == AttrName::PadValue => match value.get() {
            0.0 => Attr::Pad(Pad::Zero),
            f64::INFINITY => Attr::Pad(Pad::Max),
            f64::NEG_INFINITY => Attr::Pad(Pad::Min),
            _ => Attr::Float(value),
        },
        Term::Scalar(Scalar::Int(value)) => Attr::Int(value),
        Term::Scalar(Scalar::Float(value)) => Attr::Float(value),
        Term::Scalar(Scalar::Bool(value)) => Attr::Bool(value),
        Term::Constant(Constant::Dtype(dtype)) => Attr::Dtype(dtype),
        Term::Constant(Constant::Str(text)) => word(op, name, &text),
        Term::Constant(Constant::Member(member)) => {
            let last = last_name(&member);
            let attr = match name {
                AttrName::PadValue => Pad::from_name(last).map(Attr::Pad),
                AttrName::BLayout => BLayout::from_name(last).map(Attr::BLayout),
                AttrName::SLayout => SLayout::from_name(last).map(Attr::SLayout),
                AttrName::Atomic => Some(Attr::Int(i64::from(last == "Add"))),
                AttrName::MaskPattern => MASKS.iter().position(|mask| *mask == last).map(|at| Attr::Int(at as i64 + 1)),
                _ => Some(word(op, name, last)),
            };
            attr.unwrap_or_else(unknown)
        }
        Term::List(elements) => {
            let ints = elements.into_iter().map(|element| match element {
                Term::Scalar(Scalar::Int(value)) => Some(value),
                _ => None,
            });
            ints.collect::<Option<Vec<_>>>().map_or_else(unknown, Attr::Ints)
        }
        Term::Unknown(reason) => Attr::Unknown(reason),
        Term::Constant(constant) => constants::space(&constant).map_or_else(unknown, Attr::Space),
        Term::Var(_) | Term::Scalar(_) => unknown(),
    }
}

/// A tensor whose shape the signature leaves open.
fn is_open(ty: &Type) -> bool {
    matches!(ty, Type::Tensor(tensor) if !tensor.rank_known)
}

/// A tensor of the host with constant extents as a value.
fn tensor_constant(ty: &Type) -> Constant {
    let not_known = || Constant::Unknown(Reason::new("the shape of the tensor is unknown"));
    let Type::Tensor(tensor) = ty else { return not_known() };
    let shape: Option<Vec<i64>> = tensor.shape.iter().map(Scalar::as_int).collect();
    match (shape, tensor.dtype) {
        (Some(shape), Some(dtype)) if tensor.rank_known => Known { shape, dtype }.constant(),
        _ => not_known(),
    }
}

/// The types of the arguments that a function hands back under the names of its parameters.
fn returned_params(source: &FunctionSource, function: &Function, passed: &[(Option<&str>, Type)]) -> Vec<Type> {
    let ast = &source.ast;
    let Some(Stmt::Return(Some(value))) = function.body.last().map(|&last| ast.stmt(last)) else { return Vec::new() };
    let values = ast.elements(*value).map_or_else(|| vec![*value], <[ExprId]>::to_vec);
    let of_param = |name: &str| {
        let index = function.params.iter().position(|param| ast.name(param.name) == Some(name))?;
        let by_keyword = passed.iter().find(|(keyword, _)| *keyword == Some(name));
        by_keyword.or_else(|| passed.get(index).filter(|(keyword, _)| keyword.is_none())).map(|(_, ty)| ty.clone())
    };
    let unknown = || Type::Unknown(Reason::new("the return value of a kernel"));
    values.into_iter().map(|value| ast.name(value).and_then(of_param).unwrap_or_else(unknown)).collect()
}
