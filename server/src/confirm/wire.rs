//! What is said to the driver and by it: an object a line.

use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tilefit_analysis::confirm::{Answer, FailureKind, Outcome, Question};

use crate::disk;

#[derive(Serialize)]
pub(super) struct Request<'a> {
    pub(super) id: u64,
    pub(super) file: &'a Path,
    /// Of the bytes of the file.
    pub(super) sha256: &'a str,
    #[serde(flatten)]
    pub(super) question: &'a Question,
    /// On to machine code.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) full: bool,
    pub(super) seconds: u32,
    pub(super) bytes: u64,
}

#[derive(Serialize)]
pub(super) struct Cancel {
    pub(super) cancel: u64,
}

/// The first thing that a driver says.
#[derive(Debug, Deserialize)]
pub(super) struct Hello {
    pub(super) hello: u32,
    #[serde(default)]
    pub(super) packages: std::collections::BTreeMap<String, Package>,
}

/// An installed package that makes the compiler what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Package {
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default)]
    pub(super) path: Option<String>,
    /// When it was installed, as far as the date of its folder tells. The driver does not say it.
    #[serde(default)]
    pub(super) installed: Option<SystemTime>,
}

impl Package {
    pub(super) fn is_still_installed(&self) -> bool {
        self.installed == self.changed()
    }

    pub(super) fn changed(&self) -> Option<SystemTime> {
        disk::changed(Path::new(self.path.as_ref()?))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) id: Option<u64>,
    #[serde(flatten)]
    pub(super) answer: Answer,
    /// What the answer rests on: the files of the author's that were imported.
    #[serde(default)]
    pub(super) files: Vec<Imported>,
    /// And the packages.
    #[serde(default)]
    pub(super) packages: Vec<Package>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Imported {
    pub(super) path: String,
    pub(super) sha256: String,
}

impl Reply {
    /// Whether the same question has the same answer tomorrow, as far as texts and packages say.
    pub(super) fn is_lasting(&self) -> bool {
        match &self.answer.outcome {
            Outcome::Failed { error } => error.kind == FailureKind::Refused,
            // An assembler that failed may have lacked time or memory.
            Outcome::Shared(plan) => plan.no_machine.is_none(),
            Outcome::Tiles { .. } => true,
        }
    }
}
