/** A line of recent prices on a canvas in a cell: no elements, no layout. */

const WIDTH = 44;
const HEIGHT = 22;
const PADDING = 2;

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

interface Painted {
  canvas: HTMLCanvasElement;
  values: readonly number[] | undefined;
}

const painted = new WeakMap<HTMLElement, Painted>();

/** Paints where the values are others than the last time (a new array). `label` is for those who don't see it. */
export function paintSparkline(cell: HTMLElement, values: readonly number[], label: string): void {
  const state = painted.get(cell) ?? addCanvas(cell);
  if (state.values === values) return;
  state.values = values;
  state.canvas.ariaLabel = label;
  draw(state.canvas, values);
}


function addCanvas(cell: HTMLElement): Painted {
  const canvas = document.createElement('canvas');
  const density = Math.max(1, window.devicePixelRatio);
  canvas.width = WIDTH * density;
  canvas.height = HEIGHT * density;
  canvas.className = 'sparkline';
  canvas.role = 'img';
  canvas.getContext('2d')?.scale(density, density);
  cell.replaceChildren(canvas);
  const state: Painted = { canvas, values: undefined };
  painted.set(cell, state);
  return state;
}

function draw(canvas: HTMLCanvasElement, values: readonly number[]): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.clearRect(0, 0, WIDTH, HEIGHT);
  const [first, ...rest] = sparkPoints(values, WIDTH, HEIGHT, PADDING);
  if (first === undefined) return;
  context.beginPath();
  context.moveTo(first.x, first.y);
  for (const point of rest) context.lineTo(point.x, point.y);
  context.strokeStyle = strokeFor((values.at(-1) ?? 0) - (values[0] ?? 0));
  context.lineWidth = 1.25;
  context.stroke();
}

const strokes = new Map<string, string>();

/** Reading a token asks for a style pass, so each is read once per theme. */
function strokeFor(move: number): string {
  const token = move > 0 ? '--up' : move < 0 ? '--down' : '--text-3';
  const root = document.documentElement;
  const key = `${root.dataset['theme']} ${root.dataset['palette']} ${token}`;
  const known = strokes.get(key);
  if (known !== undefined) return known;
  const read = getComputedStyle(root).getPropertyValue(token).trim();
  strokes.set(key, read);
  return read;
}
