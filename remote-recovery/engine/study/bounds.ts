/**
 * Lower end of the exact one-sided 95 % confidence interval of a share, for this many successes of
 * n (Clopper and Pearson).
 */
export function computeLowerBound(successes: number, n: number): number {
  if (successes === 0 || n === 0) return 0;
  // P(X ≥ successes | p) grows with p. Find the p at which it is 5 %.
  let low = 0;
  let high = 1;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (probabilityAtLeast(successes, n, middle) < 0.05) low = middle;
    else high = middle;
  }
  return low;
}

function probabilityAtLeast(successes: number, n: number, p: number): number {
  let sum = 0;
  let logChoose = 0; // logarithm of n over k
  for (let k = 0; k <= n; k++) {
    if (k >= successes) sum += Math.exp(logChoose + k * Math.log(p) + (n - k) * Math.log1p(-p));
    logChoose += Math.log(n - k) - Math.log(k + 1);
  }
  return sum;
}
