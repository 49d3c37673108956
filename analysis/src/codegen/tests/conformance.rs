//! `tests/conformance/codegen`: what the last compiler that generated C++ made of 88 kernels.
//!
//! The recorded sequences are turned back into IR, with the recorded addresses, so that selection and synchronisation are
//! compared by themselves; kernels from source are compared in the crate `tilelens-tests`.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::PathBuf;

use expect_test::expect;
use serde_json::Value as Json;

use super::fixture::Fixture;
use crate::codegen::isa::{self, Slot};
use crate::codegen::model;
use crate::codegen::sequence::{Head, Operand as Printed, Pipe, Program, Step, Sync};
use crate::codegen::{program, types};
use crate::ir::{
    Attr, BLayout, Carry, Dtype, If, Operand, Pad, Role, SLayout, Scalar, ScalarBinary, ScalarUnary, Stmt, TileType,
    TileView, Type, Value, VarId,
};
use crate::target::Space;

/// One function of a case.
pub(super) struct Case {
    pub name: String,
    function: Json,
}

pub(super) fn cases() -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/codegen");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let json: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for function in json["functions"].as_object().into_iter().flat_map(|functions| functions.values()) {
            cases.push(Case { name: name.clone(), function: function.clone() });
        }
    }
    cases
}

// ---- from a recorded sequence to IR

struct Builder {
    f: Fixture,
    vars: HashMap<String, VarId>,
}

fn dtype(name: &str) -> Dtype {
    let name = if name == "bfloat16_t" { "bfloat16" } else { name };
    *Dtype::ALL.iter().find(|dtype| types::dtype(**dtype) == Some(name)).unwrap_or_else(|| panic!("dtype {name}"))
}

fn numbers(json: &Json) -> Vec<u64> {
    json.as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).collect()
}

fn text(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Builder {
    fn build(case: &Case) -> Fixture {
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
            builder.f.kernel.var_mut(var).inserted = tile["source"].is_null();
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
                let attrs = if transposed { vec![("transpose", Attr::Bool(true))] } else { Vec::new() };
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
        let row = isa::instruction(op).unwrap_or_else(|| panic!("no instruction for {op}"));
        let mut operands = vec![Operand::List(Vec::new()); 4];
        let mut attrs = Vec::new();
        let mut count = 0;
        for (slot, arg) in row.slots.iter().zip(&args[1..]) {
            match slot {
                Slot::Arg(index) | Slot::Tmp(index) => {
                    operands[*index as usize] = self.operand(arg);
                    count = count.max(*index as usize + 1);
                }
                Slot::Item(index, _) => {
                    if let Operand::List(items) = &mut operands[*index as usize] {
                        items.push(self.scalar(arg));
                    }
                    count = count.max(*index as usize + 1);
                }
                Slot::Round => attrs.push(("mode", mode(arg, isa::round_mode))),
                Slot::Compare => attrs.push(("cmp_type", mode(arg, isa::compare_mode))),
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
    Scalar::Float(tilelens_syntax::ast::FloatBits::new(text.parse().unwrap_or_else(|_| panic!("scalar {text}"))))
}

// ---- both sides as lines of text

/// Instructions and structure, without synchronisation and without inserted moves: whether a loop or a branch needs one
/// depends on the plan, so that each side's copies stand for what they copy.
pub(super) fn recorded(case: &Case) -> Vec<String> {
    let mut lines = Vec::new();
    recorded_steps(&case.function["sequence"], 0, &mut lines);
    let tiles = case.function["tiles"].as_object().unwrap();
    let is_inserted = |name: &str| tiles.get(name).is_some_and(|tile| tile["source"].is_null());
    // The whole window is loaded of what is partly valid; CANON loads the valid part.
    for line in &mut lines {
        let words: Vec<&str> = line.trim().split(' ').collect();
        if words[0] == "TLOAD" && tiles[words[1]]["valid"].is_array() {
            let valid: Vec<String> = numbers(&tiles[words[1]]["valid"]).iter().map(u64::to_string).collect();
            let window = line.find("window ").unwrap();
            *line = format!("{}window {} ND", &line[..window], valid.join(","));
        }
    }
    without_moves(lines, is_inserted)
}

pub(super) fn generated(program: &Program) -> Vec<String> {
    let mut lines = Vec::new();
    generated_steps(program, &program.body, 0, &mut lines);
    without_moves(lines, |name| program.tiles.iter().any(|tile| tile.name == name && tile.inserted))
}

fn without_moves(lines: Vec<String>, is_inserted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut copies: HashMap<String, String> = HashMap::new();
    for line in &lines {
        let words: Vec<&str> = line.trim().split(' ').collect();
        if words[0] == "TMOV" && is_inserted(words[1]) {
            copies.insert(words[1].to_string(), words[2].to_string());
        }
    }
    let is_copy = |line: &String| {
        let words: Vec<&str> = line.trim().split(' ').collect();
        words[0] == "TMOV" && copies.contains_key(words[1])
    };
    let resolve = |line: &String| {
        let words = line.split(' ').map(|word| copies.get(word).map_or(word, String::as_str));
        words.collect::<Vec<_>>().join(" ")
    };
    lines.iter().filter(|line| !is_copy(line)).map(resolve).collect()
}

fn recorded_steps(json: &Json, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    for entry in json.as_array().into_iter().flatten() {
        if let Some(instr) = entry["instr"].as_str() {
            let form = if entry["canon"].is_object() { &entry["canon"] } else { entry };
            let name = if entry["canon"].is_object() { form["instr"].as_str().unwrap() } else { instr };
            let args: Vec<String> = form["args"].as_array().unwrap().iter().map(text).collect();
            let mut line = format!("{indent}{name} {} {}", args.join(" "), entry["pipe"].as_str().unwrap());
            if entry["window"].is_array() {
                let list = |key: &str| entry[key].as_array().unwrap().iter().map(text).collect::<Vec<_>>().join(",");
                let _ = write!(
                    line,
                    " at {} window {} {}",
                    list("offset"),
                    list("window"),
                    entry["layout"].as_str().unwrap()
                );
            }
            lines.push(line);
        } else if let Some(name) = entry["scalar"].as_str() {
            lines.push(format!("{indent}{name} = {}", text(&entry["value"])));
        } else if entry["loop"].is_object() {
            let node = &entry["loop"];
            let bound = |key: &str| text(&node[key]);
            lines.push(format!("{indent}for {} {} {} {}", bound("var"), bound("start"), bound("stop"), bound("step")));
            for carry in node["carry"].as_array().unwrap() {
                let (name, init, next) = (text(&carry["name"]), text(&carry["init"]), text(&carry["next"]));
                lines.push(format!("{indent}  carry {name} {init} {next}"));
            }
            recorded_steps(&node["body"], depth + 1, lines);
        } else if entry["if"].is_object() {
            let node = &entry["if"];
            lines.push(format!("{indent}if {}", text(&node["cond"])));
            recorded_steps(&node["then"], depth + 1, lines);
            if !node["else"].is_null() {
                lines.push(format!("{indent}else"));
                recorded_steps(&node["else"], depth + 1, lines);
            }
            for result in node["results"].as_array().unwrap() {
                let (name, then, otherwise) = (text(&result["name"]), text(&result["then"]), text(&result["else"]));
                lines.push(format!("{indent}result {name} {then} {otherwise}"));
            }
        }
    }
}

fn generated_steps(program: &Program, steps: &[Step], depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let tile = |tile| program.tile(tile).name.strip_suffix("_row").unwrap_or(&program.tile(tile).name).to_string();
    for step in steps {
        match step {
            Step::Instr(instr) => {
                let operand = |operand: &Printed| match operand {
                    Printed::Tile(id) => tile(*id),
                    Printed::Wrapper(wrapper) => program.args[program.wrappers[*wrapper].arg].name.clone(),
                    Printed::Text(text) => text.clone(),
                };
                let operands: Vec<String> = instr.operands.iter().map(operand).collect();
                let mut line = format!("{indent}{} {} {}", instr.name, operands.join(" "), instr.pipe.name());
                if let Some(access) = &instr.access {
                    let offsets: Vec<&str> = access.offsets.iter().map(|offset| offset.text.as_str()).collect();
                    let wrapper = &program.wrappers[access.wrapper];
                    let window: Vec<String> = wrapper.window.iter().map(u64::to_string).collect();
                    let layout = if wrapper.transposed { "DN" } else { "ND" };
                    let _ = write!(line, " at {} window {} {layout}", offsets.join(","), window.join(","));
                }
                lines.push(line);
            }
            Step::Local { name, value, .. } => lines.push(format!("{indent}{name} = {value}")),
            Step::Loop(node) => {
                if let Head::For { name, start, stop, step, .. } = &node.head {
                    lines.push(format!("{indent}for {name} {} {} {}", start.text, stop.text, step.text));
                }
                for carry in &node.carries {
                    let next = match carry.tile {
                        Some(carried) => tile(carried.next),
                        None => carry.next.clone().unwrap_or_default(),
                    };
                    lines.push(format!("{indent}  carry {} {} {next}", carry.name, carry.init));
                }
                generated_steps(program, &node.body, depth + 1, lines);
            }
            Step::If(node) => {
                lines.push(format!("{indent}if {}", node.condition));
                generated_steps(program, &node.then, depth + 1, lines);
                if let Some(otherwise) = &node.otherwise {
                    lines.push(format!("{indent}else"));
                    generated_steps(program, otherwise, depth + 1, lines);
                }
                for result in &node.results {
                    let (then, otherwise) = match result.tiles {
                        Some((_, then, otherwise)) => (tile(then), tile(otherwise)),
                        None => (result.then.clone().unwrap_or_default(), result.otherwise.clone().unwrap_or_default()),
                    };
                    lines.push(format!("{indent}result {} {then} {otherwise}", result.name));
                }
            }
            Step::Sync(..) | Step::Declare(_) => {}
            Step::Missing { what, .. } => lines.push(format!("{indent}missing {what}")),
        }
    }
}

/// Products of constants as their value.
fn folded(words: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in words {
        let product = match out.as_slice() {
            [.., left, star] if star == "*" => left.parse::<i64>().ok().zip(word.parse::<i64>().ok()),
            _ => None,
        };
        if let Some((left, right)) = product {
            out.truncate(out.len() - 2);
            out.push((left * right).to_string());
        } else {
            out.push(word);
        }
    }
    out
}

/// Names up to a consistent renaming, numbers as numbers, no parentheses.
#[derive(Default)]
pub(super) struct Renaming {
    to: BTreeMap<String, String>,
    from: BTreeMap<String, String>,
}

impl Renaming {
    pub(super) fn equal(&mut self, a: &str, b: &str) -> bool {
        let (a, b) = (folded(words(a)), folded(words(b)));
        a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.word(a, b))
    }

    fn word(&mut self, a: &str, b: &str) -> bool {
        let number = |word: &str| word.strip_suffix('f').unwrap_or(word).parse::<f64>().ok();
        if let (Some(a), Some(b)) = (number(a), number(b)) {
            // The recorded compiler printed six decimals.
            return (a - b).abs() <= 5.1e-7 || a as f32 == b as f32;
        }
        if !a.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return a == b;
        }
        let to = self.to.entry(a.to_string()).or_insert_with(|| b.to_string());
        let from = self.from.entry(b.to_string()).or_insert_with(|| a.to_string());
        to == b && from == a
    }
}

fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in line.chars().chain([' ']) {
        let exponent = c == '-' && word.ends_with('e') && word.starts_with(|c: char| c.is_ascii_digit());
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':') || exponent {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if !matches!(c, ' ' | '(' | ')') {
            words.push(c.to_string());
        }
    }
    words
}

// ---- synchronisation

/// Pairs and barriers by the instructions that they stand between.
fn sync_points(steps: &[Step], points: &mut Vec<String>) {
    let pipe_of = |step: &Step| match step {
        Step::Instr(instr) => Some((instr.pipe, instr.id)),
        _ => None,
    };
    let last = |at: usize, pipe: Pipe| {
        steps[..at].iter().rev().filter_map(pipe_of).find(|(of, _)| *of == pipe).map(|(_, id)| id)
    };
    let next =
        |at: usize, pipe: Pipe| steps[at..].iter().filter_map(pipe_of).find(|(of, _)| *of == pipe).map(|(_, id)| id);
    let show = |id: Option<u32>| id.map_or("-".to_string(), |id| id.to_string());
    let mut set: Vec<(Pipe, Pipe, u8, Option<u32>)> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Sync(Sync::Set { src, dst, event }, _) => set.push((*src, *dst, *event, last(at, *src))),
            Step::Sync(Sync::Wait { src, dst, event }, _) => {
                let of = set.iter().position(|(a, b, c, _)| (a, b, c) == (src, dst, event)).unwrap();
                let (.., after) = set.remove(of);
                points.push(format!("{}->{} {} {}", src.name(), dst.name(), show(after), show(next(at, *dst))));
            }
            Step::Sync(Sync::Barrier(Some(pipe)), _) => {
                points.push(format!("bar {} {}", pipe.name(), show(next(at, *pipe))))
            }
            Step::Sync(Sync::Barrier(None), _) => points.push("bar all".to_string()),
            Step::Loop(node) => sync_points(&node.body, points),
            Step::If(node) => {
                sync_points(&node.then, points);
                sync_points(node.otherwise.as_deref().unwrap_or_default(), points);
            }
            _ => {}
        }
    }
}

fn recorded_sync_points(function: &Json) -> Vec<String> {
    let id = |json: &Json| json.as_u64().map_or("-".to_string(), |id| id.to_string());
    let pairs = function["sync"]["pairs"].as_array().unwrap().iter();
    pairs
        .map(|pair| match pair["barrier"].as_str() {
            Some("PIPE_ALL") => "bar all".to_string(),
            Some(pipe) => format!("bar {pipe} {}", id(&pair["before"])),
            None => {
                let (src, dst) = (pair["src"].as_str().unwrap(), pair["dst"].as_str().unwrap());
                format!("{src}->{dst} {} {}", id(&pair["after"]), id(&pair["before"]))
            }
        })
        .collect()
}

/// Removes the n-th pair or barrier; false if there are not so many.
pub(super) fn without(steps: &mut Vec<Step>, n: &mut usize) -> bool {
    for at in 0..steps.len() {
        let mut found = false;
        match &mut steps[at] {
            Step::Sync(Sync::Set { src, dst, event }, _) => {
                let pair = (*src, *dst, *event);
                if *n == 0 {
                    let wait = steps[at..].iter().position(|step| {
                        matches!(step, Step::Sync(Sync::Wait { src, dst, event }, _) if (*src, *dst, *event) == pair)
                    });
                    steps.remove(at + wait.unwrap());
                    steps.remove(at);
                    return true;
                }
                *n -= 1;
            }
            Step::Sync(Sync::Barrier(_), _) => {
                if *n == 0 {
                    steps.remove(at);
                    return true;
                }
                *n -= 1;
            }
            Step::Loop(node) => found = without(&mut node.body, n),
            Step::If(node) => {
                found = without(&mut node.then, n) || node.otherwise.as_mut().is_some_and(|body| without(body, n));
            }
            _ => {}
        }
        if found {
            return true;
        }
    }
    false
}

// ---- tests

#[test]
fn instructions_and_structure_are_those_recorded() {
    let mut report = String::new();
    let (mut equal, mut total) = (0, 0);
    for case in cases() {
        let fixture = Builder::build(&case);
        let (program, findings) = program(&fixture.kernel, &fixture.plan);
        let (want, got) = (recorded(&case), generated(&program));
        let mut renaming = Renaming::default();
        let mut differences = String::new();
        for (want, got) in want.iter().zip(&got) {
            if !renaming.equal(want, got) {
                let _ = writeln!(differences, "  want {}\n  got  {}", want.trim(), got.trim());
            }
        }
        if want.len() != got.len() {
            let _ = writeln!(differences, "  {} lines, want {}", got.len(), want.len());
        }
        for finding in findings {
            let _ = writeln!(differences, "  {}: {}", finding.code, finding.message);
        }
        tiles(&case, &program, &renaming, &mut differences);
        total += 1;
        if differences.is_empty() {
            equal += 1;
        } else {
            let _ = write!(report, "{}\n{differences}", case.name);
        }
    }
    let _ = writeln!(report, "{equal} of {total} equal");
    expect![[r#"
        85 of 85 equal
    "#]]
    .assert_eq(&report);
}

fn tiles(case: &Case, program: &Program, renaming: &Renaming, differences: &mut String) {
    for (name, want) in case.function["tiles"].as_object().unwrap() {
        let Some(name) = renaming.to.get(name) else { continue };
        let Some(tile) = program.tiles.iter().find(|tile| tile.name == *name) else {
            let _ = writeln!(differences, "  no tile {name}");
            continue;
        };
        let form = tile.form;
        let got = [
            form.space.name().to_string(),
            types::dtype(form.dtype).unwrap_or_default().replace("bfloat16", "bfloat16_t"),
            form.rows.to_string(),
            form.cols.to_string(),
            types::blayout(form.blayout).to_string(),
            types::slayout(form.slayout).to_string(),
            form.fractal.to_string(),
            tile.address.unwrap_or_default().to_string(),
        ];
        let keys = ["space", "dtype", "rows", "cols", "blayout", "slayout", "fractal", "address"];
        let is_mask = want["op"].as_str().is_some_and(|op| op.starts_with("tile.cmp"));
        for (key, got) in keys.iter().zip(got) {
            if text(&want[key]) != got && !(is_mask && matches!(*key, "dtype" | "cols")) {
                let _ = writeln!(differences, "  {name}: {key} {got}, want {}", text(&want[key]));
            }
        }
    }
}

#[test]
fn synchronisation_is_sound_and_no_more_than_needed() {
    let mut report = String::new();
    let (mut sound, mut same, mut comparable, mut total) = (0, 0, 0, 0);
    let (mut ours, mut theirs) = (0, 0);
    let (mut removed, mut detected) = (0, 0);
    for case in cases() {
        let fixture = Builder::build(&case);
        let (program, _) = program(&fixture.kernel, &fixture.plan);
        total += 1;
        let problems = model::problems(&program);
        if problems.is_empty() {
            sound += 1;
        } else {
            let _ = writeln!(report, "{}: {problems:?}", case.name);
        }
        let mut got = Vec::new();
        sync_points(&program.body, &mut got);
        for n in 0..got.len() {
            let mut less = program.clone();
            if without(&mut less.body, &mut { n }) {
                removed += 1;
                if model::problems(&less).is_empty() {
                    let _ = writeln!(report, "{}: number {n} of {got:?} is superfluous", case.name);
                } else {
                    detected += 1;
                }
            }
        }
        if case.function["sync"]["sound"] != true {
            continue;
        }
        comparable += 1;
        let mut want = recorded_sync_points(&case.function);
        ours += got.len();
        theirs += want.len();
        got.sort();
        want.sort();
        if got == want {
            same += 1;
        } else {
            let more: Vec<&String> = got.iter().filter(|point| !want.contains(point)).collect();
            let fewer: Vec<&String> = want.iter().filter(|point| !got.contains(point)).collect();
            let _ = writeln!(report, "{}: ours {more:?}, theirs {fewer:?}", case.name);
        }
    }
    let _ = writeln!(report, "{sound} of {total} sound");
    let _ = writeln!(report, "{same} of {comparable} with the same pairs and barriers; {ours} in all, theirs {theirs}");
    let _ = writeln!(report, "{detected} of {removed} single removals detected");
    expect![[r#"
        004_unary_more: ours [], theirs ["bar PIPE_V 5"]
        008_independent_chains: ours [], theirs ["bar PIPE_V 5"]
        019_row_reductions_shared_tmp: ours ["bar PIPE_V 2", "bar PIPE_V 3"], theirs []
        057_if_else_result: ours ["PIPE_V->PIPE_MTE3 - 4", "bar PIPE_V 3"], theirs ["PIPE_V->PIPE_MTE3 - 3"]
        058_if_without_else: ours ["PIPE_V->PIPE_MTE3 4 5", "bar PIPE_V 4", "bar PIPE_V 4"], theirs ["PIPE_V->PIPE_MTE3 3 4", "bar PIPE_V 2", "bar PIPE_V 3"]
        061_if_in_loop: ours ["PIPE_MTE2->PIPE_V 1 5", "PIPE_V->PIPE_MTE2 - -", "PIPE_V->PIPE_MTE3 0 6", "bar PIPE_V -", "bar PIPE_V -", "bar PIPE_V 5"], theirs ["PIPE_MTE2->PIPE_V 1 4", "PIPE_V->PIPE_MTE2 - 1", "PIPE_V->PIPE_MTE3 0 5", "bar PIPE_V 2", "bar PIPE_V 3"]
        063_if_nested: ours ["PIPE_V->PIPE_MTE3 - 5", "bar PIPE_V 4"], theirs ["PIPE_V->PIPE_MTE3 - 4"]
        082_written_sync: ours [], theirs ["bar all"]
        85 of 85 sound
        66 of 74 with the same pairs and barriers; 362 in all, theirs 361
        441 of 441 single removals detected
    "#]].assert_eq(&report);
}
