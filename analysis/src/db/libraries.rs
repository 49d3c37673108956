//! The languages and libraries whose names and functions have values outside of kernels, a row each.

use tilefit_pypto::lower;
use tilefit_python::element::Dtype;
use tilefit_python::eval::{Argument, Constant};
use tilefit_python::torch;

use super::scope::UnitScope;
use super::{scenarios, tlx};

type Name = fn(&UnitScope<'_>, &[&str]) -> Option<Constant>;
/// Asks for the arguments only of functions that it knows.
type Call = fn(&UnitScope<'_>, &[&str], &dyn Fn() -> Vec<Argument>) -> Option<Constant>;

struct Library {
    name: Name,
    call: Call,
    /// Its values are made while host code runs; what a kernel is compiled from has none.
    on_the_host_only: bool,
}

/// The first that knows a name answers.
const LIBRARIES: [Library; 4] = [
    Library { name: scenarios::language_name, call: scenarios::language_call, on_the_host_only: false },
    Library { name: tlx::language_name, call: tlx::language_call, on_the_host_only: false },
    Library {
        name: |_, path| lower::constants::name(path),
        call: |_, path, arguments| lower::constants::call(path, arguments),
        on_the_host_only: false,
    },
    Library {
        name: |_, path| torch::name::<Dtype>(path),
        call: |_, path, arguments| torch::call::<Dtype>(path, arguments),
        on_the_host_only: true,
    },
];

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Kernel,
    Host,
}

pub(super) fn name(scope: &UnitScope<'_>, path: &[&str], reader: Reader) -> Option<Constant> {
    known_to(reader).find_map(|library| (library.name)(scope, path))
}

pub(super) fn call(
    scope: &UnitScope<'_>,
    path: &[&str],
    arguments: &dyn Fn() -> Vec<Argument>,
    reader: Reader,
) -> Option<Constant> {
    known_to(reader).find_map(|library| (library.call)(scope, path, arguments))
}

fn known_to(reader: Reader) -> impl Iterator<Item = &'static Library> {
    LIBRARIES.iter().filter(move |library| reader == Reader::Host || !library.on_the_host_only)
}
