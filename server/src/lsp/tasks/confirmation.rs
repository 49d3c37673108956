//! The author's compiler, asked beside the typing: by one thread, one document after the other. It is started by the first question.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use tilefit_analysis::Cancellable;
use tilefit_analysis::confirm::{Answered, UpTo};
use tilefit_analysis::ide::confirmation::Verdict;
use tilefit_analysis::ide::{Confirmation, PlacedQuestion};
use tilefit_answers::View;
use tower_lsp::ls_types::Uri;

use crate::confirm::Confirmer;
use crate::lsp::long_task::LongTask;

/// The compiler's process ends when nobody has asked for so long.
const IDLE: Duration = Duration::from_secs(600);

/// How often there is news of many questions.
const NEWS: Duration = Duration::from_secs(1);

/// What is asked of a document.
pub(crate) struct Job {
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    pub(crate) path: PathBuf,
    /// Of the text.
    pub(crate) sha256: String,
    pub(crate) python: PathBuf,
    /// What is not asked yet.
    pub(crate) questions: Vec<PlacedQuestion>,
    pub(crate) up_to: UpTo,
    pub(crate) asked: Asked,
    /// The user waits for it, and is told how it ends.
    pub(crate) is_awaited: bool,
    pub(crate) news: News,
}

/// A document about which the compiler is asked.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) task: Arc<LongTask>,
    /// Byte offset of what the user is at.
    pub(crate) at: Arc<AtomicUsize>,
}

/// Answers that are not told yet.
pub(crate) struct News {
    answers: Vec<Answered>,
    told: Instant,
    /// None was told.
    is_first: bool,
}

impl Default for News {
    fn default() -> News {
        News { answers: Vec::new(), told: Instant::now(), is_first: true }
    }
}

/// What came out of a document since the last time.
pub(crate) struct Replied {
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    pub(crate) answers: Vec<Answered>,
    /// There are no others of this text.
    pub(crate) is_first: bool,
    /// All plans that are shown were asked about just now.
    pub(crate) is_shown: bool,
    pub(crate) is_awaited: bool,
}

#[derive(Default)]
pub(crate) struct Confirmations {
    jobs: Option<Sender<Job>>,
    /// The documents that were asked about last.
    asked: HashMap<Uri, Asked>,
}

impl Confirmations {
    /// The text is another one now.
    pub(crate) fn stop(&mut self, uri: &Uri) {
        if let Some(asked) = self.asked.remove(uri) {
            asked.task.stop();
        }
    }

    /// The user is at another kernel.
    pub(crate) fn look_at(&self, uri: &Uri, offset: usize) {
        if let Some(asked) = self.asked.get(uri) {
            asked.at.store(offset, Ordering::Relaxed);
        }
    }

    /// What was asked of the document before is not waited for. `report`: takes what came out of any document.
    pub(crate) fn ask(&mut self, job: Job, report: impl Fn(Replied) + Send + 'static) {
        self.stop(&job.uri);
        self.asked.insert(job.uri.clone(), job.asked.clone());
        let jobs = self.jobs.get_or_insert_with(|| {
            let (sender, jobs) = mpsc::channel();
            thread::spawn(move || work(&jobs, &report));
            sender
        });
        let _ = jobs.send(job); // the thread lives as long as this
    }
}

fn work(jobs: &Receiver<Job>, report: &dyn Fn(Replied)) {
    let mut confirmer: Option<Confirmer> = None;
    let mut begun: Vec<Job> = Vec::new();
    loop {
        if begun.is_empty() {
            match jobs.recv_timeout(IDLE) {
                Ok(job) => begun.push(job),
                Err(mpsc::RecvTimeoutError::Timeout) => confirmer = None,
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
        begun.extend(jobs.try_iter());
        begun.retain(|job| !job.asked.task.is_stopped());
        // The newest is of what the user is at.
        let Some(mut job) = begun.pop() else { continue };
        let known = confirmer.take().filter(|it| it.is_of(&job.python));
        let confirmer = confirmer.insert(known.unwrap_or_else(|| Confirmer::new(job.python.clone())));
        job.step(confirmer, report);
        if !job.questions.is_empty() {
            begun.push(job);
        }
    }
}

impl Job {
    /// Asks the next question.
    fn step(&mut self, confirmer: &mut Confirmer, report: &dyn Fn(Replied)) {
        let left = self.questions.iter().filter(|it| it.is_shown).count();
        if let Some(next) = self.next() {
            let PlacedQuestion { question, .. } = self.questions.remove(next);
            let asked = (&question, self.up_to);
            let answer = confirmer.ask(&self.path, &self.sha256, asked, self.asked.task.stopped());
            if self.asked.task.is_stopped() {
                return;
            }
            self.news.answers.push(Answered { question, answer });
            self.asked.task.advance();
        }
        let is_shown = !self.questions.iter().any(|it| it.is_shown) && (left > 0 || self.news.is_first);
        if is_shown || self.questions.is_empty() || self.news.told.elapsed() > NEWS {
            self.tell(is_shown, report);
        }
    }

    /// Of the kernel that the user is at, first, and of plans that are shown before others.
    fn next(&self) -> Option<usize> {
        let at = self.asked.at.load(Ordering::Relaxed);
        let order = |it: &PlacedQuestion| (!(it.kernel.start..=it.kernel.end).contains(&at), !it.is_shown);
        let all = self.questions.iter().enumerate();
        all.min_by_key(|(_, it)| order(it)).map(|(nth, _)| nth)
    }

    fn tell(&mut self, is_shown: bool, report: &dyn Fn(Replied)) {
        let News { answers, is_first, .. } = std::mem::take(&mut self.news);
        self.news.is_first = false;
        let (uri, version, is_awaited) = (self.uri.clone(), self.version, self.is_awaited);
        report(Replied { uri, version, answers, is_first, is_shown, is_awaited });
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.asked.task.end();
    }
}

/// How far the questions about a file are.
pub(crate) fn task(path: &Path, questions: &[PlacedQuestion]) -> LongTask {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unit = if questions.iter().all(|it| it.is_shown) { "kernels" } else { "configurations" };
    LongTask::new(format!("tilefit: confirming {name}"), unit, questions.len())
}

/// How it went, for whoever asked: `copy: confirmed by triton 3.9.0 on sm_90`.
pub(crate) fn summary(view: &View) -> Cancellable<String> {
    let questions = view.analysis.questions(view.file)?;
    let confirmations = view.analysis.confirmations(view.file)?;
    let said = confirmations.iter().map(|it| format!("`{}`: {}", it.kernel, it.words()));
    let unasked = questions.iter().filter_map(|it| {
        let why = it.question.as_ref().err()?;
        Some(format!("`{}`: not asked, {why}", it.kernel))
    });
    let all: Vec<String> = said.chain(unasked).collect();
    Ok(match all.len() {
        0 => view.analysis.why_no_kernels(view.file)?,
        1..=MOST_TOLD => all.join("\n"),
        kernels => format!("{kernels} kernels: {}", counted(&confirmations, kernels - confirmations.len())),
    })
}

/// More kernels than this are counted.
const MOST_TOLD: usize = 8;

/// `190 confirmed, 2 differ (`a`, `b`), 8 not asked`
fn counted(confirmations: &[Confirmation], unasked: usize) -> String {
    type Is = fn(&Verdict) -> bool;
    const KINDS: [(&str, bool, Is); 5] = [
        ("confirmed", false, |it| matches!(it, Verdict::Confirmed)),
        ("within the bounds", false, |it| matches!(it, Verdict::Within)),
        ("differ", true, |it| matches!(it, Verdict::Differs { .. })),
        ("refused", true, |it| matches!(it, Verdict::Refused { .. })),
        ("not confirmed", true, |it| matches!(it, Verdict::Failed { .. })),
    ];
    let counts = KINDS.iter().filter_map(|(words, are_named, is)| {
        let kernels: Vec<&str> =
            confirmations.iter().filter(|it| is(&it.verdict)).map(|it| it.kernel.as_str()).collect();
        let named: Vec<String> = kernels.iter().take(MOST_TOLD).map(|name| format!("`{name}`")).collect();
        let more = if kernels.len() > MOST_TOLD { ", …" } else { "" };
        let named = are_named.then(|| format!(" ({}{more})", named.join(", "))).unwrap_or_default();
        (!kernels.is_empty()).then(|| format!("{} {words}{named}", kernels.len()))
    });
    let unasked = (unasked > 0).then(|| format!("{unasked} not asked"));
    counts.chain(unasked).collect::<Vec<_>>().join(", ")
}
