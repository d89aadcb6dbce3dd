/**
 * Set-up of the vault's tests: the service of the tests may ask for smaller parts, so that a small
 * file has several. Nothing else is another than in the product. Tests of the bounds take the real
 * ones: `jest.unmock("../transfer/part-sizes.ts")`.
 */
jest.mock("../transfer/part-sizes.ts", () => ({
  partSizeLimits: {
    ...jest.requireActual<typeof import("../transfer/part-sizes.ts")>("../transfer/part-sizes.ts").partSizeLimits,
    min: 1,
  },
}));

export {};
