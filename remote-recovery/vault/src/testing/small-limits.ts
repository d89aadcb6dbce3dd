/**
 * Tests of unpacking import this first: limits small enough to exceed. Uncompressed entries in an
 * archive of this portal have no limit.
 */
jest.mock("../imports/reading/limits.ts", () => ({
  ...jest.requireActual<typeof import("../imports/reading/limits.ts")>("../imports/reading/limits.ts"),
  maxAttachmentBytes: 100_000,
  maxUnpackedBytes: 200_000,
}));

export {};
