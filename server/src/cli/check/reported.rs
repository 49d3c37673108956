//! Which findings are reported: by their codes, by how much they weigh, and by their kernels.

use clap::ValueEnum;
use tilefit_analysis::ide::plan_view::PlanDiagnostic;
use tilefit_analysis::ide::{Diagnostic, KernelPlan};
use tilefit_analysis::project::Config;
use tilefit_python::diagnostics::{Code, Severity};

use crate::cli::source::Source;
use crate::cli::which::Kernels;

#[derive(clap::Args, Clone)]
pub(super) struct Reported {
    /// Report findings of this severity and above [default: warning; hint with --select and in formats for machines]
    #[arg(long, value_enum)]
    severity: Option<Least>,
    /// Report only these codes, also those that are off: capacity-exceeded,rejected
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = code)]
    select: Vec<Code>,
    /// Do not report these codes
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = code)]
    ignore: Vec<Code>,
    #[command(flatten)]
    pub(super) kernels: Kernels,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Least {
    Error,
    Warning,
    Info,
    Hint,
}

fn code(name: &str) -> Result<Code, String> {
    Code::from_name(name).ok_or_else(|| format!("unknown diagnostic code{}", Code::instead_of(name)))
}

impl Reported {
    /// Everything that is said of some kernels.
    pub(super) fn of(kernels: Kernels) -> Reported {
        Reported { severity: None, select: Vec::new(), ignore: Vec::new(), kernels }
    }

    /// Puts the codes over the severities of the settings.
    pub(super) fn put_over(&self, config: &mut Config) {
        for &code in Code::ALL {
            let is_selected = self.select.contains(&code);
            if self.ignore.contains(&code) || !(is_selected || self.select.is_empty()) {
                config.severity.insert(code, None);
            } else if is_selected && config.severity_of(code, code.severity()).is_none() {
                config.severity.insert(code, Some(code.severity()));
            }
        }
    }

    /// What is shown weighs at least this much. What people do not see is counted for them.
    pub(super) fn least(&self, is_for_people: bool) -> Severity {
        match self.severity {
            Some(Least::Error) => Severity::Error,
            Some(Least::Warning) => Severity::Warning,
            Some(Least::Info) => Severity::Info,
            Some(Least::Hint) => Severity::Hint,
            None if is_for_people && self.select.is_empty() => Severity::Warning,
            None => Severity::Hint,
        }
    }

    /// Leaves the findings of the kernels that are asked about.
    pub(super) fn retain_kernels(&self, source: &Source, findings: &mut Vec<Diagnostic>) {
        if self.kernels.are_all() {
            return;
        }
        let plans = source.ask(|analysis, file| analysis.plans(file));
        let (wanted, others): (Vec<_>, Vec<_>) = plans.iter().partition(|plan| self.kernels.include(&plan.name));
        findings.retain(|finding| {
            let line = source.document.line(finding.range.start);
            let says = |said: &PlanDiagnostic| {
                said.line == line && said.code == finding.code.name() && said.message == finding.message
            };
            let is_of = |kernels: &[&KernelPlan]| kernels.iter().flat_map(|kernel| &kernel.diagnostics).any(says);
            // What is said of a function as a whole is said of all its kernels.
            let is_within = || wanted.iter().any(|kernel| kernel.range.intersects(finding.range));
            is_of(&wanted) || !is_of(&others) && is_within()
        });
    }
}
