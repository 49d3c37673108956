//! The allocators of shared and tensor memory beside what the compiler answered for kernels of Gluon, TLX and Triton (`tests/conformance/triton`), given the
//! sizes, alignments and live ranges that it answered with.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tilefit_gpu::liveness::{LiveRange, Task};
use tilefit_gpu::{shared_memory, tensor_memory};

fn answers() -> Vec<(PathBuf, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/triton");
    let languages = ["gluon", "tlx", "triton"].map(|language| folder.join(language));
    let files = languages.iter().flat_map(|folder| std::fs::read_dir(folder).expect("the folder")).flatten();
    let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("the answers");
        (path, serde_json::from_str(&text).expect("JSON"))
    };
    paths.into_iter().map(read).collect()
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap_or_else(|| panic!("`{key}` of {row}"))
}

fn rows<'a>(case: &'a Value, key: &str) -> &'a [Value] {
    case[key].as_array().map_or(&[], Vec::as_slice)
}

fn live(row: &Value) -> LiveRange {
    let end = |at: usize| row["live"][at].as_u64().expect("a live range") as u32;
    LiveRange { start: end(0), end: end(1) }
}

fn task(row: &Value) -> Option<Task> {
    let number = |at: usize| row["task"][at].as_u64().map(|number| number as u32);
    number(0).zip(number(1)).map(|(group, region)| Task { group, region })
}

/// Cases that the compiler took, each with its name.
fn taken(answers: &[(PathBuf, Value)]) -> impl Iterator<Item = (String, &Value)> {
    answers.iter().flat_map(|(path, answer)| {
        let cases = rows(answer, "cases").iter().enumerate().filter(|(_, case)| case["error"].is_null());
        cases.map(move |(at, case)| (format!("{} {at}", path.display()), case))
    })
}

#[test]
fn shared_memory_is_placed_as_the_compiler_places_it() {
    let answers = answers();
    let mut compared = 0;
    for (name, case) in taken(&answers) {
        let buffers: Vec<_> = rows(case, "buffers").iter().collect();
        let given = buffers.iter().map(|row| shared_memory::Buffer {
            size: number(row, "size"),
            alignment: number(row, "alignment"),
            live: live(row),
            task: task(row),
        });
        let allocation = shared_memory::allocate(&given.collect::<Vec<_>>());
        let offsets: Vec<u64> = buffers.iter().map(|row| number(row, "offset")).collect();
        assert_eq!((allocation.offsets, allocation.total), (offsets, number(case, "shared")), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 613);
}

#[test]
fn tensor_memory_is_placed_as_the_compiler_places_it() {
    let answers = answers();
    let mut compared = 0;
    for (name, case) in taken(&answers).filter(|(_, case)| !rows(case, "tensor_memory").is_empty()) {
        let buffers = rows(case, "tensor_memory");
        // What is multiplied with what stands in the kernels only: the third buffer with the second, or with the first.
        let partner = match () {
            () if name.contains("tensor_memory_operand") => Some(1),
            () if name.contains("attention") => Some(0),
            () => None,
        };
        let is_narrow = |at: usize| number(&buffers[at], "rows") == 64;
        let partner_of = |at: usize| partner.filter(|&partner| at == 2 && is_narrow(at) && is_narrow(partner));
        let given = buffers.iter().enumerate().map(|(at, row)| tensor_memory::Buffer {
            columns: number(row, "columns") as u32,
            rows: number(row, "rows") as u32,
            live: live(row),
            task: task(row),
            with: partner_of(at),
        });
        let allocation = tensor_memory::allocate(&given.collect::<Vec<_>>());
        let places: Vec<_> = allocation.places.iter().map(|place| (u64::from(place.column), place.half * 16)).collect();
        let said: Vec<_> = buffers.iter().map(|row| (number(row, "column"), number(row, "row") as u32)).collect();
        assert_eq!((places, allocation.columns), (said, number(case, "tmem_columns")), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 113);
}
