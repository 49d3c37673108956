//! The instruction library that generated programs are compiled with: the host's own (`tests/host_isa`), or with `PTO_ISA=DIR` the
//! public headers of a pto-isa checkout and their CPU simulator.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use tilefit_pypto::codegen;
use tilefit_pypto::target::Target;

use crate::generated_code::host::root;

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
    target: Target,
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
    pub(crate) fn of(target: Target) -> Source {
        Source { target, ..Source::default() }
    }

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
        let [cpp, binary] = library.files(program);
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
        Ran { output: output(&binary, self.target), refused }
    }

    fn text(&self, main: &str) -> String {
        let machine = if self.target == Target::Ascend950 { "#define HOST_ASCEND950\n" } else { "" };
        let mut text = format!("{machine}{}\n", codegen::prelude());
        self.kernels.iter().for_each(|kernel| text.push_str(&kernel.functions));
        text.push_str(&format!("#line 1 \"main\"\n{main}\nint main()\n{{\n"));
        self.kernels.iter().for_each(|kernel| text.push_str(&kernel.driver));
        text.push_str("}\n");
        text
    }

    /// The kernels that the compiler complains of, with the first of its errors.
    fn refused(&self, errors: &str) -> BTreeMap<String, String> {
        // An error in the library comes with the lines that lead to it, before it or after.
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

    /// The source and the binary of a program.
    fn files(&self, program: &str) -> [PathBuf; 2] {
        let library = match self {
            Library::Host => "host",
            Library::Simulator(_) => "simulator",
        };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(library).join(program);
        std::fs::create_dir_all(&folder).unwrap();
        ["kernels.cpp", "kernels"].map(|file| folder.join(file))
    }

    fn compile(&self, cpp: &Path, binary: &Path) -> std::process::Output {
        let mut compiler = Command::new(std::env::var("CXX").unwrap_or_else(|_| "g++".to_string()));
        compiler.args(["-std=c++20", "-Og", "-pthread", "-Wno-attributes"]);
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

/// What a program prints.
fn output(binary: &Path, target: Target) -> Vec<u8> {
    let (vec, acc) = if target == Target::Ascend950 { ("262144", "262144") } else { ("196608", "131072") };
    let memories = [("PTO_CPU_SIM_UB_BYTES", vec), ("PTO_CPU_SIM_L0C_BYTES", acc)];
    let ran = Command::new(binary).envs(memories).output().unwrap();
    assert!(ran.status.success(), "{} ended with {}", binary.display(), ran.status);
    ran.stdout
}

/// Compiles and runs a whole program with the host's instructions; its output.
pub(crate) fn compile_and_run(name: &str, source: &str) -> Vec<u8> {
    let [cpp, binary] = Library::Host.files(name);
    std::fs::write(&cpp, source).unwrap();
    let compiled = Library::Host.compile(&cpp, &binary);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    output(&binary, Target::Ascend910b)
}

/// What the simulator does not have or does otherwise: kernel, what is said of it, and why it is not the kernel that is wrong.
const OTHERWISE: &[(&str, &str, &str)] = &[
    ("gather_compare", "does not compile", "it has no TGATHER that compares; the headers of the devices have"),
    ("gemv", "does not compile", "its product takes as many rows in Left as in Acc; those of the devices do not"),
    ("gemv_acc", "does not compile", "as for gemv"),
    ("gemv_bias", "does not compile", "as for gemv"),
    (
        "selection_of_window",
        "out: off by",
        "its TCMPS packs the masks of whole rows, its TSEL reads those of valid ones",
    ),
    (
        "gen_011_0",
        "Divider cannot be equal to zero",
        "a quotient by zero is infinite on a device; the reference leaves it open",
    ),
    ("gen_044_0", "Divider cannot be equal to zero", "as for gen_011"),
    ("gen_048_0", "Divider cannot be equal to zero", "as for gen_011"),
    ("gen_049_0", "Divider cannot be equal to zero", "as for gen_011"),
    ("gen_122_0", "Divider cannot be equal to zero", "as for gen_011"),
    ("gen_129_0", "Divider cannot be equal to zero", "as for gen_011"),
    ("134_matmul_batch_then_vector_0", "dst.GetValidRow()", "it inserts no empty tile behind the end of an empty one"),
    ("gen_087_0", "elements are off", "it rounds to half precision after each addend of a column"),
];

/// Leaves out, on the simulator, what is known of it. `wrong` begins with the name of a kernel.
pub(crate) fn unexplained(wrong: Vec<String>) -> Vec<String> {
    if Library::chosen() == Library::Host {
        return wrong;
    }
    let why = |wrong: &String| {
        let named = |kernel: &str| wrong.strip_prefix(kernel).filter(|rest| rest.starts_with([' ', ':']));
        OTHERWISE.iter().find(|(kernel, said, _)| named(kernel).is_some_and(|rest| rest.contains(said)))
    };
    let (explained, wrong): (Vec<String>, _) = wrong.into_iter().partition(|wrong| why(wrong).is_some());
    for wrong in &explained {
        let why = why(wrong).map_or("", |(_, _, why)| why);
        println!("on the simulator only: {wrong}: {why}");
    }
    wrong
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
