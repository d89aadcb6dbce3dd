/**
 * Jest set-up: lets the fake service use smaller parts, so that a small file has several. Tests of
 * the limits use the real ones: `jest.unmock("../transfer/part-sizes.ts")`.
 */
jest.mock("../transfer/part-sizes.ts", () => ({
  partSizeLimits: {
    ...jest.requireActual<typeof import("../transfer/part-sizes.ts")>("../transfer/part-sizes.ts").partSizeLimits,
    min: 1,
  },
}));

export {};
