/** Where there is room for what, without a window. */

import type { Rectangle } from "./nearest";

export interface Size {
  width: number;
  height: number;
}

/** Between a tooltip and what it is about. */
const DISTANCE = 12;

/** Where the tooltip of `about` stands: below and to the right, where the window has room for it there, and always inside of it. */
export function beside(about: Rectangle, tip: Size, window: Size): { left: number; top: number } {
  const within = (at: number, size: number, room: number): number => Math.max(0, Math.min(at, room - size));
  const below = about.bottom + DISTANCE;
  const top = below + tip.height <= window.height ? below : about.top - DISTANCE - tip.height;
  // Above a high box is outside of the window: then it stands in the box.
  return { left: within(about.left + DISTANCE, tip.width, window.width), top: within(top, tip.height, window.height) };
}

/**
 * How high each picture can be so that a window shows all of the page, which is `page` high with `pictures` of these heights; what is in
 * `tables` may stay outside. Before there is a picture, most of the window.
 */
export function heightFor(window: number, page: number, pictures: number[], tables: number[]): number {
  const sum = (all: number[]): number => all.reduce((left, right) => left + right, 0);
  const room = pictures.length > 0 ? window - (page - sum(pictures) - sum(tables)) : window * 0.7;
  return Math.max(0, Math.floor(room / Math.max(pictures.length, 1)));
}
