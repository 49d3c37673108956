//! The process that asks the compiler. It is started once, and has a folder of its own.

use std::collections::VecDeque;
use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use tilefit_analysis::confirm::{Failure, FailureKind};

use super::failure;
use crate::disk::{self, PrivateFolder};

use super::wire::{Cancel, Hello, Package, Reply, Request};

/// The files of the driver, by name.
const DRIVER: &[(&str, &str)] = &[
    ("child.py", include_str!("driver/child.py")),
    ("deaths.py", include_str!("driver/deaths.py")),
    ("files.py", include_str!("driver/files.py")),
    ("main.py", include_str!("driver/main.py")),
    ("packages.py", include_str!("driver/packages.py")),
    ("parent.py", include_str!("driver/parent.py")),
    ("processes.py", include_str!("driver/processes.py")),
    ("pypto_compiler.py", include_str!("driver/pypto_compiler.py")),
    ("pypto_tiles.py", include_str!("driver/pypto_tiles.py")),
    ("question.py", include_str!("driver/question.py")),
    ("stand_ins.py", include_str!("driver/stand_ins.py")),
    ("tilelang_compiler.py", include_str!("driver/tilelang_compiler.py")),
    ("triton_compiler.py", include_str!("driver/triton_compiler.py")),
    ("triton_machine.py", include_str!("driver/triton_machine.py")),
    ("triton_lives.py", include_str!("driver/triton_lives.py")),
    ("triton_module.py", include_str!("driver/triton_module.py")),
    ("triton_target.py", include_str!("driver/triton_target.py")),
    ("unrun_packages.py", include_str!("driver/unrun_packages.py")),
];

/// What of the environment the child has. The rest may be secrets.
const ENVIRONMENT: &[&str] = &[
    "PATH",
    "HOME",
    "USERPROFILE",
    "SYSTEMROOT",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "VIRTUAL_ENV",
    "CUDA_HOME",
    "ROCM_PATH",
    "ASCEND_HOME_PATH",
];

/// More than the largest answer.
const LONGEST_LINE: u64 = 32 << 20;
/// Of what the child says on standard error, the end is kept.
const KEPT: usize = 4 << 10;
/// For Python to start and to look at what is installed.
const STARTS_IN: Duration = Duration::from_secs(30);
/// After the driver's own limit, the child itself is ended.
const GRACE: Duration = Duration::from_secs(10);
/// How often a wait looks whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(20);

pub(super) struct Child {
    process: std::process::Child,
    replies: Receiver<String>,
    said: Arc<Mutex<VecDeque<u8>>>,
    packages: Vec<Package>,
    /// When something was last installed beside the packages.
    installed_beside: Vec<Option<SystemTime>>,
    asked: u64,
    _folder: PrivateFolder,
}

impl Child {
    pub(super) fn start(python: &Path) -> Result<Child, Failure> {
        let cannot = |error: std::io::Error| {
            failure(FailureKind::NoCompiler, format!("{} cannot be started: {error}", python.display()))
        };
        let folder = PrivateFolder::new().map_err(cannot)?;
        for (name, text) in DRIVER {
            folder.write(name, text).map_err(cannot)?;
        }
        let kept = ENVIRONMENT.iter().filter_map(|name| Some((name, env::var_os(name)?)));
        let mut command = Command::new(python);
        command.args(["-E", "-B"]).arg(folder.path().join("main.py")).current_dir(folder.path());
        command.env_clear().envs(kept).env("TMPDIR", folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        in_a_group(&mut command);
        let mut process = command.spawn().map_err(cannot)?;
        let said = Arc::default();
        if let Some(errors) = process.stderr.take() {
            keep_the_end(errors, Arc::clone(&said));
        }
        let (sender, replies) = mpsc::channel();
        if let Some(output) = process.stdout.take() {
            thread::spawn(move || read_lines(output, &sender));
        }
        let mut child = Child {
            process,
            replies,
            said,
            packages: Vec::new(),
            installed_beside: Vec::new(),
            asked: 0,
            _folder: folder,
        };
        let hello = child.line(Instant::now() + STARTS_IN, &AtomicBool::new(false), None)?;
        match serde_json::from_str::<Hello>(&hello) {
            Ok(Hello { hello: 1, packages }) => child.has(packages.into_values().collect()),
            _ => {
                return Err(failure(FailureKind::Driver, "the answer of the compiler's process is invalid"));
            }
        }
        Ok(child)
    }

    fn has(&mut self, mut packages: Vec<Package>) {
        for package in &mut packages {
            package.installed = package.changed();
        }
        self.installed_beside = changed_beside(&packages);
        self.packages = packages;
    }

    /// Whether it would be the same if it was started now. One that found no compiler looks again.
    pub(super) fn is_current(&self) -> bool {
        !self.packages.is_empty()
            && self.packages.iter().all(Package::is_still_installed)
            && self.installed_beside == changed_beside(&self.packages)
    }

    pub(super) fn packages(&self) -> &[Package] {
        &self.packages
    }

    pub(super) fn next_id(&mut self) -> u64 {
        self.asked += 1;
        self.asked
    }

    /// Consumes nothing: a child that failed is dropped by whoever has it.
    pub(super) fn ask(&mut self, request: &Request<'_>, stop: &AtomicBool) -> Result<Reply, Failure> {
        self.say(request)?;
        let until = Instant::now() + Duration::from_secs(request.seconds.into()) + GRACE;
        loop {
            let line = self.line(until, stop, Some(request.id))?;
            match serde_json::from_str::<Reply>(&line) {
                Ok(reply) if reply.id == Some(request.id) => return Ok(reply),
                // Of a question that was cancelled.
                Ok(_) => {}
                Err(error) => {
                    let said = format!("the answer of the compiler's process is invalid: {error}");
                    return Err(failure(FailureKind::Driver, said));
                }
            }
        }
    }

    fn say(&mut self, message: &impl serde::Serialize) -> Result<(), Failure> {
        let line = serde_json::to_string(message).map_err(|error| failure(FailureKind::Driver, error.to_string()))?;
        let written = self.process.stdin.as_mut().map(|input| writeln!(input, "{line}").and_then(|()| input.flush()));
        match written {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended()),
        }
    }

    /// The next line that the child says. `asked`: the question that is cancelled where nobody waits for it.
    fn line(&mut self, until: Instant, stop: &AtomicBool, asked: Option<u64>) -> Result<String, Failure> {
        loop {
            match self.replies.recv_timeout(PATIENCE) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                    if let Some(id) = asked {
                        self.say(&Cancel { cancel: id })?;
                    }
                    return Err(failure(FailureKind::Killed, "it was cancelled"));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() > until => {
                    return Err(failure(FailureKind::Timeout, "the process that asks the compiler does not answer"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// How the child ended, if it does.
    fn status_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + time;
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => thread::sleep(PATIENCE),
                _ => return None,
            }
        }
    }

    /// Why there is no child any more.
    fn ended(&mut self) -> Failure {
        let how = match self.status_within(Duration::from_secs(1)) {
            Some(status) => format!("has ended ({status})"),
            None => "has closed its output".to_owned(),
        };
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&said.iter().copied().collect::<Vec<u8>>()).trim().to_owned();
        let mut failure = failure(FailureKind::Killed, format!("the process that asks the compiler {how}"));
        failure.details = (!said.is_empty()).then_some(said);
        failure
    }
}

fn changed_beside(packages: &[Package]) -> Vec<Option<SystemTime>> {
    let beside = |package: &Package| disk::changed(Path::new(package.path.as_ref()?).parent()?);
    packages.iter().map(beside).collect()
}

/// Nothing that the child has started outlives it.
impl Drop for Child {
    fn drop(&mut self) {
        // At the end of its input it ends what it has started, also what is in groups of its own.
        drop(self.process.stdin.take());
        self.status_within(Duration::from_secs(1));
        end_group(&mut self.process);
        let _ = self.process.wait();
    }
}

#[cfg(unix)]
fn in_a_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn in_a_group(_: &mut Command) {}

#[cfg(unix)]
fn end_group(process: &mut std::process::Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL); // fails where all of it is gone
    }
}

#[cfg(not(unix))]
fn end_group(process: &mut std::process::Child) {
    let _ = process.kill(); // fails where it is gone
}

/// Sends whole lines until the child ends, or says one that is too long.
fn read_lines(output: impl Read, sender: &mpsc::Sender<String>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        let is_whole = read.is_ok() && line.pop() == Some(b'\n');
        let line = String::from_utf8(line).ok().filter(|_| is_whole);
        if line.is_none_or(|line| sender.send(line).is_err()) {
            return;
        }
    }
}

fn keep_the_end(mut errors: impl Read + Send + 'static, kept: Arc<Mutex<VecDeque<u8>>>) {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = errors.read(&mut buffer) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(&buffer[..count]);
            let over = kept.len().saturating_sub(KEPT);
            kept.drain(..over);
        }
    });
}
