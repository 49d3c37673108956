/** A line of generated text and the source lines that it comes from; all 0-based, `last` included. */
export interface LineMatch {
  generated: number;
  first: number;
  last: number;
}

/** An edit as far as lines go: `removed` line ends from `line` on gave way to `added` ones. */
export interface LineEdit {
  line: number;
  removed: number;
  added: number;
}

/** Where the line `anchor` is after `edit`. A line that is removed ends up where the edit began. */
export function shift(anchor: number, edit: LineEdit): number {
  if (anchor <= edit.line) {
    return anchor;
  }
  if (anchor <= edit.line + edit.removed) {
    return Math.min(anchor, edit.line + edit.added);
  }
  return anchor + edit.added - edit.removed;
}

/** The narrowest matches that cover the source `line`: a statement rather than the kernel around it. */
export function fromSource(map: LineMatch[], line: number): LineMatch[] {
  return narrowest(map.filter((match) => match.first <= line && line <= match.last));
}

/** The narrowest matches of the generated `line`. */
export function fromGenerated(map: LineMatch[], line: number): LineMatch[] {
  return narrowest(map.filter((match) => match.generated === line));
}

/**
 * The match that a window should show when the other one scrolls to `line`: the first at or below it. A source line
 * with several matches shows its last: the instruction rather than the declarations above it.
 */
export function below(map: LineMatch[], side: "first" | "generated", line: number): LineMatch | undefined {
  const [match] = map.filter((it) => it[side] >= line).sort((a, b) => a[side] - b[side] || b.generated - a.generated);
  return match;
}

function narrowest(matches: LineMatch[]): LineMatch[] {
  const width = Math.min(...matches.map((match) => match.last - match.first));
  return matches.filter((match) => match.last - match.first === width);
}
