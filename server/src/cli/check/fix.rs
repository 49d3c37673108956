//! `tilefit check --fix`.

use std::path::Path;

use tilefit_analysis::project::Config;

use crate::cli::source::Source;
use crate::disk;
use crate::notebook::is_notebook;
use crate::terminal::complain;

/// What is fixed can show what else there is to fix. None of it comes back, so that this is not reached.
const MOST_ROUNDS: usize = 32;

/// Fixes all that has one obvious fix, and writes the file if that is anything. The error is a sentence for the user.
pub(super) fn fix(path: &Path, config: &Config) -> Result<(), String> {
    for _ in 0..MOST_ROUNDS {
        let source = Source::read(path, config)?;
        let edits = source.ask(|analysis, file| analysis.fix_all(file));
        if edits.is_empty() {
            break;
        }
        if is_notebook(path) {
            let path = path.display();
            complain(&format!(
                "{path}: `--fix` writes no notebooks; open it in an editor, whose quick fixes do the same"
            ));
            break;
        }
        let mut text = source.text;
        for (range, new) in edits.iter().rev() {
            text.replace_range(range.start..range.end, new);
        }
        disk::write_named(path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
