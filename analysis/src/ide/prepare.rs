//! Planning before anybody asks.

use tilefit_syntax::TextRange;

use crate::db;

use super::{Context, languages};

/// Plans the kernels that touch `range`.
pub(crate) fn prepare(context: &Context<'_>, range: TextRange) {
    for placed in context.units_in(range) {
        languages::all_kernels(context, placed.unit);
    }
}

/// Plans the scopes of all functions for the host but the first, the last ones first.
pub(crate) fn prepare_callers(context: &Context<'_>) {
    let mut hosts = db::host_functions(context.db, context.file);
    if !hosts.is_empty() {
        hosts.remove(0);
    }
    for host in hosts.into_iter().rev() {
        for index in 0..db::kernels(context.db, host).len() {
            db::planned(context.db, host, index);
        }
    }
}
