/** Questions about a memory map that need no editor. */

export interface Place {
  line: number;
  character: number;
}

export interface Span {
  start: Place;
  end: Place;
}

export interface Tile {
  name: string;
  range: Span;
  /** From 1. */
  firstLine: number;
  lastLine: number;
}

export interface Space {
  name: string;
  unit: string;
  used: number;
  capacity: number | null;
  buffers: { boxes: { tiles: Tile[] }[] }[];
}

export interface MemoryMap {
  kernel: string;
  range: Span;
  target: string;
  planner: string;
  down: "time" | "allocations";
  spaces: Space[];
  html?: string;
}

export interface Totals {
  kernel: string;
  target: string;
  planner: string;
  spaces: { name: string; unit: string; used: number; capacity: number | null }[];
}

export interface MemoryMapAnswer {
  version: number;
  maps: MemoryMap[];
  settings: Totals[];
}

/** The boxes of one map, in the order in which its picture numbers them. */
function boxes(map: MemoryMap): { tiles: Tile[] }[] {
  return map.spaces.flatMap((space) => space.buffers.flatMap((buffer) => buffer.boxes));
}

/** The boxes of all maps; those of the second map continue the numbers of the first. */
export function allBoxes(maps: MemoryMap[]): { tiles: Tile[] }[] {
  return maps.flatMap(boxes);
}

/** The pictures of all maps, with the boxes numbered through. */
export function pictures(maps: MemoryMap[]): string {
  let first = 0;
  const parts = maps.map((map) => {
    const html = (map.html ?? "").replace(/ data-box="(\d+)"/g, (_, number) => ` data-box="${Number(number) + first}"`);
    first += boxes(map).length;
    return html;
  });
  return parts.join("");
}

/** The boxes of the tile that the cursor is on: by its name where it is alive, else by what the line defines. */
export function boxesAt(maps: MemoryMap[], line: number, word: string | undefined): number[] {
  const all = allBoxes(maps);
  const numbers = (holds: (tile: Tile) => boolean): number[] =>
    all.flatMap(({ tiles }, number) => (tiles.some(holds) ? [number] : []));
  const named = numbers((tile) => tile.name === word && tile.firstLine <= line + 1 && line + 1 <= tile.lastLine);
  return named.length > 0 ? named : numbers((tile) => tile.range.start.line === line);
}

export function contains(maps: MemoryMap[], line: number): boolean {
  return maps.some(({ range }) => range.start.line <= line && line <= range.end.line);
}

/** `Vec 192 KiB → 160 KiB of 184 KiB`, for each space whose use differs between the settings and what is tried. */
export function changes(answer: MemoryMapAnswer): string[] {
  const used = (spaces: Totals["spaces"], name: string) => spaces.find((space) => space.name === name);
  const lines: string[] = [];
  const spaceNames = [...new Set([...answer.settings, ...answer.maps].flatMap((it) => it.spaces.map((space) => space.name)))];
  for (const name of spaceNames) {
    const before = answer.settings.flatMap((totals) => used(totals.spaces, name) ?? []);
    const after = answer.maps.flatMap((map) => used(map.spaces, name) ?? []);
    const amounts = (spaces: Totals["spaces"]) =>
      spaces.map((space) => `${amount(space.used, space.unit)} of ${space.capacity === null ? "?" : amount(space.capacity, space.unit)}`);
    const [from, to] = [amounts(before).join(", ") || "nothing", amounts(after).join(", ") || "nothing"];
    lines.push(from === to ? `${name}: ${to}, as before` : `${name}: ${from} → ${to}`);
  }
  return lines;
}

function amount(value: number, unit: string): string {
  if (unit !== "bytes") {
    return `${value} ${unit}`;
  }
  return value >= 1024 && value % 256 === 0 ? `${value / 1024} KiB` : `${value} B`;
}
