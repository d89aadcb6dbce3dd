/**
 * Set-up of the vault's tests: new helpers are made with the smallest costs of Argon2id that are let in, instead of 64 MiB and
 * three passes. Nothing else is another than in the product. Tests of vectors take the real costs: `jest.unmock("./kdf.ts")`.
 */
jest.mock("../seal/kdf.ts", () => ({ ...jest.requireActual<object>("../seal/kdf.ts"), argon2Costs: { memoryKib: 19 * 1024, passes: 2, lanes: 1 } }));

export {};
