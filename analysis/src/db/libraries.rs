//! The languages and libraries whose names and functions have values outside of kernels, a row each.

use tilefit_gpu::device::Arch;
use tilefit_gpu::{device_queries, language, tlx};
use tilefit_pypto::lower;
use tilefit_python::element::Dtype;
use tilefit_python::eval::{Argument, Constant};
use tilefit_python::torch;

use super::reexports::imports;
use super::{SourceFile, tilelang_names, tuned};

/// A name in a file.
type Name = fn(&dyn salsa::Database, SourceFile, &[&str]) -> Option<Constant>;
/// Asks for the arguments only of functions that it knows.
type Call = fn(&dyn salsa::Database, SourceFile, &[&str], &dyn Fn() -> Vec<Argument>) -> Option<Constant>;

struct Library {
    name: Name,
    call: Call,
    /// Its values are made while host code runs; what a kernel is compiled from has none.
    on_the_host_only: bool,
}

/// The first that knows a name answers.
const LIBRARIES: [Library; 5] = [
    Library { name: triton_name, call: triton_call, on_the_host_only: false },
    Library { name: tlx_name, call: tlx_call, on_the_host_only: false },
    Library { name: tilelang_names::name, call: tilelang_names::call, on_the_host_only: false },
    Library {
        name: |_, _, path| lower::constants::name(path),
        call: |_, _, path, arguments| lower::constants::call(path, arguments),
        on_the_host_only: false,
    },
    Library {
        name: |_, _, path| torch::name::<Dtype>(path),
        call: |_, _, path, arguments| torch::call::<Dtype>(path, arguments),
        on_the_host_only: true,
    },
];

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Kernel,
    Host,
}

/// The value of a name in a file, on a device where that is known.
pub(super) fn name(
    db: &dyn salsa::Database,
    (file, device): (SourceFile, Option<Arch>),
    path: &[&str],
    reader: Reader,
) -> Option<Constant> {
    let of_device = || device_queries::name(path, device?);
    known_to(reader).find_map(|library| (library.name)(db, file, path)).or_else(of_device)
}

/// What a call in a file gives, on a device where that is known.
pub(super) fn call(
    db: &dyn salsa::Database,
    (file, device): (SourceFile, Option<Arch>),
    path: &[&str],
    arguments: &dyn Fn() -> Vec<Argument>,
    reader: Reader,
) -> Option<Constant> {
    let of_device = || device_queries::call(path, arguments, device?);
    let tuned = || tuned::call(db, (file, device), path, arguments);
    of_device()
        .or_else(tuned)
        .or_else(|| known_to(reader).find_map(|library| (library.call)(db, file, path, arguments)))
}

fn known_to(reader: Reader) -> impl Iterator<Item = &'static Library> {
    LIBRARIES.iter().filter(move |library| reader == Reader::Host || !library.on_the_host_only)
}

fn triton_name(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> Option<Constant> {
    language::name(&language::canonical(imports(db, file), path)?)
}

fn triton_call(
    db: &dyn salsa::Database,
    file: SourceFile,
    path: &[&str],
    arguments: &dyn Fn() -> Vec<Argument>,
) -> Option<Constant> {
    language::call(&language::canonical(imports(db, file), path)?, arguments)
}

fn tlx_name(db: &dyn salsa::Database, file: SourceFile, path: &[&str]) -> Option<Constant> {
    tlx::language::name(&tlx::language::canonical(imports(db, file), path)?)
}

fn tlx_call(
    db: &dyn salsa::Database,
    file: SourceFile,
    path: &[&str],
    arguments: &dyn Fn() -> Vec<Argument>,
) -> Option<Constant> {
    tlx::language::call(&tlx::language::canonical(imports(db, file), path)?, arguments)
}
