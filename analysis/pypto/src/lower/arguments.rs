//! The arguments of a call as the function takes them that the author names: how many, under which names, of which kinds. What
//! the operation demands of them comes after ([`super::demands`]).

use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::eval::Constant;
use tilefit_syntax::ast::{Arg, Expr, ExprId, Function, UnaryOp, last_name};

use super::body::{Lowering, Term};
use crate::ir::{Rejection, Scalar, ScalarBinary, TensorType, Type};
use crate::ops::{self, Signature, Slot};
use crate::typing::notation;

/// The name that a keyword gets when it has no meaning for the operand that a call is given.
pub(super) const IGNORED: &str = "";

/// A keyword, its value in the text, and what that is.
pub(super) type Keyword<'a> = (&'a str, ExprId, Term);

/// Functions that work on two scalars too.
pub(super) const ON_SCALARS: [(&str, ScalarBinary); 4] =
    [("add", ScalarBinary::Add), ("sub", ScalarBinary::Sub), ("mul", ScalarBinary::Mul), ("div", ScalarBinary::Div)];

/// Attributes that may be given by position as a written number, which the compiler turns into an expression of its own.
const NUMBERS_BY_POSITION: [&str; 2] = ["pad_value", "dim"];

impl Lowering<'_> {
    /// Why the function does not take these arguments, if it does not.
    pub(super) fn misfit(&self, name: &str, args: &[Arg], positional: &[Term], keywords: &[Keyword]) -> Option<String> {
        if let Some(message) = self.written_by_position(name, args) {
            return Some(message);
        }
        let signature = ops::signature(name)?;
        let places = signature.positional.len();
        if positional.len() > places {
            return Some(format!(
                "`pl.{name}` takes at most {places} positional arguments, but got {}",
                positional.len()
            ));
        }
        for (keyword, ..) in keywords {
            if !signature.has(keyword) && !is_legacy(keyword) {
                return Some(format!("`pl.{name}` has no parameter `{keyword}`; it has {}", signature.listed()));
            }
        }
        let given = |param: &&str| {
            let at = signature.positional.iter().position(|name| name == param);
            at.is_some_and(|at| at < positional.len()) || keywords.iter().any(|(name, ..)| name == param)
        };
        if let Some(lacking) = signature.positional[..signature.required].iter().find(|param| !given(param)) {
            return Some(format!("`pl.{name}` needs `{lacking}`"));
        }
        let value = |param: &str| argument(signature, positional, keywords, param);
        let first = self.term_type(value(signature.positional[0])?);
        match first {
            Type::Tensor(_) => {
                let scratch =
                    signature.tiles_only.iter().find(|param| value(param).is_some_and(|term| !is_none(term)))?;
                Some(format!(
                    "`pl.{name}` on tensors takes no `{scratch}`, because the compiler makes the scratch tile; remove it"
                ))
            }
            Type::Tile(_) => {
                let flag =
                    signature.tensors_only.iter().find(|param| value(param).is_some_and(|term| !is_off(term)))?;
                Some(format!("`{flag}` of `pl.{name}` is for tensors, but this is a tile"))
            }
            Type::Scalar(_) => {
                let both_scalars = || {
                    let second = signature.positional.get(1).and_then(|param| value(param));
                    second.is_some_and(|term| matches!(self.term_type(term), Type::Scalar(_)))
                };
                let is_taken = name == "cast" || (ON_SCALARS.iter().any(|(of, _)| *of == name) && both_scalars());
                (!is_taken).then(|| {
                    format!("`pl.{name}` takes a tile or a tensor, but its first operand is {}", notation::kind(&first))
                })
            }
            _ => None,
        }
    }

    /// Says which keywords a loop, a scope or a decorator does not have.
    pub(super) fn check_keywords(&mut self, construct: &str, args: &[Arg]) {
        let Some(known) = ops::construct(construct) else { return };
        for arg in args {
            let Some(keyword) = arg.keyword.as_deref().filter(|keyword| !known.contains(keyword)) else { continue };
            if LEGACY_KEYWORDS.contains(&keyword) {
                self.note(arg.value, format!("`{keyword}` of `pl.{construct}` belongs to an earlier version"));
                continue;
            }
            let message = format!("`pl.{construct}` has no keyword `{keyword}`; it has {}", known.join(", "));
            self.reject_anywhere(arg.value, Code::Rejected, message);
        }
    }

    pub(super) fn check_decorators(&mut self, function: &Function) {
        for &decorator in &function.decorators {
            if let Expr::Call { func, args } = self.ast.expr(decorator)
                && self.ast.dotted(*func).as_deref() == Some(&["pl", "function"])
            {
                self.check_keywords("function", args);
            }
        }
    }

    /// As [`Lowering::reject`], in host code too.
    pub(super) fn reject_anywhere(&mut self, at: ExprId, code: Code, message: String) {
        if !self.state.host {
            return self.reject(at, code, message);
        }
        self.refuse_on_host(Rejection::new(self.at_expr(at), code, message));
    }

    pub(super) fn refuse_on_host(&mut self, rejection: Rejection) {
        if !self.state.host_rejections.contains(&rejection) {
            self.state.host_rejections.push(rejection);
        }
    }

    /// A number, truth value or word that stands where the function wants a keyword: by position it is an expression of the
    /// kernel, which is no value for an attribute.
    fn written_by_position(&self, name: &str, args: &[Arg]) -> Option<String> {
        let by_position = args.iter().filter(|arg| arg.keyword.is_none()).map(|arg| arg.value);
        let names: Vec<&str> = match ops::signature(name) {
            Some(signature) => signature.positional.to_vec(),
            None => {
                let (_, op) = ops::candidates(name).first()?;
                op.op().params.iter().filter(|param| !param.keyword_only).map(|param| param.name).collect()
            }
        };
        let wants_keyword = |param: &str| {
            let is_attribute = |op: ops::OpId| {
                let slot = op.op().params.iter().find(|known| known.name == param).map(|known| known.slot);
                matches!(slot, Some(Slot::Attr(_)))
            };
            let is_fill = param == "value" && last_name(name) == "full";
            is_fill
                || ops::candidates(name).iter().any(|(_, op)| is_attribute(*op))
                    && !NUMBERS_BY_POSITION.contains(&param)
        };
        let (param, _) = names
            .into_iter()
            .zip(by_position)
            .find(|(param, value)| self.is_written(*value) && wants_keyword(param))?;
        Some(format!("`{param}` of `pl.{name}` must be a keyword argument; write `{param}=...`"))
    }

    fn is_written(&self, value: ExprId) -> bool {
        match self.ast.expr(value) {
            Expr::Int(_) | Expr::Float(_) | Expr::Bool(_) | Expr::Str(_) => true,
            Expr::Unary { op: UnaryOp::Neg, operand } => self.is_written(*operand),
            _ => false,
        }
    }

    /// A float that Python computes, by keyword or out of an object, takes the element type of the first operand; written by
    /// position it is FP32.
    pub(super) fn retype(&self, args: &[Arg], positional: &mut [Term], keywords: &mut [Keyword]) {
        let dtype = match positional.first().map(|term| self.term_type(term)) {
            Some(Type::Tile(tile)) => tile.dtype,
            Some(Type::Tensor(TensorType { dtype: Some(dtype), .. })) => dtype,
            _ => return,
        };
        if !dtype.is_float() || dtype == Dtype::Fp32 {
            return;
        }
        let is_member = |value: ExprId| matches!(self.ast.expr(value), Expr::Attribute { .. });
        let members = args.iter().filter(|arg| arg.keyword.is_none()).map(|arg| is_member(arg.value));
        let members = positional.iter_mut().zip(members).filter(|(_, is_member)| *is_member).map(|(term, _)| term);
        for term in members.chain(keywords.iter_mut().map(|(_, _, term)| term)) {
            if let Term::Scalar(value @ Scalar::Float(_)) = term {
                *value = Scalar::Const(dtype, Box::new(value.clone()));
            }
        }
    }

    /// The arguments under the names of the operation's row, where the function has others.
    pub(super) fn as_in_row<'a>(
        &self,
        name: &str,
        args: &[Arg],
        mut positional: Vec<Term>,
        mut keywords: Vec<Keyword<'a>>,
    ) -> (Vec<Term>, Vec<Keyword<'a>>) {
        if name.ends_with("scatter_update") && (positional.len() == 4 || positional.len() == 2 && keywords.len() == 2) {
            // `dim` may stand in the second place.
            let dim = positional.remove(1);
            if let Some(at) = args.get(1) {
                keywords.push(("dim", at.value, dim));
            }
        }
        let Some(signature) = ops::signature(name) else { return (positional, keywords) };
        let first =
            argument(signature, &positional, &keywords, signature.positional[0]).map(|term| self.term_type(term));
        let row = match first {
            Some(Type::Tile(_)) => ops::candidates(name).iter().map(|(_, op)| op.op()).find(|op| op.is_on_tiles()),
            _ => ops::candidates(name).first().map(|(_, op)| op.op()),
        };
        let Some(row) = row else { return (positional, keywords) };
        for (keyword, ..) in &mut keywords {
            if row.params.iter().any(|param| param.name == *keyword) {
                continue;
            }
            if signature.tensors_only.contains(keyword) || signature.tiles_only.contains(keyword) {
                *keyword = IGNORED;
                continue;
            }
            let place = signature.positional.iter().position(|param| param == keyword);
            if let Some(param) = place.and_then(|at| row.params.iter().filter(|param| !param.keyword_only).nth(at)) {
                *keyword = param.name;
            }
        }
        // Flags by position that are off.
        let places = row.params.iter().filter(|param| !param.keyword_only).count();
        if positional.len() > places && positional[places..].iter().all(is_off) {
            positional.truncate(places);
        }
        (positional, keywords)
    }
}

fn argument<'t>(
    signature: &Signature,
    positional: &'t [Term],
    keywords: &'t [Keyword],
    param: &str,
) -> Option<&'t Term> {
    let place = signature.positional.iter().position(|name| *name == param);
    let by_position = place.and_then(|at| positional.get(at));
    by_position.or_else(|| keywords.iter().find(|(name, ..)| *name == param).map(|(_, _, term)| term))
}

fn is_none(term: &Term) -> bool {
    matches!(term, Term::Constant(Constant::None))
}

/// A flag that is not set. What is not known may be.
fn is_off(term: &Term) -> bool {
    is_none(term) || matches!(term, Term::Scalar(Scalar::Bool(false)) | Term::Unknown(_))
}

/// Keywords of loops that are gone.
const LEGACY_KEYWORDS: [&str; 2] = ["chunk", "chunk_policy"];

/// Legacy names of parameters.
fn is_legacy(name: &str) -> bool {
    matches!(name, "valid_shapes" | "memory_space" | "target_space")
}
