use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tilefit_analysis::ide::memory_map::{BoxMap, SpaceMap};
use tilefit_analysis::ide::{KernelPlan, MemoryMap};

use super::edited::Edited;
use super::plan::summary;
use super::reply::{self, Reply, fits};
use super::workspace::{Over, Place, Workspace, kernels, planners, read, targets};
use crate::cli::diff::compared::{Compared, Difference};
use crate::cli::diff::json::difference;
use crate::cli::diff::side::Kernel;
use crate::cli::diff::text::{delta, sizes, verdict};
use crate::cli::which::Kernels;
use crate::tree::{OnDisk, Tree};

/// Of one answer: kernels that change, and of each the buffers that change and that are live at the peak.
const MOST_KERNELS: usize = 16;
const MOST_BUFFERS: usize = 16;

/// Edits of one call.
const MOST_EDITS: usize = 256;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Edits, applied in this order
    edits: Vec<Edit>,
    /// More files whose kernels to compare, such as files that import an edited one
    #[serde(default)]
    files: Vec<String>,
    /// Only kernels of this name, also with wildcards
    kernel: Option<String>,
    /// Device that the kernels run on, in place of the settings
    #[schemars(extend("enum" = targets()))]
    target: Option<String>,
    /// Planner of the compiler of PyPTO, in place of the settings
    #[schemars(extend("enum" = planners()))]
    planner: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// A file of the workspace, or a new one
    file: String,
    /// Text to replace, exactly as in the file; it must occur once. Without it, `new_text` is the whole file
    old_text: Option<String>,
    /// The text to replace it with
    new_text: String,
    /// Replace every occurrence
    #[serde(default)]
    all: bool,
}

pub(super) fn run(workspace: &Workspace, arguments: Arguments) -> Result<Reply, String> {
    let edited = edited(workspace, &arguments.edits)?;
    let mut places: BTreeSet<Place> = BTreeSet::new();
    for file in arguments.edits.iter().map(|edit| &edit.file) {
        places.insert(workspace.place(file)?);
    }
    for file in &arguments.files {
        places.insert(workspace.existing(file)?);
    }
    let over = Over { target: arguments.target, planner: arguments.planner };
    let wanted = kernels(arguments.kernel.as_ref());
    let mut before = Side::of(&OnDisk, places.iter().filter(|place| place.path.exists()), &over)?;
    let mut after = Side::of(&edited, places.iter(), &over)?;
    let names: Vec<&str> = before.plans.iter().chain(&after.plans).map(|(_, plan)| plan.name.as_str()).collect();
    if names.is_empty() {
        let why = after.failures.first().cloned();
        return Err(
            why.unwrap_or_else(|| "no kernels in these files; list the files with the kernels in `files`".to_owned())
        );
    }
    if let Some(unmatched) = wanted.unmatched(&names) {
        return Err(unmatched);
    }
    before.retain(&wanted);
    after.retain(&wanted);
    Ok(reply(&before, &after))
}

/// The error is a sentence for the agent.
fn edited(workspace: &Workspace, edits: &[Edit]) -> Result<Edited, String> {
    if edits.is_empty() || edits.len() > MOST_EDITS {
        return Err(format!("`edits` has {} entries; it must have 1 to {MOST_EDITS}", edits.len()));
    }
    let mut texts = BTreeMap::new();
    for Edit { file, old_text, new_text, all } in edits {
        let place = match old_text {
            Some(_) if !texts.contains_key(&workspace.place(file)?.path) => workspace.existing(file)?,
            _ => workspace.place(file)?,
        };
        let Some(old) = old_text.as_ref().filter(|old| !old.is_empty()) else {
            texts.insert(place.path, new_text.clone());
            continue;
        };
        let text = match texts.remove(&place.path) {
            Some(text) => text,
            None => OnDisk.read_within(&place.root, &place.path).map_err(|error| format!("{file}: {error}"))?,
        };
        let lines: Vec<usize> = text.match_indices(old).map(|(at, _)| text[..at].matches('\n').count() + 1).collect();
        match lines.as_slice() {
            [] => return Err(format!("{file}: `old_text` is not in the file{}", hint(&text, old))),
            [_, _, ..] if !all => {
                let lines: Vec<String> = lines.iter().take(MOST_BUFFERS).map(usize::to_string).collect();
                return Err(format!(
                    "{file}: `old_text` occurs {} times, in lines {}; add more of the text around it, or set `all`",
                    text.matches(old).count(),
                    lines.join(", ")
                ));
            }
            _ => drop(texts.insert(place.path, text.replace(old, new_text))),
        }
    }
    Ok(Edited { texts })
}

/// Why a text is not found, where it is there but for its white space.
fn hint(text: &str, old: &str) -> String {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = old.lines().map(squeezed).find(|line| !line.is_empty()).unwrap_or_default();
    let like = text.lines().position(|line| !first.is_empty() && squeezed(line) == first);
    like.map_or_else(String::new, |line| format!("; its first line matches line {} except for white space", line + 1))
}

/// All kernels of some files, before or after.
struct Side {
    /// By the name of the file.
    plans: Vec<(String, KernelPlan)>,
    maps: Vec<(String, MemoryMap)>,
    failures: Vec<String>,
}

impl Side {
    fn of<'p>(tree: &dyn Tree, places: impl Iterator<Item = &'p Place>, over: &Over) -> Result<Side, String> {
        let projects = over.projects(tree)?;
        let mut side = Side { plans: Vec::new(), maps: Vec::new(), failures: Vec::new() };
        for place in places {
            let source = match read(tree, place, &projects) {
                Ok(source) => source,
                Err(message) => {
                    side.failures.push(message);
                    continue;
                }
            };
            let name = place.name();
            side.failures.extend(source.syntax_errors(&name));
            side.plans
                .extend(source.ask(|analysis, file| analysis.plans(file)).into_iter().map(|it| (name.clone(), it)));
            let maps = source.ask(|analysis, file| analysis.memory_maps(file)).into_iter();
            side.maps.extend(maps.map(|it| (name.clone(), it)));
        }
        side.failures.extend(projects.problems());
        Ok(side)
    }

    fn retain(&mut self, wanted: &Kernels) {
        self.plans.retain(|(_, plan)| wanted.include(&plan.name));
        self.maps.retain(|(_, map)| wanted.include(&map.kernel));
    }

    fn kernels(&self) -> Vec<Kernel> {
        self.plans.iter().map(|(file, plan)| Kernel::of(file, plan)).collect()
    }

    fn plan(&self, kernel: &Kernel) -> Option<&KernelPlan> {
        let is_it = |(file, plan): &&(String, KernelPlan)| {
            *file == kernel.file && plan.name == kernel.name && plan.line == kernel.line
        };
        self.plans.iter().find(is_it).map(|(_, plan)| plan)
    }

    fn map(&self, kernel: &Kernel) -> Option<&MemoryMap> {
        let is_it = |(file, map): &&(String, MemoryMap)| {
            *file == kernel.file && map.kernel == kernel.name && map.line == kernel.line
        };
        self.maps.iter().find(is_it).map(|(_, map)| map)
    }
}

fn reply(before: &Side, after: &Side) -> Reply {
    let compared = Compared::of(before.kernels(), after.kernels());
    let all: Vec<Option<bool>> = after.plans.iter().map(|(_, plan)| fits(plan)).collect();
    let fit = all.iter().try_fold(true, |all, one| one.map(|one| all && one));
    let fit = if all.contains(&Some(false)) { Some(false) } else { fit };
    let count = |verdict| all.iter().filter(|it| **it == verdict).count();
    let mut text = format!(
        "after the edits: {} of {} kernels fit, {} do not fit, {} may or may not fit; {} changed\n",
        count(Some(true)),
        all.len(),
        count(Some(false)),
        count(None),
        compared.differences.len()
    );
    for failure in &after.failures {
        let _ = writeln!(text, "{failure}");
    }
    let differences: Vec<&Difference> = compared.differences.iter().collect();
    let (shown, left_out) = reply::first(differences, MOST_KERNELS);
    let kernels: Vec<Value> = shown.into_iter().map(|it| kernel(it, before, after, &mut text)).collect();
    if left_out > 0 {
        let _ = writeln!(text, "{left_out} more kernels change; name one to see it");
    }
    let is_changed = |kernel: &Kernel| compared.differences.iter().any(|it| it.after.as_ref() == Some(kernel));
    let unchanged: Vec<Value> = after
        .plans
        .iter()
        .filter(|(file, plan)| fits(plan) != Some(true) && !is_changed(&Kernel::of(file, plan)))
        .take(MOST_KERNELS)
        .map(|(file, plan)| {
            text.push_str("unchanged: ");
            text.push_str(&summary(file, plan));
            json!({ "file": file, "name": plan.name, "fits": fits(plan) })
        })
        .collect();
    let structured = json!({
        "fits": fit,
        "kernels": kernels,
        "kernels_left_out": left_out,
        "unchanged": compared.unchanged,
        "unchanged_that_do_not_fit": unchanged,
        "failures": after.failures,
    });
    Reply { text, structured: Some(structured) }
}

/// One that changes.
fn kernel(change: &Difference, before: &Side, after: &Side, text: &mut String) -> Value {
    let mut object = difference(change);
    let (then, now) = (change.before.as_ref(), change.after.as_ref());
    let plan = now.and_then(|now| after.plan(now));
    match (plan, then.is_some()) {
        (Some(plan), true) => text.push_str(&summary(&change.kernel().file, plan)),
        (Some(plan), false) => text.push_str(&format!("new: {}", summary(&change.kernel().file, plan))),
        (None, _) => text.push_str(&format!("`{}` is gone\n", change.kernel().name)),
    }
    for memory in change.memories() {
        let said = [delta(&memory), sizes(&memory), verdict(&memory)];
        let said: Vec<&str> = said.iter().map(String::as_str).filter(|said| !said.is_empty()).collect();
        let _ = writeln!(text, "  {}: {}", memory.memory, said.join(", "));
    }
    let Some(plan) = plan else { return object };
    object["fits"] = json!(fits(plan));
    let room = plan.spaces.iter().filter_map(|(memory, space)| {
        let most = space.used.or(space.bounds.and_then(|bounds| bounds.high));
        Some((*memory, space.capacity.filter(|&capacity| capacity > 0)? as i64 - most? as i64))
    });
    object["left"] = json!(room.collect::<BTreeMap<_, _>>());
    let (changed, left_out) = reply::first(buffers(then.and_then(|then| before.plan(then)), plan), MOST_BUFFERS);
    for buffer in &changed {
        let size = |key: &str| buffer[key].as_u64().map_or_else(|| "nothing".to_owned(), |size| size.to_string());
        let _ = writeln!(
            text,
            "  buffer {} ({}): {} -> {} bytes",
            buffer["name"].as_str().unwrap_or_default(),
            buffer["memory"].as_str().unwrap_or("?"),
            size("before"),
            size("after")
        );
    }
    object["buffers"] = json!(changed);
    object["buffers_left_out"] = json!(left_out);
    if let Some(map) = now.and_then(|now| after.map(now)) {
        let peaks: Vec<Value> =
            map.spaces.iter().filter(|space| space.used > 0).map(|space| peak(map, space)).collect();
        object["peaks"] = json!(peaks);
    }
    object
}

/// The tiles that are new, gone, or have another size; the largest first.
fn buffers(before: Option<&KernelPlan>, after: &KernelPlan) -> Vec<Value> {
    type Sizes<'p> = BTreeMap<(&'p str, &'p str), [Option<u64>; 2]>;
    let mut sizes: Sizes<'_> = BTreeMap::new();
    for (side, plan) in before.into_iter().map(|it| (0, it)).chain([(1, after)]) {
        for tile in &plan.tiles {
            let both = sizes.entry((tile.space.unwrap_or("?"), &tile.name)).or_default();
            both[side] = both[side].max(Some(tile.bytes));
        }
    }
    let mut changed: Vec<_> = sizes.into_iter().filter(|(_, [before, after])| before != after).collect();
    changed.sort_by_key(|(_, sizes)| std::cmp::Reverse(sizes.iter().copied().max()));
    let buffer = |((memory, name), [before, after]): ((&str, &str), [Option<u64>; 2])| json!({ "name": name, "memory": memory, "before": before, "after": after });
    changed.into_iter().map(buffer).collect()
}

/// What is live where most of a memory is.
fn peak(map: &MemoryMap, space: &SpaceMap) -> Value {
    let is_live = |it: &&BoxMap| space.peak_row.is_none_or(|row| it.first_row <= row && row < it.end_row);
    let size = |it: &BoxMap| it.ranges.iter().map(|[start, end]| end - start).sum::<u64>();
    let mut live: Vec<(&str, u64)> = Vec::new();
    for buffer in &space.buffers {
        live.extend(
            buffer.boxes.iter().filter(is_live).filter_map(|it| Some((it.tiles.first()?.label.as_str(), size(it)))),
        );
    }
    live.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let (live, left_out) = reply::first(live, MOST_BUFFERS);
    let live: Vec<Value> = live.into_iter().map(|(name, size)| json!({ "name": name, "size": size })).collect();
    let mut rows = 0;
    let line = space.peak_row.and_then(|row| {
        map.steps.iter().find(|step| {
            rows += step.rows;
            row < rows
        })
    });
    json!({
        "memory": space.name,
        "unit": space.unit,
        "peak": space.peak,
        "line": line.map(|step| step.line),
        "live": live,
        "live_left_out": left_out,
    })
}
