//! Tables of text.

/// Rows of as many cells each, in columns.
pub(super) fn aligned<R: AsRef<[String]>>(rows: &[R]) -> String {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let width = |column: usize| rows.iter().map(|row| row.as_ref()[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns).map(width).collect();
    // `format!` takes no width above 65,535, and a name can be longer.
    let padded = |(cell, width): (&String, &usize)| cell.clone() + &" ".repeat(width - cell.chars().count());
    let line = |row: &R| {
        let cells: Vec<_> = row.as_ref().iter().zip(&widths).map(padded).collect();
        format!("  {}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
