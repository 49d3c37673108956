//! The languages, and which of them a unit is of: this is what features ask.

use tilefit_pypto::vocabulary;
use tilefit_python::vocabulary::Word;

use crate::db::Unit;

use super::Context;
use super::language::{Dialect, KernelDeclaration, Language, View};
use super::pypto::Pypto;
use super::triton::{GLUON, TILELANG, TLX, TRITON};

/// A unit is of the first language that claims it. PyPTO is last, for it takes what is left: its scopes, printed kernels and functions
/// for the host have nothing in common by which to claim them.
const LANGUAGES: [&dyn Language; 5] = [&TLX, &GLUON, &TRITON, &TILELANG, &Pypto];

pub(super) fn of(context: &Context<'_>, unit: Unit<'_>) -> &'static dyn Language {
    let claims = |language: &&dyn Language| language.claims(context, unit);
    LANGUAGES.into_iter().find(claims).unwrap_or(&Pypto)
}

/// The kernels whose text a unit is; nothing is planned for it.
pub(super) fn declared<'db>(context: &Context<'db>, unit: Unit<'db>) -> Vec<KernelDeclaration<'db>> {
    of(context, unit).declared(context, unit)
}

/// The kernels of a unit that are laid out in memory, one way or another.
pub(super) fn kernels<'db>(context: &Context<'db>, unit: Unit<'db>) -> impl Iterator<Item = View<'db>> {
    all_kernels(context, unit).into_iter().filter(|kernel| kernel.is_planned())
}

/// With those of which there is nothing to show but that tilefit failed.
pub(super) fn all_kernels<'db>(context: &Context<'db>, unit: Unit<'db>) -> Vec<View<'db>> {
    of(context, unit).kernels(context, unit)
}

pub(super) fn dialects() -> impl Iterator<Item = &'static Dialect> {
    LANGUAGES.into_iter().map(Language::dialect)
}

/// The row of a name in the vocabularies of all languages.
pub(super) fn word(path: &str) -> Option<&'static Word> {
    let words = || dialects().flat_map(|dialect| dialect.words);
    vocabulary::word(path).or_else(|| words().find(|word| word.path == path))
}

#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static dyn Language> {
    LANGUAGES.into_iter()
}
