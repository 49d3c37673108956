//! A list of findings that are known, so that CI fails on new ones only.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::finding::Finding;
use crate::disk;

/// Counts the findings by what does not change when lines above them come and go.
#[derive(Default)]
pub(super) struct Baseline {
    known: BTreeMap<Known, usize>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Known {
    file: String,
    code: String,
    line_text: String,
}

/// A change that breaks readers raises `schema`.
#[derive(Serialize, Deserialize)]
struct File {
    schema: u32,
    findings: Vec<Counted>,
}

#[derive(Serialize, Deserialize)]
struct Counted {
    #[serde(flatten)]
    known: Known,
    count: usize,
}

const SCHEMA: u32 = 1;

impl Baseline {
    /// The error is a sentence for the user.
    pub(super) fn read(path: &Path) -> Result<Baseline, String> {
        let text = disk::read_named(path)
            .map_err(|error| format!("{}: {error}; make it with --write-baseline", path.display()))?;
        let file: File = serde_json::from_str(&text)
            .map_err(|error| format!("{}: not a baseline of tilefit: {error}", path.display()))?;
        if file.schema != SCHEMA {
            let (path, schema) = (path.display(), file.schema);
            return Err(format!("{path}: unsupported baseline version {schema}; regenerate it with --write-baseline"));
        }
        let known = file.findings.into_iter().map(|counted| (counted.known, counted.count)).collect();
        Ok(Baseline { known })
    }

    /// The error is a sentence for the user.
    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        let counted = self.known.iter().map(|(known, &count)| Counted { known: known.clone(), count });
        let file = File { schema: SCHEMA, findings: counted.collect() };
        let text = serde_json::to_string_pretty(&file).map_err(|error| error.to_string())? + "\n";
        disk::write_named(path, &text).map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(super) fn extend<'f>(&mut self, findings: impl Iterator<Item = &'f Finding>) {
        for finding in findings {
            *self.known.entry(known(finding)).or_default() += 1;
        }
    }

    /// Takes the known ones out of `findings`, each at most as often as it is listed, and returns their number.
    pub(super) fn take_from(&mut self, findings: &mut Vec<Finding>) -> usize {
        let before = findings.len();
        findings.retain(|finding| match self.known.get_mut(&known(finding)) {
            Some(left @ 1..) => {
                *left -= 1;
                false
            }
            _ => true,
        });
        before - findings.len()
    }
}

fn known(finding: &Finding) -> Known {
    Known {
        file: finding.place.path.clone(),
        code: finding.code.name().to_owned(),
        line_text: finding.line_text.clone(),
    }
}
