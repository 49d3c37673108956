//! What pages state as a list or a number is what the program has.

use std::fs;
use std::path::Path;

use tilefit_analysis::project::{SETTINGS, Shape};
use tilefit_gpu::device::Arch;
use tilefit_python::finding::Status;

fn page(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// `101376` of `101,376`
fn number(text: &str) -> u64 {
    text.replace(',', "").trim().parse().unwrap_or_else(|_| panic!("{text} is a number"))
}

#[test]
fn settings_state_the_capacity_of_each_gpu() {
    let target = SETTINGS.iter().find(|setting| setting.key == "target").expect("the setting");
    let Shape::OneOf(values) = &target.shape else { panic!("`target` is one of some") };
    for arch in Arch::gpus() {
        let stated = values.iter().find(|(name, _)| *name == arch.name());
        let (_, about) = stated.unwrap_or_else(|| panic!("{arch} is a target"));
        let bytes = about.strip_prefix("GPU: ").and_then(|rest| rest.split_once(" bytes")).expect("its bytes").0;
        assert_eq!(number(bytes), arch.smem(), "{arch}: {about}");
    }
}

#[test]
fn the_reference_states_the_capacity_of_each_gpu() {
    let page = page("docs/reference/tlx.md");
    let table = page.split("| architecture | bytes of shared memory a block |").nth(1).expect("the table");
    let mut stated = Vec::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let (names, bytes): (Vec<&str>, Vec<&str>) = (cells[0].split(", ").collect(), cells[1].split(", ").collect());
        // One number is that of all.
        stated.extend(names.iter().enumerate().map(|(at, name)| (*name, number(bytes[at.min(bytes.len() - 1)]))));
    }
    stated.sort_unstable();
    let mut all: Vec<_> = Arch::gpus().map(|arch| (arch.name(), arch.smem())).collect();
    all.sort_unstable();
    assert_eq!(stated, all);
}

#[test]
fn the_reference_states_the_memories_of_each_npu() {
    let page = page("docs/reference/tilelang.md");
    let (_, table) = page.split_once("| memory | allocated by | ").expect("the table");
    let mut rows = table.lines().map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let devices = rows.next().expect("its head");
    let mut stated = Vec::new();
    for row in rows.skip(1).take_while(|row| row.len() == devices.len() + 2) {
        let memories = row[0].split(", ");
        let cells = memories.flat_map(|memory| devices.iter().zip(&row[2..]).map(move |cell| (memory, cell)));
        stated.extend(cells.map(|(memory, (device, bytes))| (*device, memory, number(bytes))));
    }
    stated.sort_unstable();
    let npus = Arch::all().filter(|arch| arch.is_npu());
    let of = |arch: Arch| arch.memories().map(move |(space, capacity)| (arch.name(), space.name(), capacity));
    let mut all: Vec<_> = npus.flat_map(of).collect();
    all.sort_unstable();
    assert_eq!(stated, all);
}

#[test]
fn the_protocol_lists_every_status() {
    let page = page("docs/lsp-extensions.md");
    let line = page.lines().find_map(|line| line.trim().strip_prefix("status: ")).expect("the status of a map");
    let stated: Vec<&str> = line.trim_end_matches(';').split(" | ").map(|name| name.trim_matches('\'')).collect();
    assert_eq!(stated, Status::ALL.map(Status::name));
}
