/** D·L and (D·L)·Dᵀ at the sizes of a full window, as one would write them in JavaScript: to compare with. */
const rows = 80;
const cells = 128;
const d = Float64Array.from({ length: rows * cells }, (_, at) => Math.cos((Math.PI * Math.floor(at / cells) * (2 * (at % cells) + 1)) / 256) / 8);
const across = Float64Array.from({ length: cells * rows }, (_, at) => d[(at % rows) * cells + Math.floor(at / rows)] ?? 0);
const grid = Float64Array.from({ length: cells * cells }, (_, at) => (at * 2654435761) % 256);
const half = new Float64Array(rows * cells);
const out = new Float64Array(rows * rows);

export function productInJavaScript(): number {
  multiply(d, rows, cells, grid, cells, half);
  multiply(half, rows, cells, across, rows, out);
  return out[0] ?? 0;
}

function multiply(a: Float64Array, m: number, n: number, b: Float64Array, p: number, result: Float64Array): void {
  result.fill(0);
  for (let row = 0; row < m; row++) {
    for (let i = 0; i < n; i++) {
      const factor = a[row * n + i] ?? 0;
      for (let column = 0; column < p; column++) result[row * p + column] = (result[row * p + column] ?? 0) + factor * (b[i * p + column] ?? 0);
    }
  }
}
