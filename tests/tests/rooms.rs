//! The crates of the analysis and their rooms, the modules at the top of each: which of them use which. Cargo forbids that two crates need each
//! other; here it is forbidden to rooms.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// By room or file, those that it uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Crates whose rooms are looked at, by folder.
const CRATES: [&str; 6] =
    ["analysis/packing", "analysis/python", "analysis/gpu", "analysis/pypto", "analysis/tilelang", "analysis"];

/// Crates with a few files around a root that they all use; only their files are looked at.
const SMALL: [&str; 3] = ["syntax", "server/answers", "server"];

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

/// The path of a module from the root of its crate.
type Module = Vec<String>;

/// The paths that a file names, from the root of its crate. What its tests need is no need of the file.
struct Named {
    module: Module,
    /// Modules in the file itself.
    inside: usize,
    found: Vec<Vec<String>>,
}

impl Named {
    fn add(&mut self, path: &[String]) {
        let mut from = self.module.clone();
        let mut rest = path;
        match rest.first().map(String::as_str) {
            Some("crate") => {
                from.clear();
                rest = &rest[1..];
            }
            Some("self") => rest = &rest[1..],
            _ => {}
        }
        let mut up = self.inside;
        while let Some(("super", after)) = rest.split_first().map(|(first, after)| (first.as_str(), after)) {
            rest = after;
            match up {
                0 => _ = from.pop(),
                _ => up -= 1,
            }
        }
        from.extend_from_slice(rest);
        self.found.push(from);
    }

    fn add_tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.add_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.add(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.add(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.add(before),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.add_tree(before, item)),
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let of_cfg = attribute.path().is_ident("cfg");
        of_cfg && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

impl<'ast> Visit<'ast> for Named {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.add_tree(&[], &item.tree);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            self.inside += 1;
            visit::visit_item_mod(self, item);
            self.inside -= 1;
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(&names);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let arguments = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(arguments) = call.parse_body_with(arguments) {
            for argument in &arguments {
                self.visit_expr(argument);
            }
        }
    }
}

fn named(module: &Module, text: &str) -> Vec<Vec<String>> {
    let mut named = Named { module: module.clone(), inside: 0, found: Vec::new() };
    named.visit_file(&syn::parse_file(text).expect("a file of Rust"));
    named.found
}

/// The modules of a crate that have a file, and the paths that each names.
fn modules(of: &str) -> BTreeMap<Module, Vec<Vec<String>>> {
    let root = root().join(of).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut modules = BTreeMap::new();
    for file in files {
        let path = file.strip_prefix(&root).expect("a file below the root").to_string_lossy().replace('\\', "/");
        let is_test = path.contains("/tests") || path.ends_with("tests.rs") || path.ends_with("/random.rs");
        if is_test || path.starts_with("bin/") {
            continue;
        }
        let names = path.trim_end_matches(".rs").split('/').filter(|name| !matches!(*name, "mod" | "lib" | "main"));
        let module: Module = names.map(str::to_owned).collect();
        let text = std::fs::read_to_string(&file).expect("a readable source");
        modules.entry(module.clone()).or_insert_with(Vec::new).extend(named(&module, &text));
    }
    modules
}

/// Which rooms use which: the first names of paths, and what they use of the root of the crate.
fn rooms(modules: &BTreeMap<Module, Vec<Vec<String>>>) -> Graph {
    let rooms: BTreeSet<&String> = modules.keys().filter_map(|module| module.first()).collect();
    let mut graph = Graph::new();
    for (module, paths) in modules {
        let Some(room) = module.first() else { continue };
        let firsts = paths.iter().filter_map(|path| path.first());
        let is_other = |name: &&String| *name != room && (rooms.contains(name) || name.starts_with(char::is_uppercase));
        let used = firsts.filter(is_other);
        graph.entry(room.clone()).or_default().extend(used.cloned());
    }
    graph
}

/// Which files use which. That a file uses what those around it say is no arrow: a folder's own file is there for all in it.
fn files(modules: &BTreeMap<Module, Vec<Vec<String>>>) -> Graph {
    let mut graph = Graph::new();
    for (module, paths) in modules {
        let used = graph.entry(module.join("/")).or_default();
        for path in paths {
            let ends = (0..=path.len()).rev().map(|end| path[..end].to_vec());
            let target = ends.into_iter().find(|target| modules.contains_key(target)).unwrap_or_default();
            if !module.starts_with(&target) {
                used.insert(target.join("/"));
            }
        }
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

/// Those of a graph that lead to each other, in groups.
fn cycles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached = |from: &String| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            open.extend(graph.get(at).into_iter().flatten().filter(|next| reached.insert((*next).clone())));
        }
        reached
    };
    let reach: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|from| (from, reached(from))).collect();
    let groups = graph.keys().map(|from| {
        let both = reach[from].iter().filter(|to| reach.get(to).is_some_and(|back| back.contains(from)));
        both.cloned().collect::<BTreeSet<_>>()
    });
    groups.filter(|group| !group.is_empty()).collect::<BTreeSet<_>>().into_iter().collect()
}

#[test]
fn no_rooms_need_each_other() {
    let mut count = 0;
    for of in CRATES {
        let graph = rooms(&modules(of));
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

/// Circles that are left, by their room, with how many files each has. In `db` it is one recursion: host code is followed with the values of names
/// (`scope`), and a name may be a parameter whose value is what host code calls its function with (`shapes`, `calls`, `host_code`).
const CIRCLES: [(&str, usize); 1] = [("db", 4)];

#[test]
fn files_that_need_each_other() {
    let mut found = Vec::new();
    for of in CRATES.into_iter().chain(SMALL) {
        let graph = files(&modules(of));
        let cycles = cycles(&graph);
        println!("{of}: {} files, {} circles", graph.len(), cycles.len());
        for cycle in &cycles {
            for file in cycle {
                let uses: Vec<&str> = graph[file].intersection(cycle).map(String::as_str).collect();
                println!("    {file} -> {}", uses.join(" "));
            }
            let room = cycle.first().and_then(|file| file.split('/').next()).unwrap_or_default();
            found.push((room.to_owned(), cycle.len()));
        }
    }
    assert_eq!(found, CIRCLES.map(|(room, count)| (room.to_owned(), count)));
}

/// A language is a crate, and names no other one; what all share names no language.
#[test]
fn a_language_needs_no_other() {
    let needs = |of: &str| {
        let manifest =
            std::fs::read_to_string(root().join("analysis").join(of).join("Cargo.toml")).expect("a manifest");
        let dependencies = manifest.lines().filter_map(|line| line.strip_prefix("tilefit-"));
        dependencies.map(|rest| rest.split(['.', ' ']).next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
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
    let graph = Graph::from([room("a", &["b", "c"]), room("b", &["c"]), room("c", &["b"]), room("d", &["a"])]);
    assert_eq!(cycles(&graph), [["b", "c"].map(str::to_owned).into()]);
}

#[test]
fn paths_lead_from_the_root() {
    let module = ["a", "b"].map(str::to_owned).to_vec();
    let text = "use crate::{c::{d, e as f}, g}; use super::h::*; fn f() { assert!(self::i::j(), super::k); }
        mod l { use super::super::m; } #[cfg(test)] mod tests { use crate::n; }";
    let named: Vec<String> = named(&module, text).iter().map(|path| path.join("::")).collect();
    assert_eq!(named, ["c::d", "c::e", "g", "a::h", "a::b::i::j", "a::k", "a::m"]);
}
