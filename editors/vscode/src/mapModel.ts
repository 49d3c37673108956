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
  buffers: { boxes: { tiles: Tile[] }[] }[];
}

export interface MemoryMap {
  kernel: string;
  range: Span;
  down: "time" | "allocations";
  spaces: Space[];
  html?: string;
}

/** Whether every memory is as wide as every other, or a byte is as wide in all of them. */
export type Scale = "own" | "one";

export interface MemoryMapAnswer {
  version: number;
  maps: MemoryMap[];
  /** What the settings come to, by kernel. */
  settings: { planner: string; target: string }[];
  /** What a trial changes, one line for each memory. */
  changes: string[];
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
