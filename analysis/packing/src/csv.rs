//! The CSV format of google/minimalloc, in and out: `id,lower,upper,size` with optional `alignment`, `gaps` and `offset`.

use std::fmt::{self, Write};

use super::problem::{Buffer, Interval, Lifetime, Problem, ProblemError, Spec};

/// What a column holds, and the header names for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    Id,
    /// First instant alive.
    Lower,
    /// First instant no longer alive.
    Upper,
    /// Last instant alive, in the older form of the format.
    Last,
    Size,
    Alignment,
    /// Stretches in which the buffer is not needed: `3-5 8-9`.
    Gaps,
    /// A fixed offset in a problem, the answer in a solution. An empty field is a free buffer.
    Offset,
}

const COLUMNS: [(&str, Column); 12] = [
    ("id", Column::Id),
    ("buffer", Column::Id),
    ("buffer_id", Column::Id),
    ("lower", Column::Lower),
    ("start", Column::Lower),
    ("begin", Column::Lower),
    ("upper", Column::Upper),
    ("end", Column::Last),
    ("size", Column::Size),
    ("alignment", Column::Alignment),
    ("gaps", Column::Gaps),
    ("offset", Column::Offset),
];

/// What is wrong with a file, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CsvError {
    /// Counted from 1, the header included.
    pub line: usize,
    pub reason: CsvReason,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CsvReason {
    NoHeader,
    UnknownColumn(String),
    DuplicateColumn(&'static str),
    MissingColumn(&'static str),
    FieldCount {
        fields: usize,
        columns: usize,
    },
    NotANumber {
        column: &'static str,
        field: String,
    },
    Negative {
        column: &'static str,
        field: String,
    },
    TooLarge {
        column: &'static str,
        field: String,
    },
    /// A last instant after which there is none.
    LastTooLarge {
        column: &'static str,
        field: String,
    },
    Gap(String),
    GapOutside(String),
    Problem(ProblemError),
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}: ", self.line)?;
        match &self.reason {
            CsvReason::NoHeader => write!(f, "no header; the first row must name the columns: id,lower,upper,size"),
            CsvReason::UnknownColumn(name) => {
                write!(f, "unknown column `{name}`; known are id, lower, upper (or end), size, alignment, gaps, offset")
            }
            CsvReason::DuplicateColumn(name) => write!(f, "a second column for `{name}`"),
            CsvReason::MissingColumn(name) => write!(f, "column `{name}` is missing"),
            CsvReason::FieldCount { fields, columns } => {
                write!(f, "{fields} fields, but the header names {columns} columns")
            }
            CsvReason::NotANumber { column, field } => write!(f, "{column} `{field}` is not a whole number"),
            CsvReason::Negative { column, field } => write!(f, "{column} {field} is negative"),
            CsvReason::TooLarge { column, field } => write!(f, "{column} {field} is beyond 2^63 - 1"),
            CsvReason::LastTooLarge { column, field } => {
                write!(f, "{column} {field} is the last instant alive, and the one after it is beyond 2^63 - 1")
            }
            CsvReason::Gap(gap) => write!(f, "gap `{gap}` is not of the form lower-upper"),
            CsvReason::GapOutside(gap) => write!(f, "gap `{gap}` is empty, outside the lifetime or overlaps another"),
            CsvReason::Problem(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CsvError {}

/// Reads a problem. Blank lines and spaces around fields do not count.
pub fn read(text: &str, capacity: u64) -> Result<Problem, CsvError> {
    let mut lines =
        (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(text).lines()).filter(|(_, l)| !l.trim().is_empty());
    let (line, header) = lines.next().ok_or(CsvError { line: 1, reason: CsvReason::NoHeader })?;
    let header = Header::read(header).map_err(|reason| CsvError { line, reason })?;
    let mut buffers = Vec::new();
    let mut rows = Vec::new();
    for (line, row) in lines {
        buffers.push(header.buffer(row).map_err(|reason| CsvError { line, reason })?);
        rows.push(line);
    }
    Problem::new(Spec { capacity, buffers, ..Spec::default() }).map_err(|error| {
        let line = error.buffer().and_then(|buffer| rows.get(buffer.index())).copied().unwrap_or(line);
        CsvError { line, reason: CsvReason::Problem(error) }
    })
}

/// Writes a problem, with `offsets` (as many as there are buffers) as a solution of it.
pub fn write(problem: &Problem, offsets: Option<&[u64]>) -> String {
    let buffers = problem.buffers();
    let aligned = buffers.iter().any(|buffer| buffer.align != 1);
    let gaps = buffers.iter().any(|buffer| buffer.lifetime.has_gaps());
    let placed = offsets.is_some() || buffers.iter().any(|buffer| buffer.fixed.is_some());
    let mut out = String::from("id,lower,upper,size");
    for (column, present) in [(",alignment", aligned), (",gaps", gaps), (",offset", placed)] {
        if present {
            out.push_str(column);
        }
    }
    out.push('\n');
    for (at, buffer) in buffers.iter().enumerate() {
        let lifetime = &buffer.lifetime;
        let _ = write!(out, "{},{},{},{}", buffer.id, lifetime.start(), lifetime.end(), buffer.size);
        if aligned {
            let _ = write!(out, ",{}", buffer.align);
        }
        if gaps {
            let holes = lifetime.intervals().zip(lifetime.intervals().skip(1));
            let holes: Vec<String> = holes.map(|(a, b)| format!("{}-{}", a.end, b.start)).collect();
            let _ = write!(out, ",{}", holes.join(" "));
        }
        if placed {
            let offset = offsets.map_or(buffer.fixed, |offsets| offsets.get(at).copied());
            let _ = write!(out, ",{}", offset.map(|offset| offset.to_string()).unwrap_or_default());
        }
        out.push('\n');
    }
    out
}

struct Header {
    columns: Vec<(&'static str, Column)>,
}

impl Header {
    fn read(row: &str) -> Result<Self, CsvReason> {
        let mut columns: Vec<(&'static str, Column)> = Vec::new();
        for name in row.split(',').map(str::trim) {
            let known = COLUMNS.iter().find(|(known, _)| *known == name);
            let &(name, column) = known.ok_or_else(|| CsvReason::UnknownColumn(name.to_owned()))?;
            if columns.iter().any(|&(_, other)| other == column) {
                return Err(CsvReason::DuplicateColumn(name));
            }
            columns.push((name, column));
        }
        let header = Self { columns };
        for (name, column) in [("id", Column::Id), ("lower", Column::Lower), ("size", Column::Size)] {
            header.position(column).ok_or(CsvReason::MissingColumn(name))?;
        }
        match (header.position(Column::Upper), header.position(Column::Last)) {
            (None, None) => Err(CsvReason::MissingColumn("upper")),
            (Some(_), Some(_)) => Err(CsvReason::DuplicateColumn("upper")),
            _ => Ok(header),
        }
    }

    fn position(&self, column: Column) -> Option<usize> {
        self.columns.iter().position(|&(_, other)| other == column)
    }

    fn buffer(&self, row: &str) -> Result<Buffer, CsvReason> {
        let fields: Vec<&str> = row.split(',').map(str::trim).collect();
        if fields.len() != self.columns.len() {
            return Err(CsvReason::FieldCount { fields: fields.len(), columns: self.columns.len() });
        }
        let mut buffer = Buffer::new("", 0, 0, 0);
        let (mut start, mut end, mut gaps) = (0, 0, "");
        for (&(name, column), &field) in self.columns.iter().zip(&fields) {
            match column {
                Column::Id => buffer.id = field.to_owned(),
                Column::Lower => start = number(name, field)?,
                Column::Upper => end = number(name, field)?,
                Column::Last => end = after(name, field)?,
                Column::Size => buffer.size = number(name, field)?,
                Column::Alignment => buffer.align = number(name, field)?,
                Column::Gaps => gaps = field,
                Column::Offset if field.is_empty() => {}
                Column::Offset => buffer.fixed = Some(number(name, field)?),
            }
        }
        buffer.lifetime = self.lifetime(Interval::new(start, end), gaps)?;
        Ok(buffer)
    }

    /// `whole` without the gaps. An empty `whole` is left to the check of the problem.
    fn lifetime(&self, whole: Interval, gaps: &str) -> Result<Lifetime, CsvReason> {
        let mut intervals = Vec::new();
        let mut from = whole.start;
        for text in gaps.split_whitespace() {
            let (lower, upper) = text.split_once('-').ok_or_else(|| CsvReason::Gap(text.to_owned()))?;
            let last = u64::from(self.position(Column::Last).is_some());
            let gap = Interval::new(number("gaps", lower)?, number("gaps", upper)? + last);
            if gap.is_empty() || gap.start <= from || gap.end >= whole.end {
                return Err(CsvReason::GapOutside(text.to_owned()));
            }
            intervals.push(Interval::new(from, gap.start));
            from = gap.end;
        }
        intervals.push(Interval::new(from, whole.end));
        Ok(Lifetime::union(intervals))
    }
}

/// A whole number below 2^63, the range of the format.
fn number(column: &'static str, field: &str) -> Result<u64, CsvReason> {
    let wrong = |reason: fn(&'static str, String) -> CsvReason| reason(column, field.to_owned());
    let digits = field.strip_prefix('-').unwrap_or(field);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong(|column, field| CsvReason::NotANumber { column, field }));
    }
    if digits.len() < field.len() {
        return Err(wrong(|column, field| CsvReason::Negative { column, field }));
    }
    let value = digits.parse::<u64>().ok().filter(|&value| value <= i64::MAX as u64);
    value.ok_or_else(|| wrong(|column, field| CsvReason::TooLarge { column, field }))
}

/// The instant after the last one, which has to be in the range of the format too.
fn after(column: &'static str, field: &str) -> Result<u64, CsvReason> {
    let after = number(column, field)? + 1;
    let is_in_range = after <= i64::MAX as u64;
    is_in_range.then_some(after).ok_or_else(|| CsvReason::LastTooLarge { column, field: field.to_owned() })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expect: Expect) {
        let answer = match read(text, 100) {
            Ok(problem) => write(&problem, None),
            Err(error) => error.to_string(),
        };
        expect.assert_eq(&answer);
    }

    #[test]
    fn reads_what_it_writes() {
        check(
            "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\n",
            expect![[r#"
                id,lower,upper,size
                b1,0,3,4
                b2,3,9,4
            "#]],
        );
        check(
            "size, buffer_id, alignment, lower, upper, gaps, offset\r\n8,x,32,0,10,2-3 5-6,64\r\n\r\n4,y,1,0,10,,\r\n",
            expect![[r#"
                id,lower,upper,size,alignment,gaps,offset
                x,0,10,8,32,2-3 5-6,64
                y,0,10,4,1,,
            "#]],
        );
    }

    #[test]
    fn the_older_form_names_the_last_instant() {
        check(
            "buffer,start,end,size\nb,0,3,4\n",
            expect![[r#"
                id,lower,upper,size
                b,0,4,4
            "#]],
        );
    }

    #[test]
    fn errors_name_the_row() {
        check("", expect!["row 1: no header; the first row must name the columns: id,lower,upper,size"]);
        check("id,lower,upper\nb,0,1\n", expect!["row 1: column `size` is missing"]);
        check("id,lower,size\n", expect!["row 1: column `upper` is missing"]);
        check(
            "id,lower,upper,size,colour\n",
            expect![
                "row 1: unknown column `colour`; known are id, lower, upper (or end), size, alignment, gaps, offset"
            ],
        );
        check("id,id,lower,upper,size\n", expect!["row 1: a second column for `id`"]);
        check("id,lower,upper,size\nb,0,1\n", expect!["row 2: 3 fields, but the header names 4 columns"]);
        check("id,lower,upper,size\n\nb,0,1,-4\n", expect!["row 3: size -4 is negative"]);
        check("id,lower,upper,size\nb,0,1,4.5\n", expect!["row 2: size `4.5` is not a whole number"]);
        check("id,lower,upper,size\nb,0,1,\n", expect!["row 2: size `` is not a whole number"]);
        check(
            "id,lower,upper,size\nb,0,1,9223372036854775808\n",
            expect!["row 2: size 9223372036854775808 is beyond 2^63 - 1"],
        );
        check(
            "id,lower,end,size\nb,0,9223372036854775807,1\n",
            expect![
                "row 2: end 9223372036854775807 is the last instant alive, and the one after it is beyond 2^63 - 1"
            ],
        );
        check(
            "id,lower,end,size\nb,0,9223372036854775806,1\n",
            expect![[r#"
            id,lower,upper,size
            b,0,9223372036854775807,1
        "#]],
        );
        check(
            "id,lower,upper,size\na,0,1,1\nb,0,1,9223372036854775807\n",
            expect!["row 3: buffer `b` (number 2) takes the sum of all sizes and fixed offsets beyond 2^63 - 1 bytes"],
        );
        check(
            "id,lower,upper,size\na,0,1,0\n",
            expect!["row 2: buffer `a` (number 1) has size 0; give it at least 1 byte or leave it out"],
        );
        check(
            "id,lower,upper,size\na,0,1,1\nb,3,3,1\n",
            expect!["row 3: buffer `b` (number 2) has the empty lifetime [3, 3); the end must be after the start"],
        );
        check(
            "id,lower,upper,size\na,0,1,1\nb,3,4,1\na,5,6,1\n",
            expect!["row 4: buffer `a` (number 3) has the id of buffer number 1; ids must differ"],
        );
        check(
            "id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\n",
            expect![
                "row 3: buffer `b` (number 2) is fixed at an offset that overlaps buffer `a` (number 1), and both are needed at the same time"
            ],
        );
        check(
            "id,lower,upper,size,alignment,offset\na,0,2,4,32,16\n",
            expect!["row 2: buffer `a` (number 1) is fixed at offset 16, which is not a multiple of its alignment 32"],
        );
        check(
            "id,lower,upper,size,gaps\na,2,8,4,1-3\n",
            expect!["row 2: gap `1-3` is empty, outside the lifetime or overlaps another"],
        );
        check("id,lower,upper,size,gaps\na,2,8,4,3\n", expect!["row 2: gap `3` is not of the form lower-upper"]);
    }
}
