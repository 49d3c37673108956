//! Text with indentation, and which source node each line stems from.

use tilefit_python::finding::Origin;

const INDENT: &str = "    ";

#[derive(Debug, Default)]
pub(super) struct Emitter {
    text: String,
    level: usize,
    line: u32,
    lines: Vec<(u32, Origin)>,
}

impl Emitter {
    /// One line at the current indentation. An empty line has no trailing spaces.
    pub(super) fn line(&mut self, line: &str) {
        if !line.is_empty() {
            for _ in 0..self.level {
                self.text.push_str(INDENT);
            }
            self.text.push_str(line);
        }
        self.text.push('\n');
        self.line += 1;
    }

    pub(super) fn line_from(&mut self, origin: Origin, line: &str) {
        self.lines.push((self.line, origin));
        self.line(line);
    }

    /// Text as it is, with its own line ends.
    pub(super) fn block(&mut self, text: &str) {
        self.text.push_str(text);
        self.line += text.matches('\n').count() as u32;
    }

    pub(super) fn indent(&mut self) {
        self.level += 1;
    }

    pub(super) fn dedent(&mut self) {
        debug_assert!(self.level > 0);
        self.level = self.level.saturating_sub(1);
    }

    pub(super) fn finish(self) -> (String, Vec<(u32, Origin)>) {
        (self.text, self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indents_lines_and_leaves_blocks() {
        let mut emitter = Emitter::default();
        emitter.line("void f() {");
        emitter.indent();
        emitter.line("int x = 42;");
        emitter.line("");
        emitter.block("#if 1\n#endif\n");
        emitter.dedent();
        emitter.line("}");
        expect_test::expect![[r#"
            void f() {
                int x = 42;

            #if 1
            #endif
            }
        "#]]
        .assert_eq(&emitter.finish().0);
    }
}
