//! A dump that says what the compiler recorded (`tests/conformance/pypto`) agrees with every plan; one with a moved tile does not.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;
use tilefit_analysis::Fixture;
use tilefit_analysis::ide::LensCommand;
use tilefit_analysis::project::Config;
use tilefit_pypto::target::Planner;
use tilefit_python::diagnostics::Code;

/// The text of a dump with the tiles of a recorded answer, their addresses moved by `shift`.
fn dump(functions: &serde_json::Map<String, Value>, shift: u64) -> String {
    let mut text = String::new();
    for (name, function) in functions {
        let _ = writeln!(text, "@pl.function(type=pl.FunctionType.AIV)\ndef {name}():");
        let list = |key: &str| function[key].as_array().cloned().unwrap_or_default();
        for buffer in list("buffers") {
            let (name, space) = (buffer["name"].as_str().unwrap_or("b"), buffer["space"].as_str().unwrap_or("Vec"));
            let _ = writeln!(text, "    {name}: pl.Ptr = pl.tile.alloc(pl.Mem.{space}, {})", buffer["size"]);
        }
        for tile in list("tiles") {
            let said = |key: &str| tile[key].as_str().unwrap_or_default().to_owned();
            let mut memory = String::new();
            if let (Some(buffer), Some(address)) = (tile["buffer"].as_str(), tile["address"].as_u64()) {
                let address = address + shift;
                let address = match tile["dynamic_offset"].as_bool() {
                    Some(true) => format!("{address} + i * 32"),
                    _ => format!("pl.const({address}, pl.INT64)"),
                };
                memory = format!("pl.MemRef({buffer}, {address}, {}), ", tile["bytes"]);
            }
            let (ssa, shape, dtype, space) = (said("ssa"), &tile["shape"], said("dtype"), said("space"));
            let _ = writeln!(text, "    {ssa}: pl.Tile[{shape}, pl.{dtype}, {memory}pl.Mem.{space}] = pl.tile.make()");
        }
        text.push_str("    pass\n\n");
    }
    text
}

struct Compared {
    /// Kernels with an "open dump" lens, and those where it says that the dump is of other text.
    linked: usize,
    older: usize,
    /// What `dump-differs` says.
    differing: Vec<String>,
}

fn compare(source: &str, dump: &str) -> Compared {
    let mut fixture = Fixture::new(source).with(Config { planner: Planner::Sequential, ..Config::default() });
    let dumped = fixture.host.file_id("/w/passes_dump/32_after_AllocateMemoryAddr.py");
    fixture.host.set_text(dumped, dump);
    fixture.host.set_dumps(fixture.file, &[dumped]);
    let texts = fixture.code_lenses().into_iter().filter_map(|lens| fixture.code_lens(lens));
    let lenses: Vec<_> = texts.filter(|lens| matches!(lens.command, LensCommand::OpenDump { .. })).collect();
    let found = fixture.diagnostics().into_iter();
    Compared {
        linked: lenses.len(),
        older: lenses.iter().filter(|lens| lens.title != "open dump").count(),
        differing: found.filter(|it| it.code == Code::DumpDiffers).map(|it| it.message).collect(),
    }
}

#[test]
fn recorded_answers_agree_as_dumps_and_moved_ones_do_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/pypto");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("the kernels").flatten().map(|it| it.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "json"));
    paths.sort();
    let (mut kernels, mut older) = (0, Vec::new());
    for path in paths {
        let recorded: Value = serde_json::from_slice(&std::fs::read(&path).expect("readable")).expect("JSON");
        let results = recorded["results"].as_array().cloned().unwrap_or_default();
        let default = results.iter().find(|it| it["backend"] == "910B" && it["planner"] == "PYPTO");
        let Some(functions) = default.and_then(|it| it["functions"].as_object()) else { continue };
        let source = std::fs::read_to_string(path.with_extension("py")).expect("readable");
        let same = compare(&source, &dump(functions, 0));
        assert_eq!(same.differing, [] as [String; 0], "{}", path.display());
        kernels += same.linked;
        if same.older > 0 {
            older.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
        } else if same.linked > 0 {
            let moved = compare(&source, &dump(functions, 32));
            assert_eq!(moved.differing.len(), same.linked, "{}", path.display());
        }
    }
    println!("{kernels} kernels linked, of other text: {older:?}");
    assert!(kernels > 200, "{kernels}");
    assert_eq!(older, [] as [String; 0]);
}
