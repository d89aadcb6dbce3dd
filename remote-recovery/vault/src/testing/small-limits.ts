/**
 * Import it first, in tests of what imports may unpack: limits small enough to be passed at once.
 * What is stored in an archive of this portal has none of them.
 */
jest.mock("../imports/reading/limits.ts", () => ({
  ...jest.requireActual<typeof import("../imports/reading/limits.ts")>("../imports/reading/limits.ts"),
  maxAttachmentBytes: 100_000,
  maxUnpackedBytes: 200_000,
}));

export {};
