//! The crates of the analysis and their rooms, the modules at the top of each: which of them use which. Cargo forbids that two crates need each
//! other; here it is forbidden to rooms.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// By room, the rooms that it uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Crates whose rooms are looked at, by folder.
const CRATES: [&str; 5] = ["analysis/packing", "analysis/python", "analysis/gpu", "analysis/pypto", "analysis"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file without comments and without its tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// The code with `crate::` for as many `super::` as lead to the root of the crate.
fn from_root(code: &str, depth: usize) -> String {
    let up = "super::".repeat(depth);
    let parts: Vec<&str> = if depth == 0 { vec![code] } else { code.split(&up).collect() };
    let mut text = String::new();
    for (at, part) in parts.iter().enumerate() {
        // One `super::` more leads nowhere; one before these is a part of a longer way.
        let joint = if at == 0 || text.ends_with("super::") { "" } else { "crate::" };
        text = text + joint + part;
    }
    text
}

/// The first name of each path that begins with `crate::`, those of a list in braces included.
fn used(code: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            used.insert(first_name(rest));
            continue;
        };
        let mut depth = 0;
        let mut at_start = true;
        for (at, character) in list.char_indices() {
            match character {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => at_start = true,
                _ if at_start && !character.is_whitespace() => {
                    used.insert(first_name(&list[at..]));
                    at_start = false;
                }
                _ => {}
            }
        }
    }
    used
}

fn first_name(path: &str) -> String {
    path.chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect()
}

fn graph(of: &str) -> Graph {
    let root = root().join(of).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut graph = Graph::new();
    for file in files {
        let path = file.strip_prefix(&root).expect("a file below the root").to_string_lossy().replace('\\', "/");
        let room = path.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned();
        // What a room's tests need is no need of the room.
        let is_test = path.contains("/tests") || path.ends_with("/random.rs");
        if room == "lib" || is_test {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a readable source");
        let depth = path.split('/').count() - usize::from(path.ends_with("/mod.rs"));
        graph.entry(room).or_default().extend(used(&from_root(&code(&text), depth)));
    }
    let rooms: BTreeSet<String> = graph.keys().cloned().collect();
    for (room, uses) in &mut graph {
        uses.retain(|name| name != room && (rooms.contains(name) || name.starts_with(char::is_uppercase)));
    }
    graph
}

/// Takes away, again and again, the rooms whose every need is met: those that are left need each other.
fn without_cycles(mut graph: Graph) -> (Vec<String>, Graph) {
    let mut order = Vec::new();
    while let Some(room) = graph.iter().find(|(_, uses)| uses.iter().all(|used| order.contains(used))) {
        let room = room.0.clone();
        graph.remove(&room);
        order.push(room);
    }
    (order, graph)
}

#[test]
fn no_rooms_need_each_other() {
    let mut count = 0;
    for of in CRATES {
        let graph = graph(of);
        let (order, cycle) = without_cycles(graph.clone());
        let mut drawn = format!("{of}\n");
        for room in &order {
            let uses: Vec<&str> = graph[room].iter().map(String::as_str).collect();
            writeln!(drawn, "    {room:16} {}", uses.join(" ")).expect("a text takes it");
        }
        println!("{drawn}");
        assert!(cycle.is_empty(), "these rooms of {of} need each other, or the root of the crate: {cycle:#?}");
        count += order.len();
    }
    assert!(count > 60, "{count} rooms were found");
}

/// A language is a crate, and names no other one; what all share names no language.
#[test]
fn a_language_needs_no_other() {
    let needs = |of: &str| {
        let manifest =
            std::fs::read_to_string(root().join("analysis").join(of).join("Cargo.toml")).expect("a manifest");
        let dependencies = manifest.lines().filter_map(|line| line.strip_prefix("tilefit-"));
        dependencies.map(first_name).collect::<Vec<_>>()
    };
    assert_eq!(needs("pypto"), ["packing", "python", "syntax"]);
    assert_eq!(needs("gpu"), ["packing", "python", "syntax"]);
    assert_eq!(needs("python"), ["syntax"]);
    assert_eq!(needs("packing"), [""; 0]);
}

#[test]
fn a_cycle_is_seen() {
    let room = |name: &str, uses: &[&str]| (name.to_owned(), uses.iter().map(|name| (*name).to_owned()).collect());
    let (order, cycle) =
        without_cycles(Graph::from([room("a", &["b"]), room("b", &["c"]), room("c", &["b"]), room("d", &[])]));
    assert_eq!(order, ["d"]);
    assert_eq!(cycle.len(), 3);
    assert_eq!(used("use crate::{a::{b, c}, d}; crate::e::f()"), ["a", "d", "e"].map(str::to_owned).into());
    assert_eq!(used(&from_root("use super::super::{a, b}; use super::c;", 2)), ["a", "b"].map(str::to_owned).into());
}
