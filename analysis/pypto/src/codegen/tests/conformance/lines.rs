//! Both sides as lines of text.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use serde_json::Value as Json;

use super::Case;
use super::recorded::{numbers, text};
use crate::codegen::sequence::{Head, Operand as Printed, Program, Step};

/// Instructions and structure, without synchronisation and without inserted moves: whether a loop or a branch needs one
/// depends on the plan, so that each side's copies stand for what they copy.
pub(in super::super) fn recorded(case: &Case) -> Vec<String> {
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

pub(in super::super) fn generated(program: &Program) -> Vec<String> {
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
                    let layout = wrapper.layout.name();
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
                        None => carry.next.as_ref().map(|next| next.text.clone()).unwrap_or_default(),
                    };
                    lines.push(format!("{indent}  carry {} {} {next}", carry.name, carry.init));
                }
                generated_steps(program, &node.body, depth + 1, lines);
            }
            Step::If(node) => {
                lines.push(format!("{indent}if {}", node.condition.text));
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
pub(in super::super) struct Renaming {
    pub(super) to: BTreeMap<String, String>,
    from: BTreeMap<String, String>,
}

impl Renaming {
    pub(in super::super) fn equal(&mut self, a: &str, b: &str) -> bool {
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
