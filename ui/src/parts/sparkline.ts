/** Sparkline: a line of recent prices on a canvas, without elements and layout. */

const PADDING = 5;

export interface Box {
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

/** Where the values lie in a box, first to last from left to right; a flat line runs through the middle. */
export function sparkPoints(values: readonly number[], width: number, height: number, padding: number): Point[] {
  if (values.length < 2) return [];
  const lowest = Math.min(...values);
  const span = Math.max(...values) - lowest;
  const stepX = (width - 2 * padding) / (values.length - 1);
  const high = height - 2 * padding;
  return values.map((value, index) => ({
    x: padding + index * stepX,
    y: padding + (span === 0 ? high / 2 : high - ((value - lowest) / span) * high),
  }));
}

/** Draws the line in a box whose left upper corner is the context's origin. */
export function drawSparkline(context: CanvasRenderingContext2D, values: readonly number[], box: Box): void {
  const [first, ...rest] = sparkPoints(values, box.width, box.height, PADDING);
  if (first === undefined) return;
  context.beginPath();
  context.moveTo(first.x, first.y);
  for (const point of rest) context.lineTo(point.x, point.y);
  context.strokeStyle = strokeFor((values.at(-1) ?? 0) - (values[0] ?? 0));
  context.lineWidth = 1.25;
  context.stroke();
}

/** A few letters instead of a line, in the middle of the box. */
export function drawNote(context: CanvasRenderingContext2D, text: string, box: Box): void {
  context.fillStyle = colourOf('--text-2');
  context.font = '11px Inter, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(text, box.width / 2, box.height / 2, box.width - 2);
}

const strokes = new Map<string, string>();

function strokeFor(move: number): string {
  return colourOf(move > 0 ? '--up' : move < 0 ? '--down' : '--text-3');
}

/** Reading a token forces a style pass, so each is read once for every theme and palette. */
function colourOf(token: string): string {
  const root = document.documentElement;
  const key = `${root.dataset['theme']} ${root.dataset['palette']} ${token}`;
  const known = strokes.get(key);
  if (known !== undefined) return known;
  const read = getComputedStyle(root).getPropertyValue(token).trim();
  strokes.set(key, read);
  return read;
}
