//! The rooms of the analysis, its modules at the top, and which of them use which: no two may need each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// By room, the rooms that it uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

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

fn graph() -> Graph {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/src");
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
        graph.entry(room).or_default().extend(used(&code(&text)));
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
    let graph = graph();
    let (order, cycle) = without_cycles(graph.clone());
    let mut drawn = String::new();
    for room in &order {
        let uses: Vec<&str> = graph[room].iter().map(String::as_str).collect();
        writeln!(drawn, "{room:12} {}", uses.join(" ")).expect("a text takes it");
    }
    println!("{drawn}");
    assert!(cycle.is_empty(), "these rooms need each other, or the root of the crate: {cycle:#?}");
    assert!(order.len() > 15, "rooms were found:\n{drawn}");
}

/// The room and all that it needs, and what those need.
fn needs(graph: &Graph, room: &str) -> BTreeSet<String> {
    let mut needs = BTreeSet::new();
    let mut open = vec![room.to_owned()];
    while let Some(room) = open.pop() {
        if needs.insert(room.clone()) {
            open.extend(graph[&room].iter().cloned());
        }
    }
    needs
}

/// The rooms of each language. One that is not here is anybody's.
const LANGUAGES: [&[&str]; 2] =
    [&["tlx"], &["ir", "ops", "typing", "lower", "passes", "memory", "codegen", "printed", "pairs", "names"]];

#[test]
fn a_language_needs_no_other() {
    let graph = graph();
    for (of, rooms) in LANGUAGES.iter().enumerate() {
        for room in *rooms {
            let needs = needs(&graph, room);
            let others = LANGUAGES.iter().enumerate().filter(|(other, _)| *other != of).flat_map(|(_, rooms)| *rooms);
            let needed: Vec<_> = others.filter(|other| needs.contains(**other)).collect();
            assert!(needed.is_empty(), "`{room}` needs rooms of another language: {needed:?}");
        }
    }
}

#[test]
fn a_cycle_is_seen() {
    let room = |name: &str, uses: &[&str]| (name.to_owned(), uses.iter().map(|name| (*name).to_owned()).collect());
    let (order, cycle) =
        without_cycles(Graph::from([room("a", &["b"]), room("b", &["c"]), room("c", &["b"]), room("d", &[])]));
    assert_eq!(order, ["d"]);
    assert_eq!(cycle.len(), 3);
    assert_eq!(used("use crate::{a::{b, c}, d}; crate::e::f()"), ["a", "d", "e"].map(str::to_owned).into());
}
