export interface Rectangle {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Which of `boxes` an arrow key leads to from the box `from`: the nearest one in that direction. Home and End are first and last. */
export function nearest(boxes: Rectangle[], from: number, key: string): number | undefined {
  if (key === "Home" || key === "End") {
    return key === "Home" ? 0 : boxes.length - 1;
  }
  const ahead: Record<string, [number, number]> = {
    ArrowRight: [1, 0],
    ArrowLeft: [-1, 0],
    ArrowDown: [0, 1],
    ArrowUp: [0, -1],
  };
  const direction = ahead[key];
  const start = boxes[from];
  if (!direction || !start) {
    return undefined;
  }
  const middle = (box: Rectangle): [number, number] => [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const [x, y] = middle(start);
  let best: { index: number; cost: number } | undefined;
  boxes.forEach((box, index) => {
    const [dx, dy] = [middle(box)[0] - x, middle(box)[1] - y];
    const along = dx * direction[0] + dy * direction[1];
    const aside = Math.abs(dx * direction[1]) + Math.abs(dy * direction[0]);
    // Boxes that lie more aside than ahead are another key's.
    const cost = along + 2 * aside;
    if (along > 0 && (!best || cost < best.cost)) {
      best = { index, cost };
    }
  });
  return best?.index;
}
