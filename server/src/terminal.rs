//! The one door to the terminal. Names and texts of a repository are not trusted: a sequence of control characters can move the cursor,
//! set the title, or make a line read as another. What is printed has none but the colours that are made here.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Wrong arguments, and files that cannot be read or written.
pub(crate) const FAILURE: u8 = 2;

/// Something was printed that did not arrive.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints to standard output.
pub(crate) fn print(text: &str) {
    print_styled(&plain(text));
}

/// Prints a text that is [`plain`] but for its colours, which only a terminal gets.
pub(crate) fn print_styled(text: &str) {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader has seen enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe && !LOST.swap(true, Ordering::Relaxed) => {
            complain(&format!("standard output: {error}"));
        }
        _ => {}
    }
}

/// An empty screen, where there is one.
pub(crate) fn clear() {
    if io::stdout().is_terminal() {
        print_styled("\x1b[2J\x1b[3J\x1b[H");
    }
}

/// What a line of a terminal holds where nothing says otherwise.
const COLUMNS: usize = 80;

/// How many characters a line of the terminal holds that the output goes to.
pub(crate) fn width() -> usize {
    let of_terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    of_terminal().filter(|&width| width > 0).unwrap_or(COLUMNS)
}

/// A text for people in lines of at most `width` characters, broken between words. Lines after the first start with `indent`.
pub(crate) fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let options = textwrap::Options::new(width)
        .subsequent_indent(indent)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::fill(text, options)
}

/// Warns of something that does not make a command fail.
pub(crate) fn warn(message: &str) {
    say(&format!("warning: {message}\n"));
}

/// Says something beside the output, on standard error.
pub(crate) fn complain(message: &str) {
    say(&format!("tilefit: {message}\n"));
}

/// The same without saying who speaks.
pub(crate) fn say(text: &str) {
    let _ = anstream::stderr().write_all(plain(text).as_bytes()); // there is nowhere left to say it
}

/// Writes over the line on standard error that the cursor is in.
pub(crate) fn overwrite_line(text: &str) {
    let _ = write!(io::stderr(), "\r\x1b[K{}", plain(text));
}

pub(crate) fn fail(message: &str) -> ExitCode {
    complain(message);
    ExitCode::from(FAILURE)
}

/// The exit code of a command, which fails if its output was lost.
pub(crate) fn exit_code(code: ExitCode) -> ExitCode {
    if LOST.load(Ordering::Relaxed) { ExitCode::from(FAILURE) } else { code }
}

/// A text without control characters and those that turn the direction of writing: each is shown as its code, in the way of JSON, so that a
/// document of JSON stays what it is.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_control(c) {
            let _ = write!(shown, "\\u{:04x}", c as u32);
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The same for a text in which byte offsets count: signs of as many bytes stand for these characters. ASCII is left to whoever draws the
/// text, as tabs are.
pub(crate) fn plain_in_place(text: &str) -> Cow<'_, str> {
    let is_wide = |c: char| is_control(c) && !c.is_ascii();
    if !text.contains(is_wide) {
        return Cow::Borrowed(text);
    }
    let sign = |c: char| match c.len_utf8() {
        2 => '·',
        _ => char::REPLACEMENT_CHARACTER,
    };
    text.chars().map(|c| if is_wide(c) { sign(c) } else { c }).collect()
}

fn is_control(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(plain("a\tb — ü\n"), "a\tb — ü\n");
        assert_eq!(plain("\x1b[31m\x07\r\u{9b}\u{202e}"), r"\u001b[31m\u0007\u000d\u009b\u202e");
    }

    #[test]
    fn offsets_stay() {
        let text = "a\u{9b}\u{61c}b\u{202e}c\x1b";
        assert_eq!(plain_in_place(text), "a··b\u{fffd}c\x1b");
        assert_eq!(plain_in_place(text).len(), text.len());
    }

    #[test]
    fn json_stays_json() {
        let value = serde_json::json!({ "name": "\u{1b}]8;;\u{7}\u{9b}\u{2066}\u{7f}\n" });
        let printed = plain(&value.to_string()).into_owned();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).ok(), Some(value), "{printed}");
    }
}
