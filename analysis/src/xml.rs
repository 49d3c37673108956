//! Text inside of SVG and HTML.

/// Safe between tags and within quotation marks.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Not allowed in XML, not even escaped.
            control if control.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
