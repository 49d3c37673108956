//! What lenses said of kernels whose text was whole.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tilefit_analysis::ide::{Spoken, Unfinished};

/// What the lenses of a document said last of each kernel while its text was whole. Of a kernel that is being typed they say that, and
/// that it is stale: what half a statement comes to says nothing of the whole one.
#[derive(Debug, Default)]
pub struct LastWhole(Mutex<HashMap<String, (i32, String)>>);

/// A document of more kernels, and of names that are gone, is not remembered any longer.
const MOST_REMEMBERED: usize = 4096;

impl LastWhole {
    /// What a lens says, by what it would say of the text as it is.
    pub(crate) fn title(&self, spoken: Spoken, version: i32, title: String) -> String {
        // What is kept is right whatever went wrong meanwhile.
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let why = match spoken.unfinished {
            Some(Unfinished::Unparsed { line }) => format!("line {line} does not parse"),
            Some(Unfinished::Edited { line }) => format!("line {line} is being edited"),
            None => {
                if said.len() >= MOST_REMEMBERED {
                    said.clear();
                }
                if said.get(&spoken.kernels).is_none_or(|(older, _)| *older <= version) {
                    said.insert(spoken.kernels, (version, title.clone()));
                }
                return title;
            }
        };
        match said.get(&spoken.kernels) {
            Some((_, whole)) => format!("{whole} · stale: {why}"),
            None => title,
        }
    }
}
