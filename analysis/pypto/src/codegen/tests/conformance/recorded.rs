//! From a recorded sequence to IR.

use std::collections::HashMap;

use serde_json::Value as Json;
use tilefit_python::element::{Dtype, Pad};

use super::Case;
use crate::codegen::modes;
use crate::codegen::tests::fixture::Fixture;
use crate::codegen::types;
use crate::ir::{
    Attr, AttrName, BLayout, Carry, If, Operand, Role, SLayout, Scalar, ScalarBinary, ScalarUnary, Stmt, TileType,
    TileView, Type, Value, VarId,
};
use crate::ops::OpId;
use crate::ops::selection::Printed;
use crate::target::Space;

pub(super) struct Builder {
    f: Fixture,
    vars: HashMap<String, VarId>,
}

pub(super) fn dtype(name: &str) -> Dtype {
    let name = if name == "bfloat16_t" { "bfloat16" } else { name };
    *Dtype::ALL.iter().find(|dtype| types::dtype(**dtype) == Some(name)).unwrap_or_else(|| panic!("dtype {name}"))
}

pub(super) fn numbers(json: &Json) -> Vec<u64> {
    json.as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).collect()
}

pub(super) fn text(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Builder {
    pub(super) fn build(case: &Case) -> Fixture {
        let mut builder = Builder { f: Fixture::new("kernel"), vars: HashMap::new() };
        for param in case.function["params"].as_array().unwrap() {
            let name = param["name"].as_str().unwrap();
            let ty = dtype(param["dtype"].as_str().unwrap());
            let var = match param["kind"].as_str().unwrap() {
                "tensor" => builder.f.tensor(name, &numbers(&param["shape"]), ty),
                _ => builder.f.scalar(name, ty),
            };
            builder.vars.insert(name.to_string(), var);
        }
        for (name, tile) in case.function["tiles"].as_object().unwrap() {
            let role = if tile["kind"] == "if_result" { Role::IfResult } else { Role::Def };
            let var = builder.f.tile(name, tile_type(tile), tile["address"].as_u64(), role);
            builder.f.kernel.var_mut(var).inserted = tile["source"].is_null().then_some(crate::ir::Why::Intermediate);
            builder.vars.insert(name.clone(), var);
        }
        builder.f.kernel.body = builder.steps(&case.function["sequence"]);
        builder.f
    }

    fn steps(&mut self, json: &Json) -> Vec<Stmt> {
        json.as_array().into_iter().flatten().filter_map(|entry| self.step(entry)).collect()
    }

    fn step(&mut self, entry: &Json) -> Option<Stmt> {
        let origin = self.f.kernel.origin;
        if entry["instr"].is_string() {
            return Some(self.instr(entry));
        }
        if let Some(name) = entry["scalar"].as_str() {
            let value = Value::Scalar(self.scalar(&text(&entry["value"])));
            let var = self.f.var(name, Type::Scalar(Dtype::Int64), Role::Def);
            self.vars.insert(name.to_string(), var);
            return Some(Stmt::Let { var, value, origin });
        }
        if entry["loop"].is_object() {
            return Some(self.repeat(&entry["loop"]));
        }
        entry["if"].is_object().then(|| self.branches(&entry["if"]))
    }

    fn scalar(&self, text: &str) -> Scalar {
        parse(text, &self.vars)
    }

    fn operand(&self, text: &str) -> Operand {
        match self.vars.get(text) {
            Some(var) => Operand::Var(*var),
            None => Operand::Scalar(self.scalar(text)),
        }
    }

    fn list(&self, json: &Json) -> Vec<Scalar> {
        json.as_array().unwrap().iter().map(|value| self.scalar(&text(value))).collect()
    }

    fn instr(&self, entry: &Json) -> Stmt {
        let form = if entry["canon"].is_object() { &entry["canon"] } else { entry };
        let args: Vec<String> = form["args"].as_array().unwrap().iter().map(text).collect();
        let window = || Operand::List(self.list(&entry["window"]));
        let offset = || Operand::List(self.list(&entry["offset"]));
        match entry["op"].as_str().unwrap() {
            "tile.load" => {
                let var = self.vars[&args[0]];
                let mut operands = vec![Operand::Var(self.vars[&args[1]]), offset(), window()];
                let valid = self.f.kernel.tile(var).and_then(|tile| tile.view.valid_shape.clone());
                operands.extend(valid.map(Operand::List));
                let transposed = entry["layout"] == "DN";
                let attrs = if transposed { vec![(AttrName::Transpose, Attr::Bool(true))] } else { Vec::new() };
                self.f.set_with(var, "tile.load", operands, attrs)
            }
            "tile.store" => {
                let operands = vec![self.operand(&args[1]), offset(), self.operand(&args[0])];
                let call = self.f.call("tile.store", operands, Vec::new());
                Stmt::Eval { call, origin: self.f.kernel.origin }
            }
            op => self.computation(op, form["instr"].as_str().unwrap(), &args),
        }
    }

    fn computation(&self, op: &str, instr: &str, args: &[String]) -> Stmt {
        let op = match (op, instr) {
            ("tile.sum", "TCOLSUM") => "tile.col_sum",
            _ => op,
        };
        let row = OpId::from_name(op).and_then(|op| op.op().selection.instruction());
        let row = row.unwrap_or_else(|| panic!("no instruction for {op}"));
        let mut operands = vec![Operand::List(Vec::new()); 4];
        let mut attrs = Vec::new();
        let mut count = 0;
        for (printed, arg) in row.operands.iter().zip(&args[1..]) {
            match printed {
                Printed::Arg(index) | Printed::Tmp(index) => {
                    operands[*index as usize] = self.operand(arg);
                    count = count.max(*index as usize + 1);
                }
                Printed::Item(index, _) => {
                    if let Operand::List(items) = &mut operands[*index as usize] {
                        items.push(self.scalar(arg));
                    }
                    count = count.max(*index as usize + 1);
                }
                Printed::Round => attrs.push((AttrName::Mode, mode(arg, modes::round_mode))),
                Printed::Compare => attrs.push((AttrName::CmpType, mode(arg, modes::compare_mode))),
            }
        }
        operands.truncate(count);
        self.f.set_with(self.vars[&args[0]], op, operands, attrs)
    }

    fn repeat(&mut self, node: &Json) -> Stmt {
        let [start, stop, step] = ["start", "stop", "step"].map(|key| self.scalar(&text(&node[key])));
        let name = node["var"].as_str().unwrap();
        let index = self.f.var(name, Type::Scalar(Dtype::Index), Role::LoopIndex);
        self.vars.insert(name.to_string(), index);
        let mut carries = Vec::new();
        for carry in node["carry"].as_array().unwrap() {
            let name = carry["name"].as_str().unwrap();
            let init = self.operand(&text(&carry["init"]));
            let (iter, result) = self.carried(name, &init);
            carries.push(Carry { init, iter, result, explicit: true });
            self.vars.insert(name.to_string(), iter);
        }
        let mut body = self.steps(&node["body"]);
        if !carries.is_empty() {
            let next = node["carry"].as_array().unwrap().iter().map(|carry| self.operand(&text(&carry["next"])));
            body.push(Stmt::Yield { values: next.collect(), origin: self.f.kernel.origin });
        }
        for (carry, built) in node["carry"].as_array().unwrap().iter().zip(&carries) {
            self.vars.insert(text(&carry["name"]), built.result);
        }
        let mut node = self.f.repeat(index, [0, 0, 1], body);
        (node.start, node.stop, node.step, node.carries) = (start, stop, step, carries);
        Stmt::For(node)
    }

    fn carried(&mut self, name: &str, init: &Operand) -> (VarId, VarId) {
        let mut variable = |role| match init.var().and_then(|var| self.f.kernel.tile(var).cloned().map(|ty| (var, ty)))
        {
            Some((var, ty)) => {
                let address = self.f.plan.tiles.iter().find(|tile| tile.var == var).and_then(|tile| tile.address);
                self.f.tile(name, ty, address, role)
            }
            None => self.f.var(name, Type::Scalar(Dtype::Int64), role),
        };
        (variable(Role::IterArg), variable(Role::LoopResult))
    }

    fn branches(&mut self, node: &Json) -> Stmt {
        let origin = self.f.kernel.origin;
        let condition = self.scalar(&text(&node["cond"]));
        let mut then = self.steps(&node["then"]);
        let mut otherwise = self.steps(&node["else"]);
        let results = node["results"].as_array().unwrap();
        if !results.is_empty() {
            let values = |key: &str| results.iter().map(|result| self.operand(&text(&result[key]))).collect();
            then.push(Stmt::Yield { values: values("then"), origin });
            otherwise.push(Stmt::Yield { values: values("else"), origin });
        }
        let mut vars = Vec::new();
        for result in results {
            let name = result["name"].as_str().unwrap();
            let var = match result["type"].as_str().unwrap() {
                "tile" => self.vars[name],
                scalar => self.f.var(name, Type::Scalar(dtype(scalar)), Role::IfResult),
            };
            self.vars.insert(name.to_string(), var);
            vars.push(var);
        }
        Stmt::If(If { condition, then, otherwise, has_else: !node["else"].is_null(), results: vars, origin })
    }
}

fn mode(name: &str, names: fn(i64) -> Option<&'static str>) -> Attr {
    Attr::Int((0..8).find(|mode| names(*mode) == Some(name)).unwrap_or_else(|| panic!("mode {name}")))
}

fn tile_type(tile: &Json) -> TileType {
    let space = Space::from_name(tile["space"].as_str().unwrap()).unwrap();
    let (rows, cols) = (tile["rows"].as_u64().unwrap(), tile["cols"].as_u64().unwrap());
    let mut view = TileView::default();
    if tile["valid"].is_array() {
        view.valid_shape = Some(numbers(&tile["valid"]).into_iter().map(|extent| Scalar::Int(extent as i64)).collect());
    }
    view.pad = tile["pad"].as_str().map(|pad| match pad {
        "min" => Pad::Min,
        "max" => Pad::Max,
        _ => Pad::Zero,
    });
    if space == Space::Mat && tile["blayout"] == "RowMajor" {
        // The result of a transposing load says so.
        (view.blayout, view.slayout) = (Some(BLayout::RowMajor), Some(SLayout::ColMajor));
    }
    let op = tile["op"].as_str().unwrap_or_default();
    let (shape, element) = if op.starts_with("tile.cmp") {
        view.valid_shape = Some(vec![Scalar::Int(rows as i64), Scalar::Int(cols.div_ceil(8) as i64)]);
        (vec![rows, cols.div_ceil(8).next_multiple_of(32)], Dtype::Uint8)
    } else {
        (vec![rows, cols], dtype(tile["dtype"].as_str().unwrap()))
    };
    TileType { shape, dtype: element, space: Some(space), view, binding: None }
}

/// Reads an expression as the compiler prints it: every operator in parentheses.
fn parse(text: &str, vars: &HashMap<String, VarId>) -> Scalar {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        if let Some(rest) = inner.strip_prefix('-') {
            return Scalar::Unary(ScalarUnary::Neg, Box::new(parse(rest, vars)));
        }
        let mut depth = 0;
        for (at, c) in inner.char_indices() {
            depth += i32::from(c == '(') - i32::from(c == ')');
            if c != ' ' || depth != 0 {
                continue;
            }
            let (left, rest) = inner.split_at(at);
            let (op, right) = rest.trim_start().split_once(' ').unwrap();
            let op = match op {
                "+" => ScalarBinary::Add,
                "-" => ScalarBinary::Sub,
                "*" => ScalarBinary::Mul,
                "/" => ScalarBinary::FloorDiv,
                "%" => ScalarBinary::FloorMod,
                "==" => ScalarBinary::Eq,
                "<" => ScalarBinary::Lt,
                ">" => ScalarBinary::Gt,
                other => panic!("operator {other}"),
            };
            return Scalar::Binary(op, Box::new(parse(left, vars)), Box::new(parse(right, vars)));
        }
        return parse(inner, vars);
    }
    if let Some(var) = vars.get(text) {
        return Scalar::Var(*var);
    }
    if let Ok(value) = text.parse::<i64>() {
        return Scalar::Int(value);
    }
    Scalar::Float(tilefit_syntax::ast::FloatBits::new(text.parse().unwrap_or_else(|_| panic!("scalar {text}"))))
}
