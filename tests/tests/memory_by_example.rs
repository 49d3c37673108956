//! What `docs/reference/memory-by-example.md` says of its kernels, beside the plans of tilefit.

use std::path::Path;

use tilefit_analysis::Fixture;

/// `(memory, bytes)` of the line `# smem: 4096 bytes` that ends a kernel.
fn stated(kernel: &str) -> (&str, u64) {
    let line = kernel.trim_end().lines().last().and_then(|line| line.strip_prefix("# ")).expect("a last line");
    let (memory, bytes) = line.split_once(": ").expect("a memory and its bytes");
    (memory, bytes.strip_suffix(" bytes").and_then(|bytes| bytes.parse().ok()).expect("bytes"))
}

#[test]
fn memory_by_example() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/memory-by-example.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let kernels: Vec<&str> =
        page.split("```python\n").skip(1).map(|part| part.split("```").next().expect("an end")).collect();
    assert!(kernels.len() > 15, "{} kernels", kernels.len());
    for kernel in kernels {
        let plans = Fixture::new(kernel).plans();
        let [plan] = plans.as_slice() else { panic!("{} kernels in:\n{kernel}", plans.len()) };
        let (memory, bytes) = stated(kernel);
        assert_eq!(plan.spaces[memory].used, Some(bytes), "{kernel}");
    }
}
