//! A run: rounds of kernels, or the files of folders; a tally, and the smallest kernel of each kind of difference.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tilefit_pypto::coverage::{self, By};

use super::files;
use super::generator::{self, sizes};
use super::judge::{Configuration, Kind};
use super::kinds::{self, Signature, Tally};
use super::minimise::{self, Found};
use super::oracle::Oracle;
use crate::corpus;

/// What to compare, and where to put what differs.
#[derive(Debug, Clone)]
pub struct Run {
    pub oracle: Oracle,
    pub count: u64,
    pub seed: u64,
    pub round: u64,
    /// Folders or files, instead of random kernels.
    pub files: Vec<PathBuf>,
    pub found: PathBuf,
    /// Differences that are made smaller, the most frequent ones first.
    pub minimise: usize,
    /// The table of what was compared, to which equal plans are added.
    pub coverage: Option<PathBuf>,
}

/// Wrong plans look alike whatever their cause is: so many are made smaller, which shows the cause.
const WRONG: usize = 8;

/// Differences of one kind.
struct Kept {
    count: usize,
    /// The shortest ones.
    examples: Vec<Example>,
}

struct Example {
    name: String,
    configuration: Configuration,
    found: Found,
}

impl Run {
    /// Answers whether nothing differs.
    pub fn run(&self) -> std::io::Result<bool> {
        let (mut tally, mut kinds) = (Tally::default(), BTreeMap::new());
        if self.files.is_empty() {
            for start in (0..self.count).step_by(self.round.max(1) as usize) {
                let indices: Vec<u64> = (start..(start + self.round).min(self.count)).collect();
                let texts: Vec<String> = indices.iter().map(|&index| generator::kernel(self.seed, index)).collect();
                let asked = minimise::asked(&self.oracle, &self.found.join("round"), &texts, None)?;
                for (index, found) in indices.into_iter().zip(asked) {
                    record(&format!("seed {}, kernel {index}", self.seed), found, &mut tally, &mut kinds);
                }
                eprintln!("after {} kernels:\n{}", start + texts.len() as u64, tally.lines());
            }
        } else {
            self.compare_files(&mut tally, &mut kinds)?;
        }
        println!("{}", tally.lines());
        if let Some(path) = &self.coverage {
            let mut table = coverage::read(&std::fs::read_to_string(path)?);
            let by = |by: &mut By| if self.files.is_empty() { by.random = true } else { by.public = true };
            for (configuration, mark) in tally.compared() {
                coverage::add(&mut table, &[mark], configuration.setting(), by);
            }
            std::fs::write(path, coverage::write(&table))?;
        }
        self.report(kinds)
    }

    fn compare_files(&self, tally: &mut Tally, kinds: &mut BTreeMap<Signature, Kept>) -> std::io::Result<()> {
        let mut files = Vec::new();
        self.files.iter().for_each(|path| corpus::collect(path, &mut files));
        files.sort();
        for some in files.chunks(self.round.max(1) as usize) {
            for (file, answer) in some.iter().zip(self.oracle.ask(some, None)?) {
                let text = std::fs::read_to_string(file)?;
                let verdicts = files::verdicts(&file.to_string_lossy(), &text, &answer);
                for (configuration, verdict) in &verdicts {
                    if !matches!(verdict.kind, Kind::Right | Kind::Predicted | Kind::NoAnswer) {
                        println!("{:11} {} {configuration}: {}", verdict.kind.name(), file.display(), verdict.because);
                    }
                }
                record(&file.display().to_string(), Found { text, answer, verdicts }, tally, kinds);
            }
        }
        Ok(())
    }

    fn report(&self, kinds: BTreeMap<Signature, Kept>) -> std::io::Result<bool> {
        let mut kinds: Vec<(Signature, Kept)> = kinds.into_iter().collect();
        kinds.sort_by_key(|(_, kept)| std::cmp::Reverse(kept.count));
        let nothing = !kinds.iter().any(|(signature, _)| signature.kind.is_difference());
        for (signature, kept) in &kinds {
            let names =
                kept.examples.iter().take(3).map(|example| example.name.as_str()).collect::<Vec<_>>().join("; ");
            println!("{:5} {}: {} ({names})", kept.count, signature.kind.name(), signature.words);
        }
        let differences = kinds.into_iter().filter(|(signature, _)| signature.kind.is_difference());
        let mut differences: Vec<_> = differences.take(self.minimise).collect();
        // One of each kind first.
        for _ in 0..WRONG {
            for (signature, kept) in &mut differences {
                if !kept.examples.is_empty() {
                    self.keep(signature.kind, kept.count, kept.examples.remove(0))?;
                }
            }
        }
        Ok(nothing)
    }

    /// Makes an example smaller and writes it, unless one like it is there.
    fn keep(&self, kind: Kind, count: usize, example: Example) -> std::io::Result<()> {
        let Example { name, configuration, found } = example;
        let small = match self.files.is_empty() {
            true => minimise::minimised(&self.oracle, &self.found.join("smaller"), found, configuration)?,
            false => found,
        };
        let folder = self.found.join(kinds::slug(kind, &small.text));
        match folder.join("kernel.py").exists() {
            true => Ok(()),
            false => write(&folder, &format!("{name}, {configuration}; {count} like it"), &small),
        }
    }
}

fn record(name: &str, found: Found, tally: &mut Tally, kinds: &mut BTreeMap<Signature, Kept>) {
    for (configuration, verdict) in &found.verdicts {
        tally.add(*configuration, verdict);
        if matches!(verdict.kind, Kind::Right | Kind::Predicted | Kind::NoAnswer) {
            continue;
        }
        let signature = Signature::of(verdict);
        let most = if matches!(signature.kind, Kind::Wrong | Kind::Differs) { WRONG } else { 1 };
        let kept = kinds.entry(signature).or_insert_with(|| Kept { count: 0, examples: Vec::new() });
        kept.count += 1;
        if kept.examples.iter().any(|example| example.name == name) {
            continue;
        }
        kept.examples.push(Example { name: name.to_owned(), configuration: *configuration, found: found.clone() });
        kept.examples.sort_by_key(|example| example.found.text.len());
        kept.examples.truncate(most);
    }
}

/// A conformance kernel: the text with what was said of it, and the compiler's answer beside it.
fn write(folder: &Path, title: &str, found: &Found) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut text = format!("# {title}\n");
    for (configuration, verdict) in &found.verdicts {
        text.push_str(&format!("# {configuration}: {} {}\n", verdict.kind.name(), verdict.because));
    }
    text.push_str(&found.text);
    std::fs::write(folder.join("kernel.py"), &text)?;
    if sizes::are_imported(&text) {
        std::fs::write(folder.join(format!("{}.py", sizes::MODULE)), sizes::text())?;
    }
    std::fs::write(folder.join("kernel.json"), serde_json::to_string_pretty(&found.answer)? + "\n")?;
    println!("wrote {}", folder.display());
    Ok(())
}
