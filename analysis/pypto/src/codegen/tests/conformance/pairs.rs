//! Pairs and barriers by the instructions that they stand between.

use serde_json::Value as Json;

use crate::codegen::sequence::{Pipe, Step, Sync};

/// Pairs and barriers by the instructions that they stand between.
pub(super) fn sync_points(steps: &[Step], points: &mut Vec<String>) {
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

pub(super) fn recorded_sync_points(function: &Json) -> Vec<String> {
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

/// Removes the n-th pair or barrier, and says which it was.
pub(in super::super) fn without(steps: &mut Vec<Step>, n: &mut usize) -> Option<Sync> {
    for at in 0..steps.len() {
        let found = match &mut steps[at] {
            Step::Sync(sync @ (Sync::Set { .. } | Sync::Barrier(_)), _) => {
                let sync = *sync;
                if *n > 0 {
                    *n -= 1;
                    continue;
                }
                if let Sync::Set { src, dst, event } = sync {
                    let is_partner =
                        |step: &Step| matches!(step, Step::Sync(it, _) if *it == Sync::Wait { src, dst, event });
                    steps.remove(at + steps[at..].iter().position(is_partner).unwrap());
                }
                steps.remove(at);
                Some(sync)
            }
            Step::Loop(node) => without(&mut node.body, n),
            Step::If(node) => without(&mut node.then, n).or_else(|| without(node.otherwise.as_mut()?, n)),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}
