//! The instruction library that generated programs are compiled with: the host's own (`tests/host_isa`), or with `PTO_ISA=DIR` the
//! public headers of a pto-isa checkout and their CPU simulator.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use tilelens_analysis::codegen;

use crate::host::root;

/// A kernel of a program.
struct Kernel {
    name: String,
    functions: String,
    /// The block of `main` that runs it.
    driver: String,
}

/// A program of many kernels, each with inputs.
#[derive(Default)]
pub(crate) struct Source {
    kernels: Vec<Kernel>,
}

/// What became of a program.
pub(crate) struct Ran {
    /// What its drivers printed.
    pub(crate) output: Vec<u8>,
    /// The kernels that do not compile, and why.
    pub(crate) refused: BTreeMap<String, String>,
}

impl Source {
    /// Adds a kernel: its text for one core or for both, and the driver that runs it.
    pub(crate) fn add(&mut self, name: &str, texts: &[String], driver: String) {
        let mut functions = String::new();
        for (core, text) in texts.iter().enumerate() {
            let namespace = namespace(name, core);
            functions.push_str(&format!("namespace {namespace} {{\n#line 1 \"{namespace}\"\n{text}}}\n"));
        }
        self.kernels.push(Kernel { name: name.to_owned(), functions, driver });
    }

    /// Compiles and runs; `main` is what drivers are written with.
    pub(crate) fn run(mut self, program: &str, main: &str) -> Ran {
        let library = Library::chosen();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(library.folder()).join(program);
        std::fs::create_dir_all(&folder).unwrap();
        let (cpp, binary) = (folder.join("kernels.cpp"), folder.join("kernels"));
        let mut refused = BTreeMap::new();
        loop {
            std::fs::write(&cpp, self.text(main)).unwrap();
            let compiled = library.compile(&cpp, &binary);
            if compiled.status.success() {
                break;
            }
            let errors = String::from_utf8_lossy(&compiled.stderr);
            let found = self.refused(&errors);
            assert!(!found.is_empty(), "{program} does not compile:\n{errors}");
            self.kernels.retain(|kernel| !found.contains_key(&kernel.name));
            refused.extend(found);
        }
        let ran = Command::new(&binary).env("PTO_CPU_SIM_UB_BYTES", "196608").output().unwrap();
        assert!(ran.status.success(), "{program} ended with {}", ran.status);
        Ran { output: ran.stdout, refused }
    }

    fn text(&self, main: &str) -> String {
        let mut text = format!("{}\n", codegen::prelude());
        self.kernels.iter().for_each(|kernel| text.push_str(&kernel.functions));
        text.push_str(&format!("#line 1 \"main\"\n{main}\nint main()\n{{\n"));
        self.kernels.iter().for_each(|kernel| text.push_str(&kernel.driver));
        text.push_str("}\n");
        text
    }

    /// The kernels that the compiler complains of, with the first of its errors.
    fn refused(&self, errors: &str) -> BTreeMap<String, String> {
        // An error in the library comes with the lines that lead to it, in front of it or behind.
        let blocks = errors.split("\nIn file included from ");
        let mut refused = BTreeMap::new();
        for block in blocks {
            let Some(error) = block.lines().find(|line| line.contains(" error: ")) else { continue };
            let named: BTreeSet<&str> =
                block.lines().filter_map(|line| line.split_once(':')).map(|(file, _)| file).collect();
            for kernel in &self.kernels {
                if (0..2).any(|core| named.contains(namespace(&kernel.name, core).as_str())) {
                    let error = error.split_once(" error: ").map_or(error, |(_, error)| error);
                    refused.entry(kernel.name.clone()).or_insert_with(|| error.to_owned());
                }
            }
        }
        refused
    }
}

/// Where the text of a kernel for one of its cores stands.
pub(crate) fn namespace(name: &str, core: usize) -> String {
    format!("case_{name}_{core}")
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Library {
    Host,
    /// The folder of a pto-isa checkout.
    Simulator(PathBuf),
}

impl Library {
    pub(crate) fn chosen() -> Library {
        std::env::var_os("PTO_ISA").map_or(Library::Host, |folder| Library::Simulator(folder.into()))
    }

    fn folder(&self) -> &str {
        match self {
            Library::Host => "host",
            Library::Simulator(_) => "simulator",
        }
    }

    fn compile(&self, cpp: &Path, binary: &Path) -> std::process::Output {
        let mut compiler = Command::new(std::env::var("CXX").unwrap_or_else(|_| "g++".to_string()));
        compiler.args(["-std=c++20", "-O1", "-pthread", "-Wno-attributes"]);
        match self {
            Library::Host => compiler.arg("-I").arg(root().join("host_isa")),
            Library::Simulator(checkout) => {
                let include = checkout.join("include");
                compiler.arg("-D__CPU_SIM").arg("-include").arg(root().join("simulator/run.hpp"));
                compiler.arg("-I").arg(patched(&include)).arg("-I").arg(include).arg("-I").arg(root().join("host_isa"))
            }
        };
        compiler.args([cpp, Path::new("-o"), binary]).output().expect("a C++20 compiler is installed")
    }
}

/// Headers of the simulator that a compiler without C++23 needs otherwise: where, what, and what instead.
const PATCHES: [(&str, &str, &str); 2] = [
    ("pto/cpu/TReduceIdx.hpp", "static_assert(false,", "static_assert(sizeof(DType) == 0,"),
    ("pto/common/type.hpp", "typedef _Float16 bfloat16_t;", "#include <bfloat16.hpp>"),
];

/// A folder of changed headers, which hide those of the same names.
fn patched(include: &Path) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simulator/include");
    for (header, from, to) in PATCHES {
        let text = std::fs::read_to_string(include.join(header)).expect("PTO_ISA is a checkout of pto-isa");
        let (target, text) = (folder.join(header), text.replace(from, to));
        if std::fs::read_to_string(&target).is_ok_and(|known| known == text) {
            continue;
        }
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(&target, text).unwrap();
    }
    folder
}
