/** The celebration at the end of the first tour (specification, sections 4 and 9). The library counts frames: 120 are two seconds. */
export const celebration = {
  pieces: 100,
  colors: ["#1d4ed8", "#3b82f6", "#60a5fa", "#bfdbfe", "#475569", "#94a3b8", "#e2e8f0"],
  frames: 120,
  shownMilliseconds: 3000,
} as const;
