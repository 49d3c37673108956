//! The author's compiler, asked beside the typing: by one thread, one document after the other. It is started by the first question.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use tilefit_analysis::confirm::{Answered, Question};
use tilefit_analysis::ide::{Confirmation, KernelQuestion};
use tower_lsp::ls_types::Uri;

use crate::confirm::Confirmer;

/// The compiler's process ends when nobody has asked for so long.
const IDLE: Duration = Duration::from_secs(600);

/// How often there is news of many questions.
const NEWS: Duration = Duration::from_secs(1);

/// What is asked of a document.
pub(crate) struct Job {
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) python: PathBuf,
    /// Of the plans that are shown, first.
    pub(crate) questions: Vec<Question>,
    /// Of the other configurations.
    pub(crate) others: Vec<Question>,
    pub(crate) stop: Arc<AtomicBool>,
    /// The user waits for it, and is told how it ends.
    pub(crate) is_awaited: bool,
}

/// What came out of a document, so far.
pub(crate) struct Replied {
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    pub(crate) answers: Vec<Answered>,
    /// All plans that are shown were asked about just now.
    pub(crate) is_shown: bool,
    pub(crate) is_awaited: bool,
}

#[derive(Default)]
pub(crate) struct Confirmations {
    jobs: Option<Sender<Job>>,
    /// Of the documents that were asked about last.
    stops: HashMap<Uri, Arc<AtomicBool>>,
}

impl Confirmations {
    /// What is asked about a document now; what was asked before is not waited for.
    pub(crate) fn begin(&mut self, uri: &Uri) -> Arc<AtomicBool> {
        self.stop(uri);
        let stop = Arc::new(AtomicBool::new(false));
        self.stops.insert(uri.clone(), Arc::clone(&stop));
        stop
    }

    /// The text is another one now.
    pub(crate) fn stop(&mut self, uri: &Uri) {
        if let Some(stop) = self.stops.remove(uri) {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// `report`: takes what came out of any document.
    pub(crate) fn ask(&mut self, job: Job, report: impl Fn(Replied) + Send + 'static) {
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
    loop {
        match jobs.recv_timeout(IDLE) {
            Ok(job) => {
                let confirmer = match confirmer.take().filter(|it| it.is_of(&job.python)) {
                    Some(known) => confirmer.insert(known),
                    None => confirmer.insert(Confirmer::new(job.python.clone())),
                };
                run(&job, confirmer, report);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => confirmer = None,
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn run(job: &Job, confirmer: &mut Confirmer, report: &dyn Fn(Replied)) {
    let mut answers = Vec::new();
    let post = |answers: &[Answered], is_shown| {
        let replied = Replied {
            uri: job.uri.clone(),
            version: job.version,
            answers: answers.to_vec(),
            is_shown,
            is_awaited: job.is_awaited,
        };
        report(replied);
    };
    let mut posted = Instant::now();
    let ask_all = job.questions.iter().chain(&job.others).enumerate();
    if job.questions.is_empty() {
        post(&answers, true);
    }
    for (nth, question) in ask_all {
        if job.stop.load(Ordering::Relaxed) {
            return;
        }
        let answer = confirmer.ask(&job.path, &job.text, question, &job.stop);
        if job.stop.load(Ordering::Relaxed) {
            return;
        }
        answers.push(Answered { question: question.clone(), answer });
        let is_shown = nth + 1 == job.questions.len();
        let is_last = nth + 1 == job.questions.len() + job.others.len();
        if is_shown || is_last || posted.elapsed() > NEWS {
            post(&answers, is_shown);
            posted = Instant::now();
        }
    }
}

/// How it went, for whoever asked: `2 kernels confirmed by triton 3.9.0 on sm_90`.
pub(crate) fn summary(questions: &[KernelQuestion], confirmations: &[Confirmation]) -> String {
    let said = confirmations.iter().map(|it| format!("`{}`: {}", it.kernel, it.words()));
    let unasked = questions.iter().filter_map(|it| {
        let why = it.question.as_ref().err()?;
        Some(format!("`{}`: not asked, {why}", it.kernel))
    });
    let all: Vec<String> = said.chain(unasked).collect();
    match all.len() {
        0 => "there are no kernels in this file".to_owned(),
        _ => all.join("\n"),
    }
}
